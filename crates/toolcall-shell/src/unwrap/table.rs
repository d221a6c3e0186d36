//! The table of programs that run other programs, and of their options.
//! A program that is not listed is not unwrapped; an option that is not listed is an ambiguity.

/// A program that runs the command in its arguments.
pub(super) struct Wrapper {
    pub(super) name: &'static str,
    /// Letters of short options without a value.
    pub(super) flags: &'static str,
    /// Letters of short options with a value.
    pub(super) valued: &'static str,
    pub(super) long_flags: &'static [&'static str],
    pub(super) long_valued: &'static [&'static str],
    /// The number of words between the options and the command.
    pub(super) operands: usize,
    /// Whether `NAME=value` may come before the command.
    pub(super) sets_variables: bool,
    pub(super) form: CommandForm,
}

/// What a wrapper does with the words after its options.
pub(super) enum CommandForm {
    /// Runs them as a program and its arguments.
    Program,
    /// Runs them as a program, with further arguments added.
    ProgramAndMore,
    /// Joins them to a text that a shell runs.
    Text,
}

const PLAIN: Wrapper = Wrapper {
    name: "",
    flags: "",
    valued: "",
    long_flags: &[],
    long_valued: &[],
    operands: 0,
    sets_variables: false,
    form: CommandForm::Program,
};

/// The wrappers and their known options. Options that write files, run programs or change the directory
/// are left out.
pub(super) const WRAPPERS: [Wrapper; 21] = [
    Wrapper {
        name: "env",
        flags: "i0v",
        valued: "u",
        long_flags: &["--ignore-environment", "--null", "--debug"],
        long_valued: &["--unset"],
        sets_variables: true,
        ..PLAIN
    },
    Wrapper {
        name: "sudo",
        flags: "AbEHknPS",
        valued: "ugpCT",
        long_flags: &[
            "--non-interactive",
            "--preserve-env",
            "--set-home",
            "--stdin",
        ],
        long_valued: &["--user", "--group", "--prompt"],
        sets_variables: true,
        ..PLAIN
    },
    Wrapper {
        name: "doas",
        flags: "nL",
        valued: "u",
        sets_variables: true,
        ..PLAIN
    },
    Wrapper {
        name: "nice",
        flags: "0123456789",
        valued: "n",
        long_valued: &["--adjustment"],
        ..PLAIN
    },
    Wrapper {
        name: "ionice",
        flags: "t",
        valued: "cn",
        long_flags: &["--ignore"],
        long_valued: &["--class", "--classdata"],
        ..PLAIN
    },
    Wrapper {
        name: "nohup",
        ..PLAIN
    },
    Wrapper {
        name: "setsid",
        flags: "cfw",
        long_flags: &["--ctty", "--fork", "--wait"],
        ..PLAIN
    },
    Wrapper {
        name: "stdbuf",
        valued: "ioe",
        long_valued: &["--input", "--output", "--error"],
        ..PLAIN
    },
    Wrapper {
        name: "timeout",
        flags: "fpv",
        valued: "ks",
        long_flags: &["--foreground", "--preserve-status", "--verbose"],
        long_valued: &["--kill-after", "--signal"],
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        name: "chrt",
        flags: "abfimorv",
        valued: "DPT",
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        name: "taskset",
        flags: "ac",
        operands: 1,
        ..PLAIN
    },
    Wrapper {
        name: "time",
        flags: "apqv",
        valued: "f",
        ..PLAIN
    },
    Wrapper {
        name: "command",
        flags: "p",
        ..PLAIN
    },
    Wrapper {
        name: "builtin",
        ..PLAIN
    },
    Wrapper {
        name: "exec",
        flags: "cl",
        valued: "a",
        ..PLAIN
    },
    Wrapper {
        name: "unbuffer",
        flags: "p",
        ..PLAIN
    },
    Wrapper {
        name: "caffeinate",
        flags: "dimsu",
        valued: "tw",
        ..PLAIN
    },
    Wrapper {
        name: "strace",
        flags: "cCdfFiqrtTvwxy",
        valued: "esaOS",
        ..PLAIN
    },
    Wrapper {
        name: "ltrace",
        flags: "cCdfirtT",
        valued: "esa",
        ..PLAIN
    },
    Wrapper {
        name: "watch",
        flags: "bcdegprtw",
        valued: "n",
        long_valued: &["--interval"],
        long_flags: &[
            "--differences",
            "--no-title",
            "--errexit",
            "--chgexit",
            "--color",
        ],
        form: CommandForm::Text,
        ..PLAIN
    },
    Wrapper {
        name: "xargs",
        flags: "0prtx",
        valued: "adEILnPs",
        long_flags: &[
            "--null",
            "--no-run-if-empty",
            "--verbose",
            "--exit",
            "--interactive",
        ],
        long_valued: &[
            "--arg-file",
            "--delimiter",
            "--max-args",
            "--max-procs",
            "--max-lines",
            "--replace",
        ],
        form: CommandForm::ProgramAndMore,
        ..PLAIN
    },
];

