//! Scripts of `awk`: which of them only print.
//! It goes by words that have no harmless use there; anything else is left to rules.

/// Whether a script can neither write, nor run, nor read other files.
pub(super) fn is_harmless(script: &str) -> bool {
    let has_word = ["system", "getline", "close", "@", "fflush"]
        .iter()
        .any(|word| script.contains(word));
    // Where nothing is printed, `>` compares; `||` and `>=` do so everywhere.
    let plain = script.replace("||", "").replace(">=", "");
    let redirects = plain.contains('>') && plain.contains("print");
    !has_word && !redirects && !plain.contains('|')
}
