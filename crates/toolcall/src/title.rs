//! The title of a call, inferred from its kind and its arguments: `Read src/main.rs (lines 10–30)`.
//! It must not let a hidden character through, cut inside a grapheme, or show what looks secret.

use std::fmt::Write as _;

use serde_json::Value;

use crate::arguments::{ArgumentsByRole, Lines, Role};
use crate::intent::Kind;
use crate::text::{clean_command, push_clean, shorten};

/// The longest title, in graphemes.
pub const LONGEST: usize = 120;

/// The longest single argument within a title, so that what follows it is visible too.
const LONGEST_PART: usize = 80;

/// Returns a one-line title for a call of the tool `name`, from what is known of its input.
///
/// ```
/// use serde_json::json;
/// use toolcall::{Kind, title};
///
/// let input = json!({"path": "src/main.rs", "offset": 10, "limit": 21});
/// assert_eq!(title::infer("read_file", Kind::Read, Some(&input)), "Read src/main.rs (lines 10–30)");
/// ```
pub fn infer(name: &str, kind: Kind, input: Option<&Value>) -> String {
    let args = ArgumentsByRole::of_input(input);
    let title = match kind {
        Kind::Read => read(&args),
        Kind::Edit => edit(&args),
        Kind::Delete => with_path("Delete ", &args),
        Kind::Move => moved(&args),
        Kind::Search => search(&args),
        Kind::Execute => execute(&args),
        Kind::Think => think(&args),
        Kind::Fetch => fetch(&args),
        Kind::SwitchMode => switch_mode(&args),
        Kind::Other => None,
    };
    let seen = title.filter(|title| !title.trim_ascii().is_empty());
    let mut title = seen.unwrap_or_else(|| calling(name, input, &args));
    shorten(&mut title, LONGEST);
    title
}

fn read(args: &ArgumentsByRole<'_>) -> Option<String> {
    let mut title = with_path("Read ", args)?;
    if let Some(lines) = args.lines().filter(|_| args.has(Role::Path)) {
        push_lines(&mut title, lines);
    }
    Some(title)
}

fn edit(args: &ArgumentsByRole<'_>) -> Option<String> {
    let replaces = args.has(Role::OldText) || args.has(Role::Edits);
    let writes = args.has(Role::Content) && !replaces;
    with_path(if writes { "Write " } else { "Edit " }, args)
}

fn moved(args: &ArgumentsByRole<'_>) -> Option<String> {
    let from = args.text(Role::From).or(args.text(Role::Path))?;
    let to = args.text(Role::To)?;
    Some(joined(&[
        Literal("Move "),
        Untrusted(from),
        Literal(" to "),
        Untrusted(to),
    ]))
}

fn search(args: &ArgumentsByRole<'_>) -> Option<String> {
    let glob = first_text(args.get(Role::Glob));
    let mut title = match (first_text(args.get(Role::Query)), glob) {
        (Some(query), _) => joined(&[Literal("Search \""), Untrusted(query), Literal("\"")]),
        (None, Some(glob)) => joined(&[Literal("Search "), Untrusted(glob)]),
        (None, None) => return None,
    };
    if let Some(place) = path(args) {
        title.push_str(" in ");
        push_path(&mut title, place);
    }
    if let (true, Some(glob)) = (args.has(Role::Query), glob) {
        title.push_str(&joined(&[Literal(" ("), Untrusted(glob), Literal(")")]));
    }
    Some(title)
}

