//! What the steps of a text mean: which programs run, where, with which redirects.
//! It reads no text and knows nothing of quotes; what depends on how a step ends is a doubt.

use std::path::{Path, PathBuf};

use toolcall::{Join, Part, Redirect, Stream, Target};

use crate::enter::{entered, opened};
use crate::names::not_a_program;
use crate::refusal::Refusal;
use crate::step::{Aim, Doubt, Step};

/// The parts that run, each with its folder.
pub(crate) fn parts(steps: &[(usize, Step)], cwd: &Path) -> Result<Vec<Part>, Doubt> {
    let mut walk = Walk {
        cwd: cwd.to_path_buf(),
        parts: Vec::new(),
        after_cd: None,
        has_moved: false,
    };
    let mut next = steps.iter().skip(1).map(|(_, step)| step.join);
    for (at, step) in steps {
        walk.take(step, next.next())
            .map_err(|doubt| doubt.at(*at))?;
    }
    Ok(walk.parts)
}

struct Walk {
    cwd: PathBuf,
    parts: Vec<Part>,
    /// How the `cd` that was just passed followed what came before it.
    after_cd: Option<Join>,
    has_moved: bool,
}

impl Walk {
    fn take(&mut self, step: &Step, next: Option<Join>) -> Result<(), Doubt> {
        self.check_folder(step.join)?;
        if step.words[0] == "cd" {
            return self.enter(step, next);
        }
        check_program(&step.words[0])?;
        let redirects = step.aims.iter().map(|aim| redirect(aim, &self.cwd));
        let part = Part {
            join: self.after_cd.take().unwrap_or(step.join),
            argv: step.words.clone(),
            cwd: self.cwd.clone(),
            redirects: redirects.collect::<Result<_, _>>()?,
        };
        self.parts.push(part);
        Ok(())
    }

    fn enter(&mut self, step: &Step, next: Option<Join>) -> Result<(), Doubt> {
        let [_, folder] = step.words.as_slice() else {
            return Err(Refusal::CdWords.into());
        };
        let join = self.after_cd.unwrap_or(step.join);
        let is_certain = matches!(join, Join::Then | Join::And);
        if !is_certain || next != Some(Join::And) || !step.aims.is_empty() {
            return Err(Refusal::CdAlone.into());
        }
        let to = entered(&self.cwd, folder)?;
        // Nothing runs in the folder between, so nobody would notice that it is not there.
        if self.after_cd.is_some() && !to.starts_with(&self.cwd) {
            return Err(Refusal::CdThrough.into());
        }
        self.cwd = to;
        self.after_cd = Some(join);
        self.has_moved = true;
        Ok(())
    }

    /// After a `cd` that may have failed, only what needs its success is certain of its folder.
    fn check_folder(&self, join: Join) -> Result<(), Doubt> {
        match join {
            Join::Then | Join::Or if self.has_moved => Err(Refusal::CdMaybe.into()),
            Join::Then | Join::Or | Join::And | Join::Pipe => Ok(()),
        }
    }
}

fn check_program(name: &str) -> Result<(), Doubt> {
    if let Some(refusal) = not_a_program(name) {
        return Err(Doubt::from(refusal).about(format_args!("`{name}`")));
    }
    // A job (`%1`), an option of the shell that is handed the text, or nothing at all.
    match name.is_empty() || name.starts_with(['%', '-', '+']) {
        true => Err(Refusal::OddProgram.into()),
        false => Ok(()),
    }
}

fn redirect(aim: &Aim, cwd: &Path) -> Result<Redirect, Doubt> {
    Ok(match aim {
        Aim::ErrorToOutput => Redirect {
            stream: Stream::Error,
            target: Target::Stream(Stream::Output),
        },
        Aim::File {
            stream,
            access,
            word,
        } => Redirect {
            stream: *stream,
            target: opened(cwd, word, *access)?,
        },
    })
}
