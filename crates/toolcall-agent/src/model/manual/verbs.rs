//! The verbs that lines begin with; each calls one tool.
//! A table only; `reading.rs` parses lines.

/// The first word of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Read,
    List,
    Find,
    Search,
    Run,
    Write,
    Edit,
    Delete,
    Move,
    Fetch,
    Think,
    Plan,
    Mode,
}

/// The tool, an example and a description of a verb.
pub(super) struct VerbInfo {
    pub(super) name: &'static str,
    /// The tool that it calls.
    pub(super) tool: &'static str,
    /// An example line.
    pub(super) example: &'static str,
    /// What it does, in a few words.
    pub(super) does: &'static str,
}

impl Verb {
    pub(super) const ALL: [Verb; 13] = [
        Verb::Read,
        Verb::List,
        Verb::Find,
        Verb::Search,
        Verb::Run,
        Verb::Write,
        Verb::Edit,
        Verb::Delete,
        Verb::Move,
        Verb::Fetch,
        Verb::Think,
        Verb::Plan,
        Verb::Mode,
    ];

    /// The verb of this name, in any case.
    pub(super) fn named(name: &str) -> Option<Verb> {
        let is_it = |verb: &Verb| verb.facts().name.eq_ignore_ascii_case(name);
        Verb::ALL.into_iter().find(is_it)
    }

    pub(super) fn facts(self) -> VerbInfo {
        let (name, tool, example, does) = match self {
            Verb::Read => (
                "read",
                "read_file",
                "read README.md",
                "a file; `read README.md 1-20` is some lines of it",
            ),
            Verb::List => ("list", "list_directory", "list src", "what is in a folder"),
            Verb::Find => ("find", "find_path", "find *.rs", "files by their names"),
            Verb::Search => (
                "search",
                "search_files",
                "search TODO in src",
                "text in files",
            ),
            Verb::Run => (
                "run",
                "run_command",
                "run cargo test",
                "a command; also `$ cargo test`",
            ),
            Verb::Write => (
                "write",
                "write_file",
                "write notes.txt: Buy milk.",
                "a whole file; longer text goes below `write notes.txt`, fenced or to the end",
            ),
            Verb::Edit => (
                "edit",
                "edit_file",
                "edit notes.txt milk => bread",
                "a part of a file; several lines go below `edit notes.txt`, as `- old` and `+ new`",
            ),
            Verb::Delete => ("delete", "delete_file", "delete notes.txt", "a file"),
            Verb::Move => (
                "move",
                "move_file",
                "move notes.txt to old/notes.txt",
                "a file or folder",
            ),
            Verb::Fetch => (
                "fetch",
                "fetch",
                "fetch https://example.org/",
                "a page of the web",
            ),
            Verb::Think => (
                "think",
                "thinking",
                "think The test comes first.",
                "a thought, kept",
            ),
            Verb::Plan => (
                "plan",
                "todo_write",
                "plan: read it; change it; test it",
                "a plan, shown",
            ),
            Verb::Mode => (
                "mode",
                "switch_mode",
                "mode read-only",
                "another permission mode",
            ),
        };
        VerbInfo {
            name,
            tool,
            example,
            does,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_is_found_by_its_name_and_begins_its_example() {
        for verb in Verb::ALL {
            let facts = verb.facts();
            assert_eq!(Verb::named(&facts.name.to_uppercase()), Some(verb));
            assert!(facts.example.starts_with(facts.name), "{}", facts.example);
        }
        assert_eq!(Verb::named("reads"), None);
    }
}
