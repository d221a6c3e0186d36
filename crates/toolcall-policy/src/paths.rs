//! Path patterns in the style of gitignore, and sets of them that are matched at once.
//! It matches the text of paths and does not access the file system.

use std::path::{Component, Path, PathBuf};

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use toolcall::SessionContext;

use crate::error::RuleError;
use crate::fold::{fold_letters, fold_path, normalize};
use crate::rule_effect::RuleEffect;

/// The length in bytes above which a pattern is rejected.
const MAX_PATTERN_LEN: usize = 1024;

/// A path pattern. It also matches everything beneath what it matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    /// The pattern as it was written.
    pub(crate) source: String,
    base: PatternBase,
    glob: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PatternBase {
    /// Relative to each root.
    Roots,
    /// From the root of the file system.
    Machine,
}

impl Pattern {
    /// Parses `*.md` (anywhere in a root), `src/*.rs` or `./a` (relative to a root), `~/x` and `/x`.
    pub(crate) fn parse(source: &str, home: Option<&Path>) -> Result<Self, RuleError> {
        check(source)?;
        let (base, glob) = match source {
            "~" => (PatternBase::Machine, in_home(home, "")?),
            _ if source.starts_with('/') => (PatternBase::Machine, source.to_owned()),
            _ => match source.strip_prefix("~/") {
                Some(rest) => (PatternBase::Machine, in_home(home, rest)?),
                None => (PatternBase::Roots, in_roots(source)),
            },
        };
        let pattern = Self {
            source: source.to_owned(),
            base,
            glob: glob.trim_end_matches('/').to_owned(),
        };
        pattern.globs(&pattern.glob).map_err(|error| {
            let problem = format!("`{source}` is not a pattern: {}", error.kind());
            RuleError::new(
                problem,
                "put what is meant by the letter into brackets, as in `[[]x]`",
            )
        })?;
        Ok(pattern)
    }

    /// Returns the pattern of exactly this path, relative to a root if it is inside one.
    pub(crate) fn of(path: &Path, context: &SessionContext) -> Option<Self> {
        let in_root = context
            .roots
            .iter()
            .find_map(|root| path.strip_prefix(root).ok());
        let source = match in_root {
            Some(relative) => format!("./{}", globset::escape(relative.to_str()?)),
            None => globset::escape(path.to_str()?),
        };
        Self::parse(&source, None).ok()
    }

    /// Returns globs for the pattern and for everything beneath what it matches.
    fn globs(&self, glob: &str) -> Result<[Glob; 2], globset::Error> {
        let beneath = match glob {
            "" => "/**".to_owned(),
            _ => format!("{glob}/**"),
        };
        let build = |text: &str| GlobBuilder::new(text).literal_separator(true).build();
        Ok([
            build(if glob.is_empty() { "/" } else { glob })?,
            build(&beneath)?,
        ])
    }

    /// Returns the longest path without wildcards that everything it matches is beneath.
    fn literal_prefix(&self) -> PathBuf {
        let is_plain = |part: &&str| !part.contains(['*', '?', '[', '{', '\\']);
        let parts: Vec<_> = self.glob.split('/').take_while(is_plain).collect();
        match self.base {
            PatternBase::Roots => parts.iter().collect(),
            PatternBase::Machine => format!("/{}", parts.join("/")).into(),
        }
    }
}

fn check(source: &str) -> Result<(), RuleError> {
    if source.is_empty() {
        return Err(RuleError::new(
            "an empty pattern",
            "write a path, or `**` for everything in the workspace",
        ));
    }
    if source.len() > MAX_PATTERN_LEN {
        return Err(RuleError::new(
            "a pattern that is too long",
            "write several shorter ones",
        ));
    }
    if source.starts_with('!') {
        let advice =
            "write a rule of its own for what is excepted; deny wins over ask, ask over allow";
        return Err(RuleError::new(
            format!("`{source}` begins with `!`"),
            advice,
        ));
    }
    let goes_up = Path::new(source)
        .components()
        .any(|part| part == Component::ParentDir);
    if goes_up {
        let problem = format!("`{source}` has `..` in it and can never match");
        return Err(RuleError::new(
            problem,
            "write where it leads: `/…` or `~/…`",
        ));
    }
    Ok(())
}

fn in_home(home: Option<&Path>, rest: &str) -> Result<String, RuleError> {
    let home = home.and_then(Path::to_str);
    let none = || RuleError::new("`~` without a home directory", "write the path from `/`");
    Ok(format!(
        "{}/{rest}",
        globset::escape(home.ok_or_else(none)?)
    ))
}

