//! Glob patterns as models write them: without a slash they match a name at any depth, as in `.gitignore`.
//! It matches paths as text and touches no file.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use toolcall::ToolError;

/// A glob for paths relative to the directory that the call searches.
#[derive(Clone, Debug)]
pub(super) struct GlobPattern(GlobMatcher);

impl GlobPattern {
    pub(super) fn new(text: &str) -> Result<Self, ToolError> {
        if text.is_empty() {
            return Err(ToolError::new(
                "the pattern is empty; `*` matches every name",
            ));
        }
        let anchored = match text.strip_prefix('/') {
            Some(rest) => rest.to_owned(),
            None if text.contains('/') => text.strip_prefix("./").unwrap_or(text).to_owned(),
            None => format!("**/{text}"),
        };
        let glob = GlobBuilder::new(&anchored).literal_separator(true).build();
        let glob = glob.map_err(|error| {
            ToolError::new(format!(
                "`{text}` is no valid glob pattern: {}; write a special character that is meant itself as `[*]`",
                error.kind()
            ))
        })?;
        Ok(Self(glob.compile_matcher()))
    }

    pub(super) fn matches(&self, relative: &Path) -> bool {
        self.0.is_match(relative)
    }
}
