//! A form that an MCP server sends to the user while its tool runs, and the answer.
//! A form can neither change a verdict nor start anything, and must never ask for a secret.

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

/// A form of a server: a message, and fields of plain values.
#[derive(Clone, Debug, PartialEq)]
pub struct Form {
    by: Arc<str>,
    message: Arc<str>,
    fields: Vec<Field>,
}

/// One field of a form.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The name under which the value is returned.
    pub name: Arc<str>,
    /// A title for users.
    pub title: Option<Arc<str>>,
    /// A description.
    pub description: Option<Arc<str>>,
    /// The type of the value.
    pub takes: FieldType,
    /// Whether the field may be left out.
    pub need: FieldRequirement,
    /// The value that the server proposes.
    pub default: Option<Value>,
}

/// Whether a field may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldRequirement {
    /// The field is required.
    Required,
    /// The field is optional.
    Optional,
}

/// The type of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldType {
    /// Text.
    Text(TextConstraints),
    /// A number between these bounds, both included.
    Number {
        /// The minimum.
        least: Option<f64>,
        /// The maximum.
        most: Option<f64>,
    },
    /// An integer between these bounds, both included.
    Integer {
        /// The minimum.
        least: Option<i64>,
        /// The maximum.
        most: Option<i64>,
    },
    /// A boolean.
    Flag,
    /// One of these choices.
    OneOf(Vec<Choice>),
    /// Several of these choices, none twice.
    SomeOf {
        /// The choices.
        choices: Vec<Choice>,
        /// The minimum number of choices.
        least: Option<u64>,
        /// The maximum number of choices.
        most: Option<u64>,
    },
}

/// Constraints on a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextConstraints {
    /// The minimum length in characters.
    pub shortest: Option<u64>,
    /// The maximum length in characters.
    pub longest: Option<u64>,
    /// A regular expression that it must match.
    pub pattern: Option<Arc<str>>,
    /// The format that it must have.
    pub format: Option<TextFormat>,
}

/// The format of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextFormat {
    /// An e-mail address.
    Email,
    /// A URI.
    Uri,
    /// A date.
    Date,
    /// A date and a time.
    DateTime,
    /// An unknown format, which is shown and not checked.
    Unknown(Arc<str>),
}

/// One choice of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The value that is returned.
    pub value: Arc<str>,
    /// The title that users see instead of the value.
    pub title: Option<Arc<str>>,
}

/// Why a form cannot be shown.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum FormError {
    /// The schema is not an object of plain fields.
    #[error("the form is no object of plain fields: {0}")]
    NotFlat(String),
    /// Something in the form exceeds a limit.
    #[error("the form has too much: {0}")]
    TooMuch(String),
    /// Two fields or two choices have the same name.
    #[error("the form names `{0}` twice")]
    Twice(String),
    /// A field asks for a secret.
    #[error("the field `{0}` asks for a secret, and no server may ask for one in a form")]
    Secret(String),
    /// The constraints of a field are not valid.
    #[error("the field `{field}` cannot be checked: {reason}")]
    BadRule {
        /// The field.
        field: String,
        /// Why.
        reason: String,
    },
}

/// A form that the user is asked to fill in.
#[derive(Clone, Debug, PartialEq)]
pub struct FormQuestion {
    /// The id of the question.
    pub id: QuestionId,
    /// The session it belongs to.
    pub session: SessionId,
    /// The call whose server asks.
    pub call: CallId,
    /// The form.
    pub form: Form,
}

/// The answer to a form.
#[derive(Clone, Debug, PartialEq)]
pub enum FormAnswer {
    /// The user filled it in.
    Accepted(FormValues),
    /// It was declined.
    Declined {
        /// Why, if it was not the user who declined.
        reason: Option<Arc<str>>,
    },
    /// It was closed without an answer.
    Cancelled,
}

impl FormAnswer {
    /// Reports that the user declined.
    pub fn declined() -> Self {
        FormAnswer::Declined { reason: None }
    }

    /// Reports that no user could answer, with the reason.
    pub fn declined_because(reason: impl Into<Arc<str>>) -> Self {
        FormAnswer::Declined {
            reason: Some(reason.into()),
        }
    }
}

/// The values of a form. Only the server gets them; they never appear in a log.
#[derive(Clone, Default, PartialEq)]
pub struct FormValues(Map<String, Value>);

impl FormValues {
    /// Creates form values. They are checked against the form before the server gets them.
    pub fn new(values: Map<String, Value>) -> Self {
        Self(values)
    }

    /// Returns the values by field name.
    pub fn into_map(self) -> Map<String, Value> {
        self.0
    }

    /// Returns the names of the fields that have a value.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

impl fmt::Debug for FormValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

/// What the journal records of an answer: which fields were filled in, not their values. Values may
/// be personal, the journal is stored and shown, and the server has them.
#[derive(Clone, Debug, PartialEq)]
pub struct FormAnswered {
    /// The question that it answers.
    pub question: QuestionId,
    /// The answer without its values.
    pub reply: FormReply,
}

/// An answer without its values.
#[derive(Clone, Debug, PartialEq)]
pub enum FormReply {
    /// These fields were filled in.
    Accepted(Vec<Arc<str>>),
    /// It was declined.
    Declined {
        /// Why, if it was not the user who declined.
        reason: Option<Arc<str>>,
    },
    /// It was closed or withdrawn.
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
    /// Creates a form that is shown under the name `by`. Texts for users are cut and cleaned; names
    /// and values that are returned to the server are not changed, and it is an error if they
    /// exceed a limit.
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

    /// Parses the JSON schema of an MCP elicitation.
    pub fn read(by: &str, message: &str, schema: &Value) -> Result<Self, FormError> {
        Self::new(by, message, read::fields(schema)?)
    }

    /// Returns the name of the server that asks.
    pub fn by(&self) -> &Arc<str> {
        &self.by
    }

    /// Returns the message.
    pub fn message(&self) -> &Arc<str> {
        &self.message
    }

    /// Returns the fields, in the server's order.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Returns the form as a JSON schema for MCP and ACP.
    pub fn schema(&self) -> Value {
        write::schema(&self.fields)
    }

    /// Checks values against the form: none unknown, none missing, each of its type.
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
    /// Creates a field.
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

    /// Returns the title for users, or the name if it has none.
    pub fn label(&self) -> String {
        clean_line(self.title.as_ref().unwrap_or(&self.name), LONGEST_TITLE)
    }

    /// Checks one value. The error does not contain the value.
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

    /// Cuts and cleans the texts for users, and checks the rest.
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
        // A default value that does not fit is dropped.
        let default = field
            .default
            .clone()
            .filter(|value| field.check(value).is_ok());
        Ok(Self { default, ..field })
    }
}

fn repeats(chosen: &[Value]) -> bool {
    let mut indices = chosen.iter().enumerate();
    indices.any(|(index, value)| chosen[..index].contains(value))
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
    for (index, choice) in choices.iter().enumerate() {
        let title = choice.title.as_ref().map_or(0, |title| title.len());
        if choice.value.len().max(title) > LONGEST_CHOICE {
            return Err(FormError::TooMuch("a long choice".to_owned()));
        }
        if choices[..index]
            .iter()
            .any(|known| known.value == choice.value)
        {
            return Err(FormError::Twice(clean_line(&choice.value, LONGEST_NAME)));
        }
    }
    Ok(())
}
