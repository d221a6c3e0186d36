//! Edits of a text: exact replacements and insertions of lines, applied in order.
//! It reads no file and never guesses: a text that is not found exactly once is an error.

mod nearest;

use schemars::JsonSchema;
use serde::Deserialize;
use thiserror::Error;

use nearest::nearest_line_hint;

const BYTE_ORDER_MARK: char = '\u{feff}';
/// How many line numbers an error lists.
const MAX_LISTED_LINES: usize = 8;

/// One change to a text.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub(crate) enum Edit {
    /// Replaces a text.
    Replace {
        /// The text as it stands in the file, with its spaces and line breaks. It must be there
        /// exactly once, unless `all` is set.
        old_text: String,
        /// What to put in its place.
        new_text: String,
        /// Whether every occurrence is replaced. False if left out.
        #[serde(default)]
        all: bool,
    },
    /// Inserts whole lines: at `line`, or next to an anchor, or at the end of the file if neither
    /// is given.
    Insert {
        /// The lines. A line break at the end is added if it is missing.
        new_text: String,
        /// The line number, from 1, that the first new line gets.
        #[serde(default)]
        line: Option<usize>,
        /// A text that is there exactly once; the new lines go before the line it begins in.
        #[serde(default)]
        before: Option<String>,
        /// A text that is there exactly once; the new lines go after the line it ends in.
        #[serde(default)]
        after: Option<String>,
    },
}

/// A text after its edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EditedText {
    pub(crate) text: String,
    /// The first line that an edit changed, counted from 1.
    pub(crate) first_line: u32,
}

/// Why an edit cannot be made.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum EditError {
    #[error("edit {edit}: `{field}` is empty; give the text that is there")]
    Empty { edit: usize, field: &'static str },
    #[error("edit {edit}: `{field}` is not in the file. {hint}")]
    NotFound {
        edit: usize,
        field: &'static str,
        hint: String,
    },
    #[error(
        "edit {edit}: `{field}` is there {count} times, in lines {lines}; quote more of it{all}"
    )]
    NotUnique {
        edit: usize,
        field: &'static str,
        count: usize,
        lines: String,
        all: &'static str,
    },
    #[error("edit {edit}: there is no line {line}; the file has {}, so give 1 to {}", counted_lines(*lines), lines + 1)]
    NoSuchLine {
        edit: usize,
        line: usize,
        lines: usize,
    },
    #[error("edit {edit}: give only one of `line`, `before` and `after`")]
    ConflictingPositions { edit: usize },
}

fn counted_lines(lines: usize) -> String {
    let noun = if lines == 1 { "line" } else { "lines" };
    format!("{lines} {noun}")
}

/// Applies every edit in order, or none if one of them fails.
pub(crate) fn apply(text: &str, edits: &[Edit]) -> Result<EditedText, EditError> {
    let mut edited = EditedText {
        text: text.to_owned(),
        first_line: u32::MAX,
    };
    for (index, edit) in edits.iter().enumerate() {
        let number = index + 1;
        match edit {
            Edit::Replace {
                old_text,
                new_text,
                all,
            } => {
                let count = if *all {
                    Occurrences::Any
                } else {
                    Occurrences::One
                };
                edited.replace(number, old_text, new_text, count)?;
            }
            Edit::Insert {
                new_text,
                line,
                before,
                after,
            } => {
                let position = InsertPosition::new(*line, before.as_deref(), after.as_deref());
                let position = position.ok_or(EditError::ConflictingPositions { edit: number })?;
                edited.insert(number, new_text, &position)?;
            }
        }
    }
    edited.first_line = edited.first_line.min(u32::MAX - 1);
    Ok(edited)
}

/// How often the text to replace may occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Occurrences {
    One,
    Any,
}

