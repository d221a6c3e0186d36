//! The words of tool names and the kinds they stand for: the tables behind the inference of kinds.
//! It looks at single words and pairs; `name` weighs them against each other.

use crate::intent::Kind;

/// The class of one word of a tool's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// Almost always a verb: `delete`.
    Firm(Kind),
    /// A verb that is a noun after another verb: `run` in `get_run`.
    Loose(Kind),
    /// A noun that is a verb if there is no other: `comment`.
    Noun(Kind),
    /// A verb whose effect depends on the input: `analyze`, `navigate`.
    Neutral,
    /// Joins two verbs: `find_and_replace`.
    Join,
    /// The web, as what is read or searched.
    Web,
    /// A search engine, next to a verb of searching.
    Engine,
    /// Something that is read if there is no verb: `git_status`.
    Fact,
    /// Any other word.
    Plain,
}

/// Classifies a word in any case.
pub(super) fn classify(word: &str) -> Word {
    let mut buffer = [0; LONGEST];
    let Some(folded) = buffer.get_mut(..word.len()) else {
        return Word::Plain;
    };
    folded.copy_from_slice(word.as_bytes());
    folded.make_ascii_lowercase();
    known(folded).unwrap_or_else(|| derived(folded))
}

/// Classifies two words that belong together, where that differs from the two alone.
pub(super) fn classify_pair(first: &str, second: &str) -> Option<Word> {
    PHRASES
        .iter()
        .find(|(a, b, _)| first.eq_ignore_ascii_case(a) && second.eq_ignore_ascii_case(b))
        .map(|(_, _, word)| *word)
}

const LONGEST: usize = 24;

fn known(word: &[u8]) -> Option<Word> {
    let at = WORDS.binary_search_by(|(known, _)| known.as_bytes().cmp(word));
    at.ok().map(|at| WORDS[at].1)
}

/// Classifies a word that is not in the table by its form, and only ever as one that writes.
fn derived(word: &[u8]) -> Word {
    let stem = PREFIXES
        .iter()
        .find_map(|prefix| known(word.strip_prefix(*prefix)?));
    if let Some(Word::Firm(kind) | Word::Loose(kind)) = stem
        && !is_read_only(kind)
    {
        return Word::Loose(kind);
    }
    let verbal = word.len() > 4 && VERBAL_ENDINGS.iter().any(|end| word.ends_with(end));
    if verbal {
        Word::Loose(Kind::Other)
    } else {
        Word::Plain
    }
}

/// Returns whether the kind claims that nothing is written; a writing tool must never get it.
pub(super) fn is_read_only(kind: Kind) -> bool {
    matches!(kind, Kind::Read | Kind::Search)
}

const PREFIXES: &[&[u8]] = &[
    b"re", b"un", b"de", b"dis", b"auto", b"bulk", b"batch", b"multi",
];

const VERBAL_ENDINGS: &[&[u8]] = &[b"ize", b"ise", b"ify", b"ate"];

const PHRASES: &[(&str, &str, Word)] = &[
    ("pull", "request", Word::Plain),
    ("pull", "requests", Word::Plain),
    ("merge", "request", Word::Plain),
    ("merge", "requests", Word::Plain),
    ("http", "request", Word::Firm(Kind::Fetch)),
    ("web", "request", Word::Firm(Kind::Fetch)),
    ("api", "request", Word::Firm(Kind::Fetch)),
    ("look", "up", Word::Firm(Kind::Search)),
    ("check", "in", Word::Loose(Kind::Other)),
    ("check", "out", Word::Loose(Kind::Edit)),
    ("check", "off", Word::Loose(Kind::Edit)),
    ("check", "item", Word::Loose(Kind::Edit)),
    ("check", "task", Word::Loose(Kind::Edit)),
    ("check", "box", Word::Loose(Kind::Other)),
    ("clean", "up", Word::Firm(Kind::Delete)),
    ("spawn", "agent", Word::Firm(Kind::Think)),
    ("test", "connection", Word::Neutral),
    ("git", "log", Word::Firm(Kind::Read)),
    ("git", "diff", Word::Firm(Kind::Read)),
    ("git", "status", Word::Firm(Kind::Read)),
    ("console", "messages", Word::Firm(Kind::Read)),
    ("network", "requests", Word::Firm(Kind::Read)),
    ("browser", "snapshot", Word::Firm(Kind::Read)),
    ("page", "snapshot", Word::Firm(Kind::Read)),
    ("accessibility", "snapshot", Word::Firm(Kind::Read)),
    ("post", "message", Word::Firm(Kind::Other)),
    ("publish", "message", Word::Firm(Kind::Other)),
    ("list", "view", Word::Plain),
    ("tree", "view", Word::Plain),
    ("read", "only", Word::Plain),
    ("read", "receipt", Word::Plain),
];

use Word::{Engine, Fact, Firm, Join, Loose, Neutral, Noun, Plain, Web};

