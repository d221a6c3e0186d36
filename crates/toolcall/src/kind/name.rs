//! Infers a kind from a tool's name: from its words, which of them leads, and what follows it.
//! It must not infer read or search while any word means writing.

use super::words::{Word, classify, classify_pair, is_read_only};
use crate::intent::Kind;

/// What a name says about the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameHint {
    /// This kind.
    Kind(Kind),
    /// The kind depends on the input: `analyze_code`.
    Neutral,
    /// Nothing.
    Unknown,
}

/// Interprets a name: `read_file`, `readFile`, `mcp__server__read-file`, `files.read`.
pub(super) fn hint(name: &str) -> NameHint {
    match NameWords::of(without_server(name)) {
        Some(words) => words.hint(),
        // The name is too long to be read whole, and the rest might contain the verb.
        None => NameHint::Kind(Kind::Other),
    }
}

/// Returns the name without the server's name.
fn without_server(name: &str) -> &str {
    name.rsplit("__")
        .find(|part| !part.is_empty())
        .unwrap_or(name)
}

/// Returns the kind of a single word, such as the value of an `action` argument.
pub(super) fn operation(word: &str) -> Option<Kind> {
    match hint(word) {
        NameHint::Kind(kind) => Some(kind),
        NameHint::Neutral | NameHint::Unknown => None,
    }
}

/// Returns the last word of a name, where it may be the object of an unknown verb: `shuffle_list`.
pub(super) fn object(name: &str) -> Option<&str> {
    let last = split(name).last()?;
    (is_one_of(last, &["list", "view"]) && last.len() < name.len()).then_some(last)
}

/// Returns whether a name means querying a database, or only querying: `query_db`, `query`.
pub(super) fn queries_database(name: &str) -> bool {
    let without_server = without_server(name);
    let any = |known: &[&str]| split(without_server).any(|word| is_one_of(word, known));
    any(&["query"]) && (any(DATABASES) || split(without_server).count() == 1)
}

/// Returns whether a name ends in `list` after a verb that may be a noun: `monitor_list`.
pub(super) fn ends_in_list(name: &str) -> bool {
    split(without_server(name))
        .last()
        .is_some_and(|last| is_one_of(last, &["list"]))
}

/// Returns whether a name contains `check`, as in checking a box.
pub(super) fn checks(name: &str) -> bool {
    split(without_server(name)).any(|word| is_one_of(word, &["check"]))
}

const MOST_WORDS: usize = 12;
const LONGEST_NAME: usize = 96;

/// The words of a name with their classes.
struct NameWords<'a> {
    text: [&'a str; MOST_WORDS],
    word: [Word; MOST_WORDS],
    count: usize,
}

impl<'a> NameWords<'a> {
    /// Returns `None` for a name that is too long.
    fn of(name: &'a str) -> Option<Self> {
        if name.len() > LONGEST_NAME {
            return None;
        }
        let mut words = Self {
            text: [""; MOST_WORDS],
            word: [Word::Plain; MOST_WORDS],
            count: 0,
        };
        for text in split(name) {
            *words.text.get_mut(words.count)? = text;
            words.word[words.count] = classify(text);
            words.count += 1;
        }
        words.drop_ending();
        words.join_phrases();
        Some(words)
    }

    /// Drops a last word that adds nothing: `area_tool` means `area`.
    fn drop_ending(&mut self) {
        if self.count > 1 && is_one_of(self.text[self.count - 1], &["tool", "action"]) {
            self.count -= 1;
        }
    }

    fn join_phrases(&mut self) {
        for at in 1..self.count {
            if let Some(word) = classify_pair(self.text[at - 1], self.text[at]) {
                self.word[at - 1] = word;
                self.word[at] = Word::Plain;
            }
        }
    }

    fn hint(&self) -> NameHint {
        if let Some(kind) = self.session_work() {
            return NameHint::Kind(kind);
        }
        let words = &self.word[..self.count];
        let Some(lead) = words.iter().position(|word| is_verb(*word)) else {
            return self.hint_without_verb();
        };
        match words[lead] {
            Word::Firm(kind) if is_read_only(kind) || kind == Kind::Fetch => {
                NameHint::Kind(self.after_read_verb(lead, kind))
            }
            Word::Firm(kind) => NameHint::Kind(self.raised(lead, kind)),
            Word::Loose(kind) => NameHint::Kind(self.after_loose(lead, kind)),
            Word::Noun(kind) => NameHint::Kind(self.after_noun(lead, kind)),
            Word::Neutral => self.after_neutral(lead),
            Word::Join | Word::Web | Word::Engine | Word::Fact | Word::Plain => NameHint::Unknown,
        }
    }

    /// Returns the kind of an agent's work on its own session: its plan, mode or subagents.
    fn session_work(&self) -> Option<Kind> {
        let text = &self.text[..self.count];
        let all = |known: &[&str]| text.iter().all(|word| is_one_of(word, known));
        let any = |known: &[&str]| text.iter().any(|word| is_one_of(word, known));
        if any(&["todo", "plan"]) && all(PLANNING) || any(&["todos"]) && all(PLANS_WRITTEN) {
            return Some(Kind::Think);
        }
        if self.count == 1 && all(&["task", "agent", "subagent"]) {
            return Some(Kind::Think);
        }
        let switches = any(&["mode"]) && any(&["switch", "enter", "exit"]);
        switches.then_some(Kind::SwitchMode)
    }

