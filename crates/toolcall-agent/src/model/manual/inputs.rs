//! Parses the words after a verb into the input of its tool.
//! Whether the input fits the schema is checked with the call.

use serde_json::{Map, Value, json};

use super::lines::{LineChange, PromptLines, ended};
use super::verbs::Verb;
use super::words::{Word, first_word, quoted, unquoted, words};

/// What a line lacks or has too much of.
type Requirement = &'static str;

const ONE_PATH: Requirement = "one path, in quotes if it has spaces";

/// Returns the input for the tool of this verb.
pub(super) fn of(
    verb: Verb,
    rest: &str,
    lines: &mut PromptLines<'_>,
) -> Result<Value, Requirement> {
    match verb {
        Verb::Read => read(rest),
        Verb::List => list(rest),
        Verb::Find => find(rest),
        Verb::Search => search(rest),
        Verb::Run => text("command", rest, "a command"),
        Verb::Write => write(rest, lines),
        Verb::Edit => edit(rest, lines),
        Verb::Delete => one_word("path", rest, ONE_PATH),
        Verb::Move => move_to(rest),
        Verb::Fetch => one_word("url", rest, "one address"),
        Verb::Think => text("thought", unquoted(rest), "a thought"),
        Verb::Plan => plan(rest),
        Verb::Mode => one_word("mode", rest, "the name of one mode"),
    }
}

fn text(key: &str, rest: &str, needs: Requirement) -> Result<Value, Requirement> {
    if rest.is_empty() {
        Err(needs)
    } else {
        Ok(json!({key: rest}))
    }
}

fn one_word(key: &str, rest: &str, needs: Requirement) -> Result<Value, Requirement> {
    match &words(rest)[..] {
        [word] if !word.text.is_empty() => Ok(json!({key: word.text})),
        _ => Err(needs),
    }
}

fn read(rest: &str) -> Result<Value, Requirement> {
    match &words(rest)[..] {
        [path] => Ok(json!({"path": path.text})),
        [path, lines] => {
            let (line, limit) = range(&lines.text).ok_or("lines as `10` or `10-20`")?;
            let mut input = json!({"path": path.text, "line": line});
            if let Some(limit) = limit {
                input["limit"] = json!(limit);
            }
            Ok(input)
        }
        _ => Err(ONE_PATH),
    }
}

/// Parses the first line and the number of lines.
fn range(text: &str) -> Option<(u64, Option<u64>)> {
    let line = |text: &str| text.parse().ok().filter(|line| *line > 0);
    let Some((first, last)) = text.split_once('-') else {
        return Some((line(text)?, None));
    };
    let (first, last) = (line(first)?, line(last)?);
    (first <= last).then(|| (first, Some((last - first).saturating_add(1))))
}

fn list(rest: &str) -> Result<Value, Requirement> {
    if rest.is_empty() {
        Ok(json!({"path": "."}))
    } else {
        one_word("path", rest, ONE_PATH)
    }
}

fn find(rest: &str) -> Result<Value, Requirement> {
    let (pattern, path) = split_in(rest);
    let input = one_word("pattern", pattern, "one pattern of names")?;
    Ok(with_path(input, path))
}

fn search(rest: &str) -> Result<Value, Requirement> {
    let (query, path) = split_in(rest);
    let input = text("query", unquoted(query), "a text to look for")?;
    Ok(with_path(input, path))
}

/// Splits off a last `in PATH`.
fn split_in(rest: &str) -> (&str, Option<Word>) {
    let mut words = words(rest);
    match (words.pop(), words.pop()) {
        (Some(path), Some(word)) if word.is_plain("in") && !words.is_empty() => {
            (rest[..word.start].trim_end(), Some(path))
        }
        _ => (rest, None),
    }
}

fn with_path(mut input: Value, path: Option<Word>) -> Value {
    if let Some(path) = path {
        input["path"] = json!(path.text);
    }
    input
}

