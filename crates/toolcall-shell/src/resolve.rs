//! Resolves the commands of a text to parts: which program runs, in which directory, with which redirects.
//! It parses no text. Where the directory of a command depends on whether another succeeds, that is an ambiguity.

use std::path::{Path, PathBuf};

use toolcall::{Join, Part, Redirect, Stream, Target};

use crate::ambiguity::{Ambiguity, AmbiguityKind};
use crate::builtins::not_a_program;
use crate::paths::{cd_target, redirect_target};
use crate::simple_command::{RawRedirect, SimpleCommand};

/// Returns the parts that run. `cd` becomes the working directory of the parts after it.
pub(crate) fn resolve(
    commands: &[(usize, SimpleCommand)],
    cwd: &Path,
) -> Result<Vec<Part>, Ambiguity> {
    let mut resolver = Resolver {
        cwd: cwd.to_path_buf(),
        parts: Vec::new(),
        after_cd: None,
        has_changed_directory: false,
    };
    let mut next = commands.iter().skip(1).map(|(_, command)| command.join);
    for (at, command) in commands {
        resolver
            .add(command, next.next())
            .map_err(|ambiguity| ambiguity.at(*at))?;
    }
    Ok(resolver.parts)
}

struct Resolver {
    cwd: PathBuf,
    parts: Vec<Part>,
    /// The operator before the preceding `cd`, which the next part takes over.
    after_cd: Option<Join>,
    has_changed_directory: bool,
}

impl Resolver {
    fn add(&mut self, command: &SimpleCommand, next: Option<Join>) -> Result<(), Ambiguity> {
        self.check_directory(command.join)?;
        if command.words[0] == "cd" {
            return self.change_directory(command, next);
        }
        check_program(&command.words[0])?;
        let redirects = command.redirects.iter().map(|raw| redirect(raw, &self.cwd));
        let part = Part {
            join: self.after_cd.take().unwrap_or(command.join),
            argv: command.words.clone(),
            cwd: self.cwd.clone(),
            redirects: redirects.collect::<Result<_, _>>()?,
        };
        self.parts.push(part);
        Ok(())
    }

    fn change_directory(
        &mut self,
        command: &SimpleCommand,
        next: Option<Join>,
    ) -> Result<(), Ambiguity> {
        let [_, directory] = command.words.as_slice() else {
            return Err(AmbiguityKind::CdWords.into());
        };
        let join = self.after_cd.unwrap_or(command.join);
        let is_certain = matches!(join, Join::Then | Join::And);
        if !is_certain || next != Some(Join::And) || !command.redirects.is_empty() {
            return Err(AmbiguityKind::CdAlone.into());
        }
        let to = cd_target(&self.cwd, directory)?;
        // Nothing runs in the directory in between, so a missing one would go unnoticed.
        if self.after_cd.is_some() && !to.starts_with(&self.cwd) {
            return Err(AmbiguityKind::CdThrough.into());
        }
        self.cwd = to;
        self.after_cd = Some(join);
        self.has_changed_directory = true;
        Ok(())
    }

    /// After a `cd`, which may fail, only commands that need its success have a known directory.
    fn check_directory(&self, join: Join) -> Result<(), Ambiguity> {
        match join {
            Join::Then | Join::Or if self.has_changed_directory => {
                Err(AmbiguityKind::CdMaybe.into())
            }
            Join::Then | Join::Or | Join::And | Join::Pipe => Ok(()),
        }
    }
}

fn check_program(name: &str) -> Result<(), Ambiguity> {
    if let Some(kind) = not_a_program(name) {
        return Err(Ambiguity::from(kind).about(format_args!("`{name}`")));
    }
    // A job (`%1`), an option of a shell that the text is passed to, or an empty name.
    if name.is_empty() || name.starts_with(['%', '-', '+']) {
        Err(AmbiguityKind::OddProgram.into())
    } else {
        Ok(())
    }
}

fn redirect(raw: &RawRedirect, cwd: &Path) -> Result<Redirect, Ambiguity> {
    Ok(match raw {
        RawRedirect::ErrorToOutput => Redirect {
            stream: Stream::Error,
            target: Target::Stream(Stream::Output),
        },
        RawRedirect::File {
            stream,
            access,
            word,
        } => Redirect {
            stream: *stream,
            target: redirect_target(cwd, word, *access)?,
        },
    })
}
