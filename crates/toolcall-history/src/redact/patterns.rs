//! The patterns of secrets: keys of well-known providers, headers, private keys, URLs with passwords.
//! A table; each pattern lists hints, one of which must occur for it to match.

/// Which part of a match is masked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MaskRule {
    /// The capture group of the secret, or the whole match if there is none.
    Shape,
    /// Only the capture group of the secret.
    Value,
    /// The value, if its name is that of a secret.
    Assigned,
}

/// The pattern of one sort of secret.
pub(crate) struct SecretPattern {
    /// The regex is tried only if one of these occurs; case does not matter.
    pub(crate) hints: &'static [&'static str],
    /// The regex of the secret.
    pub(crate) regex: &'static str,
    /// Which part of a match is masked.
    pub(crate) rule: MaskRule,
}

/// The prefixes of providers' keys.
pub(super) const PREFIXES: &[&str] = &[
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "rk_test_",
    "pk_live_",
    "whsec_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "glptt-",
    "glrt-",
    "gldt-",
    "glsoat-",
    "glcbt-",
    "glagent-",
    "xoxa-",
    "xoxb-",
    "xoxe-",
    "xoxe.",
    "xoxp-",
    "xoxr-",
    "xoxs-",
    "xapp-",
    "AIza",
    "ya29.",
    "GOCSPX-",
    "hf_",
    "r8_",
    "gsk_",
    "xai-",
    "pplx-",
    "npm_",
    "pypi-",
    "dop_v1_",
    "doo_v1_",
    "dor_v1_",
    "shpat_",
    "shpss_",
    "shpca_",
    "shppa_",
    "lin_api_",
    "ntn_",
    "figd_",
    "sq0atp-",
    "sq0csp-",
    "dapi",
    "hvs.",
    "hvb.",
    "pul-",
    "sntrys_",
    "sntryu_",
    "glsa_",
    "NRAK-",
    "dckr_pat_",
    "tskey-",
    "AGE-SECRET-KEY-",
    "sbp_",
    "PMAK-",
    "rubygems_",
    "ATATT3",
    "AKIA",
    "ASIA",
    "ABIA",
    "ACCA",
    "fw_",
    "tvly-",
    "e2b_",
    "phc_",
    "phx_",
    "lsv2_",
    "fly_",
    "vercel_",
];

/// Returns whether a word contains the prefix of a provider's key.
pub(crate) fn has_prefix(word: &str) -> bool {
    PREFIXES.iter().any(|prefix| word.contains(prefix))
}

