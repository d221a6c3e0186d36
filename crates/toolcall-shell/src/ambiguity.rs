//! Every reason why a text is unclear, each with its message.
//! It is a list; the parsers decide where each reason applies.

use std::fmt;

/// Declares each kind of ambiguity once, with its message, so that the list of all kinds is complete.
macro_rules! ambiguities {
    ($($name:ident = $message:literal,)*) => {
        /// The construct that makes a text unclear.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum AmbiguityKind {
            $($name,)*
        }

        impl AmbiguityKind {
            /// Every kind; a test shows that each of them occurs.
            #[cfg(test)]
            pub(crate) const ALL: &[AmbiguityKind] = &[$(AmbiguityKind::$name,)*];

            pub(crate) fn message(self) -> &'static str {
                match self {
                    $(AmbiguityKind::$name => $message,)*
                }
            }
        }
    };
}

ambiguities! {
    LongText = "a text that is too long",
    ManyPrograms = "one program too many",
    RelativeDirectory = "a directory that is not absolute",
    ReadDifferently = "a command that two readers read differently",
    SeenOnce = "a command that only one reader sees",

    NoCommand = "no command",
    NothingBefore = "an operator without a command before it",
    NothingAfter = "an operator without a command after it",
    Background = "`&` (a background command)",
    OddOperator = "an operator that is not understood",

    Assignment = "an assignment before a command",
    OpenQuote = "a quote that is not closed",
    Expansion = "an expansion",
    Substitution = "a substitution",
    Backslash = "a backslash",
    Pattern = "a pattern",
    Brace = "a brace",
    Subshell = "a subshell or function",
    Home = "a home directory",
    Comment = "a comment",
    Negation = "a negation",
    LineBreak = "a line break",
    Hidden = "a hidden character",
    NotPlain = "a character that is not plain",

    OddRedirect = "a redirect that is not understood",
    OtherStream = "a redirect of another stream",
    NoFile = "a redirect without a file",
    OddFile = "a redirect to a place that is not plain",
    Device = "a redirect to a device",

    Reserved = "the reserved word",
    ShellOnly = "the shell's own command",
    OddProgram = "a program without a plain name",

    CdWords = "`cd` without exactly one directory",
    CdAlone = "`cd` that is not just followed by `&&`",
    CdThrough = "`cd` through a directory to another",
    CdMaybe = "a command that runs elsewhere if the `cd` before it fails",
    CdPlace = "`cd` to a place that is not plain",
    CdBack = "`cd` down and up again",
}

/// Why a text is unclear, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ambiguity {
    kind: AmbiguityKind,
    /// The offending text, shown after the message; empty if there is none.
    detail: String,
    at: usize,
}

impl Ambiguity {
    pub(crate) fn new(kind: AmbiguityKind, at: usize) -> Self {
        Self {
            kind,
            detail: String::new(),
            at,
        }
    }

    /// Sets the byte offset.
    pub(crate) fn at(mut self, at: usize) -> Self {
        self.at = at;
        self
    }

    /// Sets the offending text.
    pub(crate) fn about(mut self, detail: impl fmt::Display) -> Self {
        self.detail = format!(" {detail}");
        self
    }
}

/// The offset is 0 until the caller, who knows it, sets it with [`Ambiguity::at`].
impl From<AmbiguityKind> for Ambiguity {
    fn from(kind: AmbiguityKind) -> Self {
        Self::new(kind, 0)
    }
}

impl fmt::Display for Ambiguity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ambiguity { kind, detail, at } = self;
        write!(f, "{}{detail} at byte {at}", kind.message())
    }
}
