//! Finds the arguments of a call by what their keys usually mean: paths, lines, queries, commands.
//! It must not resolve a path, touch a file or decide anything: a key is only a hint.

use std::borrow::Cow;
use std::path::Path;

use serde_json::{Map, Value};

use crate::intent::Location;

mod keys;

pub(crate) use keys::{Role, role, same_key};

/// The largest number of locations for one call.
const MOST_LOCATIONS: usize = 64;

/// Returns every path argument as it was written, including relative ones, `file:` addresses and
/// directories.
///
/// The directory that a command runs in is not among them.
pub fn paths(input: Option<&Value>) -> Vec<&str> {
    let mut found = Vec::new();
    if let Some(Value::Object(map)) = input {
        each_path(map, &mut |path, _| found.push(path));
    }
    found
}

/// Returns the absolute paths among the arguments, each with its line where one is given.
pub fn locations(input: Option<&Value>) -> Vec<Location> {
    let Some(Value::Object(map)) = input else {
        return Vec::new();
    };
    let mut found: Vec<Location> = Vec::new();
    each_path(map, &mut |path, lines| {
        if found.len() < MOST_LOCATIONS
            && let Some(location) = location(path, lines)
            && !found.contains(&location)
        {
            found.push(location);
        }
    });
    found
}

/// Returns the path that an argument names: a `file:` address is decoded, anything else is
/// unchanged.
pub fn file_path(text: &str) -> Cow<'_, str> {
    let Some(rest) = strip_scheme(text) else {
        return Cow::Borrowed(text);
    };
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    let decoded = percent_decoded(rest);
    match decoded.as_bytes() {
        // `file:///C:/x` names `C:/x`.
        [b'/', drive, b':', b'/', ..] if drive.is_ascii_alphabetic() => {
            Cow::Owned(decoded[1..].to_owned())
        }
        _ => decoded,
    }
}

fn location(path: &str, lines: LazyLines<'_>) -> Option<Location> {
    let path = file_path(path);
    if !Path::new(&*path).is_absolute() || path.contains('\0') {
        return None;
    }
    let line = lines().and_then(|lines| u32::try_from(lines.first?).ok());
    Some(match line {
        Some(line) => Location::line(path.into_owned(), line),
        None => Location::file(path.into_owned()),
    })
}

fn strip_scheme(text: &str) -> Option<&str> {
    let scheme = text.get(.."file://".len())?;
    scheme
        .eq_ignore_ascii_case("file://")
        .then(|| &text["file://".len()..])
}

/// Decodes `%41`; an invalid escape, or one that would not be UTF-8, is unchanged.
fn percent_decoded(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        match escaped(rest) {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[3..];
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).map_or(Cow::Borrowed(text), Cow::Owned)
}

fn escaped(bytes: &[u8]) -> Option<u8> {
    let [b'%', high, low, ..] = bytes else {
        return None;
    };
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

/// A range of lines in a file, counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Lines {
    pub(crate) first: Option<u64>,
    pub(crate) last: Option<u64>,
    /// How many lines from the beginning, if no first line is given.
    pub(crate) head: Option<u64>,
    /// How many lines from the end.
    pub(crate) tail: Option<u64>,
}

impl Lines {
    fn of(args: &ArgumentsByRole<'_>) -> Option<Self> {
        let number = |role| args.get(role).and_then(Value::as_u64);
        if let Some(Value::Array(range)) = args.get(Role::LineRange) {
            let first = range.first().and_then(Value::as_u64)?.max(1);
            let last = range.get(1).and_then(Value::as_u64);
            return Some(Self::between(first, last));
        }
        let limit = number(Role::Limit);
        let first = number(Role::Line)
            .or(number(Role::Offset))
            .map(|n| n.max(1));
        let Some(first) = first else {
            let (head, tail) = (number(Role::Head).or(limit), number(Role::Tail));
            let lines = Self {
                head,
                tail,
                ..Self::default()
            };
            return (head.or(tail).is_some()).then_some(lines);
        };
        let counted = limit.map(|count| first.saturating_add(count.max(1) - 1));
        Some(Self::between(first, number(Role::EndLine).or(counted)))
    }