    /// Interprets a name without a verb: what it names is read, as in `git_status`, `recent_files`.
    fn hint_without_verb(&self) -> NameHint {
        let described = self.count > 1 && is_one_of(self.text[0], DESCRIBING);
        match self.word[..self.count].last() {
            Some(Word::Fact) => NameHint::Kind(Kind::Read),
            Some(_) if described => NameHint::Kind(Kind::Read),
            Some(_) | None => NameHint::Unknown,
        }
    }

    /// A verb of reading leads: it decides unless a verb of writing follows.
    fn after_read_verb(&self, lead: usize, kind: Kind) -> Kind {
        if let Some(writing) = self.joined_writing(lead) {
            return writing;
        }
        if let Some(writing) = self.firm_writing(lead) {
            // `search_replace` does both; `get_add_command` may only mention it.
            return if self.count == 2 {
                writing
            } else {
                Kind::Other
            };
        }
        let last = self.count - 1;
        let object_first = is_one_of(self.text[lead], ALSO_NOUNS)
            && last > lead
            && !is_one_of(self.text[last], THINGS);
        if object_first && matches!(self.word[last], Word::Loose(_)) {
            return Kind::Other;
        }
        let text = &self.text[..self.count];
        if is_one_of(text[lead], &["query"]) && text.iter().any(|word| is_one_of(word, SQL)) {
            return Kind::Execute;
        }
        if self.reaches_web(lead, kind) {
            Kind::Fetch
        } else {
            kind
        }
    }

    fn reaches_web(&self, lead: usize, kind: Kind) -> bool {
        let words = &self.word[..self.count];
        let beside = &words[lead.saturating_sub(1)..self.count.min(lead + 2)];
        let address = lead + 1 < self.count && is_one_of(self.text[lead + 1], &["url", "urls"]);
        address
            || words.contains(&Word::Web)
            || (kind == Kind::Search && beside.contains(&Word::Engine))
    }

    /// A loose verb leads: a firm one after it decides, and `get` makes it a noun.
    fn after_loose(&self, lead: usize, kind: Kind) -> Kind {
        if let Some(writing) = self.firm_writing(lead) {
            return writing;
        }
        let last = self.text[self.count - 1];
        if self.count - 1 > lead && last.eq_ignore_ascii_case("get") {
            return self.joined_writing(lead).unwrap_or(Kind::Read);
        }
        if let Some(looks) = self.looks_at_thing(lead) {
            return looks;
        }
        // `monitor_run` runs a monitor: the first of two is no verb then.
        let pair = kind == Kind::Other && self.count - 1 == lead + 1;
        match self.loose_writing(lead) {
            Some(writing) if pair => writing,
            Some(_) | None => self.raised(lead, kind),
        }
    }

    /// `email_search` searches, though `email` alone would send.
    fn looks_at_thing(&self, lead: usize) -> Option<Kind> {
        let last = self.count - 1;
        let pair = last == lead + 1 && is_one_of(self.text[lead], THINGS);
        match self.word[last] {
            Word::Firm(kind) if pair && is_one_of(self.text[last], PLAIN_LOOKING) => Some(kind),
            _ => None,
        }
    }

    /// A noun that might be a verb leads: a verb at the end says what is done to it.
    fn after_noun(&self, lead: usize, kind: Kind) -> Kind {
        let last = self.count - 1;
        let looks = match self.word[last] {
            Word::Firm(end) if is_read_only(end) && last > lead => Some(end),
            Word::Fact => Some(Kind::Read),
            Word::Firm(_) | Word::Loose(_) | Word::Noun(_) | Word::Neutral => None,
            Word::Join | Word::Web | Word::Engine | Word::Plain => None,
        };
        let writes = self.firm_writing(lead).or(self.loose_writing(lead));
        match (looks, writes) {
            (Some(looks), None) => looks,
            (Some(_), Some(writes)) => writes,
            (None, Some(writes)) => writes,
            (None, None) => self.after_loose(lead, kind),
        }
    }

    fn after_neutral(&self, lead: usize) -> NameHint {
        match self.joined_writing(lead).or(self.firm_writing(lead)) {
            Some(kind) => NameHint::Kind(kind),
            None => NameHint::Neutral,
        }
    }

    /// Returns the most severe kind of a leading verb and the verbs joined to it.
    fn raised(&self, lead: usize, kind: Kind) -> Kind {
        match self.joined_writing(lead) {
            Some(joined) if severity(joined) > severity(kind) => joined,
            Some(_) | None => kind,
        }
    }

    fn firm_writing(&self, lead: usize) -> Option<Kind> {
        self.behind(lead).find_map(|(_, word)| match word {
            Word::Firm(kind) => writing(kind),
            Word::Loose(_) | Word::Noun(_) | Word::Neutral | Word::Join => None,
            Word::Web | Word::Engine | Word::Fact | Word::Plain => None,
        })
    }

