//! Computes how many steps it takes at most to check an input against a schema.
//! It counts each subschema with each value once, so that counting itself stays within the limit.

use serde_json::{Map, Value};

use super::graph::{Graph, Subschema, SubschemaId};
use super::read::count;
use crate::map::FastMap;

/// The deepest chain of subschemas: the validator recurses this far on the stack.
const DEEPEST_PATH: usize = 256;
/// Steps per byte of a text that is matched in linear time.
const STEPS_PER_BYTE: u64 = 16;
/// Squared bytes per step, where matching may take quadratic time.
const SQUARE_BYTES_PER_STEP: u64 = 16;

/// Which engine matches patterns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RegexEngine {
    /// Linear time.
    Linear,
    /// Up to quadratic time.
    Backtracking,
}

impl Graph {
    /// Returns the steps that checking this input takes at most; `None` if they exceed `most`.
    pub(super) fn steps(&self, input: &Value, engine: RegexEngine, most: u64) -> Option<u64> {
        // For most schemas this simple bound suffices.
        if let (Some(steps), false) = (self.total_steps, self.reads_text) {
            let bound = steps.saturating_mul(count(input));
            if bound <= most {
                return Some(bound);
            }
        }
        let mut counter = StepCounter {
            graph: self,
            engine,
            most,
            counted: FastMap::default(),
        };
        counter.steps(0, input, 0)
    }
}

struct StepCounter<'g> {
    graph: &'g Graph,
    engine: RegexEngine,
    most: u64,
    /// Steps by subschema and address of the value, which does not move meanwhile.
    counted: FastMap<(SubschemaId, *const Value), u64>,
}

impl StepCounter<'_> {
    fn steps(&mut self, index: SubschemaId, value: &Value, depth: usize) -> Option<u64> {
        let key = (index, std::ptr::from_ref(value));
        if let Some(steps) = self.counted.get(&key) {
            return Some(*steps);
        }
        if depth >= DEEPEST_PATH || self.counted.len() as u64 >= self.most {
            return None;
        }
        let subschema = &self.graph.subschemas[index];
        let mut sum = StepSum {
            steps: subschema.own,
            most: self.most,
        };
        for same in &subschema.same_value {
            let steps = self.steps(*same, value, depth + 1)?;
            sum.add(steps.saturating_mul(subschema.times))?;
        }
        match value {
            Value::String(text) => sum.add(self.matching(subschema.text_checks, text))?,
            Value::Array(items) => self.items(subschema, items, depth, &mut sum)?,
            Value::Object(map) => self.members(subschema, map, depth, &mut sum)?,
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        self.counted.insert(key, sum.steps);
        Some(sum.steps)
    }

    fn items(
        &mut self,
        subschema: &Subschema,
        items: &[Value],
        depth: usize,
        sum: &mut StepSum,
    ) -> Option<()> {
        if subschema.compares_items {
            sum.add(items.iter().map(count).sum())?;
        }
        for (index_in_array, item) in items.iter().enumerate() {
            for schema in subschema
                .first_items
                .get(index_in_array)
                .into_iter()
                .chain(&subschema.any_item)
            {
                sum.add(self.steps(*schema, item, depth + 1)?)?;
            }
        }
        Some(())
    }

    fn members(
        &mut self,
        subschema: &Subschema,
        map: &Map<String, Value>,
        depth: usize,
        sum: &mut StepSum,
    ) -> Option<()> {
        for (name, value) in map {
            sum.add(self.matching(subschema.name_patterns, name))?;
            for schema in &subschema.names {
                sum.add(self.name(*schema, name, depth + 1)?)?;
            }
            let named = subschema.properties.get(name);
            for schema in named.into_iter().chain(&subschema.any_property) {
                sum.add(self.steps(*schema, value, depth + 1)?)?;
            }
        }
        Some(())
    }

    /// Counts the steps for a property name, which is not a `Value` and so is not cached.
    fn name(&mut self, index: SubschemaId, name: &str, depth: usize) -> Option<u64> {
        if depth >= DEEPEST_PATH {
            return None;
        }
        let subschema = &self.graph.subschemas[index];
        let mut sum = StepSum {
            steps: subschema
                .own
                .saturating_add(self.matching(subschema.text_checks, name)),
            most: self.most,
        };
        for same in &subschema.same_value {
            let steps = self.name(*same, name, depth + 1)?;
            sum.add(steps.saturating_mul(subschema.times))?;
        }
        Some(sum.steps)
    }

    fn matching(&self, times: u64, text: &str) -> u64 {
        let bytes = text.len() as u64;
        let once = match self.engine {
            RegexEngine::Linear => bytes.saturating_mul(STEPS_PER_BYTE),
            RegexEngine::Backtracking => {
                let square = bytes.saturating_mul(bytes) / SQUARE_BYTES_PER_STEP;
                square.saturating_add(bytes.saturating_mul(STEPS_PER_BYTE))
            }
        };
        once.saturating_mul(times)
    }
}

/// A sum of steps with a limit.
struct StepSum {
    steps: u64,
    most: u64,
}

impl StepSum {
    fn add(&mut self, steps: u64) -> Option<()> {
        self.steps = self.steps.saturating_add(steps);
        (self.steps <= self.most).then_some(())
    }
}