/// Words in alphabetical order, for the binary search.
#[rustfmt::skip]
const WORDS: &[(&str, Word)] = &[
    ("abort", Loose(Kind::Other)), ("accept", Loose(Kind::Other)), ("ack", Loose(Kind::Other)),
    ("acknowledge", Loose(Kind::Other)), ("act", Loose(Kind::Other)),
    ("activate", Firm(Kind::Edit)), ("add", Firm(Kind::Edit)), ("adjust", Firm(Kind::Edit)),
    ("admit", Loose(Kind::Other)), ("advertise", Loose(Kind::Other)), ("affiliate", Plain),
    ("aggregate", Plain), ("aim", Loose(Kind::Other)), ("alert", Loose(Kind::Other)),
    ("align", Loose(Kind::Other)), ("allocate", Loose(Kind::Edit)),
    ("allowlist", Loose(Kind::Other)), ("alter", Firm(Kind::Edit)), ("amend", Loose(Kind::Edit)),
    ("analyse", Neutral), ("analyze", Neutral), ("and", Join), ("annotate", Loose(Kind::Edit)),
    ("announce", Loose(Kind::Other)), ("anonymize", Loose(Kind::Other)),
    ("answer", Loose(Kind::Other)), ("appeal", Loose(Kind::Other)), ("append", Firm(Kind::Edit)),
    ("apply", Loose(Kind::Edit)), ("applypatch", Firm(Kind::Edit)), ("approve", Loose(Kind::Other)),
    ("archive", Loose(Kind::Edit)), ("arm", Loose(Kind::Other)), ("arrange", Loose(Kind::Other)),
    ("ask", Loose(Kind::Other)), ("assemble", Loose(Kind::Other)), ("assess", Neutral),
    ("assign", Firm(Kind::Edit)), ("assume", Loose(Kind::Other)), ("attach", Firm(Kind::Edit)),
    ("attest", Loose(Kind::Other)), ("audit", Loose(Kind::Other)),
    ("authenticate", Firm(Kind::Other)), ("authorize", Firm(Kind::Other)),
    ("await", Loose(Kind::Other)), ("award", Loose(Kind::Other)), ("backup", Loose(Kind::Edit)),
    ("baidu", Engine), ("ban", Loose(Kind::Other)), ("bash", Firm(Kind::Execute)),
    ("beep", Loose(Kind::Other)), ("bid", Loose(Kind::Other)), ("bind", Loose(Kind::Edit)),
    ("bing", Engine), ("blacklist", Loose(Kind::Other)), ("blame", Firm(Kind::Read)),
    ("blast", Loose(Kind::Other)), ("blink", Loose(Kind::Other)), ("block", Loose(Kind::Other)),
    ("blur", Loose(Kind::Edit)), ("book", Loose(Kind::Other)), ("bookmark", Loose(Kind::Edit)),
    ("boost", Loose(Kind::Other)), ("boot", Loose(Kind::Execute)),
    ("bootstrap", Loose(Kind::Other)), ("borrow", Loose(Kind::Other)),
    ("bounce", Loose(Kind::Other)), ("brainstorm", Firm(Kind::Think)), ("branch", Noun(Kind::Edit)),
    ("bring", Loose(Kind::Other)), ("broadcast", Loose(Kind::Other)), ("browse", Firm(Kind::Fetch)),
    ("build", Loose(Kind::Execute)), ("bump", Loose(Kind::Edit)), ("burn", Loose(Kind::Other)),
    ("bust", Loose(Kind::Other)), ("buy", Loose(Kind::Other)), ("buzz", Loose(Kind::Other)),
    ("bypass", Loose(Kind::Other)), ("calculate", Neutral), ("calibrate", Loose(Kind::Other)),
    ("call", Loose(Kind::Other)), ("cancel", Loose(Kind::Other)), ("candidate", Plain),
    ("capabilities", Fact), ("capture", Loose(Kind::Other)), ("cat", Firm(Kind::Read)),
    ("certificate", Plain), ("certify", Loose(Kind::Other)), ("change", Loose(Kind::Edit)),
    ("charge", Loose(Kind::Other)), ("chat", Loose(Kind::Other)), ("check", Firm(Kind::Read)),
    ("checkout", Loose(Kind::Edit)), ("cherry", Loose(Kind::Edit)), ("claim", Loose(Kind::Other)),
    ("classify", Neutral), ("clean", Loose(Kind::Delete)), ("cleanup", Firm(Kind::Delete)),
    ("clear", Firm(Kind::Delete)), ("click", Firm(Kind::Other)), ("climate", Plain),
    ("clog", Loose(Kind::Other)), ("clone", Firm(Kind::Edit)), ("close", Loose(Kind::Other)),
    ("collapse", Loose(Kind::Other)), ("collect", Loose(Kind::Other)),
    ("combine", Loose(Kind::Other)), ("command", Loose(Kind::Execute)),
    ("comment", Noun(Kind::Edit)), ("commit", Loose(Kind::Edit)), ("compare", Neutral),
    ("compile", Loose(Kind::Execute)), ("complete", Loose(Kind::Edit)),
    ("compose", Loose(Kind::Edit)), ("compress", Loose(Kind::Edit)), ("compute", Neutral),
    ("concat", Loose(Kind::Other)), ("concatenate", Loose(Kind::Other)),
    ("configure", Firm(Kind::Edit)), ("confirm", Loose(Kind::Other)),
    ("connect", Firm(Kind::Other)), ("contest", Loose(Kind::Other)),
    ("continue", Loose(Kind::Other)), ("control", Loose(Kind::Other)), ("convert", Neutral),
    ("coordinate", Plain), ("copy", Loose(Kind::Edit)), ("cordon", Loose(Kind::Other)),
    ("corporate", Plain), ("count", Firm(Kind::Read)), ("countersign", Loose(Kind::Other)),
    ("counts", Fact), ("crawl", Loose(Kind::Fetch)), ("crawling", Loose(Kind::Fetch)),
    ("create", Firm(Kind::Edit)), ("crop", Loose(Kind::Other)), ("curl", Firm(Kind::Fetch)),
    ("customize", Firm(Kind::Edit)), ("cut", Loose(Kind::Other)), ("date", Plain),
    ("dblclick", Firm(Kind::Other)), ("dbsize", Firm(Kind::Read)), ("ddg", Engine),
    ("deactivate", Firm(Kind::Edit)), ("debit", Loose(Kind::Other)), ("debug", Loose(Kind::Other)),
    ("decline", Loose(Kind::Other)), ("decode", Neutral), ("decompile", Neutral),
    ("decr", Loose(Kind::Edit)), ("decrease", Loose(Kind::Other)), ("decrement", Firm(Kind::Edit)),
    ("decrypt", Firm(Kind::Edit)), ("dedupe", Loose(Kind::Other)),
    ("deduplicate", Loose(Kind::Other)), ("define", Firm(Kind::Edit)),
    ("defrag", Loose(Kind::Other)), ("defragment", Loose(Kind::Other)), ("del", Firm(Kind::Delete)),
    ("delegate", Loose(Kind::Other)), ("delete", Firm(Kind::Delete)),
    ("demote", Loose(Kind::Other)), ("deny", Loose(Kind::Other)), ("denylist", Loose(Kind::Other)),
    ("deploy", Loose(Kind::Execute)), ("deposit", Loose(Kind::Other)),
    ("dequeue", Loose(Kind::Other)), ("describe", Firm(Kind::Read)),
    ("destroy", Firm(Kind::Delete)), ("detach", Firm(Kind::Edit)), ("detail", Fact),
    ("details", Fact), ("detect", Neutral), ("diagnose", Neutral), ("diagnostic", Fact),
    ("diagnostics", Fact), ("dial", Loose(Kind::Other)), ("diff", Fact),
    ("disable", Firm(Kind::Edit)), ("disarm", Loose(Kind::Other)), ("disassemble", Neutral),
    ("discard", Firm(Kind::Delete)), ("disconnect", Firm(Kind::Other)),
    ("discover", Firm(Kind::Search)), ("dismiss", Firm(Kind::Delete)),
    ("dispatch", Loose(Kind::Other)), ("dm", Loose(Kind::Other)), ("do", Loose(Kind::Other)),
    ("documentation", Fact), ("donate", Loose(Kind::Other)), ("download", Loose(Kind::Fetch)),
    ("downvote", Loose(Kind::Other)), ("doze", Loose(Kind::Other)), ("draft", Firm(Kind::Edit)),
    ("drag", Loose(Kind::Other)), ("drain", Loose(Kind::Other)), ("draw", Loose(Kind::Other)),
    ("drive", Loose(Kind::Other)), ("drop", Firm(Kind::Delete)), ("duckduckgo", Engine),
    ("dump", Loose(Kind::Other)), ("duplicate", Firm(Kind::Edit)), ("echo", Loose(Kind::Other)),
    ("edit", Firm(Kind::Edit)), ("editor", Noun(Kind::Edit)), ("eject", Loose(Kind::Other)),
    ("elect", Loose(Kind::Other)), ("elicit", Loose(Kind::Other)), ("email", Loose(Kind::Other)),
    ("embed", Loose(Kind::Other)), ("emit", Loose(Kind::Other)), ("emulate", Firm(Kind::Other)),
    ("enable", Firm(Kind::Edit)), ("encode", Neutral), ("encrypt", Firm(Kind::Edit)),
    ("endorse", Loose(Kind::Other)), ("engine", Engine), ("enlist", Loose(Kind::Other)),
    ("enqueue", Loose(Kind::Other)), ("enrich", Loose(Kind::Edit)), ("enroll", Loose(Kind::Other)),
    ("enter", Loose(Kind::Other)), ("enumerate", Firm(Kind::Read)), ("erase", Firm(Kind::Delete)),
    ("escalate", Loose(Kind::Other)), ("escrow", Loose(Kind::Other)), ("estate", Plain),
    ("estimate", Neutral), ("etch", Loose(Kind::Other)), ("evacuate", Loose(Kind::Other)),
    ("eval", Firm(Kind::Execute)), ("evaluate", Firm(Kind::Execute)),
    ("evict", Loose(Kind::Delete)), ("exec", Firm(Kind::Execute)), ("execute", Firm(Kind::Execute)),
    ("exists", Fact), ("exit", Loose(Kind::Other)), ("expand", Loose(Kind::Other)),
    ("expel", Loose(Kind::Other)), ("expire", Loose(Kind::Delete)), ("explain", Neutral),
    ("explore", Neutral), ("export", Loose(Kind::Other)), ("expose", Loose(Kind::Other)),
    ("expunge", Loose(Kind::Delete)), ("extend", Loose(Kind::Edit)), ("extract", Neutral),
    ("failover", Loose(Kind::Other)), ("fax", Loose(Kind::Other)), ("feedback", Loose(Kind::Other)),
    ("fence", Loose(Kind::Other)), ("fetch", Firm(Kind::Fetch)), ("fill", Loose(Kind::Other)),
    ("finalize", Loose(Kind::Other)), ("find", Firm(Kind::Search)),
    ("finetune", Loose(Kind::Other)), ("finish", Loose(Kind::Other)), ("fire", Loose(Kind::Other)),
    ("fit", Loose(Kind::Other)), ("fix", Loose(Kind::Edit)), ("flag", Loose(Kind::Other)),
    ("flash", Loose(Kind::Other)), ("flatten", Loose(Kind::Other)), ("flip", Loose(Kind::Other)),
    ("flush", Firm(Kind::Delete)), ("flushall", Firm(Kind::Delete)),
    ("flushdb", Firm(Kind::Delete)), ("fly", Loose(Kind::Other)), ("focus", Loose(Kind::Other)),
    ("fold", Loose(Kind::Other)), ("follow", Loose(Kind::Other)), ("force", Loose(Kind::Other)),
    ("forecast", Fact), ("forget", Firm(Kind::Delete)), ("fork", Loose(Kind::Edit)),
    ("format", Loose(Kind::Edit)), ("forward", Loose(Kind::Other)), ("freeze", Loose(Kind::Edit)),
    ("fulfill", Loose(Kind::Other)), ("gather", Loose(Kind::Other)),
    ("generate", Loose(Kind::Other)), ("geocode", Firm(Kind::Search)), ("get", Firm(Kind::Read)),
    ("gift", Loose(Kind::Other)), ("give", Loose(Kind::Other)), ("glob", Firm(Kind::Search)),
    ("go", Loose(Kind::Other)), ("google", Engine), ("goto", Neutral), ("grant", Loose(Kind::Edit)),
    ("grep", Firm(Kind::Search)), ("grow", Loose(Kind::Other)), ("halt", Loose(Kind::Other)),
    ("hand", Loose(Kind::Other)), ("handle", Loose(Kind::Other)), ("handoff", Loose(Kind::Other)),
    ("harvest", Loose(Kind::Other)), ("hash", Neutral), ("hdel", Firm(Kind::Delete)),
    ("health", Fact), ("healthcheck", Fact), ("hedge", Loose(Kind::Other)),
    ("hexists", Firm(Kind::Read)), ("hget", Firm(Kind::Read)), ("hgetall", Firm(Kind::Read)),
    ("hibernate", Loose(Kind::Other)), ("hide", Loose(Kind::Edit)),
    ("highlight", Loose(Kind::Other)), ("hire", Loose(Kind::Other)), ("history", Fact),
    ("hkeys", Firm(Kind::Read)), ("hmget", Firm(Kind::Read)), ("hoist", Loose(Kind::Other)),
    ("hold", Loose(Kind::Other)), ("hotfix", Loose(Kind::Other)), ("hover", Firm(Kind::Other)),
    ("hset", Loose(Kind::Edit)), ("http", Web), ("https", Web), ("hvals", Firm(Kind::Read)),
    ("impersonate", Loose(Kind::Other)), ("import", Loose(Kind::Edit)), ("incr", Loose(Kind::Edit)),
    ("increase", Loose(Kind::Other)), ("increment", Firm(Kind::Edit)), ("index", Noun(Kind::Edit)),
    ("info", Fact), ("information", Fact), ("ingest", Loose(Kind::Edit)),
    ("init", Loose(Kind::Edit)), ("initialize", Firm(Kind::Edit)), ("inject", Loose(Kind::Other)),
    ("inline", Loose(Kind::Other)), ("insert", Firm(Kind::Edit)), ("inspect", Firm(Kind::Read)),
    ("install", Loose(Kind::Execute)), ("interact", Loose(Kind::Other)),
    ("intercept", Loose(Kind::Other)), ("internet", Web), ("invert", Loose(Kind::Other)),
    ("invite", Firm(Kind::Other)), ("invoice", Loose(Kind::Other)), ("invoke", Firm(Kind::Execute)),
    ("join", Loose(Kind::Other)), ("kagi", Engine), ("kick", Loose(Kind::Other)),
    ("kill", Firm(Kind::Execute)), ("label", Loose(Kind::Edit)), ("land", Loose(Kind::Other)),
    ("launch", Firm(Kind::Execute)), ("leaderboard", Fact), ("learn", Loose(Kind::Other)),
    ("lease", Loose(Kind::Other)), ("leave", Loose(Kind::Other)), ("lend", Loose(Kind::Other)),
    ("lift", Loose(Kind::Other)), ("like", Loose(Kind::Other)), ("lindex", Firm(Kind::Read)),
    ("link", Loose(Kind::Other)), ("lint", Neutral), ("liquidate", Loose(Kind::Other)),
    ("list", Firm(Kind::Read)), ("listdir", Firm(Kind::Read)), ("listen", Loose(Kind::Other)),
    ("llen", Firm(Kind::Read)), ("load", Loose(Kind::Other)), ("locate", Firm(Kind::Search)),
    ("lock", Loose(Kind::Edit)), ("lodge", Loose(Kind::Other)), ("log", Loose(Kind::Other)),
    ("login", Firm(Kind::Other)), ("logout", Firm(Kind::Other)), ("logs", Fact),
    ("lookup", Firm(Kind::Search)), ("lower", Loose(Kind::Other)), ("lpop", Loose(Kind::Delete)),
    ("lpush", Loose(Kind::Edit)), ("lrange", Firm(Kind::Read)), ("ls", Firm(Kind::Read)),
    ("lyrics", Fact), ("mail", Loose(Kind::Other)), ("make", Loose(Kind::Edit)),
    ("manage", Loose(Kind::Other)), ("mandate", Plain), ("mark", Loose(Kind::Edit)),
    ("mask", Loose(Kind::Other)), ("measure", Neutral), ("merge", Loose(Kind::Edit)),
    ("message", Loose(Kind::Other)), ("metadata", Fact), ("metrics", Fact),
    ("mget", Firm(Kind::Read)), ("migrate", Loose(Kind::Edit)), ("mint", Loose(Kind::Other)),
    ("mirror", Loose(Kind::Other)), ("mkdir", Firm(Kind::Edit)), ("mock", Loose(Kind::Other)),
    ("modify", Firm(Kind::Edit)), ("monitor", Loose(Kind::Other)), ("mount", Loose(Kind::Other)),
    ("move", Firm(Kind::Move)), ("multiedit", Firm(Kind::Edit)), ("mute", Loose(Kind::Edit)),
    ("mv", Firm(Kind::Move)), ("nack", Loose(Kind::Other)), ("narrow", Loose(Kind::Other)),
    ("navigate", Neutral), ("nest", Loose(Kind::Other)), ("new", Loose(Kind::Other)),
    ("normalize", Firm(Kind::Edit)), ("notarize", Loose(Kind::Other)), ("note", Noun(Kind::Edit)),
    ("notify", Firm(Kind::Other)), ("nudge", Loose(Kind::Other)), ("nuke", Loose(Kind::Other)),
    ("obfuscate", Loose(Kind::Other)), ("ocr", Neutral), ("offboard", Loose(Kind::Other)),
    ("offer", Loose(Kind::Other)), ("onboard", Loose(Kind::Other)), ("open", Loose(Kind::Other)),
    ("operate", Loose(Kind::Other)), ("or", Join), ("order", Loose(Kind::Other)),
    ("organize", Loose(Kind::Edit)), ("override", Loose(Kind::Other)), ("overview", Fact),
    ("overwrite", Firm(Kind::Edit)), ("pack", Loose(Kind::Other)), ("pad", Loose(Kind::Edit)),
    ("paint", Loose(Kind::Other)), ("pair", Loose(Kind::Other)), ("park", Loose(Kind::Other)),
    ("parse", Neutral), ("pass", Loose(Kind::Other)), ("paste", Loose(Kind::Other)),
    ("patch", Loose(Kind::Edit)), ("pause", Loose(Kind::Execute)), ("pay", Loose(Kind::Other)),
    ("peek", Firm(Kind::Read)), ("perform", Loose(Kind::Other)), ("permit", Loose(Kind::Other)),
    ("pin", Loose(Kind::Edit)), ("ping", Loose(Kind::Other)), ("pivot", Loose(Kind::Other)),
    ("plate", Plain), ("play", Loose(Kind::Other)), ("pledge", Loose(Kind::Other)), ("plot", Neutral),
    ("poke", Loose(Kind::Other)), ("ponder", Firm(Kind::Think)), ("populate", Loose(Kind::Edit)),
    ("post", Loose(Kind::Edit)), ("powershell", Firm(Kind::Execute)), ("predict", Neutral),
    ("prepend", Firm(Kind::Edit)), ("press", Loose(Kind::Other)), ("preview", Firm(Kind::Read)),
    ("prices", Fact), ("print", Loose(Kind::Other)), ("private", Plain),
    ("probe", Loose(Kind::Other)), ("proceed", Loose(Kind::Other)),
    ("process", Noun(Kind::Execute)), ("promote", Loose(Kind::Other)),
    ("prompt", Loose(Kind::Other)), ("prove", Loose(Kind::Other)), ("provision", Loose(Kind::Edit)),
    ("proxy", Loose(Kind::Other)), ("prune", Firm(Kind::Delete)), ("publish", Firm(Kind::Edit)),
    ("pull", Loose(Kind::Other)), ("purchase", Loose(Kind::Other)), ("purge", Firm(Kind::Delete)),
    ("push", Loose(Kind::Edit)), ("put", Firm(Kind::Edit)), ("query", Firm(Kind::Search)),
    ("queue", Loose(Kind::Other)), ("quit", Loose(Kind::Other)), ("quote", Fact), ("quotes", Fact),
    ("raise", Loose(Kind::Other)), ("rate", Loose(Kind::Other)), ("ratify", Loose(Kind::Other)),
    ("react", Loose(Kind::Other)), ("read", Firm(Kind::Read)), ("readfile", Firm(Kind::Read)),
    ("reap", Loose(Kind::Other)), ("reason", Firm(Kind::Think)), ("reasoning", Firm(Kind::Think)),
    ("rebase", Loose(Kind::Edit)), ("rebate", Plain), ("reboot", Loose(Kind::Execute)),
    ("recalibrate", Loose(Kind::Other)), ("recall", Firm(Kind::Search)), ("recommend", Neutral),
    ("reconcile", Loose(Kind::Other)), ("record", Loose(Kind::Other)),
    ("redact", Loose(Kind::Other)), ("redeem", Loose(Kind::Other)),
    ("redirect", Loose(Kind::Other)), ("redo", Firm(Kind::Edit)), ("reduce", Loose(Kind::Other)),
    ("refactor", Loose(Kind::Edit)), ("reflect", Firm(Kind::Think)),
    ("refresh", Loose(Kind::Other)), ("refund", Loose(Kind::Other)), ("register", Firm(Kind::Edit)),
    ("regroup", Loose(Kind::Other)), ("reindex", Loose(Kind::Edit)),
    ("reinstate", Loose(Kind::Other)), ("reject", Loose(Kind::Other)),
    ("release", Noun(Kind::Edit)), ("relocate", Firm(Kind::Move)), ("remap", Loose(Kind::Other)),
    ("remember", Loose(Kind::Edit)), ("remind", Loose(Kind::Other)), ("remove", Firm(Kind::Delete)),
    ("rename", Firm(Kind::Move)), ("render", Loose(Kind::Other)), ("rent", Loose(Kind::Other)),
    ("reopen", Loose(Kind::Edit)), ("reorder", Firm(Kind::Edit)), ("reparent", Loose(Kind::Other)),
    ("repeat", Loose(Kind::Other)), ("replace", Firm(Kind::Edit)), ("replay", Loose(Kind::Execute)),
    ("replicate", Loose(Kind::Other)), ("reply", Loose(Kind::Other)),
    ("report", Loose(Kind::Other)), ("request", Loose(Kind::Other)),
    ("reroute", Loose(Kind::Other)), ("rerun", Loose(Kind::Execute)),
    ("reschedule", Loose(Kind::Other)), ("reserve", Loose(Kind::Other)),
    ("reset", Firm(Kind::Edit)), ("resize", Loose(Kind::Other)), ("resolve", Loose(Kind::Other)),
    ("respond", Loose(Kind::Other)), ("restart", Firm(Kind::Execute)),
    ("restore", Firm(Kind::Edit)), ("resume", Loose(Kind::Execute)), ("retrieve", Firm(Kind::Read)),
    ("retry", Loose(Kind::Execute)), ("retune", Loose(Kind::Other)),
    ("retweet", Loose(Kind::Other)), ("reveal", Loose(Kind::Other)), ("revert", Firm(Kind::Edit)),
    ("review", Loose(Kind::Edit)), ("revoke", Firm(Kind::Delete)), ("reward", Loose(Kind::Other)),
    ("rewrite", Firm(Kind::Edit)), ("rg", Firm(Kind::Search)), ("ring", Loose(Kind::Other)),
    ("ripgrep", Firm(Kind::Search)), ("rm", Firm(Kind::Delete)), ("rmdir", Firm(Kind::Delete)),
    ("roll", Loose(Kind::Other)), ("rollback", Loose(Kind::Edit)),
    ("rollout", Loose(Kind::Execute)), ("rotate", Firm(Kind::Edit)), ("rpop", Loose(Kind::Delete)),
    ("rpush", Loose(Kind::Edit)), ("run", Loose(Kind::Execute)), ("sadd", Loose(Kind::Edit)),
    ("sample", Loose(Kind::Other)), ("sanitize", Firm(Kind::Edit)), ("save", Firm(Kind::Edit)),
    ("say", Loose(Kind::Other)), ("scaffold", Firm(Kind::Edit)), ("scale", Loose(Kind::Edit)),
    ("scan", Loose(Kind::Other)), ("scard", Firm(Kind::Read)), ("schedule", Loose(Kind::Other)),
    ("schema", Fact), ("scrape", Firm(Kind::Fetch)), ("screenshot", Loose(Kind::Other)),
    ("script", Noun(Kind::Execute)), ("scroll", Loose(Kind::Other)), ("scrub", Loose(Kind::Other)),
    ("seal", Loose(Kind::Other)), ("search", Firm(Kind::Search)), ("searxng", Engine),
    ("seed", Loose(Kind::Edit)), ("seek", Loose(Kind::Other)), ("select", Loose(Kind::Other)),
    ("sell", Loose(Kind::Other)), ("send", Firm(Kind::Other)),
    ("sequentialthinking", Firm(Kind::Think)), ("serp", Engine), ("set", Loose(Kind::Edit)),
    ("settle", Loose(Kind::Other)), ("setup", Loose(Kind::Edit)), ("sh", Firm(Kind::Execute)),
    ("share", Loose(Kind::Other)), ("shell", Firm(Kind::Execute)), ("ship", Loose(Kind::Other)),
    ("shoot", Loose(Kind::Other)), ("shout", Loose(Kind::Other)), ("show", Firm(Kind::Read)),
    ("shred", Loose(Kind::Other)), ("shrink", Loose(Kind::Other)), ("shuffle", Loose(Kind::Other)),
    ("shutdown", Loose(Kind::Execute)), ("sign", Loose(Kind::Edit)),
    ("silence", Loose(Kind::Other)), ("simulate", Firm(Kind::Other)), ("size", Fact),
    ("sizes", Fact), ("sketch", Loose(Kind::Other)), ("skip", Loose(Kind::Other)),
    ("sleep", Loose(Kind::Other)), ("smembers", Firm(Kind::Read)), ("snooze", Loose(Kind::Other)),
    ("solve", Loose(Kind::Other)), ("sort", Loose(Kind::Edit)), ("spawn", Firm(Kind::Execute)),
    ("speak", Loose(Kind::Other)), ("spin", Loose(Kind::Other)), ("split", Loose(Kind::Edit)),
    ("spop", Loose(Kind::Delete)), ("spy", Loose(Kind::Other)), ("squash", Loose(Kind::Other)),
    ("srem", Firm(Kind::Delete)), ("stage", Loose(Kind::Edit)), ("stake", Loose(Kind::Other)),
    ("stamp", Loose(Kind::Other)), ("star", Loose(Kind::Edit)), ("start", Loose(Kind::Execute)),
    ("stash", Loose(Kind::Edit)), ("stat", Firm(Kind::Read)), ("state", Plain),
    ("statistics", Fact), ("stats", Fact), ("status", Fact), ("steer", Loose(Kind::Other)),
    ("step", Loose(Kind::Other)), ("stop", Loose(Kind::Execute)), ("store", Loose(Kind::Edit)),
    ("strreplace", Firm(Kind::Edit)), ("stub", Loose(Kind::Other)), ("submit", Firm(Kind::Other)),
    ("subscribe", Firm(Kind::Other)), ("substrate", Plain), ("suggest", Neutral),
    ("summarise", Neutral), ("summarize", Neutral), ("summary", Fact), ("suspend", Loose(Kind::Other)),
    ("swap", Loose(Kind::Edit)), ("swipe", Loose(Kind::Other)), ("switch", Loose(Kind::Other)),
    ("sync", Loose(Kind::Other)), ("tag", Loose(Kind::Edit)), ("taint", Loose(Kind::Other)),
    ("take", Loose(Kind::Other)), ("tap", Loose(Kind::Other)), ("tar", Loose(Kind::Other)),
    ("teach", Loose(Kind::Other)), ("teardown", Loose(Kind::Delete)), ("template", Plain),
    ("templates", Plain), ("terminal", Loose(Kind::Execute)), ("terminate", Firm(Kind::Execute)),
    ("test", Loose(Kind::Execute)), ("then", Join), ("think", Firm(Kind::Think)),
    ("thinking", Firm(Kind::Think)), ("throttle", Loose(Kind::Other)),
    ("throw", Loose(Kind::Other)), ("tint", Loose(Kind::Other)), ("tip", Loose(Kind::Other)),
    ("todowrite", Firm(Kind::Think)), ("toggle", Loose(Kind::Other)), ("tokenize", Neutral),
    ("touch", Loose(Kind::Edit)), ("trace", Loose(Kind::Other)), ("track", Loose(Kind::Other)),
    ("trade", Loose(Kind::Other)), ("train", Loose(Kind::Other)), ("transcribe", Neutral),
    ("transcript", Fact), ("transfer", Loose(Kind::Other)), ("transform", Loose(Kind::Edit)),
    ("transition", Loose(Kind::Other)), ("translate", Neutral), ("trash", Firm(Kind::Delete)),
    ("tree", Fact), ("trigger", Loose(Kind::Execute)), ("trim", Loose(Kind::Edit)),
    ("trip", Loose(Kind::Other)), ("truncate", Firm(Kind::Delete)), ("tune", Loose(Kind::Other)),
    ("tunnel", Loose(Kind::Other)), ("turn", Loose(Kind::Other)), ("tweet", Loose(Kind::Other)),
    ("type", Loose(Kind::Other)), ("unarchive", Loose(Kind::Edit)), ("unassign", Firm(Kind::Edit)),
    ("unban", Loose(Kind::Other)), ("unbind", Loose(Kind::Edit)), ("unblock", Loose(Kind::Other)),
    ("unbundle", Loose(Kind::Other)), ("uncheck", Loose(Kind::Other)),
    ("uncordon", Loose(Kind::Other)), ("undeploy", Loose(Kind::Execute)),
    ("undo", Firm(Kind::Edit)), ("unexpose", Loose(Kind::Other)), ("unflag", Loose(Kind::Other)),
    ("unflatten", Loose(Kind::Other)), ("unfold", Loose(Kind::Other)),
    ("unfollow", Loose(Kind::Other)), ("unfreeze", Loose(Kind::Edit)),
    ("ungroup", Loose(Kind::Other)), ("unhide", Loose(Kind::Edit)), ("unify", Loose(Kind::Other)),
    ("uninstall", Firm(Kind::Execute)), ("unlike", Loose(Kind::Other)),
    ("unlink", Firm(Kind::Delete)), ("unlock", Loose(Kind::Edit)), ("unmask", Loose(Kind::Other)),
    ("unmount", Loose(Kind::Other)), ("unmute", Loose(Kind::Edit)), ("unpack", Loose(Kind::Other)),
    ("unpair", Loose(Kind::Other)), ("unpin", Loose(Kind::Edit)), ("unpivot", Loose(Kind::Other)),
    ("unpublish", Firm(Kind::Edit)), ("unregister", Firm(Kind::Edit)), ("unset", Loose(Kind::Edit)),
    ("unsign", Loose(Kind::Other)), ("unstage", Loose(Kind::Edit)), ("unstar", Loose(Kind::Edit)),
    ("unsubscribe", Firm(Kind::Other)), ("untag", Loose(Kind::Edit)),
    ("untaint", Loose(Kind::Other)), ("untar", Loose(Kind::Edit)), ("unwrap", Loose(Kind::Other)),
    ("unzip", Loose(Kind::Edit)), ("update", Firm(Kind::Edit)), ("upgrade", Loose(Kind::Execute)),
    ("upload", Loose(Kind::Other)), ("upsert", Firm(Kind::Edit)), ("uptime", Fact),
    ("upvote", Loose(Kind::Other)), ("usage", Fact), ("use", Loose(Kind::Other)),
    ("vacuum", Loose(Kind::Other)), ("validate", Neutral), ("vendor", Loose(Kind::Other)),
    ("verify", Loose(Kind::Other)), ("version", Fact), ("versions", Fact),
    ("view", Firm(Kind::Read)), ("visit", Neutral), ("visualize", Neutral),
    ("void", Loose(Kind::Other)), ("vote", Loose(Kind::Other)), ("wager", Loose(Kind::Other)),
    ("wait", Loose(Kind::Other)), ("waive", Loose(Kind::Other)), ("wake", Loose(Kind::Other)),
    ("warm", Loose(Kind::Other)), ("warp", Loose(Kind::Other)), ("watch", Loose(Kind::Other)),
    ("weather", Fact), ("web", Web), ("webfetch", Firm(Kind::Fetch)), ("webpage", Web),
    ("webpages", Web), ("websearch", Firm(Kind::Fetch)), ("website", Web), ("websites", Web),
    ("wget", Firm(Kind::Fetch)), ("whisper", Loose(Kind::Other)), ("whitelist", Loose(Kind::Other)),
    ("whoami", Firm(Kind::Read)), ("widen", Loose(Kind::Other)), ("wipe", Firm(Kind::Delete)),
    ("withdraw", Loose(Kind::Other)), ("wrap", Loose(Kind::Other)), ("write", Firm(Kind::Edit)),
    ("writefile", Firm(Kind::Edit)), ("xadd", Loose(Kind::Edit)), ("xdel", Firm(Kind::Delete)),
    ("xrange", Firm(Kind::Read)), ("yahoo", Engine), ("yandex", Engine),
    ("yell", Loose(Kind::Other)), ("zadd", Loose(Kind::Edit)), ("zcard", Firm(Kind::Read)),
    ("zeroize", Loose(Kind::Other)), ("zip", Loose(Kind::Edit)), ("zrange", Firm(Kind::Read)),
    ("zrem", Firm(Kind::Delete)), ("zscore", Firm(Kind::Read)), ("zsh", Firm(Kind::Execute)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_in_order() {
        assert!(WORDS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(WORDS.iter().all(|(word, _)| word.len() <= LONGEST));
    }

    #[test]
    fn unlisted_words_never_become_quiet() {
        assert_eq!(classify("unarchive"), Loose(Kind::Edit));
        assert_eq!(classify("redeploy"), Loose(Kind::Execute));
        assert_eq!(classify("randomize"), Loose(Kind::Other));
        assert_eq!(classify("unread"), Plain);
        assert_eq!(classify("research"), Plain);
    }
}