    fn loose_writing(&self, lead: usize) -> Option<Kind> {
        self.behind(lead).find_map(|(_, word)| match word {
            Word::Loose(kind) => writing(kind),
            Word::Firm(_) | Word::Noun(_) | Word::Neutral | Word::Join => None,
            Word::Web | Word::Engine | Word::Fact | Word::Plain => None,
        })
    }

    fn joined_writing(&self, lead: usize) -> Option<Kind> {
        let joined = self
            .behind(lead)
            .filter(|(at, _)| self.word[at - 1] == Word::Join);
        let kinds = joined.filter_map(|(_, word)| match word {
            Word::Firm(kind) | Word::Loose(kind) | Word::Noun(kind) => writing(kind),
            Word::Neutral | Word::Join | Word::Web | Word::Engine | Word::Fact | Word::Plain => {
                None
            }
        });
        kinds.max_by_key(|kind| severity(*kind))
    }

    fn behind(&self, lead: usize) -> impl Iterator<Item = (usize, Word)> + '_ {
        (lead + 1..self.count).map(|at| (at, self.word[at]))
    }
}

const PLANNING: &[&str] = &["todo", "plan", "write", "read", "update", "manage", "list"];
const PLANS_WRITTEN: &[&str] = &["todos", "write", "update"];

/// Verbs of reading that are just as often objects: `list_archive` archives a list.
const ALSO_NOUNS: &[&str] = &[
    "list", "view", "query", "search", "preview", "check", "count",
];

/// Verbs that are just as often things, next to a plain verb of reading.
const THINGS: &[&str] = &[
    "backup", "call", "chat", "email", "invoice", "label", "message", "order", "post", "report",
    "tag",
];

const PLAIN_LOOKING: &[&str] = &["get", "list", "search", "find"];

/// Words that begin the name of a thing, without a verb: `latest_news`.
const DESCRIBING: &[&str] = &[
    "my",
    "current",
    "latest",
    "recent",
    "upcoming",
    "trending",
    "popular",
    "available",
    "related",
    "similar",
    "nearby",
    "historical",
];

/// Databases whose queries may write.
const SQL: &[&str] = &[
    "sql",
    "mysql",
    "mssql",
    "psql",
    "pg",
    "postgres",
    "postgresql",
    "sqlite",
    "mariadb",
    "oracle",
    "snowflake",
    "bigquery",
    "clickhouse",
    "redshift",
    "databricks",
    "duckdb",
    "trino",
    "supabase",
    "neo",
    "cypher",
    "graphql",
];

/// Things that are queried in a language that may also write.
const DATABASES: &[&str] = &["database", "databases", "db", "table", "warehouse"];

fn is_one_of(word: &str, known: &[&str]) -> bool {
    known.iter().any(|known| word.eq_ignore_ascii_case(known))
}

fn is_verb(word: Word) -> bool {
    match word {
        Word::Firm(_) | Word::Loose(_) | Word::Noun(_) | Word::Neutral => true,
        Word::Join | Word::Web | Word::Engine | Word::Fact | Word::Plain => false,
    }
}

fn writing(kind: Kind) -> Option<Kind> {
    (severity(kind) > 0).then_some(kind)
}

/// Returns how much harm a kind may do, so that the most severe of several counts.
fn severity(kind: Kind) -> u8 {
    match kind {
        Kind::Read | Kind::Search | Kind::Fetch | Kind::Think => 0,
        Kind::Other | Kind::SwitchMode => 1,
        Kind::Edit => 2,
        Kind::Move => 3,
        Kind::Delete => 4,
        Kind::Execute => 5,
    }
}

/// Splits at everything that is not a letter, and where lower case turns to upper case.
fn split(name: &str) -> impl Iterator<Item = &str> {
    name.split(|c: char| !c.is_alphabetic())
        .flat_map(camel_words)
        .filter(|word| !word.is_empty())
}

/// `getURLContent` becomes `get`, `URL`, `Content`.
fn camel_words(run: &str) -> impl Iterator<Item = &str> {
    let mut rest = run;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (word, tail) = rest.split_at(camel_word_end(rest));
        rest = tail;
        Some(word)
    })
}

fn camel_word_end(run: &str) -> usize {
    let mut chars = run.char_indices().peekable();
    let mut before: Option<char> = None;
    while let Some((at, c)) = chars.next() {
        let lower_next = chars.peek().is_some_and(|(_, next)| next.is_lowercase());
        let after_lower = before.is_some_and(char::is_lowercase);
        let after_upper = before.is_some_and(char::is_uppercase);
        if c.is_uppercase() && (after_lower || (after_upper && lower_next)) {
            return at;
        }
        before = Some(c);
    }
    run.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_into_words() {
        let words = |name| split(name).collect::<Vec<_>>();
        assert_eq!(words("getURLContent"), ["get", "URL", "Content"]);
        assert_eq!(words("API-post_page.v2"), ["API", "post", "page", "v"]);
        assert_eq!(words("LS"), ["LS"]);
        assert_eq!(words("Écrire"), ["Écrire"]);
        assert!(words("__--").is_empty());
    }
}
