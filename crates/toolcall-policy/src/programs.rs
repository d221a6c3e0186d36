//! Knowledge about common programs: what their arguments are, and which arguments write files or run programs.
//! It is used only to be more careful; an unknown program may do anything.

mod awk;
mod rows;
mod sed;
mod table;

use std::collections::HashMap;
use std::sync::LazyLock;

use rows::ROWS;
use table::{Program, ProgramKind, Scripts};

pub(crate) use table::{is_never_offered, is_shell, runs_anything};

/// An argument that makes a program do more than its name says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hazard {
    /// The index of the argument.
    pub(crate) at: usize,
    pub(crate) why: String,
}

/// What a program does with its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordUse {
    /// It reads them as files.
    Reads,
    /// It prints them as text.
    Text,
    /// Anything: it may change the files that they name.
    Anything,
}

/// How many words an offered rule may name a program by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OfferPrefix {
    /// The first words, this many.
    Words(usize),
    /// Only the whole command.
    Whole,
}

static PROGRAMS: LazyLock<HashMap<&'static str, &'static Program>> = LazyLock::new(|| {
    let names = |row: &'static Program| row.names.split('|').map(move |name| (name, row));
    ROWS.iter().flat_map(names).collect()
});

/// Returns the first hazard after the first `covered` words.
pub(crate) fn first_hazard(argv: &[String], covered: usize) -> Option<Hazard> {
    let mut hazards = hazards(argv).into_iter();
    hazards.find(|hazard| hazard.at >= covered)
}

/// Returns what a program does with its arguments.
pub(crate) fn word_use(argv: &[String]) -> WordUse {
    let kind = known(argv).map_or(ProgramKind::Works, |(_, program)| program.kind);
    match kind {
        ProgramKind::Reads if hazards(argv).is_empty() => WordUse::Reads,
        ProgramKind::Reads | ProgramKind::Works => WordUse::Anything,
        ProgramKind::Prints => WordUse::Text,
    }
}

/// Whether a program parses some of its arguments, and runs or writes what it finds in them.
pub(crate) fn takes_texts(argv: &[String]) -> bool {
    runs_anything(&argv[0]) || !hazards(argv).is_empty()
}

/// Whether a program only reads or prints, and no argument makes it do more.
pub(crate) fn only_reads(argv: &[String]) -> bool {
    word_use(argv) != WordUse::Anything
}

/// Returns the arguments that may be paths, with their index: no patterns, scripts or exclusions.
pub(crate) fn path_words(argv: &[String]) -> Vec<(usize, &str)> {
    let skipped = known(argv).and_then(|(depth, program)| {
        let has_script_option = || argv[1..].iter().any(|word| table::takes_script(word));
        match program.scripts {
            Scripts::FirstOperand if !has_script_option() => {
                operands(argv, depth, program).first().map(|(at, _)| *at)
            }
            Scripts::FirstOperand | Scripts::None => None,
        }
    });
    let words = argv.iter().enumerate().skip(1);
    words
        .filter(|(at, word)| Some(*at) != skipped && !is_exclusion(argv, *at, word))
        .map(|(at, word)| (at, word.as_str()))
        .collect()
}

/// What a program does with directories in its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DirectoryUse {
    /// It prints the content of the files beneath them.
    Searched,
    /// It copies, moves or removes them as a whole.
    Whole,
    Other,
}

/// Returns what a program does with directories in its arguments.
pub(crate) fn directory_use(argv: &[String]) -> DirectoryUse {
    let name = argv[0].rsplit('/').next().unwrap_or_default();
    let is_recursive = |word: &String| {
        let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        letters.is_some_and(|letters| letters.contains(['r', 'R'])) || word.contains("recursive")
    };
    match name {
        "rg" | "ag" | "ack" => DirectoryUse::Searched,
        "grep" | "egrep" | "fgrep" if argv.iter().any(is_recursive) => DirectoryUse::Searched,
        "rm" | "mv" | "cp" | "rsync" | "scp" | "tar" | "bsdtar" | "zip" | "chmod" | "chown"
        | "ln" => DirectoryUse::Whole,
        _ => DirectoryUse::Other,
    }
}

/// Whether a program searches the working directory because no directory is given.
pub(crate) fn searches_here(argv: &[String]) -> bool {
    let has_only_patterns = |(depth, program): (usize, &Program)| {
        let patterns = if argv.iter().any(|word| table::takes_script(word)) {
            0
        } else {
            1
        };
        operands(argv, depth, program).len() <= patterns
    };
    directory_use(argv) == DirectoryUse::Searched && known(argv).is_some_and(has_only_patterns)
}

/// Returns how many words an offered rule may name the program by.
pub(crate) fn offered_words(argv: &[String]) -> OfferPrefix {
    let depth = known(argv)
        .filter(|(_, program)| program.is_offered)
        .map(|(depth, _)| depth);
    match depth {
        Some(depth) => OfferPrefix::Words(depth),
        None => OfferPrefix::Whole,
    }
}