/// Uses the command itself as the title: the user sees what runs.
fn execute(args: &ArgumentsByRole<'_>) -> Option<String> {
    let roles = [Role::Command, Role::Code, Role::Statement];
    let command = roles.iter().find_map(|role| args.get(*role))?;
    match command {
        Value::String(text) => Some(clean_command(text, LONGEST)),
        Value::Array(words) => Some(clean_command(&command_words(words), LONGEST)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// FirstAndRest words as one line; those with blanks are quoted, so that each is seen as one.
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

fn think(args: &ArgumentsByRole<'_>) -> Option<String> {
    if let Some(Value::Array(steps)) = args.get(Role::Todos) {
        return Some(match steps.len() {
            1 => "Plan: 1 step".to_owned(),
            count => format!("Plan: {count} steps"),
        });
    }
    let roles = [Role::Thought, Role::Prompt, Role::Content];
    let thought = roles.iter().find_map(|role| args.text(*role));
    Some(thought.map_or_else(
        || "Think".to_owned(),
        |thought| joined(&[Literal("Think: "), Untrusted(thought)]),
    ))
}

fn fetch(args: &ArgumentsByRole<'_>) -> Option<String> {
    if let Some(url) = args.get(Role::Url) {
        let mut title = String::from("Fetch ");
        push_path(&mut title, several(url)?);
        return Some(title);
    }
    let query = first_text(args.get(Role::Query))?;
    Some(joined(&[
        Literal("Search the web for \""),
        Untrusted(query),
        Literal("\""),
    ]))
}

fn switch_mode(args: &ArgumentsByRole<'_>) -> Option<String> {
    let mode = args.text(Role::Mode);
    Some(mode.map_or_else(
        || "Switch mode".to_owned(),
        |mode| joined(&[Literal("Switch mode to "), Untrusted(mode)]),
    ))
}

fn calling(name: &str, input: Option<&Value>, args: &ArgumentsByRole<'_>) -> String {
    let mut title = joined(&[Literal("Calling "), Untrusted(name)]);
    if let Some(argument) = distinguishing_argument(input, args) {
        title.push_str(": ");
        match argument {
            Value::String(text) => push_clean(&mut title, text, LONGEST_PART),
            Value::Number(number) => push_number(&mut title, number),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {}
        }
    }
    title
}

/// Roles that distinguish calls of one tool, the most useful first.
const DISTINGUISHING: &[Role] = &[
    Role::Query,
    Role::Url,
    Role::Path,
    Role::Folder,
    Role::Command,
    Role::Name,
    Role::Prompt,
    Role::From,
];

fn distinguishing_argument<'a>(
    input: Option<&'a Value>,
    args: &ArgumentsByRole<'a>,
) -> Option<&'a Value> {
    let known = DISTINGUISHING.iter().find_map(|role| args.get(*role));
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
    /// Text from this file, shown unchanged.
    Literal(&'a str),
    /// Text from the input, cleaned and cut.
    Untrusted(&'a str),
}

use Piece::{Literal, Untrusted};

fn joined(pieces: &[Piece<'_>]) -> String {
    let mut line = String::with_capacity(64);
    for piece in pieces {
        match piece {
            Literal(text) => line.push_str(text),
            Untrusted(text) => push_clean(&mut line, text, LONGEST_PART),
        }
    }
    line
}

/// The first path or address, and how many more there are.
type FirstAndRest<'a> = (&'a str, usize);

fn with_path(verb: &str, args: &ArgumentsByRole<'_>) -> Option<String> {
    let mut title = String::with_capacity(64);
    title.push_str(verb);
    push_path(
        &mut title,
        path(args).or_else(|| several(args.get(Role::Url)?))?,
    );
    Some(title)
}

fn path<'a>(args: &ArgumentsByRole<'a>) -> Option<FirstAndRest<'a>> {
    let roles = [Role::Path, Role::Folder];
    roles.iter().find_map(|role| several(args.get(*role)?))
}

fn several(value: &Value) -> Option<FirstAndRest<'_>> {
    match value {
        Value::String(text) => Some((text, 0)),
        Value::Array(items) => Some((first_text(Some(value))?, items.len() - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// Returns a text, or the first of a list: of texts, or of objects that name a file or an address.
fn first_text(value: Option<&Value>) -> Option<&str> {
    let first = match value? {
        Value::Array(items) => items.first()?,
        single => single,
    };
    if first.is_object() {
        let inner = ArgumentsByRole::of_input(Some(first));
        let roles = [Role::Path, Role::Url, Role::Query];
        return roles.iter().find_map(|role| inner.text(*role));
    }
    first.as_str()
}

fn push_path(title: &mut String, (path, more): FirstAndRest<'_>) {
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
        Lines { head: Some(1), .. } => write!(title, " (first line)"),
        Lines {
            head: Some(count), ..
        } => write!(title, " (first {count} lines)"),
        Lines { tail: Some(1), .. } => write!(title, " (last line)"),
        Lines {
            tail: Some(count), ..
        } => write!(title, " (last {count} lines)"),
        Lines { .. } => Ok(()),
    };
}

fn push_number(title: &mut String, number: &serde_json::Number) {
    let _ = write!(title, "{number}");
}
