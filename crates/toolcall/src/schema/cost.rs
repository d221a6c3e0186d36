//! How many steps it takes at most to check an input against a schema.
//! It only counts, and each part with each value once, so that counting takes no longer than is allowed.

use serde_json::{Map as Object, Value};

use super::graph::{Graph, Index, Part};
use super::read::count;
use crate::map::Map;

/// Whoever checks an input takes this on the stack.
const LONGEST_WAY: usize = 256;
/// Steps for a byte that is matched in time that grows with the text.
const FOR_A_BYTE: u64 = 16;
/// Bytes times bytes for a step, where it may grow with the square of the text.
const SQUARE_BYTES: u64 = 16;

/// What matches patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    /// In time that grows with the text.
    Linear,
    /// In time that may grow with the square of it.
    Backtracking,
}

impl Graph {
    /// The steps that checking this input takes at most; nothing if those are more than `most`.
    pub(super) fn steps(&self, input: &Value, engine: Engine, most: u64) -> Option<u64> {
        // Most schemas are so small that no input could go through them in too many ways.
        if let (Some(ways), false) = (self.all_ways, self.reads_text) {
            let bound = ways.saturating_mul(count(input));
            if bound <= most {
                return Some(bound);
            }
        }
        let mut counting = Counting {
            graph: self,
            engine,
            most,
            counted: Map::default(),
        };
        counting.steps(0, input, 0)
    }
}

struct Counting<'g> {
    graph: &'g Graph,
    engine: Engine,
    most: u64,
    /// By part and the address of the value, which does not move meanwhile.
    counted: Map<(Index, *const Value), u64>,
}

impl Counting<'_> {
    fn steps(&mut self, index: Index, value: &Value, way: usize) -> Option<u64> {
        let key = (index, std::ptr::from_ref(value));
        if let Some(steps) = self.counted.get(&key) {
            return Some(*steps);
        }
        if way >= LONGEST_WAY || self.counted.len() as u64 >= self.most {
            return None;
        }
        let part = &self.graph.parts[index];
        let mut sum = Sum {
            steps: part.own,
            most: self.most,
        };
        for same in &part.here {
            let steps = self.steps(*same, value, way + 1)?;
            sum.add(steps.saturating_mul(part.times))?;
        }
        match value {
            Value::String(text) => sum.add(self.matching(part.text_checks, text))?,
            Value::Array(items) => self.items(part, items, way, &mut sum)?,
            Value::Object(map) => self.members(part, map, way, &mut sum)?,
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        self.counted.insert(key, sum.steps);
        Some(sum.steps)
    }

    fn items(&mut self, part: &Part, items: &[Value], way: usize, sum: &mut Sum) -> Option<()> {
        if part.compares_items {
            sum.add(items.iter().map(count).sum())?;
        }
        for (place, item) in items.iter().enumerate() {
            for schema in part
                .first_items
                .get(place)
                .into_iter()
                .chain(&part.any_item)
            {
                sum.add(self.steps(*schema, item, way + 1)?)?;
            }
        }
        Some(())
    }

    fn members(
        &mut self,
        part: &Part,
        map: &Object<String, Value>,
        way: usize,
        sum: &mut Sum,
    ) -> Option<()> {
        for (name, value) in map {
            sum.add(self.matching(part.name_patterns, name))?;
            for schema in &part.names {
                sum.add(self.name(*schema, name, way + 1)?)?;
            }
            let named = part.properties.get(name);
            for schema in named.into_iter().chain(&part.any_property) {
                sum.add(self.steps(*schema, value, way + 1)?)?;
            }
        }
        Some(())
    }

    /// A name has no address of its own as a value, and is not counted twice.
    fn name(&mut self, index: Index, name: &str, way: usize) -> Option<u64> {
        if way >= LONGEST_WAY {
            return None;
        }
        let part = &self.graph.parts[index];
        let mut sum = Sum {
            steps: part
                .own
                .saturating_add(self.matching(part.text_checks, name)),
            most: self.most,
        };
        for same in &part.here {
            let steps = self.name(*same, name, way + 1)?;
            sum.add(steps.saturating_mul(part.times))?;
        }
        Some(sum.steps)
    }

    fn matching(&self, times: u64, text: &str) -> u64 {
        let bytes = text.len() as u64;
        let once = match self.engine {
            Engine::Linear => bytes.saturating_mul(FOR_A_BYTE),
            Engine::Backtracking => {
                let square = bytes.saturating_mul(bytes) / SQUARE_BYTES;
                square.saturating_add(bytes.saturating_mul(FOR_A_BYTE))
            }
        };
        once.saturating_mul(times)
    }
}

/// Steps that add up until they are too many.
struct Sum {
    steps: u64,
    most: u64,
}

impl Sum {
    fn add(&mut self, steps: u64) -> Option<()> {
        self.steps = self.steps.saturating_add(steps);
        (self.steps <= self.most).then_some(())
    }
}
