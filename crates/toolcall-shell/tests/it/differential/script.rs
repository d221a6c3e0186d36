//! Generates texts for shells: most are plain, some contain syntax that shells treat differently.
//! It only generates texts; the parsers decide which of them are understood.

use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Generates a script of a few commands; about one in three contains special syntax.
pub(crate) fn any_script() -> impl Strategy<Value = String> {
    let more = vec((select(JOINS), any_command()), 0..4);
    let place = weighted(0.7, any::<Index>());
    let spoilt = weighted(0.35, (place, select(PIECES)));
    (any_command(), more, spoilt).prop_map(|(first, more, spoilt)| {
        let script = more
            .into_iter()
            .fold(first, |script, (join, command)| script + join + &command);
        let script = with_own_files(&script);
        spoilt.map_or(script.clone(), |(at, piece)| {
            put_in(&script, at.as_ref(), piece)
        })
    })
}

const JOINS: &[&str] = &[
    " && ", " || ", " ; ", " | ", "&&", "||", ";", "|", "  &&  ", "; ",
];

fn any_command() -> impl Strategy<Value = String> {
    let name = select(
        &[
            "show", "show", "both", "copy", "no", "seven", "die", "'sho'w", "\"both\"", "missing",
        ][..],
    );
    let words = vec(any_word(), 0..4);
    let redirects = vec(select(REDIRECTS), 0..3);
    let cd = weighted(0.15, vec(select(FOLDERS), 1..3));
    (cd, name, words, redirects).prop_map(|(cd, name, words, redirects)| {
        let directories = cd.unwrap_or_default();
        let cd: String = directories
            .iter()
            .map(|directory| format!("cd {directory} && "))
            .collect();
        let words: String = words.iter().map(|word| format!(" {word}")).collect();
        format!("{cd}{name}{words}{}", redirects.concat())
    })
}

const FOLDERS: &[&str] = &[
    "sub",
    "sub/deep",
    "./sub",
    "link",
    "..",
    "missing",
    "'sub'",
    ".",
    "link/deep",
    "../work/sub",
];

/// Replaces `@` by a file name that is unique in the script: two redirects that write the same file at once
/// have no defined result.
const REDIRECTS: &[&str] = &[
    " >/dev/null",
    " 2>/dev/null",
    " </dev/null",
    " 2>&1",
    " >@",
    " > @",
    " >>@",
    " 2>@",
    " 2>>@",
    " 1>@",
    " <in",
    " 0<in",
    " <missing",
    " >missing/x",
    " >'@ x'",
];

fn any_word() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => "[a-z0-9]{1,4}",
        4 => "[a-zA-Z0-9_./,:=+%^-]{1,6}".prop_filter("no redirect number", |word| !word.is_empty()),
        3 => "'[ -&(-~\n]{0,8}'",
        3 => "\"[ !#-%&-\\[\\]-_a-~\n]{0,8}\"".prop_map(|word| word.replace('$', "")),
        2 => "[a-z]{1,2}'[ *?]{1,2}'\"[;&|]{1,2}\"",
        1 => select(&["HEAD~1", "a#b", "''", "\"\"", "é", "-n", "--x=y", "a=b", "1", "2"][..]).prop_map(str::to_owned),
    ]
}

fn with_own_files(script: &str) -> String {
    let mut pieces = script.split('@');
    let first = pieces.next().unwrap_or_default().to_owned();
    let numbered = pieces.enumerate();
    numbered.fold(first, |script, (number, piece)| {
        format!("{script}f{number}{piece}")
    })
}

/// Inserts a piece somewhere, or at the beginning.
fn put_in(script: &str, at: Option<&Index>, piece: &str) -> String {
    let places: Vec<usize> = script.char_indices().map(|(at, _)| at).collect();
    let (before, after) = script.split_at(at.map_or(0, |at| *at.get(&places)));
    format!("{before}{piece}{after}")
}

/// Pieces that are special to some shell in some position.
const PIECES: &[&str] = &[
    "$x",
    "$HOME",
    "$(show z)",
    "`show z`",
    "\\",
    "*",
    " * ",
    " i? ",
    "[a-z]",
    " [i]n ",
    "{a,b}",
    "~",
    "~/",
    "#",
    " # ",
    "!",
    " ! ",
    "x=1 ",
    "=",
    " & ",
    "&",
    "\n",
    "'",
    "\"",
    "(",
    ")",
    " |& ",
    ">&2",
    " 1>&2",
    "<<E",
    "<(show z)",
    "if ",
    "time ",
    "exec ",
    "eval ",
    "^",
    "%",
    ":",
    "~1",
    "cd ",
    "cd sub && ",
    ";;",
    ";",
    "$'a'",
    "\t",
    "\r",
    "\u{a0}",
    "+",
    ",",
    "{",
    "}",
    "- ",
    "1",
    "2",
    "2>",
    ">",
    "<",
    "command ",
    "builtin ",
    "set -e; ",
    "show() { no; }; ",
    "[ a ] && ",
    ": && ",
    ". in; ",
    "..",
    "/",
    "trap show 0; ",
    "alias show=no; ",
    "exit 5; ",
    "export x=1; ",
    "|",
    "&&",
    "||",
    "\\\n",
    "''",
    "\"\"",
];
