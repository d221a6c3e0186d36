//! What the keys of arguments usually mean: the table that title, locations and kind share.
//! It must not look at values.

/// What an argument is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A file, or several.
    Path,
    /// A directory, or several.
    Folder,
    /// Where something comes from.
    From,
    /// Where something goes.
    To,
    /// The directory that a command runs in.
    Cwd,
    /// The first line.
    Line,
    /// The last line.
    EndLine,
    /// The first line, in tools that call it an offset.
    Offset,
    /// How many lines.
    Limit,
    /// How many lines from the beginning.
    Head,
    /// How many lines from the end.
    Tail,
    /// First and last line in one list.
    LineRange,
    /// A shell command, or several, or an argument vector.
    Command,
    /// Program text.
    Code,
    /// A database statement.
    Statement,
    /// What is searched for.
    Query,
    /// Which files are searched.
    Glob,
    /// An address, or several.
    Url,
    /// New content.
    Content,
    /// Text that will be replaced.
    OldText,
    /// Text that replaces another.
    NewText,
    /// A list of changes.
    Edits,
    /// A thought.
    Thought,
    /// Steps of a plan.
    Todos,
    /// Which of its several operations a tool performs.
    Action,
    /// Which sites a web search covers.
    Domains,
    /// A short word that distinguishes calls of one tool.
    Name,
    /// A request in words.
    Prompt,
    /// A mode.
    Mode,
}

impl Role {
    pub(crate) const COUNT: usize = Role::Mode as usize + 1;

    /// Returns whether values of this role are numbers, or lists of them.
    pub(crate) fn is_number(self) -> bool {
        matches!(
            self,
            Role::Line
                | Role::EndLine
                | Role::Offset
                | Role::Limit
                | Role::Head
                | Role::Tail
                | Role::LineRange
        )
    }
}

/// A key that was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) role: Role,
    /// Whether the key is in the table, rather than resembling one that is.
    pub(crate) exact: bool,
}

/// Returns the role of a key, however its words are joined: `file_path`, `filePath`, `file-path`.
pub(crate) fn role(key: &str) -> Option<Key> {
    let mut buffer = [0; LONGEST];
    let folded = fold(key, &mut buffer)?;
    match exact_role(folded) {
        Some(role) => Some(Key { role, exact: true }),
        None => resembles_path(folded).then_some(Key {
            role: Role::Path,
            exact: false,
        }),
    }
}

/// Returns whether a key equals this folded one, however its words are joined.
pub(crate) fn same_key(key: &str, folded: &str) -> bool {
    let mut buffer = [0; LONGEST];
    fold(key, &mut buffer) == Some(folded.as_bytes())
}

/// Finds a key in the table. This runs for every argument, so only keys with the same first letter
/// are compared.
fn exact_role(folded: &[u8]) -> Option<Role> {
    let letter = usize::from(folded.first()?.wrapping_sub(b'a'));
    let keys = KEYS.get(*FIRST_LETTERS.get(letter)?..*FIRST_LETTERS.get(letter + 1)?)?;
    let found = keys.iter().find(|(known, _)| known.as_bytes() == folded);
    found.map(|(_, role)| *role)
}

/// The index at which the keys of each letter begin.
const FIRST_LETTERS: [usize; 27] = {
    let mut begins = [KEYS.len(); 27];
    let mut at = KEYS.len();
    let mut letter = 26;
    while letter > 0 {
        letter -= 1;
        while at > 0 && KEYS[at - 1].0.as_bytes()[0] >= b'a' + letter as u8 {
            at -= 1;
        }
        begins[letter] = at;
    }
    begins
};

/// The longest key; longer ones are sentences, not names.
const LONGEST: usize = 32;

fn fold<'b>(key: &str, buffer: &'b mut [u8; LONGEST]) -> Option<&'b [u8]> {
    let mut length = 0;
    for byte in key.bytes().filter(|byte| !matches!(byte, b'_' | b'-')) {
        *buffer.get_mut(length)? = byte.to_ascii_lowercase();
        length += 1;
    }
    Some(&buffer[..length])
}

