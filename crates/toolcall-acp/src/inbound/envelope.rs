//! The members of a JSON-RPC message, borrowed from its line and not parsed further.
//! If parsing fails, it keeps the members before the failure: a bad line may still have an id.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, de};
use serde_json::value::RawValue;

/// A member of a JSON-RPC message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Member {
    Jsonrpc,
    Id,
    Method,
    Params,
    Result,
    Error,
    Other,
}

/// The value of a member, as far as it was parsed.
#[derive(Clone, Copy, Debug, Default)]
enum Slot<'a> {
    #[default]
    Absent,
    /// Its name was parsed, its value was not.
    Begun,
    Read(&'a RawValue),
}

/// The members of a message.
#[derive(Debug, Default)]
pub(crate) struct Envelope<'a> {
    slots: [Slot<'a>; 6],
    duplicate: Option<Member>,
}

impl<'a> Envelope<'a> {
    /// Parses an object. If that fails, the members before the failure are kept.
    pub(crate) fn read(text: &'a str) -> (Self, serde_json::Result<()>) {
        let mut envelope = Self::default();
        let mut json = serde_json::Deserializer::from_str(text);
        let read = (&mut envelope).deserialize(&mut json);
        (envelope, read.and_then(|()| json.end()))
    }

    /// Returns the value of a member.
    pub(crate) fn get(&self, member: Member) -> Option<&'a RawValue> {
        match self.slots.get(member as usize)? {
            Slot::Read(value) => Some(value),
            Slot::Absent | Slot::Begun => None,
        }
    }

    /// Whether the member is present, even if its value could not be parsed.
    pub(crate) fn has(&self, member: Member) -> bool {
        match self.slots.get(member as usize) {
            Some(Slot::Begun | Slot::Read(_)) => true,
            Some(Slot::Absent) | None => false,
        }
    }

    /// Returns the first JSON-RPC member that appears more than once.
    pub(crate) fn duplicate(&self) -> Option<Member> {
        self.duplicate
    }

    /// Whether this is a response. A response is never answered.
    pub(crate) fn is_response(&self) -> bool {
        !self.has(Member::Method) && (self.has(Member::Result) || self.has(Member::Error))
    }

    fn begin(&mut self, member: Member) {
        if self.has(member) {
            self.duplicate = self.duplicate.or(Some(member));
        }
        self.set(member, Slot::Begun);
    }

    fn set(&mut self, member: Member, value: Slot<'a>) {
        if let Some(slot) = self.slots.get_mut(member as usize) {
            *slot = value;
        }
    }
}

impl Member {
    /// Returns its name in JSON.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Jsonrpc => "jsonrpc",
            Self::Id => "id",
            Self::Method => "method",
            Self::Params => "params",
            Self::Result => "result",
            Self::Error => "error",
            Self::Other => "other",
        }
    }

    fn from_name(name: &str) -> Self {
        match name {
            "jsonrpc" => Self::Jsonrpc,
            "id" => Self::Id,
            "method" => Self::Method,
            "params" => Self::Params,
            "result" => Self::Result,
            "error" => Self::Error,
            _ => Self::Other,
        }
    }
}

impl<'de> DeserializeSeed<'de> for &mut Envelope<'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<(), D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for &mut Envelope<'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(member) = members.next_key::<Member>()? {
            self.begin(member);
            match member {
                Member::Other => drop(members.next_value::<IgnoredAny>()?),
                Member::Jsonrpc
                | Member::Id
                | Member::Method
                | Member::Params
                | Member::Result
                | Member::Error => self.set(member, Slot::Read(members.next_value()?)),
            }
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Member {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_str(MemberNameVisitor)
    }
}

struct MemberNameVisitor;

impl Visitor<'_> for MemberNameVisitor {
    type Value = Member;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Member, E> {
        Ok(Member::from_name(name))
    }
}