/// The patterns, in the order in which they are applied.
pub(crate) const PATTERNS: &[SecretPattern] = &[
    // A private key, also one without its end.
    SecretPattern {
        hints: &["private key"],
        regex: r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?P<secret>[\s\S]*?)(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)",
        rule: MaskRule::Shape,
    },
    // Keys with an unmistakable prefix. The last alternative is a key that a title shortened with `…`.
    SecretPattern {
        hints: PREFIXES,
        regex: concat!(
            r"\b(?:sk-|sk_live_|sk_test_|rk_live_|rk_test_|pk_live_|whsec_|gh[pousr]_|github_pat_|gl(?:pat|ptt|rt|dt|soat|cbt|agent)-",
            r"|xox[abeprs][-.]|xapp-|ya29\.|GOCSPX-|hf_|r8_|gsk_|xai-|pplx-|npm_|pypi-|do[opr]_v1_|shp(?:at|ss|ca|pa)_|lin_api_|ntn_|figd_",
            r"|sq0(?:atp|csp)-|hv[sb]\.|pul-|sntry[su]_|glsa_|NRAK-|dckr_pat_|tskey-|AGE-SECRET-KEY-|sbp_|PMAK-|rubygems_|ATATT3|fw_|tvly-|e2b_|ph[cx]_|lsv2_|fly_|vercel_)",
            r"(?:[A-Za-z0-9_\-.=+/]{12,}|[A-Za-z0-9_\-.=+/]*…)",
        ),
        rule: MaskRule::Shape,
    },
    // Keys with a prefix that an ordinary word may have: their length counts, too.
    SecretPattern {
        hints: &["akia", "asia", "abia", "acca", "aiza", "dapi"],
        regex: r"\b(?:(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}|AIza[A-Za-z0-9_\-]{24,}|dapi[a-f0-9]{24,}|(?:AKIA|ASIA|ABIA|ACCA|AIza|dapi)[A-Za-z0-9_\-]*…)",
        rule: MaskRule::Shape,
    },
    // SendGrid, Twilio, Mailgun, Telegram.
    SecretPattern {
        hints: &["sg.", "sk", "key-", ":aa"],
        regex: r"\b(?:SG\.[A-Za-z0-9_\-]{12,}\.[A-Za-z0-9_\-]{12,}|SK[0-9a-f]{32}|key-[0-9a-f]{32}|[0-9]{8,10}:AA[A-Za-z0-9_\-]{30,})",
        rule: MaskRule::Shape,
    },
    // A JSON Web Token, also one without a signature or cut short.
    SecretPattern {
        hints: &["eyj"],
        regex: r"\beyJ[A-Za-z0-9_\-]{6,}(?:\.[A-Za-z0-9_\-=]*){1,4}…?",
        rule: MaskRule::Shape,
    },
    // Webhook URLs, which are secrets themselves.
    SecretPattern {
        hints: &["hooks.slack.com", "/api/webhooks/", "webhook.office.com"],
        regex: r#"(?:hooks\.slack\.com/(?:services|workflows|triggers)/|/api/webhooks/|webhook\.office\.com/)(?P<secret>[^\s"'<>)\\]+)"#,
        rule: MaskRule::Shape,
    },
    // `scheme://user:password@host`, also without a user, and `scheme://token@host`.
    SecretPattern {
        hints: &["://"],
        regex: r#"://(?:[^\s/@:"'<>]*:(?P<secret>[^\s/?#"'<>]+)@|(?P<bare>[A-Za-z0-9_\-]{20,})@)"#,
        rule: MaskRule::Shape,
    },
    // Headers that carry credentials, up to the end of the value.
    SecretPattern {
        hints: &["authorization", "cookie"],
        regex: r#"(?i)\b(?:proxy-)?(?:authorization|set-cookie|cookie)\\*["']?\s*[:=,]\s*\\*["']?(?:(?:bearer|basic|digest|token|apikey|negotiate|aws4-hmac-sha256)\s+)?(?P<secret>[^"'\r\n\\]+)"#,
        rule: MaskRule::Shape,
    },
    SecretPattern {
        hints: &["bearer"],
        regex: r"(?i)\bbearer\s+(?P<secret>[A-Za-z0-9._~+/=\-]{6,}…?)",
        rule: MaskRule::Shape,
    },
    // `curl -u user:password`.
    SecretPattern {
        hints: &["-u", "--user", "--proxy-user"],
        regex: r#"(?:^|\s)(?:-u|-U|--user|--proxy-user)[=\s]*["']?[^\s:"']+:(?P<secret>[^\s"']+)"#,
        rule: MaskRule::Value,
    },
    // `--password value`: the name decides.
    SecretPattern {
        hints: &[
            "key",
            "token",
            "secret",
            "pass",
            "pwd",
            "credential",
            "auth",
        ],
        regex: r#"(?i)(?:^|[\s"'])-{1,2}(?P<name>[a-z0-9\-_]*?(?:key|key_?id|token|secret|passw(?:or)?d|passphrase|passcode|credentials?|pwd|auth|authorization|pass|connection[_-]?string|cookie))(?:=|\s+)(?:\\*"(?P<quoted>[^"\\]+)|\\*'(?P<secret>[^'\\]+)|(?P<bare>[^\s"'`;&|-][^\s"'`;&|]*))"#,
        rule: MaskRule::Assigned,
    },
    // `NAME=value`, `"name": "value"`, `name: value`: the name decides.
    SecretPattern {
        hints: &[
            "key",
            "token",
            "secret",
            "pass",
            "pwd",
            "credential",
            "auth",
            "connection",
        ],
        regex: r#"(?i)(?P<name>[a-z0-9_.\-]*?(?:key|key_?id|token|secret|passw(?:or)?d|passphrase|passcode|credentials?|pwd|auth|authorization|pass|connection[_-]?string|cookie))\\*["'`]?\s*(?:=>|:=|==?|:)\s*(?:\\*"(?P<quoted>[^"\\]+)|\\*'(?P<secret>[^'\\]+)|(?P<bare>(?:\[redacted\]|[^\s"'`,;&|)}\]\\])+))"#,
        rule: MaskRule::Assigned,
    },
];
