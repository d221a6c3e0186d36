//! The first reader: a recogniser, byte by byte, of the one grammar that is understood.
//! It guesses nothing; what is not on its list of plain characters is a doubt.

mod token;

use toolcall::Join;

use crate::refusal::Refusal;
use crate::step::{Aim, Doubt, Step};
use token::{Token, tokens};

/// The steps of a text, each with the byte at which it begins.
pub(crate) fn recognise(text: &str) -> Result<Vec<(usize, Step)>, Doubt> {
    let mut sentence = Sentence::default();
    for (at, token) in tokens(text)? {
        match token {
            Token::Word { text, equals } => sentence.word(at, text, equals)?,
            Token::Join(join) => sentence.join(at, join)?,
            Token::ErrorToOutput => sentence.aim(at, Aim::ErrorToOutput)?,
            Token::Open { stream, access } => {
                sentence.check_target()?;
                sentence.pending_aim = Some(Pending { stream, access, at });
                sentence.needs_command(at)?;
            }
        }
    }
    sentence.end()
}

/// A redirect whose file has not come yet.
struct Pending {
    stream: toolcall::Stream,
    access: toolcall::Access,
    at: usize,
}

/// The steps read so far.
#[derive(Default)]
struct Sentence {
    steps: Vec<(usize, Step)>,
    /// The operator after which a command must (or, after `;`, may) come.
    open: Option<(usize, Join)>,
    pending_aim: Option<Pending>,
}

impl Sentence {
    fn word(&mut self, at: usize, word: String, equals: token::Equals) -> Result<(), Doubt> {
        if let Some(Pending { stream, access, .. }) = self.pending_aim.take() {
            return self.aim(
                at,
                Aim::File {
                    stream,
                    access,
                    word,
                },
            );
        }
        match self.current() {
            Some(step) => step.words.push(word),
            None if equals == token::Equals::Bare => {
                return Err(Doubt::new(Refusal::Assignment, at));
            }
            None => self.begin(at, word),
        }
        Ok(())
    }

    fn begin(&mut self, at: usize, word: String) {
        let join = self.open.take().map_or(Join::Then, |(_, join)| join);
        let step = Step {
            join,
            words: vec![word],
            aims: Vec::new(),
        };
        self.steps.push((at, step));
    }

    fn join(&mut self, at: usize, join: Join) -> Result<(), Doubt> {
        self.check_target()?;
        self.needs_command(at)?;
        self.open = Some((at, join));
        Ok(())
    }

    fn aim(&mut self, at: usize, aim: Aim) -> Result<(), Doubt> {
        self.check_target()?;
        self.needs_command(at)?;
        if let Some(step) = self.current() {
            step.aims.push(aim);
        }
        Ok(())
    }

    /// The command that further words belong to.
    fn current(&mut self) -> Option<&mut Step> {
        match self.open {
            Some(_) => None,
            None => self.steps.last_mut().map(|(_, step)| step),
        }
    }

    fn needs_command(&mut self, at: usize) -> Result<(), Doubt> {
        match self.current() {
            Some(_) => Ok(()),
            None => Err(Doubt::new(Refusal::NothingBefore, at)),
        }
    }

    fn check_target(&self) -> Result<(), Doubt> {
        match &self.pending_aim {
            Some(pending) => Err(Doubt::new(Refusal::NoFile, pending.at)),
            None => Ok(()),
        }
    }

    fn end(self) -> Result<Vec<(usize, Step)>, Doubt> {
        self.check_target()?;
        match self.open {
            Some((at, Join::And | Join::Or | Join::Pipe)) => {
                Err(Doubt::new(Refusal::NothingAfter, at))
            }
            Some((_, Join::Then)) | None if self.steps.is_empty() => {
                Err(Doubt::new(Refusal::NoCommand, 0))
            }
            Some((_, Join::Then)) | None => Ok(self.steps),
        }
    }
}