/// The text follows a colon, or is below.
fn write(rest: &str, lines: &mut PromptLines<'_>) -> Result<Value, Requirement> {
    let word = first_word(rest).ok_or(ONE_PATH)?;
    let behind = rest[word.end..].trim();
    let (path, content) = match (word.text.strip_suffix(':'), behind) {
        (Some(path), "") => (path, lines.take_text()),
        (Some(path), text) => (path, Some(ended(text))),
        (None, "") => (&*word.text, lines.take_text()),
        (None, _) => return Err("a colon between path and text, or the text on the lines below"),
    };
    let content = content.ok_or("text, behind a colon or on the lines below")?;
    if path.is_empty() {
        Err(ONE_PATH)
    } else {
        Ok(json!({"path": path, "content": content}))
    }
}

fn edit(rest: &str, lines: &mut PromptLines<'_>) -> Result<Value, Requirement> {
    let path = first_word(rest).ok_or(ONE_PATH)?;
    let edits = match rest[path.end..].trim() {
        "" => lines.take_changes().iter().map(changed).collect(),
        texts => replaced(texts).map(|edit| vec![edit]),
    }?;
    if edits.is_empty() {
        Err("the old and the new text, as `old => new` or below as `- old` and `+ new`")
    } else {
        Ok(json!({"path": path.text, "edits": edits}))
    }
}

/// Parses one edit from `old => new`.
fn replaced(texts: &str) -> Result<Value, Requirement> {
    let (old, new) = split_arrow(texts).ok_or("`=>` between the old and the new text, once")?;
    if old.is_empty() {
        Err("the text that is there now, before `=>`")
    } else {
        Ok(replacement(old, new))
    }
}

/// Splits at the arrow. An arrow within quotes does not count; with two arrows there is no split.
fn split_arrow(texts: &str) -> Option<(&str, &str)> {
    let skip = quoted(texts).map_or(0, |inside| inside.len() + 2);
    let behind = texts[skip..].find("=>").map(|at| skip + at);
    let at = behind.or_else(|| texts.find("=>"))?;
    let (old, new) = (&texts[..at], texts[at + 2..].trim());
    let is_sure = unquoted(new) != new || !new.contains("=>");
    is_sure.then(|| (unquoted(old), unquoted(new)))
}

/// One edit from lines. PromptLines that only go take their line break with them.
fn changed(change: &LineChange<'_>) -> Result<Value, Requirement> {
    let old = change.old.join("\n");
    match (old.is_empty(), change.new.is_empty()) {
        (true, _) => Err("lines that are there now, as `- old`, before those that are new"),
        (false, true) => Ok(replacement(&ended(&old), "")),
        (false, false) => Ok(replacement(&old, &change.new.join("\n"))),
    }
}

fn replacement(old: &str, new: &str) -> Value {
    json!({"type": "replace", "oldText": old, "newText": new})
}

fn move_to(rest: &str) -> Result<Value, Requirement> {
    match &words(rest)[..] {
        [from, to] if !to.is_plain("to") => Ok(json!({"from": from.text, "to": to.text})),
        [from, word, to] if word.is_plain("to") => Ok(json!({"from": from.text, "to": to.text})),
        _ => Err("two paths, each in quotes if it has spaces"),
    }
}

