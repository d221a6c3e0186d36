//! A schema as parts and the steps between them, with every reference followed.
//! It refuses what has no end or no bound; it checks no input and needs no deep stack.

use serde_json::Value;

use super::SchemaError;
use super::read::read;
use crate::map::Map;

/// What one value may cost at one place, however small it is.
const MOST_AT_ONCE: u64 = 20_000;
/// The number of a part.
pub(super) type Index = usize;

/// A schema, part by part. The first is the whole.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) parts: Vec<Part>,
    /// What all ways from the whole take; nothing if it goes in circles.
    pub(super) all_ways: Option<u64>,
    /// Whether anything in it looks at texts.
    pub(super) reads_text: bool,
}

/// One schema within the schema, as far as checking it takes steps.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// What its own keywords take.
    pub(super) own: u64,
    /// Schemas for the same value, and how often those are gone through.
    pub(super) here: Vec<Index>,
    pub(super) times: u64,
    /// Schemas for properties by name.
    pub(super) properties: Map<String, Index>,
    /// Schemas for any property, by a pattern of its name or by none.
    pub(super) any_property: Vec<Index>,
    /// How many patterns names are matched with.
    pub(super) name_patterns: u64,
    /// Schemas for the names themselves.
    pub(super) names: Vec<Index>,
    /// Schemas for items by place, and for any.
    pub(super) first_items: Vec<Index>,
    pub(super) any_item: Vec<Index>,
    /// How many keywords look at texts.
    pub(super) text_checks: u64,
    /// Whether items are compared with each other.
    pub(super) compares_items: bool,
}

impl Part {
    fn here(&self) -> impl Iterator<Item = (Index, u64)> {
        self.here.iter().map(|index| (*index, self.times))
    }

    /// The schemas for what is within a value.
    fn within(&self) -> impl Iterator<Item = Index> {
        let properties = self.properties.values().chain(&self.any_property);
        let items = self.first_items.iter().chain(&self.any_item);
        properties.chain(&self.names).chain(items).copied()
    }
}

impl Graph {
    pub(super) fn read(schema: &Value) -> Result<Self, SchemaError> {
        let parts = read(schema)?;
        check_at_once(&parts)?;
        let all_ways = totals(&parts, |part| {
            let within = part.within().map(|index| (index, 1));
            part.here().chain(within).collect()
        });
        let reads_text = |part: &Part| part.text_checks + part.name_patterns > 0;
        Ok(Self {
            all_ways: all_ways[0],
            reads_text: parts.iter().any(reads_text),
            parts,
        })
    }
}

/// Whoever refers to itself for the same value never ends; whoever doubles often enough neither.
fn check_at_once(parts: &[Part]) -> Result<(), SchemaError> {
    for total in totals(parts, |part| part.here().collect()) {
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

/// What each part takes together with all that follows it along these edges; nothing for those
/// that lead into a circle. Parts without edges come first, then whoever waits for them.
fn totals(parts: &[Part], edges: impl Fn(&Part) -> Vec<(Index, u64)>) -> Vec<Option<u64>> {
    let mut waiting: Vec<Vec<(Index, u64)>> = vec![Vec::new(); parts.len()];
    let mut open = vec![0; parts.len()];
    for (index, part) in parts.iter().enumerate() {
        for (target, times) in edges(part) {
            waiting[target].push((index, times));
            open[index] += 1;
        }
    }
    let mut sums: Vec<u64> = parts.iter().map(|part| part.own).collect();
    let mut ready: Vec<Index> = (0..parts.len()).filter(|index| open[*index] == 0).collect();
    let mut totals = vec![None; parts.len()];
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