/// Returns whether a key looks like a path: `csv_path`, `repoPath`, `output-file`; but not a path
/// within a document.
fn resembles_path(folded: &[u8]) -> bool {
    let paths = [
        &b"path"[..],
        b"paths",
        b"file",
        b"files",
        b"filename",
        b"directory",
    ];
    let others = [&b"xpath"[..], b"jsonpath", b"keypath", b"profile"];
    paths.iter().any(|end| folded.ends_with(end)) && !others.iter().any(|end| folded.ends_with(end))
}

/// Folded keys in alphabetical order. Within one role, an exact key wins over one that resembles
/// it.
const KEYS: &[(&str, Role)] = &[
    ("absolutepath", Role::Path),
    ("action", Role::Action),
    ("alloweddomains", Role::Domains),
    ("argv", Role::Command),
    ("basedir", Role::Folder),
    ("bashcommand", Role::Command),
    ("beginline", Role::Line),
    ("blockeddomains", Role::Domains),
    ("body", Role::Content),
    ("changes", Role::Edits),
    ("channel", Role::Name),
    ("cmd", Role::Command),
    ("code", Role::Code),
    ("command", Role::Command),
    ("commandline", Role::Command),
    ("commands", Role::Command),
    ("content", Role::Content),
    ("contentbase64", Role::Content),
    ("contents", Role::Content),
    ("cwd", Role::Cwd),
    ("cypher", Role::Statement),
    ("cypherquery", Role::Statement),
    ("data", Role::Content),
    ("description", Role::Prompt),
    ("dest", Role::To),
    ("destination", Role::To),
    ("destinationpath", Role::To),
    ("destpath", Role::To),
    ("dir", Role::Folder),
    ("directories", Role::Folder),
    ("directory", Role::Folder),
    ("dst", Role::To),
    ("dstpath", Role::To),
    ("edits", Role::Edits),
    ("endline", Role::EndLine),
    ("endlinenumber", Role::EndLine),
    ("excludedomains", Role::Domains),
    ("expression", Role::Code),
    ("file", Role::Path),
    ("filecontent", Role::Content),
    ("filecontents", Role::Content),
    ("fileglob", Role::Glob),
    ("filename", Role::Path),
    ("filenames", Role::Path),
    ("filepath", Role::Path),
    ("filepaths", Role::Path),
    ("filepattern", Role::Glob),
    ("files", Role::Path),
    ("filetext", Role::Content),
    ("filetype", Role::Glob),
    ("firstline", Role::Line),
    ("folder", Role::Folder),
    ("from", Role::From),
    ("fromline", Role::Line),
    ("frompath", Role::From),
    ("function", Role::Code),
    ("glob", Role::Glob),
    ("globpattern", Role::Glob),
    ("goal", Role::Prompt),
    ("head", Role::Head),
    ("href", Role::Url),
    ("html", Role::Content),
    ("id", Role::Name),
    ("include", Role::Glob),
    ("includedomains", Role::Domains),
    ("includepattern", Role::Glob),
    ("includes", Role::Glob),
    ("instruction", Role::Prompt),
    ("instructions", Role::Prompt),
    ("javascript", Role::Code),
    ("js", Role::Code),
    ("jscode", Role::Code),
    ("keyword", Role::Query),
    ("keywords", Role::Query),
    ("label", Role::Name),
    ("language", Role::Name),
    ("lastline", Role::EndLine),
    ("limit", Role::Limit),
    ("line", Role::Line),
    ("linecount", Role::Limit),
    ("lineend", Role::EndLine),
    ("linenumber", Role::Line),
    ("linerange", Role::LineRange),
    ("linestart", Role::Line),
    ("link", Role::Url),
    ("markdown", Role::Content),
    ("maxlines", Role::Limit),
    ("message", Role::Prompt),
    ("method", Role::Action),
    ("mode", Role::Mode),
    ("modeid", Role::Mode),
    ("modename", Role::Mode),
    ("name", Role::Name),
    ("namepattern", Role::Query),
    ("needle", Role::Query),
    ("newbody", Role::NewText),
    ("newcontent", Role::NewText),
    ("newfilepath", Role::To),
    ("newname", Role::To),
    ("newpath", Role::To),
    ("newsource", Role::NewText),
    ("newstr", Role::NewText),
    ("newstring", Role::NewText),
    ("newtext", Role::NewText),
    ("notebookpath", Role::Path),
    ("numlines", Role::Limit),
    ("offset", Role::Offset),
    ("oldcontent", Role::OldText),
    ("oldfilepath", Role::From),
    ("oldname", Role::From),
    ("oldpath", Role::From),
    ("oldstr", Role::OldText),
    ("oldstring", Role::OldText),
    ("oldtext", Role::OldText),
    ("op", Role::Action),
    ("operation", Role::Action),
    ("originaltext", Role::OldText),
    ("pageurl", Role::Url),
    ("patch", Role::Edits),
    ("patches", Role::Edits),
    ("path", Role::Path),
    ("pathname", Role::Path),
    ("paths", Role::Path),
    ("pattern", Role::Query),
    ("prompt", Role::Prompt),
    ("python", Role::Code),
    ("q", Role::Query),
    ("queries", Role::Query),
    ("query", Role::Query),
    ("question", Role::Query),
    ("reasoning", Role::Thought),
    ("reflection", Role::Thought),
    ("regex", Role::Query),
    ("regexp", Role::Query),
    ("relativepath", Role::Path),
    ("replacement", Role::NewText),
    ("replacements", Role::Edits),
    ("replacementtext", Role::NewText),
    ("replacewith", Role::NewText),
    ("root", Role::Folder),
    ("rootdir", Role::Folder),
    ("safesearch", Role::Domains),
    ("script", Role::Code),
    ("search", Role::Query),
    ("searchquery", Role::Query),
    ("searchstring", Role::Query),
    ("searchterm", Role::Query),
    ("shellcommand", Role::Command),
    ("snippet", Role::Code),
    ("source", Role::From),
    ("sourcecode", Role::Code),
    ("sourcepath", Role::From),
    ("sql", Role::Statement),
    ("sqlquery", Role::Statement),
    ("sqlstatement", Role::Statement),
    ("src", Role::From),
    ("srcpath", Role::From),
    ("startline", Role::Line),
    ("startlinenumber", Role::Line),
    ("statement", Role::Statement),
    ("subcommand", Role::Action),
    ("subject", Role::Name),
    ("summary", Role::Prompt),
    ("symbol", Role::Name),
    ("symbolname", Role::Name),
    ("tail", Role::Tail),
    ("targetdirectory", Role::Folder),
    ("targetfile", Role::Path),
    ("targetpath", Role::To),
    ("task", Role::Prompt),
    ("term", Role::Query),
    ("text", Role::Content),
    ("thinking", Role::Thought),
    ("thought", Role::Thought),
    ("thoughts", Role::Thought),
    ("title", Role::Name),
    ("to", Role::To),
    ("todoitems", Role::Todos),
    ("todolist", Role::Todos),
    ("todos", Role::Todos),
    ("toline", Role::EndLine),
    ("topath", Role::To),
    ("topic", Role::Name),
    ("uri", Role::Url),
    ("uris", Role::Url),
    ("url", Role::Url),
    ("urls", Role::Url),
    ("viewrange", Role::LineRange),
    ("website", Role::Url),
    ("workdir", Role::Cwd),
    ("workingdir", Role::Cwd),
    ("workingdirectory", Role::Cwd),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_order() {
        assert!(KEYS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(KEYS.iter().all(|(key, _)| key.len() <= LONGEST));
    }

    #[test]
    fn keys_are_found_however_they_are_joined() {
        for key in ["file_path", "filePath", "file-path", "FilePath"] {
            assert_eq!(role(key).map(|key| key.role), Some(Role::Path), "{key}");
        }
        assert_eq!(role("repo_path").map(|key| key.exact), Some(false));
        assert_eq!(role("xpath"), None);
        assert_eq!(role("profile"), None);
        assert_eq!(role(&"x".repeat(100)), None);
    }
}
