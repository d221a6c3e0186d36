//! A server's form: what it asks a person while its tool runs, and what was answered.
//! A form can neither change a verdict nor start anything, and no secret is to be asked for by one.

mod read;
mod secret;
mod write;

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};
use thiserror::Error;

use crate::ids::{CallId, QuestionId, SessionId};
use crate::schema::{Formats, Schema};
use crate::text::{clean_block, clean_line};

const MOST_FIELDS: usize = 32;
const MOST_CHOICES: usize = 128;
const LONGEST_NAME: usize = 128;
const LONGEST_TITLE: usize = 200;
const LONGEST_DESCRIPTION: usize = 1_000;
const LONGEST_MESSAGE: usize = 4_000;
const LONGEST_CHOICE: usize = 500;
const LONGEST_PATTERN: usize = 1_000;
const LONGEST_TEXT: usize = 16 * 1024;

/// What a server asks a person: a message, and fields of plain values.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    by: Arc<str>,
    message: Arc<str>,
    fields: Vec<Field>,
}

/// One value of a form.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Under which name the value is given back.
    pub name: Arc<str>,
    /// What people call it.
    pub title: Option<Arc<str>>,
    /// What it means.
    pub description: Option<Arc<str>>,
    /// What it takes.
    pub takes: FieldType,
    /// Whether it may be left out.
    pub need: FieldRequirement,
    /// What the server proposes.
    pub default: Option<Value>,
}

/// Whether a field may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldRequirement {
    /// It may not.
    Required,
    /// It may.
    Optional,
}

/// What a field takes.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldType {
    /// A text.
    Text(TextRules),
    /// A number between these bounds, both included.
    Number {
        /// The least.
        least: Option<f64>,
        /// The most.
        most: Option<f64>,
    },
    /// A whole number between these bounds, both included.
    Integer {
        /// The least.
        least: Option<i64>,
        /// The most.
        most: Option<i64>,
    },
    /// Yes or no.
    Flag,
    /// One of these.
    OneOf(Vec<Choice>),
    /// Several of these, none twice.
    SomeOf {
        /// What can be chosen.
        choices: Vec<Choice>,
        /// How many at least.
        least: Option<u64>,
        /// How many at most.
        most: Option<u64>,
    },
}

/// What holds of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextRules {
    /// How long it is at least, in characters.
    pub shortest: Option<u64>,
    /// How long it is at most, in characters.
    pub longest: Option<u64>,
    /// What it matches.
    pub pattern: Option<Arc<str>>,
    /// What it is.
    pub format: Option<TextFormat>,
}

/// What a text is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextFormat {
    /// An address of mail.
    Email,
    /// An address of anything.
    Uri,
    /// A day.
    Date,
    /// A day and a time.
    DateTime,
    /// Something that is not known here; it is said, and not checked.
    Unknown(Arc<str>),
}

/// Something that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What is given back.
    pub value: Arc<str>,
    /// What people read instead.
    pub title: Option<Arc<str>>,
}

/// A form that cannot be shown.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum FormError {
    /// It is no object of plain fields.
    #[error("the form is no object of plain fields: {0}")]
    NotFlat(String),
    /// There is too much of something.
    #[error("the form has too much: {0}")]
    TooMuch(String),
    /// Two fields, or two choices, of one name.
    #[error("the form names `{0}` twice")]
    Twice(String),
    /// A field that asks for a secret.
    #[error("the field `{0}` asks for a secret, and no server may ask for one in a form")]
    Secret(String),
    /// What a field says of its values makes no sense.
    #[error("the field `{field}` cannot be checked: {reason}")]
    BadRule {
        /// The field.
        field: String,
        /// Why.
        reason: String,
    },
}

/// A form that somebody is asked to fill in.
#[derive(Clone, Debug, PartialEq)]
pub struct FormQuestion {
    /// This question.
    pub id: QuestionId,
    /// The session it belongs to.
    pub session: SessionId,
    /// The call whose server asks.
    pub call: CallId,
    /// The form.
    pub form: Form,
}

