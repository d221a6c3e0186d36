//! Recognizes secrets by name: of JSON members, environment variables and command-line options.
//! It looks at a name and its value only, never at the surrounding text.

/// Names of secrets, in lower case without punctuation.
const SECRET_NAMES: [&str; 12] = [
    "authorization",
    "proxyauthorization",
    "cookie",
    "setcookie",
    "pwd",
    "auth",
    "pass",
    "credential",
    "credentials",
    "pgpassfile",
    "mysqlpwd",
    "netrc",
];

/// The endings of longer names of secrets.
const SECRET_SUFFIXES: [&str; 21] = [
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "accesskeyid",
    "privatekey",
    "secretkey",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "sshkey",
    "authkey",
    "licensekey",
    "servicekey",
    "accountkey",
    "storagekey",
    "connectionstring",
];

/// Returns whether a member or a variable of this name holds a secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let folded: String = name
        .chars()
        .filter(|c| c.is_ascii_alphanumeric())
        .map(|c| c.to_ascii_lowercase())
        .collect();
    // `PWD` is the working directory in every environment.
    if name == "PWD" || name == "OLDPWD" {
        return false;
    }
    SECRET_NAMES.contains(&&*folded)
        || SECRET_SUFFIXES.iter().any(|end| folded.ends_with(end))
        || name.to_ascii_uppercase().ends_with("_KEY")
        || name.to_ascii_uppercase().ends_with("-KEY")
}

/// Returns whether the argument after this one is a secret, as after `--token`.
pub(crate) fn names_next_secret(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    name.len() < word.len() && !word.contains('=') && name.len() > 1 && is_secret_name(name)
}

/// Returns whether the value assigned to a name is a secret. In source code, where `token` is an ordinary variable,
/// only a quoted or key-like value is one; a value assigned to an upper-case name always is.
pub(crate) fn is_assigned_secret(name: &str, value: &str, is_bare: bool) -> bool {
    if !is_secret_name(name) || is_placeholder(value) {
        return false;
    }
    let is_strong = {
        let lower = name.to_ascii_lowercase();
        [
            "passw",
            "passphrase",
            "secret",
            "credential",
            "authorization",
        ]
        .iter()
        .any(|word| lower.contains(word))
    };
    let is_upper_case = !name.chars().any(|c| c.is_ascii_lowercase());
    let has_digit = value.chars().any(|c| c.is_ascii_digit());
    let is_call = value.contains('(') || value.contains("::");
    !is_bare
        || is_upper_case
        || (is_strong && !is_call)
        || (has_digit && !is_call)
        || value.len() >= 20 && !is_call
}

/// Returns whether a value is a placeholder, such as `$TOKEN` or `<your key>`.
fn is_placeholder(value: &str) -> bool {
    const PREFIXES: [&str; 8] = [
        "$",
        "<",
        "{",
        "%",
        "process.env",
        "os.environ",
        "env.",
        "std::env",
    ];
    const WORDS: [&str; 17] = [
        "null",
        "none",
        "nil",
        "true",
        "false",
        "undefined",
        "string",
        "str",
        "&str",
        "bool",
        "number",
        "bearer",
        "basic",
        "digest",
        "token",
        "apikey",
        "negotiate",
    ];
    let folded = value.to_ascii_lowercase();
    value.is_empty()
        || PREFIXES.iter().any(|begin| value.starts_with(begin))
        || WORDS.contains(&&*folded)
        || value
            .chars()
            .all(|c| matches!(c, '*' | 'x' | 'X' | '.' | '…'))
}
