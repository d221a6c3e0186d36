//! Fills in a form at the terminal, field by field.
//! It accepts only values that fit the field, and names the server before it asks for anything.

use serde_json::{Map, Number, Value};
use toolcall::{
    Choice, Field, FieldRequirement, FieldType, Form, FormAnswer, FormValues, TextFormat,
};

/// Where questions are shown and answers typed.
pub(super) trait Console {
    /// Shows a text.
    fn say(&self, text: &str);
    /// Shows a prompt and reads one line; `None` at the end of the input.
    fn prompt(&self, prompt: &str) -> impl Future<Output = Option<String>> + Send;
}

/// A line that was typed for a field.
#[derive(Debug, PartialEq)]
enum FieldInput {
    Value(Value),
    Omitted,
}

/// Asks whether to fill in the form, then for every field.
pub(super) async fn fill(form: &Form, console: &impl Console) -> FormAnswer {
    console.say(&format!("`{}` asks: {}", form.by(), form.message()));
    console.say("what you type is sent to this server; never type a password or a key");
    loop {
        let typed = console.prompt("f fill in   d decline   c cancel: ").await;
        match typed.as_deref().map(str::trim) {
            None | Some("c") => return FormAnswer::Cancelled,
            Some("d" | "n" | "no") => return FormAnswer::declined(),
            Some("f" | "y" | "yes") => break,
            Some(_) => console.say("please type f, d or c"),
        }
    }
    let mut values = Map::new();
    for field in form.fields() {
        match ask(field, console).await {
            Some(FieldInput::Value(value)) => {
                values.insert(field.name.to_string(), value);
            }
            Some(FieldInput::Omitted) => {}
            None => return FormAnswer::Cancelled,
        }
    }
    FormAnswer::Accepted(FormValues::new(values))
}

async fn ask(field: &Field, console: &impl Console) -> Option<FieldInput> {
    if let Some(description) = &field.description {
        console.say(description);
    }
    for (number, choice) in (1..).zip(choices(field)) {
        console.say(&format!("{number} {}", choice_label(choice)));
    }
    loop {
        let typed = console.prompt(&label(field)).await?;
        match parse(field, typed.trim()) {
            Ok(typed) => return Some(typed),
            Err(problem) => console.say(&problem),
        }
    }
}

/// Returns the prompt of a field: its name, what it accepts, and what an empty line means.
fn label(field: &Field) -> String {
    let empty = match (&field.default, field.need) {
        (Some(default), _) => format!(", empty for {}", short_value(default)),
        (None, FieldRequirement::Optional) => ", empty to leave it out".to_owned(),
        (None, FieldRequirement::Required) => String::new(),
    };
    format!("{} ({}{empty}): ", field.label(), accepted(&field.takes))
}

fn accepted(field_type: &FieldType) -> String {
    match field_type {
        FieldType::Text(rules) => match &rules.format {
            None => "text".to_owned(),
            Some(TextFormat::Email) => "mail address".to_owned(),
            Some(TextFormat::Uri) => "address such as https://…".to_owned(),
            Some(TextFormat::Date) => "date such as 2026-01-31".to_owned(),
            Some(TextFormat::DateTime) => "time such as 2026-01-31T09:30:00Z".to_owned(),
            Some(TextFormat::Unknown(name)) => name.to_string(),
        },
        FieldType::Number { least, most } => format!("number{}", bounds(*least, *most)),
        FieldType::Integer { least, most } => format!("whole number{}", bounds(*least, *most)),
        FieldType::Flag => "y or n".to_owned(),
        FieldType::OneOf(_) => "one of these, by its number".to_owned(),
        FieldType::SomeOf { .. } => "some of these, by their numbers, as in 1,2".to_owned(),
    }
}

fn bounds<T: std::fmt::Display>(least: Option<T>, most: Option<T>) -> String {
    match (least, most) {
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        (Some(least), None) => format!(" from {least}"),
        (None, Some(most)) => format!(" up to {most}"),
        (None, None) => String::new(),
    }
}

fn short_value(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    toolcall::text::clean_line(&text, 60)
}

fn choices(field: &Field) -> &[Choice] {
    match &field.takes {
        FieldType::OneOf(choices) | FieldType::SomeOf { choices, .. } => choices,
        FieldType::Text(_)
        | FieldType::Number { .. }
        | FieldType::Integer { .. }
        | FieldType::Flag => &[],
    }
}

/// Returns title and value: a title alone could misrepresent the value.
fn choice_label(choice: &Choice) -> String {
    let value = toolcall::text::clean_line(&choice.value, 200);
    match &choice.title {
        Some(title) => format!("{} [{value}]", toolcall::text::clean_line(title, 200)),
        None => value,
    }
}

fn parse(field: &Field, typed: &str) -> Result<FieldInput, String> {
    if typed.is_empty() {
        return match (&field.default, field.need) {
            (Some(default), _) => Ok(FieldInput::Value(default.clone())),
            (None, FieldRequirement::Optional) => Ok(FieldInput::Omitted),
            (None, FieldRequirement::Required) => Err("this field is required".to_owned()),
        };
    }
    let value = parse_value(&field.takes, typed)?;
    field.check(&value)?;
    Ok(FieldInput::Value(value))
}

