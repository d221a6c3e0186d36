//! Names of what is secret: members, variables, options, and what is assigned to them.
//! It looks at names and values only, never at what surrounds them.

/// Names that say all by themselves, without case and punctuation.
const WHOLE: [&str; 12] = [
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

/// With what longer names end.
const ENDS: [&str; 21] = [
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

/// Whether a member or a variable of this name holds a secret.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let folded: String = name
        .chars()
        .filter(|c| c.is_ascii_alphanumeric())
        .map(|c| c.to_ascii_lowercase())
        .collect();
    // `PWD` is the folder, in every environment there is.
    if name == "PWD" || name == "OLDPWD" {
        return false;
    }
    WHOLE.contains(&&*folded)
        || ENDS.iter().any(|end| folded.ends_with(end))
        || name.to_ascii_uppercase().ends_with("_KEY")
        || name.to_ascii_uppercase().ends_with("-KEY")
}

/// Whether this word of a command line says that the next one is a secret: `--token`.
pub(crate) fn names_next_secret(word: &str) -> bool {
    let name = word.trim_start_matches('-');
    name.len() < word.len() && !word.contains('=') && name.len() > 1 && is_secret_name(name)
}

/// Whether what is assigned to a name is a secret. A name in capitals with a plain value always is;
/// code that assigns to `token` says so by a quoted or a key-like value.
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
    let is_shouted = !name.chars().any(|c| c.is_ascii_lowercase());
    let has_digit = value.chars().any(|c| c.is_ascii_digit());
    let is_call = value.contains('(') || value.contains("::");
    !is_bare
        || is_shouted
        || (is_strong && !is_call)
        || (has_digit && !is_call)
        || value.len() >= 20 && !is_call
}

/// What stands for a secret without being one.
fn is_placeholder(value: &str) -> bool {
    const BEGINS: [&str; 8] = [
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
        || BEGINS.iter().any(|begin| value.starts_with(begin))
        || WORDS.contains(&&*folded)
        || value
            .chars()
            .all(|c| matches!(c, '*' | 'x' | 'X' | '.' | '…'))
}
