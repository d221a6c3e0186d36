//! A yes or no at the terminal, to what was shown.
//! It asks; what follows from the answer is decided elsewhere.

use std::io::{self, IsTerminal as _, Write as _, stdin, stdout};

/// What a person says to what was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Consent {
    Given,
    Refused,
    /// There is nobody to ask.
    Unasked,
}

/// Asks a question, if there is a terminal on both sides.
pub(crate) fn ask(question: &str) -> io::Result<Consent> {
    if !stdin().is_terminal() || !stdout().is_terminal() {
        return Ok(Consent::Unasked);
    }
    anstream::print!("\n{question} y/n: ");
    stdout().flush()?;
    let mut typed = String::new();
    stdin().read_line(&mut typed)?;
    Ok(match typed.trim() {
        "y" | "yes" => Consent::Given,
        _ => Consent::Refused,
    })
}
