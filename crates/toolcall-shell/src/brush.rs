//! The second of the two parsers: `brush-parser`, a full parser of shell syntax.
//! It shares only the result type with the first, and rejects everything that is not plain.

use brush_parser::ast::{
    self, AndOr, AndOrList, Command, CommandPrefixOrSuffixItem as Item, CompoundListItem,
    IoFileRedirectKind, IoFileRedirectTarget, IoRedirect, Pipeline, SeparatorOperator, Word,
};
use brush_parser::word::{WordPiece, WordPieceWithSource};
use brush_parser::{Parser, ParserOptions};
use toolcall::{Access, Join, Stream};

use crate::simple_command::{RawRedirect, SimpleCommand};

/// Returns the commands of a text, or `None` if it contains anything but simple commands.
pub(crate) fn parse(text: &str) -> Option<Vec<SimpleCommand>> {
    let program = Parser::new(text.as_bytes(), &ParserOptions::default())
        .parse_program()
        .ok()?;
    let [list] = program.complete_commands.as_slice() else {
        return None;
    };
    let mut commands = Vec::new();
    for item in &list.0 {
        add_item(&mut commands, item)?;
    }
    Some(commands)
}

fn add_item(commands: &mut Vec<SimpleCommand>, item: &CompoundListItem) -> Option<()> {
    let CompoundListItem(AndOrList { first, additional }, separator) = item;
    match separator {
        SeparatorOperator::Sequence => {}
        SeparatorOperator::Async => return None,
    }
    add_pipeline(commands, Join::Then, first)?;
    for next in additional {
        match next {
            AndOr::And(pipeline) => add_pipeline(commands, Join::And, pipeline)?,
            AndOr::Or(pipeline) => add_pipeline(commands, Join::Or, pipeline)?,
        }
    }
    Some(())
}

fn add_pipeline(commands: &mut Vec<SimpleCommand>, join: Join, pipeline: &Pipeline) -> Option<()> {
    if pipeline.bang || pipeline.timed.is_some() {
        return None;
    }
    for (index, command) in pipeline.seq.iter().enumerate() {
        let join = if index == 0 { join } else { Join::Pipe };
        match command {
            Command::Simple(simple) => commands.push(simple_command(join, simple)?),
            Command::Compound(..) | Command::Function(_) | Command::ExtendedTest(..) => {
                return None;
            }
        }
    }
    Some(())
}

fn simple_command(join: Join, simple: &ast::SimpleCommand) -> Option<SimpleCommand> {
    if simple.prefix.is_some() {
        return None;
    }
    let mut words = vec![plain(simple.word_or_name.as_ref()?)?];
    let mut redirects = Vec::new();
    for item in simple.suffix.iter().flat_map(|suffix| &suffix.0) {
        match item {
            Item::Word(word) | Item::AssignmentWord(_, word) => words.push(plain(word)?),
            Item::IoRedirect(redirect) => redirects.push(raw_redirect(redirect)?),
            Item::ProcessSubstitution(..) => return None,
        }
    }
    Some(SimpleCommand {
        join,
        words,
        redirects,
    })
}

fn raw_redirect(redirect: &IoRedirect) -> Option<RawRedirect> {
    let IoRedirect::File(number, kind, target) = redirect else {
        return None;
    };
    match (number, kind, target) {
        (Some(2), IoFileRedirectKind::DuplicateOutput, IoFileRedirectTarget::Duplicate(word)) => {
            (word.value == "1").then_some(RawRedirect::ErrorToOutput)
        }
        (number, kind, IoFileRedirectTarget::Filename(word)) => {
            let (stream, access) = opening(*number, kind)?;
            let word = plain(word)?;
            Some(RawRedirect::File {
                stream,
                access,
                word,
            })
        }
        _ => None,
    }
}

fn opening(number: Option<i32>, kind: &IoFileRedirectKind) -> Option<(Stream, Access)> {
    let (usual, access) = match kind {
        IoFileRedirectKind::Read => (0, Access::Read),
        IoFileRedirectKind::Write => (1, Access::Replace),
        IoFileRedirectKind::Append => (1, Access::Append),
        _ => return None,
    };
    let stream = match (number.unwrap_or(usual), access) {
        (0, Access::Read) => Stream::Input,
        (1, Access::Replace | Access::Append) => Stream::Output,
        (2, Access::Replace | Access::Append) => Stream::Error,
        _ => return None,
    };
    Some((stream, access))
}

/// Returns a word without its quotes, or `None` if a shell would expand anything in it.
fn plain(word: &Word) -> Option<String> {
    let pieces = brush_parser::word::parse(&word.value, &ParserOptions::default()).ok()?;
    let mut text = String::new();
    for WordPieceWithSource { piece, .. } in &pieces {
        match piece {
            WordPiece::Text(bare) if is_pattern(bare) => return None,
            WordPiece::Text(inside) | WordPiece::SingleQuotedText(inside) => text.push_str(inside),
            WordPiece::DoubleQuotedSequence(inside) => text.push_str(&plain_inside(inside)?),
            _ => return None,
        }
    }
    Some(text)
}

fn plain_inside(pieces: &[WordPieceWithSource]) -> Option<String> {
    let mut text = String::new();
    for WordPieceWithSource { piece, .. } in pieces {
        let WordPiece::Text(inside) = piece else {
            return None;
        };
        text.push_str(inside);
    }
    Some(text)
}

/// The parser leaves patterns, braces and the `~` after `=` or `:` to word expansion, so they are
/// still in the text.
fn is_pattern(bare: &str) -> bool {
    let has_home = bare.contains("=~") || bare.contains(":~");
    has_home || bare.contains(['*', '?', '[', '{', '}', '\\'])
}