fn parse_value(field_type: &FieldType, typed: &str) -> Result<Value, String> {
    match field_type {
        FieldType::Text(_) => Ok(typed.into()),
        FieldType::Number { .. } => {
            let number = typed.parse().ok().and_then(Number::from_f64);
            number
                .map(Value::Number)
                .ok_or("that is not a number".to_owned())
        }
        FieldType::Integer { .. } => {
            let number = typed.parse::<i64>();
            number
                .map(Value::from)
                .map_err(|_| "that is not a whole number".to_owned())
        }
        FieldType::Flag => match typed {
            "y" | "yes" | "true" => Ok(true.into()),
            "n" | "no" | "false" => Ok(false.into()),
            _ => Err("please type y or n".to_owned()),
        },
        FieldType::OneOf(choices) => parse_choice(choices, typed),
        FieldType::SomeOf { choices, .. } => {
            let each = typed
                .split(',')
                .map(|one| parse_choice(choices, one.trim()));
            each.collect::<Result<Vec<_>, _>>().map(Value::from)
        }
    }
}

/// Returns the choice with this number in the list, or with this value.
fn parse_choice(choices: &[Choice], typed: &str) -> Result<Value, String> {
    let index = typed
        .parse::<usize>()
        .ok()
        .and_then(|number| number.checked_sub(1));
    let by_value = || choices.iter().find(|choice| &*choice.value == typed);
    let choice = index.and_then(|index| choices.get(index)).or_else(by_value);
    match choice {
        Some(choice) => Ok((*choice.value).into()),
        None => Err(format!("please type a number from 1 to {}", choices.len())),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    /// A console that types these lines and records everything shown.
    struct ScriptedConsole {
        lines: Mutex<Vec<&'static str>>,
        shown: Mutex<Vec<String>>,
    }

    impl Console for ScriptedConsole {
        fn say(&self, text: &str) {
            self.shown.lock().expect("a lock").push(text.to_owned());
        }

        async fn prompt(&self, prompt: &str) -> Option<String> {
            let mut lines = self.lines.lock().expect("a lock");
            let typed = (!lines.is_empty()).then(|| lines.remove(0));
            self.say(&format!("{prompt}{}", typed.unwrap_or("(the end)")));
            typed.map(|line| format!("{line}\n"))
        }
    }

    fn form() -> Form {
        let schema = json!({
            "properties": {
                "name": {"type": "string", "title": "Your name", "minLength": 2},
                "mail": {"type": "string", "format": "email", "description": "For the ticket."},
                "days": {"type": "integer", "minimum": 1, "maximum": 14, "default": 3},
                "sure": {"type": "boolean"},
                "seat": {"type": "string", "oneOf": [{"const": "w", "title": "Window"}, {"const": "a", "title": "Aisle"}]},
                "extras": {"type": "array", "items": {"type": "string", "enum": ["bike", "dog"]}},
            },
            "required": ["name", "sure"],
        });
        Form::read("trains", "Who travels?", &schema).expect("a form")
    }

    fn check(lines: &[&'static str], expected: Expect) {
        let console = ScriptedConsole {
            lines: Mutex::new(lines.to_vec()),
            shown: Mutex::default(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime");
        let answer = runtime.block_on(fill(&form(), &console));
        let answer = match answer {
            FormAnswer::Accepted(values) => Value::Object(values.into_map()).to_string(),
            other => format!("{other:?}"),
        };
        let shown = console.shown.into_inner().expect("a lock");
        expected.assert_eq(&format!("{}\n{answer}", shown.join("\n")));
    }

    #[test]
    fn a_form_is_filled_in_field_by_field() {
        check(
            &[
                "f", "", "A", "Ann", "nowhere", "", "20", "", "maybe", "y", "3", "2", "1,dog",
            ],
            expect![[r#"
                `trains` asks: Who travels?
                what you type is sent to this server; never type a password or a key
                f fill in   d decline   c cancel: f
                Your name (text): 
                this field is required
                Your name (text): A
                it is shorter than 2 characters
                Your name (text): Ann
                For the ticket.
                mail (mail address, empty to leave it out): nowhere
                it is not a "email"
                mail (mail address, empty to leave it out): 
                days (whole number from 1 to 14, empty for 3): 20
                it is greater than the maximum of 14
                days (whole number from 1 to 14, empty for 3): 
                sure (y or n): maybe
                please type y or n
                sure (y or n): y
                1 Window [w]
                2 Aisle [a]
                seat (one of these, by its number, empty to leave it out): 3
                please type a number from 1 to 2
                seat (one of these, by its number, empty to leave it out): 2
                1 bike
                2 dog
                extras (some of these, by their numbers, as in 1,2, empty to leave it out): 1,dog
                {"name":"Ann","days":3,"sure":true,"seat":"a","extras":["bike","dog"]}"#]],
        );
    }

    #[test]
    fn a_form_is_declined_or_cancelled() {
        check(
            &["what", "d"],
            expect![[r#"
            `trains` asks: Who travels?
            what you type is sent to this server; never type a password or a key
            f fill in   d decline   c cancel: what
            please type f, d or c
            f fill in   d decline   c cancel: d
            Declined { reason: None }"#]],
        );
        check(
            &["f", "Ann"],
            expect![[r#"
            `trains` asks: Who travels?
            what you type is sent to this server; never type a password or a key
            f fill in   d decline   c cancel: f
            Your name (text): Ann
            For the ticket.
            mail (mail address, empty to leave it out): (the end)
            Cancelled"#]],
        );
        check(
            &[],
            expect![[r#"
            `trains` asks: Who travels?
            what you type is sent to this server; never type a password or a key
            f fill in   d decline   c cancel: (the end)
            Cancelled"#]],
        );
    }
}