/// Where new lines are inserted.
enum InsertPosition<'a> {
    Line(usize),
    Before(&'a str),
    After(&'a str),
    End,
}

impl<'a> InsertPosition<'a> {
    fn new(line: Option<usize>, before: Option<&'a str>, after: Option<&'a str>) -> Option<Self> {
        match (line, before, after) {
            (None, None, None) => Some(InsertPosition::End),
            (Some(line), None, None) => Some(InsertPosition::Line(line)),
            (None, Some(anchor), None) => Some(InsertPosition::Before(anchor)),
            (None, None, Some(anchor)) => Some(InsertPosition::After(anchor)),
            (_, _, _) => None,
        }
    }
}

impl EditedText {
    fn replace(
        &mut self,
        edit: usize,
        old: &str,
        new: &str,
        count: Occurrences,
    ) -> Result<(), EditError> {
        let old = self.find(edit, "oldText", old, count)?;
        let new = self.match_line_breaks(new, &old);
        self.record_change(self.text.find(&*old).unwrap_or(0));
        self.text = match count {
            Occurrences::One => self.text.replacen(&*old, &new, 1),
            Occurrences::Any => self.text.replace(&*old, &new),
        };
        Ok(())
    }

    fn insert(
        &mut self,
        edit: usize,
        new: &str,
        position: &InsertPosition<'_>,
    ) -> Result<(), EditError> {
        let at = match position {
            InsertPosition::Line(line) => self.start_of_line(edit, *line)?,
            InsertPosition::Before(anchor) => {
                let anchor = self.find(edit, "before", anchor, Occurrences::One)?;
                let at = self.text.find(&*anchor).unwrap_or(0);
                self.text[..at]
                    .rfind('\n')
                    .map_or(self.start(), |end| end + 1)
            }
            InsertPosition::After(anchor) => {
                let anchor = self.find(edit, "after", anchor, Occurrences::One)?;
                let end = self.text.find(&*anchor).unwrap_or(0) + anchor.len();
                self.end_of_line(end)
            }
            InsertPosition::End => self.text.len(),
        };
        self.insert_lines(at, new);
        Ok(())
    }

    /// Inserts whole lines at the start of a line, or after the last one.
    fn insert_lines(&mut self, at: usize, new: &str) {
        let line_break = if self.has_crlf() { "\r\n" } else { "\n" };
        let mut lines = self.match_line_breaks(new, "");
        if !lines.ends_with('\n') {
            lines += line_break;
        }
        let follows_open_line = at > self.start() && !self.text[..at].ends_with('\n');
        if follows_open_line {
            lines.insert_str(0, line_break);
        }
        self.record_change(at);
        self.text.insert_str(at, &lines);
    }

    fn record_change(&mut self, at: usize) {
        let line = self.text[..at].matches('\n').count() + 1;
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        self.first_line = self.first_line.min(line);
    }

    /// Returns the offset after the byte order mark, or 0 without one.
    fn start(&self) -> usize {
        if self.text.starts_with(BYTE_ORDER_MARK) {
            BYTE_ORDER_MARK.len_utf8()
        } else {
            0
        }
    }

    fn start_of_line(&self, edit: usize, line: usize) -> Result<usize, EditError> {
        let starts = std::iter::once(self.start());
        let further = self.text.match_indices('\n').map(|(at, _)| at + 1);
        let lines = self.text[self.start()..].lines().count();
        match line {
            0 => Err(EditError::NoSuchLine { edit, line, lines }),
            line if line == lines + 1 => Ok(self.text.len()),
            line if line > lines => Err(EditError::NoSuchLine { edit, line, lines }),
            line => Ok(starts.chain(further).nth(line - 1).unwrap_or(0)),
        }
    }

    /// Returns the offset after the line break of the line that contains `end`.
    fn end_of_line(&self, end: usize) -> usize {
        if self.text[..end].ends_with('\n') {
            return end;
        }
        let rest = self.text[end..].find('\n');
        rest.map_or(self.text.len(), |at| end + at + 1)
    }

    /// Returns `wanted` as the file spells it: models write `\n` where the file has `\r\n`.
    fn find(
        &self,
        edit: usize,
        field: &'static str,
        wanted: &str,
        count: Occurrences,
    ) -> Result<String, EditError> {
        if wanted.is_empty() {
            return Err(EditError::Empty { edit, field });
        }
        let with_crlf = wanted.replace("\r\n", "\n").replace('\n', "\r\n");
        let spellings = [wanted.to_owned(), with_crlf];
        let found = spellings.into_iter().find(|text| self.text.contains(text));
        let found = found.ok_or_else(|| EditError::NotFound {
            edit,
            field,
            hint: nearest_line_hint(&self.text, wanted),
        })?;
        let times = self.text.matches(&*found).count();
        match count {
            Occurrences::One if times > 1 => Err(self.not_unique(edit, field, &found, times)),
            Occurrences::One | Occurrences::Any => Ok(found),
        }
    }

    fn not_unique(&self, edit: usize, field: &'static str, found: &str, count: usize) -> EditError {
        let places = self.text.match_indices(found).take(MAX_LISTED_LINES);
        let lines = places.map(|(at, _)| self.text[..at].matches('\n').count() + 1);
        let mut lines = lines
            .map(|line| line.to_string())
            .collect::<Vec<_>>()
            .join(", ");
        if count > MAX_LISTED_LINES {
            lines += ", …";
        }
        let all = match field {
            "oldText" => ", or set `all`",
            _ => "",
        };
        EditError::NotUnique {
            edit,
            field,
            count,
            lines,
            all,
        }
    }

    /// Converts new text to the line breaks of the text it replaces, or else of the file.
    fn match_line_breaks(&self, new: &str, replaced: &str) -> String {
        let is_crlf = if replaced.contains('\n') {
            replaced.contains("\r\n")
        } else {
            self.has_crlf()
        };
        if is_crlf && !new.contains("\r\n") {
            new.replace('\n', "\r\n")
        } else {
            new.to_owned()
        }
    }

    /// Whether the file uses `\r\n`, judged by its first line.
    fn has_crlf(&self) -> bool {
        let first = self.text.find('\n');
        first.is_some_and(|at| self.text[..at].ends_with('\r'))
    }
}

#[cfg(test)]
mod tests;
