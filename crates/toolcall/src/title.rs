//! The title of a call, made from its kind and its arguments: `Read src/main.rs (lines 10–30)`.
//! It must not let a hidden character through, cut inside a grapheme, or show what looks secret.

use std::fmt::Write as _;

use serde_json::Value;

use crate::arguments::{Lines, Role, Survey};
use crate::intent::Kind;
use crate::text::{clean_command, push_clean, shorten};

/// The longest title, in graphemes.
pub const LONGEST: usize = 120;

/// The longest single argument within a title, so that what follows it is seen too.
const LONGEST_PART: usize = 80;

/// A title of one line for a call of the tool `name`, from whatever is known of its input.
pub fn infer(name: &str, kind: Kind, input: Option<&Value>) -> String {
    let survey = Survey::of_input(input);
    let title = match kind {
        Kind::Read => read(&survey),
        Kind::Edit => edit(&survey),
        Kind::Delete => with_path("Delete ", &survey),
        Kind::Move => moved(&survey),
        Kind::Search => search(&survey),
        Kind::Execute => execute(&survey),
        Kind::Think => think(&survey),
        Kind::Fetch => fetch(&survey),
        Kind::SwitchMode => switch_mode(&survey),
        Kind::Other => None,
    };
    let seen = title.filter(|title| !title.trim_ascii().is_empty());
    let mut title = seen.unwrap_or_else(|| calling(name, input, &survey));
    shorten(&mut title, LONGEST);
    title
}

fn read(survey: &Survey<'_>) -> Option<String> {
    let mut title = with_path("Read ", survey)?;
    if let Some(lines) = survey.lines().filter(|_| survey.has(Role::Path)) {
        push_lines(&mut title, lines);
    }
    Some(title)
}

fn edit(survey: &Survey<'_>) -> Option<String> {
    let replaces = survey.has(Role::OldText) || survey.has(Role::Edits);
    let writes = survey.has(Role::Content) && !replaces;
    with_path(if writes { "Write " } else { "Edit " }, survey)
}

fn moved(survey: &Survey<'_>) -> Option<String> {
    let from = survey.text(Role::From).or(survey.text(Role::Path))?;
    let to = survey.text(Role::To)?;
    Some(joined(&[
        Ours("Move "),
        Theirs(from),
        Ours(" to "),
        Theirs(to),
    ]))
}

fn search(survey: &Survey<'_>) -> Option<String> {
    let glob = first_text(survey.get(Role::Glob));
    let mut title = match (first_text(survey.get(Role::Query)), glob) {
        (Some(query), _) => joined(&[Ours("Search \""), Theirs(query), Ours("\"")]),
        (None, Some(glob)) => joined(&[Ours("Search "), Theirs(glob)]),
        (None, None) => return None,
    };
    if let Some(place) = path(survey) {
        title.push_str(" in ");
        push_path(&mut title, place);
    }
    if let (true, Some(glob)) = (survey.has(Role::Query), glob) {
        title.push_str(&joined(&[Ours(" ("), Theirs(glob), Ours(")")]));
    }
    Some(title)
}

