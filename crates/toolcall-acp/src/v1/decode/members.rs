//! Reads members of a JSON object by type; null counts as missing.
//! It must not ignore a value of the wrong type silently.

use serde_json::{Map, Value};

use crate::finding::Findings;

/// Returns a member that is a string.
pub(super) fn text<'a>(
    map: &'a Map<String, Value>,
    key: &str,
    findings: &mut Findings,
) -> Option<&'a str> {
    let value = present(map, key)?;
    let text = value.as_str();
    if text.is_none() {
        findings.bad_field(key, value, "a string");
    }
    text
}

/// Returns a member that is a list.
pub(super) fn list<'a>(
    map: &'a Map<String, Value>,
    key: &str,
    findings: &mut Findings,
) -> Option<&'a [Value]> {
    let value = present(map, key)?;
    let list = value.as_array();
    if list.is_none() {
        findings.bad_field(key, value, "a list");
    }
    list.map(Vec::as_slice)
}

/// Returns a member that is an object.
pub(super) fn object<'a>(
    map: &'a Map<String, Value>,
    key: &str,
    findings: &mut Findings,
) -> Option<&'a Map<String, Value>> {
    let value = present(map, key)?;
    let object = value.as_object();
    if object.is_none() {
        findings.bad_field(key, value, "an object");
    }
    object
}

/// Returns a member that is a number.
pub(super) fn number(map: &Map<String, Value>, key: &str, findings: &mut Findings) -> Option<f64> {
    let value = present(map, key)?;
    let number = value.as_f64();
    if number.is_none() {
        findings.bad_field(key, value, "a number");
    }
    number
}

/// Returns a member that is a whole number and not negative.
pub(super) fn count(map: &Map<String, Value>, key: &str, findings: &mut Findings) -> Option<u64> {
    let value = present(map, key)?;
    let count = value.as_u64();
    if count.is_none() {
        findings.bad_field(key, value, "a whole number");
    }
    count
}

/// Returns a member that is present and not null.
pub(super) fn present<'a>(map: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    map.get(key).filter(|value| !value.is_null())
}
