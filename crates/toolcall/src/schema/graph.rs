//! A schema as subschemas and the steps between them, with every reference followed.
//! It refuses what has no end or no bound; it checks no input and needs no deep stack.

use serde_json::Value;

use super::SchemaError;
use super::read::read;
use crate::map::FastMap;

/// What one value may cost at one place, however small it is.
const MOST_AT_ONCE: u64 = 20_000;
/// The number of a subschema.
pub(super) type SubschemaId = usize;

/// A schema, subschema by subschema. The first is the whole.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) subschemas: Vec<Subschema>,
    /// What all steps from the whole take; nothing if it goes in circles.
    pub(super) total_steps: Option<u64>,
    /// Whether anything in it looks at texts.
    pub(super) reads_text: bool,
}

/// One schema within the schema, as far as checking it takes steps.
#[derive(Debug, Default)]
pub(super) struct Subschema {
    /// What its own keywords take.
    pub(super) own: u64,
    /// Schemas for the same value, and how often those are gone through.
    pub(super) same_value: Vec<SubschemaId>,
    pub(super) times: u64,
    /// Schemas for properties by name.
    pub(super) properties: FastMap<String, SubschemaId>,
    /// Schemas for any property, by a pattern of its name or by none.
    pub(super) any_property: Vec<SubschemaId>,
    /// How many patterns names are matched with.
    pub(super) name_patterns: u64,
    /// Schemas for the names themselves.
    pub(super) names: Vec<SubschemaId>,
    /// Schemas for items by place, and for any.
    pub(super) first_items: Vec<SubschemaId>,
    pub(super) any_item: Vec<SubschemaId>,
    /// How many keywords look at texts.
    pub(super) text_checks: u64,
    /// Whether items are compared with each other.
    pub(super) compares_items: bool,
}

impl Subschema {
    fn same_value(&self) -> impl Iterator<Item = (SubschemaId, u64)> {
        self.same_value.iter().map(|index| (*index, self.times))
    }

    /// The schemas for what is within a value.
    fn within(&self) -> impl Iterator<Item = SubschemaId> {
        let properties = self.properties.values().chain(&self.any_property);
        let items = self.first_items.iter().chain(&self.any_item);
        properties.chain(&self.names).chain(items).copied()
    }
}

impl Graph {
    pub(super) fn read(schema: &Value) -> Result<Self, SchemaError> {
        let subschemas = read(schema)?;
        check_at_once(&subschemas)?;
        let total_steps = totals(&subschemas, |subschema| {
            let within = subschema.within().map(|index| (index, 1));
            subschema.same_value().chain(within).collect()
        });
        let reads_text =
            |subschema: &Subschema| subschema.text_checks + subschema.name_patterns > 0;
        Ok(Self {
            total_steps: total_steps[0],
            reads_text: subschemas.iter().any(reads_text),
            subschemas,
        })
    }
}

/// Whoever refers to itself for the same value never ends; whoever doubles often enough neither.
fn check_at_once(subschemas: &[Subschema]) -> Result<(), SchemaError> {
    for total in totals(subschemas, |subschema| subschema.same_value().collect()) {
        match total {
            None => return Err(SchemaError::Circular),
            Some(steps) if steps > MOST_AT_ONCE => {
                return Err(SchemaError::TooCostly(MOST_AT_ONCE));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// What each subschema takes together with all that follows it along these edges; nothing for those
/// that lead into a circle. Parts without edges come first, then whoever waits for them.
fn totals(
    subschemas: &[Subschema],
    edges: impl Fn(&Subschema) -> Vec<(SubschemaId, u64)>,
) -> Vec<Option<u64>> {
    let mut waiting: Vec<Vec<(SubschemaId, u64)>> = vec![Vec::new(); subschemas.len()];
    let mut open = vec![0; subschemas.len()];
    for (index, subschema) in subschemas.iter().enumerate() {
        for (target, times) in edges(subschema) {
            waiting[target].push((index, times));
            open[index] += 1;
        }
    }
    let mut sums: Vec<u64> = subschemas.iter().map(|subschema| subschema.own).collect();
    let mut ready: Vec<SubschemaId> = (0..subschemas.len())
        .filter(|index| open[*index] == 0)
        .collect();
    let mut totals = vec![None; subschemas.len()];
    while let Some(index) = ready.pop() {
        totals[index] = Some(sums[index]);
        for (source, times) in std::mem::take(&mut waiting[index]) {
            sums[source] = sums[source].saturating_add(sums[index].saturating_mul(times));
            open[source] -= 1;
            if open[source] == 0 {
                ready.push(source);
            }
        }
    }
    totals
}