/// What was answered to a form.
#[derive(Clone, Debug, PartialEq)]
pub enum FormAnswer {
    /// It was filled in.
    Accepted(FormValues),
    /// It was not.
    Declined {
        /// Why, if it was not a person who declined.
        reason: Option<Arc<str>>,
    },
    /// It was put aside without an answer.
    Cancelled,
}

impl FormAnswer {
    /// A person declined.
    pub fn declined() -> Self {
        FormAnswer::Declined { reason: None }
    }

    /// Nobody could answer, for this reason.
    pub fn declined_because(reason: impl Into<Arc<str>>) -> Self {
        FormAnswer::Declined {
            reason: Some(reason.into()),
        }
    }
}

/// The values of a form. They are for the server alone: nobody sees them in a log.
#[derive(Clone, Default, PartialEq)]
pub struct FormValues(Map<String, Value>);

impl FormValues {
    /// These values, which are checked against their form before they reach the server.
    pub fn new(values: Map<String, Value>) -> Self {
        Self(values)
    }

    /// The values, by the names of their fields.
    pub fn into_map(self) -> Map<String, Value> {
        self.0
    }

    /// Which fields have one.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl fmt::Debug for FormValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

/// What the journal keeps of an answer: which fields were filled in, and not with what. Values may
/// be personal, a journal is kept and shown, and who asked has them.
#[derive(Clone, Debug, PartialEq)]
pub struct FormAnswered {
    /// The question it answers.
    pub question: QuestionId,
    /// What was answered.
    pub reply: FormReply,
}

/// An answer without its values.
#[derive(Clone, Debug, PartialEq)]
pub enum FormReply {
    /// These fields were filled in.
    Accepted(Vec<Arc<str>>),
    /// It was declined.
    Declined {
        /// Why, if it was not a person who declined.
        reason: Option<Arc<str>>,
    },
    /// It was put aside, or withdrawn.
    Cancelled,
}

impl From<&FormAnswer> for FormReply {
    fn from(answer: &FormAnswer) -> Self {
        match answer {
            FormAnswer::Accepted(values) => {
                FormReply::Accepted(values.names().map(Arc::from).collect())
            }
            FormAnswer::Declined { reason } => FormReply::Declined {
                reason: reason.clone(),
            },
            FormAnswer::Cancelled => FormReply::Cancelled,
        }
    }
}

impl Form {
    /// A form of these fields, asked by somebody that people know by this name. What people only
    /// read is cut and cleaned; what is given back is not changed, and refused if it is too much.
    pub fn new(by: &str, message: &str, fields: Vec<Field>) -> Result<Self, FormError> {
        if fields.len() > MOST_FIELDS {
            return Err(FormError::TooMuch(format!("{} fields", fields.len())));
        }
        let mut checked: Vec<Field> = Vec::with_capacity(fields.len());
        for field in fields {
            if checked.iter().any(|known| known.name == field.name) {
                return Err(FormError::Twice(clean_line(&field.name, LONGEST_NAME)));
            }
            checked.push(field.cleaned()?);
        }
        let message: String = message.chars().take(LONGEST_MESSAGE).collect();
        Ok(Self {
            by: clean_line(by, LONGEST_TITLE).into(),
            message: clean_block(&message).into(),
            fields: checked,
        })
    }

    /// Reads a form as MCP servers write it.
    pub fn read(by: &str, message: &str, schema: &Value) -> Result<Self, FormError> {
        Self::new(by, message, read::fields(schema)?)
    }

    /// Who asks.
    pub fn by(&self) -> &Arc<str> {
        &self.by
    }

    /// What for.
    pub fn message(&self) -> &Arc<str> {
        &self.message
    }

    /// What is asked, in the order of the server.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The form as a JSON schema, as MCP and ACP carry it.
    pub fn schema(&self) -> Value {
        write::schema(&self.fields)
    }