    fn between(first: u64, last: Option<u64>) -> Self {
        Self {
            first: Some(first),
            last: last.filter(|last| *last >= first),
            ..Self::default()
        }
    }
}

/// The arguments of one call, or the properties of one schema, by role.
pub(crate) struct ArgumentsByRole<'a> {
    found: [Option<&'a Value>; Role::COUNT],
}

impl<'a> ArgumentsByRole<'a> {
    /// Sorts the arguments of a call by role; a value of the wrong type is skipped.
    pub(crate) fn of_input(input: Option<&'a Value>) -> Self {
        Self::of(input.and_then(Value::as_object), fits)
    }

    /// Sorts the properties of a JSON schema by role.
    pub(crate) fn of_schema(schema: Option<&'a Value>) -> Self {
        let properties = schema.and_then(|schema| schema.get("properties"));
        Self::of(properties.and_then(Value::as_object), |_, _| true)
    }

    pub(crate) fn get(&self, role: Role) -> Option<&'a Value> {
        self.found[role as usize]
    }

    pub(crate) fn has(&self, role: Role) -> bool {
        self.get(role).is_some()
    }

    pub(crate) fn text(&self, role: Role) -> Option<&'a str> {
        self.get(role).and_then(Value::as_str)
    }

    pub(crate) fn lines(&self) -> Option<Lines> {
        Lines::of(self)
    }

    fn of(map: Option<&'a Map<String, Value>>, accept: fn(Role, &Value) -> bool) -> Self {
        let mut found = [None; Role::COUNT];
        let mut exact = [false; Role::COUNT];
        for (key, value) in map.into_iter().flatten() {
            let Some(key) = role(key) else { continue };
            let at = key.role as usize;
            // `path` is more specific than `csv_path`: a key from the table wins over one that
            // resembles it.
            if accept(key.role, value) && (found[at].is_none() || (key.exact && !exact[at])) {
                found[at] = Some(value);
                exact[at] = key.exact;
            }
        }
        Self { found }
    }
}

fn fits(role: Role, value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(_) => false,
        Value::Number(_) => role.is_number() || role == Role::Name,
        Value::String(text) => !role.is_number() && !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(_) => !role.is_number(),
    }
}

type PathVisitor<'v, 'a> = &'v mut dyn FnMut(&'a str, LazyLines<'_>);

/// Computes the lines that belong to a path, only when they are needed.
type LazyLines<'l> = &'l dyn Fn() -> Option<Lines>;

/// Calls `visit` for every path of the arguments, with its lines.
fn each_path<'a>(map: &'a Map<String, Value>, visit: PathVisitor<'_, 'a>) {
    let lines = || ArgumentsByRole::of(Some(map), fits).lines();
    for (name, value) in map {
        let Some(key) = role(name) else { continue };
        if matches!(key.role, Role::Path | Role::Folder) {
            each_named(value, &lines, visit);
        } else if matches!(key.role, Role::From | Role::To) {
            each_likely(name, value, visit);
        } else if key.role == Role::Url {
            each_address(value, &lines, visit);
        } else if key.role == Role::Edits {
            each_nested(value, visit);
        }
    }
}

fn each_named<'a>(value: &'a Value, lines: LazyLines<'_>, visit: PathVisitor<'_, 'a>) {
    match value {
        Value::String(path) if !path.is_empty() => visit(path, lines),
        Value::Array(items) => {
            for path in items.iter().filter_map(Value::as_str) {
                visit(path, &|| None);
            }
            each_nested(value, visit);
        }
        Value::Object(_) => each_nested(value, visit),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Visits `from` and `to` if they look like paths: they name people, times and points as well.
fn each_likely<'a>(name: &str, value: &'a Value, visit: PathVisitor<'_, 'a>) {
    if let Value::String(text) = value
        && (names_path(name) || looks_like_path(text))
    {
        visit(text, &|| None);
    }
}

