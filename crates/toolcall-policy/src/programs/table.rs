//! The row type of the table of programs, and how arguments are matched against a row.
//! It knows the syntax of options; single programs are listed in `rows.rs`.

use super::Hazard;

/// A row of the table: one or more programs with the same options.
pub(super) struct Program {
    /// One or more names, each of one to three words, between `|`.
    pub(super) names: &'static str,
    pub(super) kind: ProgramKind,
    /// Letters of short options that write files or run programs.
    short: &'static str,
    /// Names of long options that write files or run programs, without `--`.
    long: &'static str,
    abbreviations: Abbreviations,
    /// Whole words that write files or run programs.
    words: &'static str,
    /// Letters of short options with a value.
    valued: &'static str,
    /// How many operands the program takes without changing anything.
    pub(super) most_operands: usize,
    pub(super) scripts: Scripts,
    /// Whether its first argument may be option letters without a `-` (`tar xf`).
    has_bare_letters: bool,
    /// Whether a rule with only its name may be offered.
    pub(super) is_offered: bool,
}

/// What a program does unless one of its options changes that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProgramKind {
    Reads,
    Prints,
    Works,
}

/// Which argument of a program is a pattern or a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scripts {
    None,
    FirstOperand,
}

/// Whether a program accepts abbreviated long options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Abbreviations {
    Taken,
    Refused,
}

impl Program {
    /// Whether a word is listed as a whole.
    pub(super) fn is_listed(&self, word: &str) -> bool {
        let mut listed = self.words.split_whitespace();
        listed.any(|hazard| is_word(word, hazard))
    }

    /// Whether the first argument is option letters, one of which is a hazard.
    pub(super) fn is_bare_hazard(&self, word: &str) -> bool {
        self.has_bare_letters && word.chars().any(|c| self.short.contains(c))
    }

    /// Whether an option makes the program do more than its name says.
    pub(super) fn is_hazard(&self, word: &str) -> bool {
        if self.is_listed(word) {
            return true;
        }
        if let Some(long) = word.strip_prefix("--") {
            let name = long.split('=').next().unwrap_or(long);
            let is_cut = self.abbreviations == Abbreviations::Taken && !name.is_empty();
            let is_meant = |option: &str| option == name || (is_cut && option.starts_with(name));
            return self
                .long
                .split(' ')
                .any(|option| !option.is_empty() && is_meant(option));
        }
        let letters = word.strip_prefix('-').unwrap_or_default();
        self.letters_before_value(letters)
            .any(|c| self.short.contains(c))
    }

    /// Returns the letters of a cluster, up to the one that takes the rest as its value.
    fn letters_before_value<'a>(&'a self, letters: &'a str) -> impl Iterator<Item = char> + 'a {
        let end = letters
            .find(|c| self.valued.contains(c))
            .map_or(letters.len(), |at| at + 1);
        letters[..end].chars()
    }

    /// Whether the value of an option is the next word.
    pub(super) fn takes_next(&self, word: &str) -> bool {
        let letters = word.strip_prefix('-').unwrap_or_default();
        !letters.starts_with('-')
            && letters.find(|c| self.valued.contains(c)) == letters.chars().count().checked_sub(1)
    }

    pub(super) const fn short(mut self, letters: &'static str) -> Self {
        self.short = letters;
        self
    }

    pub(super) const fn long(mut self, names: &'static str) -> Self {
        self.long = names;
        self
    }

    pub(super) const fn words(mut self, words: &'static str) -> Self {
        self.words = words;
        self
    }

    pub(super) const fn valued(mut self, letters: &'static str) -> Self {
        self.valued = letters;
        self
    }

    pub(super) const fn at_most(mut self, operands: usize) -> Self {
        self.most_operands = operands;
        self
    }

    pub(super) const fn pattern(mut self) -> Self {
        self.scripts = Scripts::FirstOperand;
        self
    }

    pub(super) const fn bare_letters(mut self) -> Self {
        self.has_bare_letters = true;
        self
    }

