//! A schema as a graph of subschemas, with every reference followed.
//! It rejects endless and unbounded schemas; it checks no input and does not recurse.

use serde_json::Value;

use super::SchemaError;
use super::read::read;
use crate::map::FastMap;

/// The limit of steps for one value, however small it is.
const MOST_AT_ONCE: u64 = 20_000;
/// The index of a subschema.
pub(super) type SubschemaId = usize;

/// A schema as a list of subschemas. The first is the root.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) subschemas: Vec<Subschema>,
    /// The steps of all paths from the root; `None` if there is a cycle.
    pub(super) total_steps: Option<u64>,
    /// Whether any keyword matches texts.
    pub(super) reads_text: bool,
}

/// One subschema, as far as checking it takes steps.
#[derive(Debug, Default)]
pub(super) struct Subschema {
    /// The steps of its own keywords.
    pub(super) own: u64,
    /// Subschemas for the same value, and how often each is applied.
    pub(super) same_value: Vec<SubschemaId>,
    pub(super) times: u64,
    /// Subschemas for properties by name.
    pub(super) properties: FastMap<String, SubschemaId>,
    /// Subschemas for any property, by a pattern of its name or for all.
    pub(super) any_property: Vec<SubschemaId>,
    /// How many patterns property names are matched with.
    pub(super) name_patterns: u64,
    /// Subschemas for the property names themselves.
    pub(super) names: Vec<SubschemaId>,
    /// Subschemas for items by index, and for any item.
    pub(super) first_items: Vec<SubschemaId>,
    pub(super) any_item: Vec<SubschemaId>,
    /// How many keywords match texts.
    pub(super) text_checks: u64,
    /// Whether items are compared with each other.
    pub(super) compares_items: bool,
}

impl Subschema {
    fn same_value(&self) -> impl Iterator<Item = (SubschemaId, u64)> {
        self.same_value.iter().map(|index| (*index, self.times))
    }

    /// Returns the subschemas for the contents of a value.
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

/// Rejects subschemas that apply to the same value in a cycle, or too many times.
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

/// Returns the steps of each subschema together with all that follow along these edges; `None` for
/// those that lead into a cycle. Subschemas without edges come first, then those that depend on
/// them.
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
