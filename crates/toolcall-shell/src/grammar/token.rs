//! The tokens of the first parser: words and operators.
//! It knows which characters are plain, not what the words mean.

use toolcall::text::is_hidden;
use toolcall::{Access, Join, Stream};

use crate::ambiguity::{Ambiguity, AmbiguityKind};

/// A word or an operator.
#[derive(Debug)]
pub(super) enum Token {
    Word { text: String, equals: Equals },
    Join(Join),
    ErrorToOutput,
    Open { stream: Stream, access: Access },
}

/// Whether a word has an `=` outside quotes and could be an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Equals {
    Bare,
    No,
}

/// Returns the tokens of a text, each with its byte offset.
pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token)>, Ambiguity> {
    let mut cursor = Cursor { text, at: 0 };
    let mut tokens = Vec::new();
    while let Some(c) = cursor.peek() {
        let at = cursor.at;
        match c {
            ' ' => cursor.at += 1,
            '&' | '|' | ';' => tokens.push((at, Token::Join(cursor.join()?))),
            '<' | '>' => tokens.push((at, cursor.redirect(None)?)),
            _ => tokens.push((at, cursor.word_or_redirect()?)),
        }
    }
    Ok(tokens)
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn reject<T>(&self, kind: AmbiguityKind) -> Result<T, Ambiguity> {
        Err(Ambiguity::new(kind, self.at))
    }

    /// Rejects a character that is special to shells.
    fn special<T>(&self, c: char) -> Result<T, Ambiguity> {
        match special(c) {
            AmbiguityKind::Hidden => self.hidden(c),
            AmbiguityKind::LineBreak => self.reject(AmbiguityKind::LineBreak),
            kind => Err(Ambiguity::new(kind, self.at).about(format_args!("(`{c}`)"))),
        }
    }

    fn hidden<T>(&self, c: char) -> Result<T, Ambiguity> {
        let shown = c.escape_unicode();
        Err(Ambiguity::new(AmbiguityKind::Hidden, self.at).about(format_args!("(`{shown}`)")))
    }

    fn take(&mut self, operator: &str) -> bool {
        let is_next = self.rest().starts_with(operator);
        self.at += if is_next { operator.len() } else { 0 };
        is_next
    }

    fn join(&mut self) -> Result<Join, Ambiguity> {
        let start = self.at;
        let join = [
            ("&&", Join::And),
            ("||", Join::Or),
            ("|", Join::Pipe),
            (";", Join::Then),
        ]
        .into_iter()
        .find(|(operator, _)| self.take(operator));
        let Some((_, join)) = join else {
            return self.reject(AmbiguityKind::Background);
        };
        // `|&`, `;;`, `&&&` and so on are other operators, or invalid.
        match self.peek() {
            Some('&' | '|' | ';') => Err(Ambiguity::new(AmbiguityKind::OddOperator, start)),
            _ => Ok(join),
        }
    }

    /// Reads `<`, `>` or `>>`, after an optional stream number.
    fn redirect(&mut self, number: Option<&str>) -> Result<Token, Ambiguity> {
        let start = self.at;
        let access = [
            (">>", Access::Append),
            (">", Access::Replace),
            ("<", Access::Read),
        ]
        .into_iter()
        .find(|(operator, _)| self.take(operator))
        .map_or(Access::Read, |(_, access)| access);
        if number == Some("2") && access == Access::Replace && self.take("&1") {
            return self.after_merge();
        }
        if let Some('<' | '>' | '&' | '|' | '(') = self.peek() {
            return Err(Ambiguity::new(AmbiguityKind::OddRedirect, start));
        }
        let stream = match (number, access) {
            (None | Some("0"), Access::Read) => Stream::Input,
            (None | Some("1"), Access::Replace | Access::Append) => Stream::Output,
            (Some("2"), Access::Replace | Access::Append) => Stream::Error,
            (_, Access::Read | Access::Replace | Access::Append) => {
                return Err(Ambiguity::new(AmbiguityKind::OtherStream, start));
            }
        };
        Ok(Token::Open { stream, access })
    }

    /// Rejects `2>&12`, `2>&1x` and `2>&1<file`, which only begin like `2>&1`.
    fn after_merge(&self) -> Result<Token, Ambiguity> {
        match self.peek() {
            None | Some(' ' | ';' | '|' | '&') => Ok(Token::ErrorToOutput),
            Some(_) => self.reject(AmbiguityKind::OddRedirect),
        }
    }

    fn word_or_redirect(&mut self) -> Result<Token, Ambiguity> {
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let (number, after) = self.rest().split_at(digits);
        if digits > 0 && after.starts_with(['<', '>']) {
            self.at += digits;
            return self.redirect(Some(number));
        }
        self.word()
    }

    fn word(&mut self) -> Result<Token, Ambiguity> {
        let mut text = String::new();
        let mut equals = Equals::No;
        let mut before = None;
        while let Some(c) = self.peek() {
            match c {
                ' ' | '&' | '|' | ';' | '<' | '>' => break,
                '\'' | '"' => self.quoted(c, &mut text)?,
                _ => {
                    self.bare(c, before)?;
                    equals = if c == '=' { Equals::Bare } else { equals };
                    text.push(c);
                }
            }
            before = Some(c);
        }
        Ok(Token::Word { text, equals })
    }

    fn quoted(&mut self, quote: char, text: &mut String) -> Result<(), Ambiguity> {
        let start = self.at;
        self.at += 1;
        while let Some(c) = self.peek() {
            match c {
                _ if c == quote => {
                    self.at += 1;
                    return Ok(());
                }
                '$' | '`' | '\\' if quote == '"' => return self.special(c),
                // Inside quotes, every shell takes them as part of the word, and users can see them.
                '\n' | '\t' => {}
                _ if is_hidden(c) => return self.hidden(c),
                _ => {}
            }
            text.push(c);
            self.at += c.len_utf8();
        }
        Err(Ambiguity::new(AmbiguityKind::OpenQuote, start))
    }

    fn bare(&mut self, c: char, before: Option<char>) -> Result<(), Ambiguity> {
        let is_plain = match c {
            '~' => before.is_some_and(|before| before.is_ascii_alphanumeric()),
            '#' => before.is_some(),
            _ if c.is_ascii() => c.is_ascii_alphanumeric() || "_-./,:=+@%^".contains(c),
            _ => c.is_alphanumeric() && !is_hidden(c),
        };
        if !is_plain {
            return self.special(c);
        }
        self.at += c.len_utf8();
        Ok(())
    }
}

/// Returns what a special character outside quotes would do.
fn special(c: char) -> AmbiguityKind {
    match c {
        '$' => AmbiguityKind::Expansion,
        '`' => AmbiguityKind::Substitution,
        '\\' => AmbiguityKind::Backslash,
        '*' | '?' | '[' | ']' => AmbiguityKind::Pattern,
        '{' | '}' => AmbiguityKind::Brace,
        '(' | ')' => AmbiguityKind::Subshell,
        '~' => AmbiguityKind::Home,
        '#' => AmbiguityKind::Comment,
        '!' => AmbiguityKind::Negation,
        '\n' | '\r' => AmbiguityKind::LineBreak,
        _ if is_hidden(c) || c.is_whitespace() => AmbiguityKind::Hidden,
        _ => AmbiguityKind::NotPlain,
    }
}
