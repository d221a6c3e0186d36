//! Decodes paths and locations.
//! A path is kept as it was sent; a problem with it becomes a finding and is not corrected.

use std::path::Path;

use serde_json::Value;
use toolcall::Location;

use super::members::present;
use crate::finding::{Findings, LintRule, quoted, type_of};

/// Decodes a list of locations. An item that is not a location is left out, with a finding.
pub(super) fn read(list: &[Value], findings: &mut Findings) -> Vec<Location> {
    list.iter()
        .filter_map(|item| location(item, findings))
        .collect()
}

/// Adds a finding for a path that an editor cannot open.
pub(super) fn check(path: &str, findings: &mut Findings) {
    if !is_absolute(path) {
        findings.note(LintRule::RelativePath, || {
            format!("{} is not an absolute path", quoted(path))
        });
    }
    if has_line_suffix(path) {
        findings.note(LintRule::BadLocation, || {
            format!(
                "{} ends in a line number, which is no part of a path",
                quoted(path)
            )
        });
    }
}

fn location(item: &Value, findings: &mut Findings) -> Option<Location> {
    let Some(path) = item.get("path").and_then(Value::as_str) else {
        findings.note(
            LintRule::BadLocation,
            || "a location without a path was left out",
        );
        return None;
    };
    check(path, findings);
    let line = item.as_object().and_then(|map| present(map, "line"));
    Some(match line.and_then(|line| read_line(line, findings)) {
        Some(line) => Location::line(path, line),
        None => Location::file(path),
    })
}

fn read_line(value: &Value, findings: &mut Findings) -> Option<u32> {
    let line = value.as_u64().and_then(|line| u32::try_from(line).ok());
    match line {
        Some(0) => findings.note(
            LintRule::BadLocation,
            || "lines count from 1, and this one is 0",
        ),
        Some(_) => {}
        None => findings.note(LintRule::BadLocation, || match value {
            Value::Number(number) => format!("{number} is no line of a file"),
            other => format!("a line is {}, not a whole number", type_of(other)),
        }),
    }
    line
}

/// Whether a path is absolute on the agent's system, which may differ from ours.
fn is_absolute(path: &str) -> bool {
    let is_windows = match path.as_bytes() {
        [drive, b':', b'/' | b'\\', ..] => drive.is_ascii_alphabetic(),
        [b'\\', b'\\', ..] => true,
        _ => false,
    };
    is_windows || Path::new(path).is_absolute()
}

/// Whether it ends like `main.rs:12` or `main.rs:12-20`.
fn has_line_suffix(path: &str) -> bool {
    let Some((_, lines)) = path.rsplit_once(':') else {
        return false;
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (first, last) = lines.split_once(['-', '–']).unwrap_or((lines, lines));
    is_number(first) && is_number(last)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    fn check(list: Value, expected: Expect) {
        let mut findings = Findings::default();
        let locations = read(list.as_array().unwrap(), &mut findings);
        let shown = |location: &Location| format!("{location:?}");
        let found = findings.into_vec().into_iter().map(|f| f.to_string());
        let lines: Vec<String> = locations.iter().map(shown).chain(found).collect();
        expected.assert_eq(&lines.join("\n"));
    }

    #[test]
    fn good_locations_are_read() {
        check(
            json!([{"path": "/a", "line": 42}, {"path": "C:\\b"}, {"path": "/c", "line": null}]),
            expect![[r#"
                Location { path: "/a", line: Some(42) }
                Location { path: "C:\\b", line: None }
                Location { path: "/c", line: None }"#]],
        );
    }

    #[test]
    fn bad_ones_are_noted_and_kept_as_far_as_they_go() {
        check(
            json!([
                {"path": "src/a.rs"}, {"path": "/a.rs:12-20"}, {"path": "/b", "line": 0},
                {"path": "/c", "line": "7"}, {"path": "/d", "line": -1}, {"line": 1}, "/e",
                {"path": "file:///f"}, {"path": "/odd:name"}
            ]),
            expect![[r#"
                Location { path: "src/a.rs", line: None }
                Location { path: "/a.rs:12-20", line: None }
                Location { path: "/b", line: Some(1) }
                Location { path: "/c", line: None }
                Location { path: "/d", line: None }
                Location { path: "file:///f", line: None }
                Location { path: "/odd:name", line: None }
                relative-path: `src/a.rs` is not an absolute path
                bad-location: `/a.rs:12-20` ends in a line number, which is no part of a path
                bad-location: lines count from 1, and this one is 0
                bad-location: a line is a string, not a whole number
                bad-location: -1 is no line of a file
                bad-location: a location without a path was left out
                bad-location: a location without a path was left out
                relative-path: `file:///f` is not an absolute path"#]],
        );
    }
}