fn in_roots(source: &str) -> String {
    let trimmed = source.trim_end_matches('/');
    match trimmed.strip_prefix("./") {
        Some(anchored) if !anchored.is_empty() => anchored.to_owned(),
        Some(_) => "**".to_owned(),
        None if trimmed == "." => "**".to_owned(),
        None if trimmed.contains('/') => trimmed.to_owned(),
        None => format!("**/{trimmed}"),
    }
}

/// The patterns of many rules, for one effect and one action.
#[derive(Clone, Debug)]
pub(crate) struct PathSet {
    roots: GlobRules,
    machine: GlobRules,
    literals: Vec<(PatternBase, PathBuf, usize)>,
    effect: RuleEffect,
}

#[derive(Clone, Debug)]
struct GlobRules {
    set: GlobSet,
    rules: Vec<usize>,
}

impl PathSet {
    /// Builds the set from patterns with the index of their rule. Ask and deny patterns also match folded names.
    pub(crate) fn new(
        effect: RuleEffect,
        patterns: &[(&Pattern, usize)],
    ) -> Result<Self, globset::Error> {
        let of_base = |base: PatternBase| {
            patterns
                .iter()
                .filter(move |(pattern, _)| pattern.base == base)
        };
        let literals = patterns.iter().filter(|_| effect != RuleEffect::Allow);
        Ok(Self {
            roots: GlobRules::new(effect, of_base(PatternBase::Roots))?,
            machine: GlobRules::new(effect, of_base(PatternBase::Machine))?,
            literals: literals
                .map(|(pattern, rule)| (pattern.base, pattern.literal_prefix(), *rule))
                .collect(),
            effect,
        })
    }

    /// Returns the rules that match a path, in order.
    pub(crate) fn find(&self, path: &Path, context: &SessionContext) -> Vec<usize> {
        if self.roots.rules.is_empty() && self.machine.rules.is_empty() {
            return Vec::new();
        }
        let mut found = Vec::new();
        match self.effect {
            RuleEffect::Allow if path.components().any(|part| part == Component::ParentDir) => {}
            RuleEffect::Allow => self.collect(path, &context.roots, &mut found),
            RuleEffect::Ask | RuleEffect::Deny => {
                let path = normalize(path);
                let roots: Vec<_> = context.roots.iter().map(|root| fold_path(root)).collect();
                self.collect(&path, &context.roots, &mut found);
                self.collect(&fold_path(&path), &roots, &mut found);
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns the rules whose patterns lie beneath a directory. A name that may be anywhere in a root
    /// counts as beneath the root, but not as beneath a directory in it.
    pub(crate) fn beneath(&self, path: &Path, context: &SessionContext) -> Vec<usize> {
        let path = normalize(path);
        let lies_beneath = |base: PatternBase, literal: &Path| match base {
            PatternBase::Machine => literal.starts_with(&path),
            PatternBase::Roots => {
                let mut roots = context.roots.iter();
                roots.any(|root| root.join(literal).starts_with(&path))
            }
        };
        let literals = self.literals.iter();
        literals
            .filter(|(base, literal, _)| lies_beneath(*base, literal))
            .map(|(_, _, rule)| *rule)
            .collect()
    }

    fn collect(&self, path: &Path, roots: &[PathBuf], found: &mut Vec<usize>) {
        for root in roots {
            if let Ok(relative) = path.strip_prefix(root) {
                self.roots.collect(relative, found);
            }
        }
        self.machine.collect(path, found);
    }
}

impl GlobRules {
    fn new<'a>(
        effect: RuleEffect,
        patterns: impl Iterator<Item = &'a (&'a Pattern, usize)>,
    ) -> Result<Self, globset::Error> {
        let (mut set, mut rules) = (GlobSetBuilder::new(), Vec::new());
        for (pattern, rule) in patterns {
            let folded = fold_letters(&pattern.glob);
            let texts = match effect {
                RuleEffect::Ask | RuleEffect::Deny if folded != pattern.glob => {
                    vec![pattern.glob.as_str(), &folded]
                }
                RuleEffect::Allow | RuleEffect::Ask | RuleEffect::Deny => {
                    vec![pattern.glob.as_str()]
                }
            };
            for text in texts {
                for glob in pattern.globs(text)? {
                    set.add(glob);
                    rules.push(*rule);
                }
            }
        }
        let set = set.build()?;
        Ok(Self { set, rules })
    }

    fn collect(&self, path: &Path, found: &mut Vec<usize>) {
        if !self.rules.is_empty() {
            found.extend(self.set.matches(path).into_iter().map(|at| self.rules[at]));
        }
    }
}