    pub(super) const fn unabbreviated(mut self) -> Self {
        self.abbreviations = Abbreviations::Refused;
        self
    }

    pub(super) const fn not_offered(mut self) -> Self {
        self.is_offered = false;
        self
    }
}

pub(super) const fn row(names: &'static str, kind: ProgramKind) -> Program {
    Program {
        names,
        kind,
        short: "",
        long: "",
        abbreviations: Abbreviations::Taken,
        words: "",
        valued: "",
        most_operands: usize::MAX,
        scripts: Scripts::None,
        has_bare_letters: false,
        is_offered: true,
    }
}

pub(super) const fn reads(names: &'static str) -> Program {
    row(names, ProgramKind::Reads)
}

pub(super) const fn works(names: &'static str) -> Program {
    row(names, ProgramKind::Works)
}

/// Whether a word matches a listed one, with or without a value. `*` matches any ending, `=` any
/// assignment.
fn is_word(word: &str, listed: &str) -> bool {
    if listed == "=" {
        return !word.starts_with('-') && word.contains('=');
    }
    if let Some(start) = listed.strip_suffix('*') {
        return word.starts_with(start);
    }
    let name = word.split('=').next().unwrap_or(word);
    word.eq_ignore_ascii_case(listed) || name.eq_ignore_ascii_case(listed)
}

/// Programs for which no rule by their first words is offered: they can run or destroy anything.
const NEVER_OFFERED: &str = "sh bash dash zsh ksh mksh ash rbash fish csh tcsh nu elvish xonsh pwsh powershell \
    powershell.exe cmd cmd.exe busybox toybox env sudo doas su runuser nice ionice nohup setsid stdbuf timeout chrt taskset \
    time watch xargs parallel entr script expect screen tmux ssh docker podman kubectl chroot unshare nsenter \
    bwrap firejail systemd-run flock strace ltrace gdb lldb command builtin exec eval source unbuffer caffeinate \
    python pypy node nodejs deno bun perl ruby php lua julia tclsh Rscript osascript java jshell irb ipython ts-node tsx \
    vi vim nvim view emacs ed ex nano rm rmdir shred dd mkfs npx bunx pnpx uvx pipx crontab at batch";

/// Whether no rule is offered for a command with this program. A program named by a path may be another
/// one tomorrow.
pub(crate) fn is_never_offered(program: &str) -> bool {
    runs_anything(program) || program.contains('/')
}

/// Whether a program can run or destroy anything, with or without a version number.
pub(crate) fn runs_anything(program: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let mut all = NEVER_OFFERED.split_whitespace();
    all.any(|never| never == name || never == bare) || name.starts_with("ld-")
}

/// Whether a program is a POSIX-like shell.
pub(crate) fn is_shell(program: &str) -> bool {
    ["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash"].contains(&program)
}

/// Whether an option may take a script or pattern, so that the first operand is not one.
pub(super) fn takes_script(word: &str) -> bool {
    let is_long = |name: &str| {
        let options = ["--expression", "--regexp", "--file", "--files"];
        name.len() > 2 && options.iter().any(|option| option.starts_with(name))
    };
    match word.strip_prefix('-') {
        Some(rest) if rest.starts_with('-') => is_long(word.split('=').next().unwrap_or(word)),
        Some(letters) => letters.contains(['e', 'f']),
        None => false,
    }
}

/// Finds addresses such as `ext::sh -c …`, for which `git` runs a program.
pub(super) fn foreign_transports(argv: &[String], end: usize) -> Vec<Hazard> {
    let is_git = argv[0] == "git" || argv[0].ends_with("/git");
    let names_transport = |word: &str| {
        let scheme = word.split("::").next().unwrap_or_default();
        word.contains("::")
            && !scheme.is_empty()
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    let words = argv[..end.max(1)].iter().enumerate().filter(|_| is_git);
    words
        .filter(|(_, word)| names_transport(word))
        .map(|(at, word)| Hazard {
            at,
            why: format!("`{word}` makes `git` run a program"),
        })
        .collect()
}