/// Shells: programs that run the text after `-c`, in the language that [`crate::read()`] parses.
pub(super) const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash"];

/// Programs that run another program for each file they find.
pub(super) const FINDERS: [&str; 5] = ["find", "gfind", "bfs", "fd", "fdfind"];

/// Programs whose first argument is the program to run.
pub(super) const CARRIERS: [&str; 2] = ["busybox", "toybox"];

/// Programs that run others in ways that are not analysed.
pub(super) const OPAQUE: [&str; 39] = [
    "at",
    "batch",
    "bwrap",
    "chroot",
    "crontab",
    "csh",
    "docker",
    "ed",
    "elvish",
    "emacs",
    "entr",
    "eval",
    "ex",
    "expect",
    "firejail",
    "fish",
    "flock",
    "gdb",
    "kubectl",
    "lldb",
    "nsenter",
    "nu",
    "osascript",
    "parallel",
    "podman",
    "runuser",
    "screen",
    "script",
    "source",
    "ssh",
    "su",
    "systemd-run",
    "tcsh",
    "tmux",
    "unshare",
    "vi",
    "view",
    "vim",
    "xonsh",
];

/// Options and subcommands with which interpreters take code from an argument.
pub(super) const CODE_OPTIONS: [&str; 11] = [
    "-c", "-e", "-E", "-p", "-n", "-r", "--eval", "--print", "-C", "eval", "--run",
];

const INTERPRETERS: [&str; 17] = [
    "bun",
    "deno",
    "gawk",
    "julia",
    "lua",
    "node",
    "nodejs",
    "perl",
    "php",
    "powershell",
    "powershell.exe",
    "pwsh",
    "python",
    "Rscript",
    "ruby",
    "tclsh",
    "pypy",
];

/// Whether a program is an interpreter, with or without a version number (`python3.12`).
pub(super) fn is_interpreter(name: &str) -> bool {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    INTERPRETERS.contains(&name) || INTERPRETERS.contains(&bare)
}

/// Options with which programs that are not wrappers run another program.
const RUNNING: [(&str, &[&str]); 7] = [
    (
        "git",
        &[
            "-c",
            "-O",
            "--config-env",
            "--exec-path",
            "--ext-diff",
            "--open-files-in-pager",
            "--receive-pack",
            "--upload-pack",
            "--exec",
        ],
    ),
    ("man", &["-H", "-P", "--html", "--pager"]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("rsync", &["-e", "--rsh"]),
    ("sort", &["--compress-program"]),
    (
        "tar",
        &[
            "-F",
            "-I",
            "--checkpoint-action",
            "--info-script",
            "--new-volume-script",
            "--rsh-command",
            "--to-command",
            "--use-compress-program",
        ],
    ),
    ("zip", &["-TT", "--unzip-command"]),
];

/// Returns the argument that makes a program run another, if any. Long options may be abbreviated.
pub(super) fn running_option<'a>(name: &str, arguments: &'a [String]) -> Option<&'a str> {
    let (_, options) = RUNNING.iter().find(|(program, _)| *program == name)?;
    let is_running = |argument: &str| {
        let long = argument
            .split('=')
            .next()
            .filter(|name| name.len() > "--x".len());
        options.iter().any(|option| {
            argument.starts_with(option) || long.is_some_and(|long| option.starts_with(long))
        })
    };
    arguments
        .iter()
        .map(String::as_str)
        .find(|argument| is_running(argument))
}

/// Whether an argument of `find` or `fd` begins a command.
pub(super) fn is_action(finder: &str, argument: &str) -> bool {
    if finder.starts_with("fd") {
        ["-x", "--exec", "-X", "--exec-batch"].contains(&argument)
    } else {
        ["-exec", "-execdir", "-ok", "-okdir"].contains(&argument)
    }
}
