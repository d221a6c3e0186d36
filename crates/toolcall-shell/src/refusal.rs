//! Everything that makes a text unclear, each thing with its words.
//! It is a list; who refuses what, and where, is the readers' business.

/// Names each refusal once, with what is said of it, so that none is missing from the list of all.
macro_rules! refusals {
    ($($name:ident = $words:literal,)*) => {
        /// What is refused.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Refusal {
            $($name,)*
        }

        impl Refusal {
            /// Every refusal there is: each must be shown to be good for something.
            #[cfg(test)]
            pub(crate) const ALL: &[Refusal] = &[$(Refusal::$name,)*];

            pub(crate) fn words(self) -> &'static str {
                match self {
                    $(Refusal::$name => $words,)*
                }
            }
        }
    };
}

refusals! {
    LongText = "a text that is too long",
    ManyPrograms = "one program too many",
    RelativeFolder = "a folder that is not absolute",
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
    Home = "a home folder",
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

    CdWords = "`cd` without exactly one folder",
    CdAlone = "`cd` that is not just followed by `&&`",
    CdThrough = "`cd` through a folder to another",
    CdMaybe = "a command that runs elsewhere if the `cd` before it fails",
    CdPlace = "`cd` to a place that is not plain",
    CdBack = "`cd` down and up again",
}
