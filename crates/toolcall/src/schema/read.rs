//! Collects the subschemas of a schema and resolves its references, keyword by keyword.
//! It does not recurse into references, and accepts none that leads out of the schema.

use percent_encoding::percent_decode_str;
use serde_json::Value;

use super::SchemaError;
use super::graph::{Subschema, SubschemaId};
use crate::map::FastMap;
use crate::text::clean_line;

/// More than any model could use. Compiling may recurse through all of them.
const MOST_SUBSCHEMAS: usize = 4_000;
/// To find out what is unevaluated, the validator applies the subschemas for the same value twice
/// more.
const TIMES_FOR_UNEVALUATED: u64 = 3;

/// Returns the subschemas of a schema, the root first.
pub(super) fn read(schema: &Value) -> Result<Vec<Subschema>, SchemaError> {
    let mut builder = GraphBuilder::new(schema);
    builder.find_anchors(schema);
    builder.add(schema)?;
    while let Some((index, schema)) = builder.pending.pop() {
        builder.subschemas[index] = builder.read(index, schema)?;
    }
    Ok(builder.subschemas)
}

/// Collects subschemas.
struct GraphBuilder<'s> {
    root: &'s Value,
    /// The keyword for `$id`, which depends on the draft.
    id: &'static str,
    anchors: FastMap<&'s str, &'s Value>,
    /// Ids by address: the schema does not move meanwhile.
    known: FastMap<*const Value, SubschemaId>,
    subschemas: Vec<Subschema>,
    pending: Vec<(SubschemaId, &'s Value)>,
}

impl<'s> GraphBuilder<'s> {
    fn new(root: &'s Value) -> Self {
        let draft = root["$schema"].as_str().unwrap_or_default();
        Self {
            root,
            id: if draft.contains("draft-04") {
                "id"
            } else {
                "$id"
            },
            anchors: FastMap::default(),
            known: FastMap::default(),
            subschemas: Vec::new(),
            pending: Vec::new(),
        }
    }

    /// Finds anchors everywhere: something that only looks like one is never referred to.
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

    /// Returns the id of a subschema and queues it, so that nothing recurses.
    fn add(&mut self, schema: &'s Value) -> Result<SubschemaId, SchemaError> {
        if let Some(index) = self.known.get(&std::ptr::from_ref(schema)) {
            return Ok(*index);
        }
        if self.subschemas.len() >= MOST_SUBSCHEMAS {
            return Err(SchemaError::TooMany(MOST_SUBSCHEMAS));
        }
        let index = self.subschemas.len();
        self.subschemas.push(Subschema::default());
        self.known.insert(schema, index);
        self.pending.push((index, schema));
        Ok(index)
    }

    fn read(&mut self, index: SubschemaId, schema: &'s Value) -> Result<Subschema, SchemaError> {
        let mut subschema = Subschema {
            own: 1,
            times: 1,
            ..Subschema::default()
        };
        let Value::Object(map) = schema else {
            return Ok(subschema);
        };
        if index != 0 && map.get(self.id).is_some_and(Value::is_string) {
            return Err(SchemaError::Embedded);
        }
        for (keyword, value) in map {
            self.read_same(&mut subschema, keyword, value)?;
            self.read_within(&mut subschema, keyword, value)?;
            read_own(&mut subschema, keyword, value);
        }
        Ok(subschema)
    }

    /// Reads keywords that apply subschemas to the same value.
    fn read_same(
        &mut self,
        subschema: &mut Subschema,
        keyword: &str,
        value: &'s Value,
    ) -> Result<(), SchemaError> {
        let found = match keyword {
            "$ref" | "$dynamicRef" | "$recursiveRef" => vec![self.follow_reference(value)?],
            "allOf" | "anyOf" | "oneOf" => self.add_all(items_of(value))?,
            "not" | "if" | "then" | "else" => vec![self.add(value)?],
            "dependentSchemas" | "dependencies" => self.add_all(members_of(value))?,
            _ => return Ok(()),
        };
        subschema.same_value.extend(found);
        Ok(())
    }

    /// Reads keywords that apply subschemas to the contents of the value.
    fn read_within(
        &mut self,
        subschema: &mut Subschema,
        keyword: &str,
        value: &'s Value,
    ) -> Result<(), SchemaError> {
        match keyword {
            "properties" => {
                for (name, schema) in value.as_object().into_iter().flatten() {
                    subschema.properties.insert(name.clone(), self.add(schema)?);
                }
            }
            "patternProperties" => {
                let found = self.add_all(members_of(value))?;
                subschema.name_patterns += found.len() as u64;
                subschema.any_property.extend(found);
            }
            "additionalProperties" | "unevaluatedProperties" => {
                subschema.any_property.push(self.add(value)?);
            }
            "propertyNames" => subschema.names.push(self.add(value)?),
            "prefixItems" => subschema.first_items.extend(self.add_all(items_of(value))?),
            "items" if value.is_array() => {
                subschema.first_items.extend(self.add_all(items_of(value))?);
            }
            "items" | "additionalItems" | "unevaluatedItems" | "contains" => {
                subschema.any_item.push(self.add(value)?);
            }
            _ => {}
        }
        Ok(())
    }

    fn add_all(
        &mut self,
        schemas: impl Iterator<Item = &'s Value>,
    ) -> Result<Vec<SubschemaId>, SchemaError> {
        schemas.map(|schema| self.add(schema)).collect()
    }

    fn follow_reference(&mut self, reference: &'s Value) -> Result<SubschemaId, SchemaError> {
        let reference = reference.as_str().unwrap_or_default();
        match self.target(reference) {
            Some(target) => self.add(target),
            None => Err(SchemaError::Unknown(clean_line(reference, 80))),
        }
    }

    fn target(&self, reference: &str) -> Option<&'s Value> {
        let name = percent_decode_str(reference.strip_prefix('#')?).decode_utf8();
        let name = name.ok()?;
        if name.is_empty() || name.starts_with('/') {
            self.root.pointer(&name)
        } else {
            self.anchors.get(&*name).copied()
        }
    }
}

/// Reads keywords that check the value itself.
fn read_own(subschema: &mut Subschema, keyword: &str, value: &Value) {
    match keyword {
        "unevaluatedProperties" | "unevaluatedItems" => subschema.times = TIMES_FOR_UNEVALUATED,
        "enum" | "const" | "required" | "dependentRequired" => subschema.own += count(value),
        "pattern" | "format" | "contentMediaType" | "contentEncoding" => subschema.text_checks += 1,
        "uniqueItems" => subschema.compares_items = true,
        _ => {}
    }
}

/// Returns how many values a value contains, including itself.
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
