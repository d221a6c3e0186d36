//! Validates a line by parsing every value and dropping it again.
//! It must not keep anything, so that a large line costs no more than its text.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// The prefix of names that `serde_json` reserves: it parses the text under such a name as JSON again,
/// with a new depth limit.
const RESERVED: &str = "$serde_json::private::";

/// Whether the line may contain a reserved name.
pub(super) fn may_have_reserved_names(line: &str) -> bool {
    line.contains(RESERVED)
}

/// Parses every value of the line.
pub(super) fn check(line: &str) -> serde_json::Result<()> {
    serde_json::from_str::<ValidValue>(line).map(|ValidValue| ())
}

/// Any valid value.
struct ValidValue;

impl<'de> Deserialize<'de> for ValidValue {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = ValidValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<ValidValue, E> {
        Ok(ValidValue)
    }

    fn visit_i64<E>(self, _: i64) -> Result<ValidValue, E> {
        Ok(ValidValue)
    }

    fn visit_u64<E>(self, _: u64) -> Result<ValidValue, E> {
        Ok(ValidValue)
    }

    fn visit_f64<E>(self, _: f64) -> Result<ValidValue, E> {
        Ok(ValidValue)
    }

    fn visit_str<E>(self, _: &str) -> Result<ValidValue, E> {
        Ok(ValidValue)
    }

    fn visit_unit<E>(self) -> Result<ValidValue, E> {
        Ok(ValidValue)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<ValidValue, A::Error> {
        while let Some(ValidValue) = items.next_element()? {}
        Ok(ValidValue)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<ValidValue, A::Error> {
        while let Some((PlainName, ValidValue)) = members.next_entry()? {}
        Ok(ValidValue)
    }
}

/// A member's name that is not reserved.
struct PlainName;

impl<'de> Deserialize<'de> for PlainName {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_str(NameVisitor)
    }
}

struct NameVisitor;

impl Visitor<'_> for NameVisitor {
    type Value = PlainName;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<PlainName, E> {
        if name.starts_with(RESERVED) {
            return Err(E::custom("reserved name"));
        }
        Ok(PlainName)
    }
}

#[cfg(test)]
mod tests {
    fn check(line: &str, expected: Option<&str>) {
        let error = super::check(line).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), expected, "{line}");
    }

    #[test]
    fn valid_lines_pass() {
        check(r#"{"a":[1,-1,1.5,1e5,true,null,"\ud83d\ude00",{}]}"#, None);
    }

    #[test]
    fn what_a_skipping_reader_overlooks_is_found() {
        let lone = "lone leading surrogate in hex escape at line 1 column 8";
        check(r#"["\udc00"]"#, Some(lone));
        check("[1e999]", Some("number out of range at line 1 column 6"));
    }

    #[test]
    fn reserved_names_are_found_however_they_are_spelled() {
        let found = |column| format!("reserved name at line 1 column {column}");
        check(
            r#"{"$serde_json::private::RawValue":"[]"}"#,
            Some(&found(33)),
        );
        check(
            r#"{"\u0024serde_json::private::Number":1}"#,
            Some(&found(36)),
        );
    }
}
