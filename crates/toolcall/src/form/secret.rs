//! Whether a field asks for a secret, which a form must never do.
//! It judges by the field's name, and rather finds too many than too few.

use super::{Field, FieldType, TextFormat};

/// Words that name secrets as part of any name.
const WORDS: [&str; 16] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "accesstoken",
    "authtoken",
    "bearertoken",
    "refreshtoken",
    "creditcard",
    "cardnumber",
    "seedphrase",
];

/// Words that name secrets as whole words only.
const ALONE: [&str; 8] = ["pwd", "token", "pin", "cvv", "cvc", "otp", "ssn", "iban"];

/// Returns whether a text field names a secret by its name, title or format. Booleans, numbers and
/// choices never do.
pub(super) fn is_secret(field: &Field) -> bool {
    let FieldType::Text(rules) = &field.takes else {
        return false;
    };
    let is_password =
        matches!(&rules.format, Some(TextFormat::Unknown(name)) if &**name == "password");
    let title = field.title.as_deref().unwrap_or_default();
    is_password || names_secret(&field.name) || names_secret(title)
}

fn names_secret(text: &str) -> bool {
    let words = words(text);
    let run_together = words.concat();
    let is_alone = |word: &String| ALONE.contains(&word.as_str());
    WORDS.iter().any(|word| run_together.contains(word)) || words.iter().any(is_alone)
}

/// Splits a name into words: `api_key`, `apiKey`, `API key`.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in text.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && before.is_lowercase()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut()
            && c.is_alphanumeric()
        {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::names_secret;

    #[test]
    fn secrets_are_known_by_their_names() {
        for name in [
            "password",
            "Your Password",
            "api_key",
            "apiKey",
            "API-KEY",
            "token",
            "authToken",
            "access token",
            "PIN",
            "pwd",
            "clientSecret",
            "Private key",
            "cardNumber",
        ] {
            assert!(names_secret(name), "{name}");
        }
        for name in [
            "name",
            "e-mail",
            "tokenizer",
            "pinned",
            "key",
            "city",
            "spinach",
            "passenger",
        ] {
            assert!(!names_secret(name), "{name}");
        }
    }
}