/// The command itself: what is seen is what runs.
fn execute(survey: &Survey<'_>) -> Option<String> {
    let roles = [Role::Command, Role::Code, Role::Statement];
    let command = roles.iter().find_map(|role| survey.get(*role))?;
    match command {
        Value::String(text) => Some(clean_command(text, LONGEST)),
        Value::Array(words) => Some(clean_command(&command_words(words), LONGEST)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// Several words as one line; those with blanks are quoted, so that each is seen as one.
fn command_words(words: &[Value]) -> String {
    let mut line = String::new();
    for word in words.iter().filter_map(Value::as_str) {
        if line.len() > LONGEST * 8 {
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        // The rest of a long word would be cut anyway.
        let shown = &word[..word.floor_char_boundary(LONGEST * 8)];
        if shown.is_empty() || shown.contains([' ', '\t', '\n', '"', '\'']) {
            line.push('\'');
            line.push_str(&shown.replace('\'', r"'\''"));
            line.push('\'');
        } else {
            line.push_str(shown);
        }
    }
    line
}

fn think(survey: &Survey<'_>) -> Option<String> {
    if let Some(Value::Array(steps)) = survey.get(Role::Todos) {
        let mut title = String::from("Plan: ");
        let _ = write!(title, "{} steps", steps.len());
        return Some(title);
    }
    let roles = [Role::Thought, Role::Prompt, Role::Content];
    let thought = roles.iter().find_map(|role| survey.text(*role));
    Some(thought.map_or_else(
        || "Think".to_owned(),
        |thought| joined(&[Ours("Think: "), Theirs(thought)]),
    ))
}

fn fetch(survey: &Survey<'_>) -> Option<String> {
    if let Some(url) = survey.get(Role::Url) {
        let mut title = String::from("Fetch ");
        push_path(&mut title, several(url)?);
        return Some(title);
    }
    let query = first_text(survey.get(Role::Query))?;
    Some(joined(&[
        Ours("Search the web for \""),
        Theirs(query),
        Ours("\""),
    ]))
}

fn switch_mode(survey: &Survey<'_>) -> Option<String> {
    let mode = survey.text(Role::Mode);
    Some(mode.map_or_else(
        || "Switch mode".to_owned(),
        |mode| joined(&[Ours("Switch mode to "), Theirs(mode)]),
    ))
}

fn calling(name: &str, input: Option<&Value>, survey: &Survey<'_>) -> String {
    let mut title = joined(&[Ours("Calling "), Theirs(name)]);
    if let Some(argument) = telling(input, survey) {
        title.push_str(": ");
        match argument {
            Value::String(text) => push_clean(&mut title, text, LONGEST_PART),
            Value::Number(number) => push_number(&mut title, number),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {}
        }
    }
    title
}

/// Roles that tell calls of one tool apart, the most telling first.
const TELLING: &[Role] = &[
    Role::Query,
    Role::Url,
    Role::Path,
    Role::Folder,
    Role::Command,
    Role::Name,
    Role::Prompt,
    Role::From,
];

fn telling<'a>(input: Option<&'a Value>, survey: &Survey<'a>) -> Option<&'a Value> {
    let known = TELLING.iter().find_map(|role| survey.get(*role));
    if known.is_some_and(|value| value.is_string() || value.is_number()) {
        return known;
    }
    let arguments = input?.as_object()?.iter().take(16);
    let mut open = arguments.filter(|(key, _)| !is_secret(key));
    open.find_map(|(_, value)| is_short(value).then_some(value))
}

fn is_short(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|text| (1..=60).contains(&text.len()) && !text.contains('\n'))
}

fn is_secret(key: &str) -> bool {
    const PARTS: &[&str] = &[
        "token",
        "secret",
        "passw",
        "auth",
        "credential",
        "key",
        "cookie",
        "pin",
    ];
    let holds = |part: &&str| {
        let mut windows = key.as_bytes().windows(part.len());
        windows.any(|window| window.eq_ignore_ascii_case(part.as_bytes()))
    };
    PARTS.iter().any(holds)
}

/// A piece of a title.
enum Piece<'a> {
    /// Written here, shown as it is.
    Ours(&'a str),
    /// Written elsewhere, cleaned and cut.
    Theirs(&'a str),
}

use Piece::{Ours, Theirs};

fn joined(pieces: &[Piece<'_>]) -> String {
    let mut line = String::with_capacity(64);
    for piece in pieces {
        match piece {
            Ours(text) => line.push_str(text),
            Theirs(text) => push_clean(&mut line, text, LONGEST_PART),
        }
    }
    line
}

/// A first path or address, and how many more there are.
type Several<'a> = (&'a str, usize);

fn with_path(verb: &str, survey: &Survey<'_>) -> Option<String> {
    let mut title = String::with_capacity(64);
    title.push_str(verb);
    push_path(
        &mut title,
        path(survey).or_else(|| several(survey.get(Role::Url)?))?,
    );
    Some(title)
}

fn path<'a>(survey: &Survey<'a>) -> Option<Several<'a>> {
    let roles = [Role::Path, Role::Folder];
    roles.iter().find_map(|role| several(survey.get(*role)?))
}

fn several(value: &Value) -> Option<Several<'_>> {
    match value {
        Value::String(text) => Some((text, 0)),
        Value::Array(items) => Some((first_text(Some(value))?, items.len() - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// A text, or the first of a list: of texts, or of objects that name a file or an address.
fn first_text(value: Option<&Value>) -> Option<&str> {
    let first = match value? {
        Value::Array(items) => items.first()?,
        single => single,
    };
    if first.is_object() {
        let inner = Survey::of_input(Some(first));
        let roles = [Role::Path, Role::Url, Role::Query];
        return roles.iter().find_map(|role| inner.text(*role));
    }
    first.as_str()
}

fn push_path(title: &mut String, (path, more): Several<'_>) {
    push_clean(title, path, LONGEST_PART);
    if more > 0 {
        let _ = write!(title, " and {more} more");
    }
}

fn push_lines(title: &mut String, lines: Lines) {
    // Writing to a string cannot fail.
    let _ = match lines {
        Lines {
            first: Some(first),
            last: Some(last),
            ..
        } if first == last => {
            write!(title, " (line {first})")
        }
        Lines {
            first: Some(first),
            last: Some(last),
            ..
        } => {
            write!(title, " (lines {first}–{last})")
        }
        Lines {
            first: Some(first),
            last: None,
            ..
        } => write!(title, " (from line {first})"),
        Lines {
            head: Some(count), ..
        } => write!(title, " (first {count} lines)"),
        Lines {
            tail: Some(count), ..
        } => write!(title, " (last {count} lines)"),
        Lines { .. } => Ok(()),
    };
}

fn push_number(title: &mut String, number: &serde_json::Number) {
    let _ = write!(title, "{number}");
}