fn names_path(name: &str) -> bool {
    name.contains("path") || name.contains("Path")
}

fn each_address<'a>(value: &'a Value, lines: LazyLines<'_>, visit: PathVisitor<'_, 'a>) {
    let addresses = value
        .as_array()
        .map_or(std::slice::from_ref(value), Vec::as_slice);
    for address in addresses.iter().filter_map(Value::as_str) {
        if strip_scheme(address).is_some() {
            visit(address, lines);
        }
    }
}

/// Visits paths one level down: in a list of objects that each name a file, or an object keyed by
/// path.
fn each_nested<'a>(value: &'a Value, visit: PathVisitor<'_, 'a>) {
    match value {
        Value::Array(items) => {
            for map in items.iter().filter_map(Value::as_object) {
                let args = ArgumentsByRole::of(Some(map), fits);
                if let Some(path) = args.text(Role::Path) {
                    visit(path, &|| args.lines());
                }
            }
        }
        Value::Object(map) => {
            for path in map.keys().filter(|key| looks_like_path(key)) {
                visit(path, &|| None);
            }
            if let Some(path) = ArgumentsByRole::of(Some(map), fits).text(Role::Path) {
                visit(path, &|| None);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn looks_like_path(text: &str) -> bool {
    if text.contains("://") {
        return strip_scheme(text).is_some();
    }
    let blank = |c: char| c.is_whitespace();
    text.starts_with(['/', '.', '~'])
        || text.contains(['/', '\\'])
        || (text.contains('.') && !text.contains('@') && !text.contains(blank))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    fn check(input: Value, expected: Expect) {
        let places = locations(Some(&input));
        let places: Vec<_> = places.iter().map(|at| (&at.path, at.line)).collect();
        expected.assert_eq(&format!("{:?} {places:?}", paths(Some(&input))));
    }

    #[test]
    fn paths_are_found_as_written() {
        check(
            json!({"file_path": "/w/a.rs", "offset": 10, "limit": 5}),
            expect![[r#"["/w/a.rs"] [("/w/a.rs", Some(10))]"#]],
        );
        check(
            json!({"filePath": "src/a.rs", "line": 3}),
            expect![[r#"["src/a.rs"] []"#]],
        );
        check(
            json!({"uri": "file:///w/a%20b.rs", "line": 0}),
            expect![[r#"["file:///w/a%20b.rs"] [("/w/a b.rs", Some(1))]"#]],
        );
        check(
            json!({"paths": ["/w/a", "b", 3], "cwd": "/w"}),
            expect![[r#"["/w/a", "b"] [("/w/a", None)]"#]],
        );
        check(
            json!({"files": [{"path": "/w/a", "start_line": 7}, {"path": "b"}]}),
            expect![[r#"["/w/a", "b"] [("/w/a", Some(7))]"#]],
        );
    }

    #[test]
    fn both_ends_of_a_move_are_paths() {
        check(
            json!({"source": "/w/a", "destination": "/w/b"}),
            expect![[r#"["/w/a", "/w/b"] [("/w/a", None), ("/w/b", None)]"#]],
        );
        check(
            json!({"from": "ann@example.com", "to": "bob@example.com"}),
            expect!["[] []"],
        );
        check(
            json!({"old_path": "a", "new_path": "b"}),
            expect![[r#"["a", "b"] []"#]],
        );
    }

    #[test]
    fn addresses_elsewhere_are_no_paths() {
        check(
            json!({"url": "https://example.com/a", "path": ""}),
            expect!["[] []"],
        );
        check(json!("/w/a"), expect!["[] []"]);
    }

    #[test]
    fn broken_escapes_stay_as_written() {
        assert_eq!(file_path("file:///w/%zz%4"), "/w/%zz%4");
        assert_eq!(file_path("file:///w/%ff"), "/w/%ff");
        assert_eq!(file_path("FILE://localhost/w"), "/w");
    }
}
