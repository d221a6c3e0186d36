//! Finds the programs that `env`, `timeout`, `sh -c`, `find -exec` and other wrappers would run.
//! It judges nothing; where it cannot tell what would run, the result is marked unclear.

mod contents;
mod options;
mod table;

use std::sync::Arc;

use toolcall::{Part, Reading};

use crate::builtins::is_evaluating;
use crate::read::read;
use contents::{WrappedCommand, contents};

/// How deep wrappers may be nested.
const MAX_DEPTH: usize = 6;

/// How many programs one part may run.
const MAX_PROGRAMS: usize = 64;

/// A part and the programs that it would run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnwrappedPrograms {
    /// The part itself, then every program that it would run. A rule that allows the part must allow
    /// each of them.
    pub parts: Vec<Part>,
    /// Why the list may be incomplete or wrong, if so. Then no rule may allow the part.
    pub unclear: Option<Arc<str>>,
}

/// Returns the part and the programs that it would run, through nested wrappers.
///
/// ```
/// use toolcall::Part;
///
/// let argv = ["timeout", "5", "sh", "-c", "make && ls"].map(str::to_owned);
/// let found = toolcall_shell::unwrapped(&Part::new(argv.into(), "/w"));
/// let names: Vec<_> = found.parts.iter().map(|part| part.argv[0].as_str()).collect();
/// assert_eq!(names, ["timeout", "sh", "make", "ls"]);
/// assert_eq!(found.unclear, None);
/// ```
pub fn unwrapped(part: &Part) -> UnwrappedPrograms {
    let mut found = UnwrappedPrograms {
        parts: Vec::new(),
        unclear: None,
    };
    found.add(part.clone(), MAX_DEPTH);
    found
}

impl UnwrappedPrograms {
    fn add(&mut self, part: Part, depth: usize) {
        if self.parts.len() == MAX_PROGRAMS {
            return self.mark_unclear("it runs too many programs");
        }
        let cwd = part.cwd.clone();
        let contents = contents(&part.argv);
        self.parts.push(part);
        if let Some(why) = contents.ambiguity {
            self.mark_unclear(&why);
        }
        if depth == 0 && !contents.commands.is_empty() {
            return self.mark_unclear("it runs a program through too many others");
        }
        for command in contents.commands {
            match command {
                WrappedCommand::Program(argv) => self.add(Part::new(argv, &cwd), depth - 1),
                WrappedCommand::Text(text) => self.add_text(&read(&text, &cwd), depth - 1),
            }
        }
    }

    fn add_text(&mut self, reading: &Reading, depth: usize) {
        match reading {
            Reading::Understood(parts) => {
                parts.iter().for_each(|part| self.add_in_shell(part, depth));
            }
            Reading::Unclear(why) => self.mark_unclear(&format!("its text has {why}")),
        }
    }

    /// Adds a part that a real shell would run, which has builtin versions of some programs.
    fn add_in_shell(&mut self, part: &Part, depth: usize) {
        if let Some(name) = part.argv.first().filter(|name| is_evaluating(name)) {
            self.mark_unclear(&format!("a shell's own `{name}` evaluates its arguments"));
        }
        if !part.redirects.is_empty() {
            self.mark_unclear("its text has redirects of its own");
        }
        self.add(part.clone(), depth);
    }

    /// Records why the result is unclear; only the first reason is kept.
    fn mark_unclear(&mut self, why: &str) {
        self.unclear.get_or_insert_with(|| why.into());
    }
}

#[cfg(test)]
mod tests;