/// Whether an argument names what the program ignores, which it does not touch.
fn is_exclusion(argv: &[String], at: usize, word: &str) -> bool {
    let leaves_out = |word: &str| word.starts_with("--exclude") || word.starts_with("--ignore");
    let is_value = at > 0 && leaves_out(&argv[at - 1]) && !argv[at - 1].contains('=');
    leaves_out(word) || is_value
}

/// Returns the most specific row about a program, and how many words it matches.
fn known(argv: &[String]) -> Option<(usize, &'static Program)> {
    let first = argv.first()?;
    let name = first.rsplit('/').next().unwrap_or(first);
    let two = argv.get(1).map(|second| format!("{name} {second}"));
    let three = two
        .as_ref()
        .zip(argv.get(2))
        .map(|(two, third)| format!("{two} {third}"));
    let find = |key: Option<&str>, depth| Some((depth, *PROGRAMS.get(key?)?));
    find(three.as_deref(), 3)
        .or_else(|| find(two.as_deref(), 2))
        .or_else(|| find(Some(name), 1))
        .or_else(|| {
            let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
            find(Some(bare), 1)
        })
}

/// Returns every argument that makes the program do more than its name says.
fn hazards(argv: &[String]) -> Vec<Hazard> {
    let mut found = Vec::new();
    let Some((depth, program)) = known(argv) else {
        return found;
    };
    let name = argv[..depth].join(" ");
    let mut end = argv.len();
    for (at, word) in argv.iter().enumerate().skip(depth) {
        if word == "--" {
            end = end.min(at);
        }
        // A word after `--` is not an option of this program, but may be one of a program that it runs.
        let is_hazard = if at < end {
            program.is_hazard(word) || (at == 1 && program.is_bare_hazard(word))
        } else {
            program.is_listed(word)
        };
        if is_hazard {
            let why = format!("`{word}` makes `{name}` do more than that");
            found.push(Hazard { at, why });
        }
    }
    let extra = operands(argv, depth, program)
        .into_iter()
        .skip(program.most_operands);
    found.extend(extra.map(|(at, word)| Hazard {
        at,
        why: format!("`{word}` is something that `{name}` would change"),
    }));
    found.extend(script_hazards(argv, depth, program));
    found.extend(table::foreign_transports(argv, end));
    found.sort_by_key(|hazard| hazard.at);
    found
}

/// Returns the arguments that are neither options nor their values.
fn operands<'a>(argv: &'a [String], depth: usize, program: &Program) -> Vec<(usize, &'a str)> {
    let mut found = Vec::new();
    let mut words = argv.iter().enumerate().skip(depth);
    let mut is_over = false;
    while let Some((at, word)) = words.next() {
        if word == "--" && !is_over {
            is_over = true;
        } else if word.starts_with('-') && word.len() > 1 && !is_over {
            if program.takes_next(word) {
                words.next();
            }
        } else {
            found.push((at, word.as_str()));
        }
    }
    found
}

/// Returns the `sed` and `awk` scripts that may write files or run programs.
fn script_hazards(argv: &[String], depth: usize, program: &Program) -> Vec<Hazard> {
    let name = argv[0].rsplit('/').next().unwrap_or_default();
    let is_harmless: fn(&str) -> bool = match name {
        "sed" | "gsed" => sed::is_harmless,
        "awk" | "gawk" | "mawk" | "nawk" => awk::is_harmless,
        _ => return Vec::new(),
    };
    let stated: Vec<_> = (depth..argv.len())
        .filter_map(|at| stated_script(argv, at))
        .collect();
    let first = || operands(argv, depth, program).into_iter().next();
    let scripts = if stated.is_empty() {
        first().into_iter().collect()
    } else {
        stated
    };
    scripts
        .into_iter()
        .filter(|(_, script)| !is_harmless(script))
        .map(|(at, _)| Hazard {
            at,
            why: format!("the script of `{name}` may write or run something"),
        })
        .collect()
}

/// Returns the script of an option: attached to it, or the next word.
fn stated_script(argv: &[String], at: usize) -> Option<(usize, &str)> {
    let word = argv[at].as_str();
    let next = || argv.get(at + 1).map(|next| (at + 1, next.as_str()));
    if let Some(long) = word.strip_prefix("--") {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some((at, value))),
            None => (long, None),
        };
        let is_expression = !name.is_empty() && "expression".starts_with(name);
        return is_expression.then(|| value.or_else(next)).flatten();
    }
    let letters = word.strip_prefix('-')?;
    match &letters[letters.find('e')? + 1..] {
        "" => next(),
        attached => Some((at, attached)),
    }
}

#[cfg(test)]
mod tests;
