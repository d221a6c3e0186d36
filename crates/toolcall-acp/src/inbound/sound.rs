//! The second look at a line: every value is read, and dropped again.
//! It must not keep anything, so that a large line costs no more than its text.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Names that `serde_json` gives a meaning of its own: under them it reads a text as JSON again,
/// each time as deep as it likes.
const RESERVED: &str = "$serde_json::private::";

/// Whether the line must be looked at for its names.
pub(super) fn may_have_reserved_names(line: &str) -> bool {
    line.contains(RESERVED)
}

/// Reads every value of the line.
pub(super) fn check(line: &str) -> serde_json::Result<()> {
    serde_json::from_str::<Sound>(line).map(|Sound| ())
}

/// Any value.
struct Sound;

impl<'de> Deserialize<'de> for Sound {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Sound;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Sound, E> {
        Ok(Sound)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Sound, E> {
        Ok(Sound)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Sound, E> {
        Ok(Sound)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Sound, E> {
        Ok(Sound)
    }

    fn visit_str<E>(self, _: &str) -> Result<Sound, E> {
        Ok(Sound)
    }

    fn visit_unit<E>(self) -> Result<Sound, E> {
        Ok(Sound)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Sound, A::Error> {
        while let Some(Sound) = items.next_element()? {}
        Ok(Sound)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Sound, A::Error> {
        while let Some((PlainName, Sound)) = members.next_entry()? {}
        Ok(Sound)
    }
}

/// A member's name, unless it is a reserved one.
struct PlainName;

impl<'de> Deserialize<'de> for PlainName {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_str(AnyName)
    }
}

struct AnyName;

impl Visitor<'_> for AnyName {
    type Value = PlainName;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<PlainName, E> {
        match name.starts_with(RESERVED) {
            true => Err(E::custom("reserved name")),
            false => Ok(PlainName),
        }
    }
}

#[cfg(test)]
mod tests {
    fn check(line: &str, expected: Option<&str>) {
        let error = super::check(line).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), expected, "{line}");
    }

    #[test]
    fn what_is_sound_passes() {
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