    /// Checks values: nothing that was not asked for, nothing missing, everything as it was asked.
    pub fn check(&self, values: &FormValues) -> Result<(), String> {
        if let Some(name) = values.names().find(|name| self.field(name).is_none()) {
            return Err(format!("`{}` was not asked for", clean_line(name, 80)));
        }
        for field in &self.fields {
            match (values.0.get(&*field.name), field.need) {
                (Some(value), _) => field
                    .check(value)
                    .map_err(|problem| format!("`{}`: {problem}", clean_line(&field.name, 80)))?,
                (None, FieldRequirement::Optional) => {}
                (None, FieldRequirement::Required) => {
                    return Err(format!("`{}` is missing", clean_line(&field.name, 80)));
                }
            }
        }
        Ok(())
    }

    fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| &*field.name == name)
    }
}

impl Field {
    /// A field of this name that takes this.
    pub fn new(name: impl Into<Arc<str>>, takes: FieldType, need: FieldRequirement) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            takes,
            need,
            default: None,
        }
    }

    /// What to call it before people.
    pub fn label(&self) -> String {
        clean_line(self.title.as_ref().unwrap_or(&self.name), LONGEST_TITLE)
    }

    /// Checks one value, without repeating it in the error.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        if value.as_str().is_some_and(|text| text.len() > LONGEST_TEXT) {
            return Err(format!("a text has at most {LONGEST_TEXT} bytes"));
        }
        let schema = Schema::compile_with(&write::field(self), Formats::Checked);
        let schema = schema.map_err(|error| error.to_string())?;
        schema.check_value(value)?;
        match value.as_array() {
            Some(chosen) if repeats(chosen) => Err("something is chosen twice".to_owned()),
            Some(_) | None => Ok(()),
        }
    }

    /// With everything that people only read made short and visible.
    fn cleaned(self) -> Result<Self, FormError> {
        if self.name.is_empty() || self.name.len() > LONGEST_NAME {
            return Err(FormError::TooMuch(format!(
                "a name of {} bytes",
                self.name.len()
            )));
        }
        let line = |text: Arc<str>, most| Arc::from(clean_line(&text, most));
        let field = Self {
            title: self.title.map(|title| line(title, LONGEST_TITLE)),
            description: self.description.map(|text| line(text, LONGEST_DESCRIPTION)),
            takes: self.takes.bounded()?,
            ..self
        };
        if secret::is_secret(&field) {
            return Err(FormError::Secret(clean_line(&field.name, LONGEST_NAME)));
        }
        let schema = Schema::compile_with(&write::field(&field), Formats::Checked);
        if let Err(error) = schema {
            return Err(FormError::BadRule {
                field: clean_line(&field.name, LONGEST_NAME),
                reason: error.to_string(),
            });
        }
        // A proposal that does not fit is none.
        let default = field
            .default
            .clone()
            .filter(|value| field.check(value).is_ok());
        Ok(Self { default, ..field })
    }
}

fn repeats(chosen: &[Value]) -> bool {
    let mut places = chosen.iter().enumerate();
    places.any(|(place, value)| chosen[..place].contains(value))
}

impl FieldType {
    fn bounded(self) -> Result<Self, FormError> {
        match &self {
            FieldType::Text(rules) => {
                let pattern = rules.pattern.as_ref().map_or(0, |pattern| pattern.len());
                if pattern > LONGEST_PATTERN {
                    return Err(FormError::TooMuch(format!("a pattern of {pattern} bytes")));
                }
            }
            FieldType::OneOf(choices) | FieldType::SomeOf { choices, .. } => {
                check_choices(choices)?
            }
            FieldType::Number { .. } | FieldType::Integer { .. } | FieldType::Flag => {}
        }
        Ok(self)
    }
}

fn check_choices(choices: &[Choice]) -> Result<(), FormError> {
    if choices.len() > MOST_CHOICES {
        return Err(FormError::TooMuch(format!("{} choices", choices.len())));
    }
    for (place, choice) in choices.iter().enumerate() {
        let title = choice.title.as_ref().map_or(0, |title| title.len());
        if choice.value.len().max(title) > LONGEST_CHOICE {
            return Err(FormError::TooMuch("a long choice".to_owned()));
        }
        if choices[..place]
            .iter()
            .any(|known| known.value == choice.value)
        {
            return Err(FormError::Twice(clean_line(&choice.value, LONGEST_NAME)));
        }
    }
    Ok(())
}
