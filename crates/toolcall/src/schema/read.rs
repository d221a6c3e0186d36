//! Reads the parts of a schema and follows its references, keyword by keyword.
//! It takes no reference on the stack, and none that leads out of the schema.

use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::SchemaError;
use super::graph::{Index, Part};
use crate::map::Map;
use crate::text::clean_line;

/// More than any model could use. Whoever compiles a schema may take all of them on the stack.
const MOST_PARTS: usize = 4_000;
/// Finding out what is unevaluated goes through the schemas for the same value again, twice.
const TIMES_FOR_UNEVALUATED: u64 = 3;

/// The parts of a schema, the whole first.
pub(super) fn read(schema: &Value) -> Result<Vec<Part>, SchemaError> {
    let mut reading = Reading::new(schema);
    reading.find_anchors(schema);
    reading.reach(schema)?;
    while let Some((index, schema)) = reading.unread.pop() {
        reading.parts[index] = reading.read(index, schema)?;
    }
    Ok(reading.parts)
}

/// A schema while it is read.
struct Reading<'s> {
    whole: &'s Value,
    /// What an `$id` is called: it depends on the draft.
    id: &'static str,
    anchors: Map<&'s str, &'s Value>,
    /// By address: the schema does not move meanwhile.
    known: Map<*const Value, Index>,
    parts: Vec<Part>,
    unread: Vec<(Index, &'s Value)>,
}

impl<'s> Reading<'s> {
    fn new(whole: &'s Value) -> Self {
        let draft = whole["$schema"].as_str().unwrap_or_default();
        Self {
            whole,
            id: if draft.contains("draft-04") {
                "id"
            } else {
                "$id"
            },
            anchors: Map::default(),
            known: Map::default(),
            parts: Vec::new(),
            unread: Vec::new(),
        }
    }

    /// Wherever they are: what looks like an anchor and is none is not referred to.
    fn find_anchors(&mut self, value: &'s Value) {
        match value {
            Value::Object(map) => {
                for key in ["$anchor", "$dynamicAnchor"] {
                    if let Some(name) = map.get(key).and_then(Value::as_str) {
                        self.anchors.insert(name, value);
                    }
                }
                map.values().for_each(|value| self.find_anchors(value));
            }
            Value::Array(items) => items.iter().for_each(|item| self.find_anchors(item)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// The number of a part. It is read later, so that nothing is taken on the stack.
    fn reach(&mut self, schema: &'s Value) -> Result<Index, SchemaError> {
        if let Some(index) = self.known.get(&std::ptr::from_ref(schema)) {
            return Ok(*index);
        }
        if self.parts.len() >= MOST_PARTS {
            return Err(SchemaError::TooMany(MOST_PARTS));
        }
        let index = self.parts.len();
        self.parts.push(Part::default());
        self.known.insert(schema, index);
        self.unread.push((index, schema));
        Ok(index)
    }

    fn read(&mut self, index: Index, schema: &'s Value) -> Result<Part, SchemaError> {
        let mut part = Part {
            own: 1,
            times: 1,
            ..Part::default()
        };
        let Value::Object(map) = schema else {
            return Ok(part);
        };
        if index != 0 && map.get(self.id).is_some_and(Value::is_string) {
            return Err(SchemaError::Embedded);
        }
        for (keyword, value) in map {
            self.read_same(&mut part, keyword, value)?;
            self.read_within(&mut part, keyword, value)?;
            read_own(&mut part, keyword, value);
        }
        Ok(part)
    }

    /// Keywords that apply schemas to the same value.
    fn read_same(
        &mut self,
        part: &mut Part,
        keyword: &str,
        value: &'s Value,
    ) -> Result<(), SchemaError> {
        let found = match keyword {
            "$ref" | "$dynamicRef" | "$recursiveRef" => vec![self.refer(value)?],
            "allOf" | "anyOf" | "oneOf" => self.reach_all(items_of(value))?,
            "not" | "if" | "then" | "else" => vec![self.reach(value)?],
            "dependentSchemas" | "dependencies" => self.reach_all(members_of(value))?,
            _ => return Ok(()),
        };
        part.here.extend(found);
        Ok(())
    }

    /// Keywords that apply schemas to what is in the value.
    fn read_within(
        &mut self,
        part: &mut Part,
        keyword: &str,
        value: &'s Value,
    ) -> Result<(), SchemaError> {
        match keyword {
            "properties" => {
                for (name, schema) in value.as_object().into_iter().flatten() {
                    part.properties.insert(name.clone(), self.reach(schema)?);
                }
            }
            "patternProperties" => {
                let found = self.reach_all(members_of(value))?;
                part.name_patterns += found.len() as u64;
                part.any_property.extend(found);
            }
            "additionalProperties" | "unevaluatedProperties" => {
                part.any_property.push(self.reach(value)?);
            }
            "propertyNames" => part.names.push(self.reach(value)?),
            "prefixItems" => part.first_items.extend(self.reach_all(items_of(value))?),
            "items" if value.is_array() => {
                part.first_items.extend(self.reach_all(items_of(value))?);
            }
            "items" | "additionalItems" | "unevaluatedItems" | "contains" => {
                part.any_item.push(self.reach(value)?);
            }
            _ => {}
        }
        Ok(())
    }

    fn reach_all(
        &mut self,
        schemas: impl Iterator<Item = &'s Value>,
    ) -> Result<Vec<Index>, SchemaError> {
        schemas.map(|schema| self.reach(schema)).collect()
    }

    fn refer(&mut self, reference: &'s Value) -> Result<Index, SchemaError> {
        let reference = reference.as_str().unwrap_or_default();
        match self.target(reference) {
            Some(target) => self.reach(target),
            None => Err(SchemaError::Unknown(clean_line(reference, 80))),
        }
    }

    fn target(&self, reference: &str) -> Option<&'s Value> {
        let name = percent_decode_str(reference.strip_prefix('#')?).decode_utf8();
        let name = name.ok()?;
        if name.is_empty() || name.starts_with('/') {
            self.whole.pointer(&name)
        } else {
            self.anchors.get(&*name).copied()
        }
    }
}

/// Keywords that look at the value itself.
fn read_own(part: &mut Part, keyword: &str, value: &Value) {
    match keyword {
        "unevaluatedProperties" | "unevaluatedItems" => part.times = TIMES_FOR_UNEVALUATED,
        "enum" | "const" | "required" | "dependentRequired" => part.own += count(value),
        "pattern" | "format" | "contentMediaType" | "contentEncoding" => part.text_checks += 1,
        "uniqueItems" => part.compares_items = true,
        _ => {}
    }
}

/// How many values there are in a value, itself included.
pub(super) fn count(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
        Value::Array(items) => 1 + items.iter().map(count).sum::<u64>(),
        Value::Object(map) => 1 + map.values().map(count).sum::<u64>(),
    }
}

fn items_of(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn members_of(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_object().into_iter().flat_map(|map| map.values())
}
