//! A compiled JSON schema, and a bounded check of inputs against it.
//! A schema may be hostile: neither compiling nor checking may overflow the stack or exceed its
//! limit.

mod cost;
mod graph;
mod read;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;
use thiserror::Error;

use self::cost::RegexEngine;
use self::graph::Graph;
use crate::request::{DEEPEST, depth_exceeds};
use crate::text::clean_line;

const MOST_VIOLATIONS: usize = 20;
const MOST_BACKTRACKS: usize = 10_000;
/// The size limit of one compiled pattern, in bytes.
const LARGEST_PLAIN_PATTERN: usize = 256 * 1024;
const LARGEST_PATTERN: usize = 1024 * 1024;

const MOST_SUBSCHEMAS_ON_THIS_STACK: usize = 100;
const STACK_PER_SUBSCHEMA: usize = 16 * 1024;

/// How many steps a check may take: one is a subschema applied to a value.
const MOST_STEPS: u64 = 1_000_000;
/// The limit for listing violations, which takes longer than finding that there is one.
const MOST_STEPS_TO_EXPLAIN: u64 = 50_000;

/// A compiled schema that inputs can be checked against.
pub(crate) struct Schema {
    validator: Validator,
    engine: RegexEngine,
    graph: Graph,
}

/// Whether `format` is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Formats {
    /// As the schema's draft defines it.
    AsWritten,
    /// Known formats are checked.
    Checked,
}

/// Why a schema cannot be used.
#[derive(Debug, Error, PartialEq, Eq)]
pub(crate) enum SchemaError {
    #[error("it is nested more than {DEEPEST} deep")]
    TooDeep,
    #[error("it has more than {0} parts")]
    TooMany(usize),
    #[error("`{0}` leads nowhere within it; write the part into `$defs`")]
    Unknown(String),
    #[error("a part of it has an `$id`; only the whole may have one")]
    Embedded,
    #[error("it refers to itself without going into the input")]
    Circular,
    #[error("checking one value against it would take more than {0} steps")]
    TooCostly(u64),
    #[error("there is not enough memory to compile it")]
    OutOfMemory,
    #[error("it is no valid JSON schema: {0}")]
    Invalid(String),
}

impl Schema {
    /// Compiles a schema. One that would cost too much is rejected before anything recurses into
    /// it.
    pub(crate) fn compile(schema: &Value) -> Result<Self, SchemaError> {
        Self::compile_with(schema, Formats::AsWritten)
    }

    /// Like `compile`, with a choice of whether formats are checked.
    pub(crate) fn compile_with(schema: &Value, formats: Formats) -> Result<Self, SchemaError> {
        if depth_exceeds(schema, DEEPEST) {
            return Err(SchemaError::TooDeep);
        }
        let graph = Graph::read(schema)?;
        let (validator, engine) =
            on_enough_stack(graph.subschemas.len(), || build(schema, formats))?;
        Ok(Self {
            validator,
            engine,
            graph,
        })
    }

    /// Checks an input. The error lists the violations with their paths.
    pub(crate) fn check(&self, input: &Value) -> Result<(), String> {
        let Some(steps) = self.graph.steps(input, self.engine, MOST_STEPS) else {
            return Err("it would take too long to check the input; make it smaller".to_owned());
        };
        if self.validator.is_valid(input) {
            return Ok(());
        }
        if steps > MOST_STEPS_TO_EXPLAIN {
            return Err(
                "the input does not fit the schema, and is too large to say where".to_owned(),
            );
        }
        let violations = self.explain(input, "the input");
        Err(format!("the input does not fit the schema: {violations}"))
    }

    /// Checks one plain value.
    pub(crate) fn check_value(&self, value: &Value) -> Result<(), String> {
        let Some(_steps) = self.graph.steps(value, self.engine, MOST_STEPS) else {
            return Err("it would take too long to check; make it shorter".to_owned());
        };
        if self.validator.is_valid(value) {
            Ok(())
        } else {
            // The validator calls the root_name value `value`, which is `it` here.
            Err(self.explain(value, "it").replace("it: value ", "it "))
        }
    }

    fn explain(&self, input: &Value, root_name: &str) -> String {
        let mut errors = self.validator.iter_errors(input);
        let mut violations: Vec<String> = errors
            .by_ref()
            .take(MOST_VIOLATIONS)
            .map(|e| describe(&e, root_name))
            .collect();
        let more = errors.count();
        if more > 0 {
            violations.push(format!("and {more} more"));
        }
        violations.join("; ")
    }
}

/// Builds the validator. Patterns with lookaround or backreferences need a slower engine.
fn build(schema: &Value, formats: Formats) -> Result<(Validator, RegexEngine), SchemaError> {
    let options = || match formats {
        Formats::AsWritten => jsonschema::options(),
        Formats::Checked => jsonschema::options().should_validate_formats(true),
    };
    let linear = PatternOptions::regex().size_limit(LARGEST_PLAIN_PATTERN);
    if let Ok(validator) = options().with_pattern_options(linear).build(schema) {
        return Ok((validator, RegexEngine::Linear));
    }
    let backtracking = PatternOptions::fancy_regex()
        .backtrack_limit(MOST_BACKTRACKS)
        .size_limit(LARGEST_PATTERN);
    match options().with_pattern_options(backtracking).build(schema) {
        Ok(validator) => Ok((validator, RegexEngine::Backtracking)),
        Err(error) => Err(SchemaError::Invalid(error.to_string())),
    }
}

/// Compiles on a thread with a large stack if there are many subschemas: compiling follows
/// references on the stack, perhaps through all of them.
fn on_enough_stack<T: Send>(
    parts: usize,
    compile: impl FnOnce() -> Result<T, SchemaError> + Send,
) -> Result<T, SchemaError> {
    if parts <= MOST_SUBSCHEMAS_ON_THIS_STACK {
        return compile();
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(parts * STACK_PER_SUBSCHEMA);
        let compiling = thread.spawn_scoped(scope, compile);
        let compiled = compiling.ok().and_then(|thread| thread.join().ok());
        compiled.unwrap_or(Err(SchemaError::OutOfMemory))
    })
}

/// Describes a violation without the value, which may be long or secret.
fn describe(error: &ValidationError<'_>, root_name: &str) -> String {
    let path = error.instance_path().as_str();
    let pointer_to = |key: &str| format!("`{path}/{}`", key.replace('~', "~0").replace('/', "~1"));
    let text = match error.kind() {
        ValidationErrorKind::Required { property } => match property.as_str() {
            Some(name) => format!("{} is missing", pointer_to(name)),
            None => format!("`{path}` lacks {property}"),
        },
        ValidationErrorKind::AdditionalProperties { unexpected } => {
            let names: Vec<String> = unexpected.iter().map(|name| pointer_to(name)).collect();
            format!("{} is not known", names.join(", "))
        }
        ValidationErrorKind::Type { kind } => {
            format!(
                "{} must be {}, not {}",
                root(path, root_name),
                expected(kind),
                kind_of(error.instance())
            )
        }
        _ => format!("{}: {}", root(path, root_name), error.masked()),
    };
    clean_line(&text, 300)
}

fn root(path: &str, root_name: &str) -> String {
    match path {
        "" => root_name.to_owned(),
        path => format!("`{path}`"),
    }
}

fn expected(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => one.to_string(),
        TypeKind::Multiple(several) => {
            let names: Vec<String> = several.iter().map(|one| one.to_string()).collect();
            names.join(" or ")
        }
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
