//! Which programs a program would run: what stands behind `env`, `timeout`, `sh -c`, `find -exec` and their kin.
//! It judges nothing; where it cannot see what would run it says so, and never less than that.

mod layer;
mod options;
mod table;

use std::sync::Arc;

use toolcall::{Part, Reading};

use crate::names::is_evaluating;
use crate::read::read;
use layer::{Inside, layer};

/// How many wrappers may stand in each other.
const DEEPEST: usize = 6;

/// How many programs one part may come to.
const MOST: usize = 64;

/// A part, and everything that is seen behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwrapped {
    /// The part itself, and then every program that it would run. A rule that allows must allow
    /// each of them.
    pub parts: Vec<Part>,
    /// Why these may not be all, or may not run as they stand here. No rule may allow it then.
    pub unclear: Option<Arc<str>>,
}

/// The part itself and the programs that it would run, through wrappers in wrappers.
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
pub fn unwrapped(part: &Part) -> Unwrapped {
    let mut found = Unwrapped {
        parts: Vec::new(),
        unclear: None,
    };
    found.add(part.clone(), DEEPEST);
    found
}

impl Unwrapped {
    fn add(&mut self, part: Part, depth: usize) {
        if self.parts.len() == MOST {
            return self.doubt("it runs too many programs");
        }
        let cwd = part.cwd.clone();
        let layer = layer(&part.argv);
        self.parts.push(part);
        if let Some(why) = layer.doubt {
            self.doubt(&why);
        }
        if depth == 0 && !layer.inside.is_empty() {
            return self.doubt("it runs a program through too many others");
        }
        for inside in layer.inside {
            match inside {
                Inside::Program(argv) => self.add(Part::new(argv, &cwd), depth - 1),
                Inside::Text(text) => self.add_text(&read(&text, &cwd), depth - 1),
            }
        }
    }

    fn add_text(&mut self, reading: &Reading, depth: usize) {
        match reading {
            Reading::Understood(parts) => {
                parts.iter().for_each(|part| self.add_shelled(part, depth));
            }
            Reading::Unclear(why) => self.doubt(&format!("its text has {why}")),
        }
    }

    /// Adds a part that a real shell would run, with its own version of some programs.
    fn add_shelled(&mut self, part: &Part, depth: usize) {
        if let Some(name) = part.argv.first().filter(|name| is_evaluating(name)) {
            self.doubt(&format!("a shell's own `{name}` evaluates its arguments"));
        }
        if !part.redirects.is_empty() {
            self.doubt("its text has redirects of its own");
        }
        self.add(part.clone(), depth);
    }

    /// The first doubt is the one that is told.
    fn doubt(&mut self, why: &str) {
        self.unclear.get_or_insert_with(|| why.into());
    }
}

#[cfg(test)]
mod tests;
