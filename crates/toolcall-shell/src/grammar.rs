//! The first of the two parsers: recognises exactly the grammar that [`crate::read`] understands.
//! It guesses nothing: a character that is not listed as plain is an ambiguity.

mod token;

use toolcall::Join;

use crate::ambiguity::{Ambiguity, AmbiguityKind};
use crate::simple_command::{RawRedirect, SimpleCommand};
use token::{Token, tokens};

/// Returns the commands of a text, each with its byte offset.
pub(crate) fn recognise(text: &str) -> Result<Vec<(usize, SimpleCommand)>, Ambiguity> {
    let mut recogniser = Recogniser::default();
    for (at, token) in tokens(text)? {
        match token {
            Token::Word { text, equals } => recogniser.word(at, text, equals)?,
            Token::Join(join) => recogniser.join(at, join)?,
            Token::ErrorToOutput => recogniser.redirect(at, RawRedirect::ErrorToOutput)?,
            Token::Open { stream, access } => {
                recogniser.check_no_pending_redirect()?;
                recogniser.pending = Some(PendingRedirect { stream, access, at });
                recogniser.check_command(at)?;
            }
        }
    }
    recogniser.finish()
}

/// A redirect whose file has not been read yet.
struct PendingRedirect {
    stream: toolcall::Stream,
    access: toolcall::Access,
    at: usize,
}

/// The commands recognised so far.
#[derive(Default)]
struct Recogniser {
    commands: Vec<(usize, SimpleCommand)>,
    /// The last operator, if no command has followed it yet. A command must follow, except after `;`.
    open: Option<(usize, Join)>,
    pending: Option<PendingRedirect>,
}

impl Recogniser {
    fn word(&mut self, at: usize, word: String, equals: token::Equals) -> Result<(), Ambiguity> {
        if let Some(PendingRedirect { stream, access, .. }) = self.pending.take() {
            return self.redirect(
                at,
                RawRedirect::File {
                    stream,
                    access,
                    word,
                },
            );
        }
        match self.current() {
            Some(command) => command.words.push(word),
            None if equals == token::Equals::Bare => {
                return Err(Ambiguity::new(AmbiguityKind::Assignment, at));
            }
            None => self.begin(at, word),
        }
        Ok(())
    }

    fn begin(&mut self, at: usize, word: String) {
        let join = self.open.take().map_or(Join::Then, |(_, join)| join);
        let command = SimpleCommand {
            join,
            words: vec![word],
            redirects: Vec::new(),
        };
        self.commands.push((at, command));
    }

    fn join(&mut self, at: usize, join: Join) -> Result<(), Ambiguity> {
        self.check_no_pending_redirect()?;
        self.check_command(at)?;
        self.open = Some((at, join));
        Ok(())
    }

    fn redirect(&mut self, at: usize, redirect: RawRedirect) -> Result<(), Ambiguity> {
        self.check_no_pending_redirect()?;
        self.check_command(at)?;
        if let Some(command) = self.current() {
            command.redirects.push(redirect);
        }
        Ok(())
    }

    /// Returns the command that the next word belongs to.
    fn current(&mut self) -> Option<&mut SimpleCommand> {
        match self.open {
            Some(_) => None,
            None => self.commands.last_mut().map(|(_, command)| command),
        }
    }

    fn check_command(&mut self, at: usize) -> Result<(), Ambiguity> {
        match self.current() {
            Some(_) => Ok(()),
            None => Err(Ambiguity::new(AmbiguityKind::NothingBefore, at)),
        }
    }

    fn check_no_pending_redirect(&self) -> Result<(), Ambiguity> {
        match &self.pending {
            Some(pending) => Err(Ambiguity::new(AmbiguityKind::NoFile, pending.at)),
            None => Ok(()),
        }
    }

    fn finish(self) -> Result<Vec<(usize, SimpleCommand)>, Ambiguity> {
        self.check_no_pending_redirect()?;
        match self.open {
            Some((at, Join::And | Join::Or | Join::Pipe)) => {
                Err(Ambiguity::new(AmbiguityKind::NothingAfter, at))
            }
            Some((_, Join::Then)) | None if self.commands.is_empty() => {
                Err(Ambiguity::new(AmbiguityKind::NoCommand, 0))
            }
            Some((_, Join::Then)) | None => Ok(self.commands),
        }
    }
}