fn plan(rest: &str) -> Result<Value, Requirement> {
    let steps = rest.split(';').map(str::trim);
    let entry = |step: &str| Value::Object(Map::from_iter([("content".to_owned(), step.into())]));
    let todos: Vec<Value> = steps.filter(|step| !step.is_empty()).map(entry).collect();
    if todos.is_empty() {
        Err("steps, with `;` between them")
    } else {
        Ok(json!({"todos": todos}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(verb: Verb, text: &str) -> Result<Value, Requirement> {
        let mut lines = PromptLines::new(text);
        let first = lines.take().unwrap_or_default();
        of(verb, first.trim(), &mut lines)
    }

    #[test]
    fn lines_of_a_file() {
        let read = |text| check(Verb::Read, text);
        assert_eq!(read("a"), Ok(json!({"path": "a"})));
        assert_eq!(read("'a b' 3"), Ok(json!({"path": "a b", "line": 3})));
        assert_eq!(
            read("a 3-5"),
            Ok(json!({"path": "a", "line": 3, "limit": 3}))
        );
        for bad in ["a 0", "a 5-3", "a -", "a b", "a 99999999999999999999"] {
            assert_eq!(read(bad), Err("lines as `10` or `10-20`"), "{bad}");
        }
        assert_eq!(read(""), Err(ONE_PATH));
    }

    #[test]
    fn the_last_in_names_a_folder() {
        let search = |text| check(Verb::Search, text);
        let both = |query: &str, path: &str| Ok(json!({"query": query, "path": path}));
        assert_eq!(search("TODO in src"), both("TODO", "src"));
        assert_eq!(search("it's in fn in 'a b'"), both("it's in fn", "a b"));
        assert_eq!(search("\"in it\""), Ok(json!({"query": "in it"})));
        assert_eq!(search("in src"), Ok(json!({"query": "in src"})));
        assert_eq!(search("fn main"), Ok(json!({"query": "fn main"})));
        assert_eq!(search(""), Err("a text to look for"));
        let found = json!({"pattern": "*.rs", "path": "src"});
        assert_eq!(check(Verb::Find, "*.rs in src"), Ok(found));
    }

    #[test]
    fn a_text_to_write_stands_behind_a_colon_or_below() {
        let write = |text| check(Verb::Write, text);
        let written = |content: &str| Ok(json!({"path": "a b", "content": content}));
        assert_eq!(write("'a b': x: y"), written("x: y\n"));
        assert_eq!(write("'a b'\nx\n\ny"), written("x\n\ny\n"));
        assert_eq!(write("\"a b\":\n```\nx\n```"), written("x\n"));
        assert_eq!(write("'a b'\n```\n```"), written(""));
        let text = Err("text, behind a colon or on the lines below");
        assert_eq!(write("a"), text);
        assert_eq!(write("a:\n\n"), text);
        assert_eq!(write(": x"), Err(ONE_PATH));
    }

    #[test]
    fn an_edit_has_one_arrow_or_lines_below() {
        let edit = |text| check(Verb::Edit, text);
        let edited =
            |old: &str, new: &str| Ok(json!({"path": "a", "edits": [replacement(old, new)]}));
        assert_eq!(edit("a x y => z"), edited("x y", "z"));
        assert_eq!(
            edit("a 'x => y'=>\"z => 'w'\""),
            edited("x => y", "z => 'w'")
        );
        assert_eq!(edit("a 'tis => 'twas"), edited("'tis", "'twas"));
        assert_eq!(edit("a x =>"), edited("x", ""));
        assert_eq!(edit("a\n- x\n- y\n+ z"), edited("x\ny", "z"));
        assert_eq!(edit("a\n- x"), edited("x\n", ""));
        let arrow = Err("`=>` between the old and the new text, once");
        assert_eq!(edit("a x"), arrow);
        assert_eq!(edit("a x => y => z"), arrow);
        assert_eq!(
            edit("a => y"),
            Err("the text that is there now, before `=>`")
        );
        assert!(edit("a\n+ x").is_err_and(|needs| needs.contains("`- old`")));
        assert!(edit("a\nlist").is_err_and(|needs| needs.contains("old => new")));
    }

    #[test]
    fn the_rest_is_words_or_text() {
        let moved = Ok(json!({"from": "a b", "to": "to"}));
        assert_eq!(check(Verb::Move, "'a b' to to"), moved);
        assert_eq!(check(Verb::Move, "'a b' 'to'"), moved);
        assert!(check(Verb::Move, "a to").is_err());
        assert_eq!(check(Verb::List, ""), Ok(json!({"path": "."})));
        assert_eq!(check(Verb::Delete, "a b"), Err(ONE_PATH));
        assert_eq!(check(Verb::Think, "\"a\""), Ok(json!({"thought": "a"})));
        assert_eq!(
            check(Verb::Plan, "a; b c;"),
            Ok(json!({"todos": [{"content": "a"}, {"content": "b c"}]}))
        );
        assert!(check(Verb::Plan, " ; ").is_err());
        assert_eq!(check(Verb::Mode, "plan"), Ok(json!({"mode": "plan"})));
    }
}
