//! Asks the user a yes-or-no question at the terminal.
//! The caller acts on the answer.

use std::io::{self, IsTerminal as _, Write as _, stdin, stdout};

/// The user's answer to a yes-or-no question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Consent {
    Given,
    Refused,
    /// There is no terminal to ask at.
    Unasked,
}

/// Asks a question, if both standard input and output are terminals.
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
