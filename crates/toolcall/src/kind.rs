//! The kind of a call, inferred in this order: what the tool states, arguments, schema, name.
//! No claim of a server makes a call look safer, and in doubt no tool counts as read or search.

use serde_json::Value;

use crate::arguments::{ArgumentsByRole, Role, same_key};
use crate::intent::{Annotations, Kind};

mod name;
mod words;

use name::NameHint;
use words::is_read_only;

/// Everything from which a kind is inferred.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence<'a> {
    /// The kind that the tool's author or the user stated.
    pub stated: Option<Kind>,
    /// The tool's name, with or without the name of its server.
    pub name: &'a str,
    /// The JSON schema of its input.
    pub schema: Option<&'a Value>,
    /// The input of this call, as far as it is known.
    pub input: Option<&'a Value>,
    /// What the server claims about the tool.
    pub annotations: Annotations,
}

/// Infers the kind; [`Kind::Other`] in doubt.
///
/// ```
/// use toolcall::Kind;
/// use toolcall::kind::{Evidence, infer};
///
/// let named = |name| infer(&Evidence { name, ..Evidence::default() });
/// assert_eq!(named("read_file"), Kind::Read);
/// assert_eq!(named("frobnicate"), Kind::Other);
/// ```
pub fn infer(evidence: &Evidence<'_>) -> Kind {
    evidence
        .stated
        .unwrap_or_else(|| cautious(guess(evidence), evidence.annotations))
}

/// Replaces a read-only kind by `Other` if the server claims that the tool writes or destroys. No
/// claim does the opposite.
fn cautious(kind: Kind, claims: Annotations) -> Kind {
    let writes = claims.read_only == Some(false) || claims.destructive == Some(true);
    if writes && is_read_only(kind) {
        Kind::Other
    } else {
        kind
    }
}

fn guess(evidence: &Evidence<'_>) -> Kind {
    let hint = name::hint(evidence.name);
    let input = ArgumentsByRole::of_input(evidence.input);
    let schema = ArgumentsByRole::of_schema(evidence.schema);
    if let Some(kind) = chosen_operation(&input, &schema) {
        return reconciled(kind, hint);
    }
    let shape =
        shape(&input, ArgumentSource::Call).or_else(|| shape(&schema, ArgumentSource::Schema));
    if let Some(kind) = shape
        && overrules(kind, hint)
    {
        return kind;
    }
    let kind = named(hint, &input, &schema, evidence);
    let doubtful = || offers_writing(&schema) || takes_object(evidence) || takes_element(evidence);
    if is_read_only(kind) && doubtful() {
        return Kind::Other;
    }
    kind
}

/// Whether arguments come from a call or from a schema, whose values are types.
#[derive(Clone, Copy, PartialEq)]
enum ArgumentSource {
    Call,
    Schema,
}

/// Returns the operation that the call selects of a tool with several: `{"action": "delete"}`.
fn chosen_operation(input: &ArgumentsByRole<'_>, schema: &ArgumentsByRole<'_>) -> Option<Kind> {
    if let Some(command) = input.text(Role::Command)
        && (input.has(Role::Path) || schema.get(Role::Command).is_some_and(is_choice))
        && let Some((_, kind)) = EDITOR_COMMANDS.iter().find(|(word, _)| *word == command)
    {
        return Some(*kind);
    }
    name::operation(input.text(Role::Action)?)
}

/// The commands of the text editor tool that models are trained on.
const EDITOR_COMMANDS: &[(&str, Kind)] = &[
    ("view", Kind::Read),
    ("create", Kind::Edit),
    ("str_replace", Kind::Edit),
    ("insert", Kind::Edit),
    ("undo_edit", Kind::Edit),
];

/// Returns the selected operation, unless it sounds safer than the tool's name.
fn reconciled(operation: Kind, hint: NameHint) -> Kind {
    match hint {
        NameHint::Kind(kind @ (Kind::Fetch | Kind::Think | Kind::SwitchMode)) => kind,
        NameHint::Kind(Kind::Read | Kind::Search) | NameHint::Neutral | NameHint::Unknown => {
            operation
        }
        NameHint::Kind(
            kind @ (Kind::Edit | Kind::Delete | Kind::Move | Kind::Execute | Kind::Other),
        ) => match (is_read_only(operation), kind) {
            // `manage_issue` with `list` only reads; `write_issue` with `list` is doubtful.
            (true, Kind::Other) => operation,
            (true, _) => Kind::Other,
            (false, _) => operation,
        },
    }
}

/// Infers the kind from the arguments alone.
fn shape(args: &ArgumentsByRole<'_>, source: ArgumentSource) -> Option<Kind> {
    let command = args.get(Role::Command);
    let runs = command.is_some_and(|value| source == ArgumentSource::Call || !is_choice(value));
    let replaces = args.has(Role::OldText) && args.has(Role::NewText);
    let rewrites = args.has(Role::NewText) && args.has(Role::Path);
    if args.has(Role::Todos) || args.has(Role::Thought) {
        Some(Kind::Think)
    } else if runs {
        Some(Kind::Execute)
    } else if replaces || rewrites || args.has(Role::Edits) {
        Some(Kind::Edit)
    } else {
        args.has(Role::Statement).then_some(Kind::Execute)
    }
}

/// Returns whether the kind from the arguments overrides the one from the name.
fn overrules(shape: Kind, hint: NameHint) -> bool {
    match hint {
        NameHint::Unknown | NameHint::Kind(Kind::Read | Kind::Search | Kind::Fetch) => true,
        NameHint::Neutral | NameHint::Kind(Kind::Delete | Kind::Move | Kind::Execute) => false,
        NameHint::Kind(Kind::Think | Kind::SwitchMode) => false,
        NameHint::Kind(Kind::Edit) => shape == Kind::Execute || shape == Kind::Think,
        NameHint::Kind(Kind::Other) => true,
    }
}

/// Infers the kind from the name, refined by addresses, sites and content among the arguments.
fn named(
    hint: NameHint,
    input: &ArgumentsByRole<'_>,
    schema: &ArgumentsByRole<'_>,
    evidence: &Evidence<'_>,
) -> Kind {
    let has = |role| input.has(role) || schema.has(role);
    let address = input.has(Role::Url) || requires(evidence.schema, Role::Url);
    let content = has(Role::Path) && has(Role::Content);
    let listed = || is_paged(evidence.schema) && !WRITTEN.iter().any(|role| has(*role));
    match hint {
        NameHint::Unknown if content => Kind::Edit,
        NameHint::Unknown if address => Kind::Fetch,
        NameHint::Unknown if listed() && has(Role::Query) => Kind::Search,
        NameHint::Unknown if listed() => Kind::Read,
        NameHint::Kind(Kind::Other | Kind::Execute)
            if name::ends_in_list(evidence.name) && listed() =>
        {
            Kind::Read
        }
        NameHint::Neutral if has(Role::Url) => Kind::Fetch,
        NameHint::Unknown | NameHint::Neutral => Kind::Other,
        NameHint::Kind(Kind::Search) if has(Role::Domains) => Kind::Fetch,
        NameHint::Kind(Kind::Search)
            if has(Role::Query) && name::queries_database(evidence.name) =>
        {
            Kind::Execute
        }
        NameHint::Kind(Kind::Read) if content || requires(evidence.schema, Role::Content) => {
            Kind::Other
        }
        NameHint::Kind(Kind::Read) if address && !has(Role::Path) && !takes_uri(evidence) => {
            Kind::Fetch
        }
        NameHint::Kind(kind) => kind,
    }
}

/// Arguments that a tool that only lists does not take.
const WRITTEN: &[Role] = &[
    Role::Content,
    Role::Code,
    Role::Prompt,
    Role::To,
    Role::Action,
    Role::Mode,
];

/// Returns whether the address is a `uri`, which servers use for their own resources.
fn takes_uri(evidence: &Evidence<'_>) -> bool {
    evidence.input.is_none() && property_names(evidence.schema).any(|key| key == "uri")
}

/// Returns whether a schema has paging parameters and no value to set.
fn is_paged(schema: Option<&Value>) -> bool {
    let any = |known: &[&str]| {
        property_names(schema).any(|key| known.iter().any(|known| same_key(key, known)))
    };
    (any(PAGING) || any(PAGE_BEGINS) && any(PAGE_ENDS)) && !any(&["value", "values", "bytes"])
}

/// Folded keys that only make sense for a list of results.
const PAGING: &[&str] = &[
    "maxresults",
    "nextcursor",
    "nextpagetoken",
    "numresults",
    "pagesize",
    "pagetoken",
    "perpage",
    "startcursor",
];

/// A page may be one of a document: these count only together with a number of results.
const PAGE_BEGINS: &[&str] = &["cursor", "offset", "page", "skip"];
const PAGE_ENDS: &[&str] = &["count", "limit"];

fn property_names(schema: Option<&Value>) -> impl Iterator<Item = &String> {
    let properties = schema.and_then(|schema| schema.get("properties")?.as_object());
    properties
        .into_iter()
        .flat_map(|properties| properties.keys())
}

/// Returns whether a name such as `browser_check` belongs to a tool that takes a page element.
fn takes_element(evidence: &Evidence<'_>) -> bool {
    let elements = ["ref", "selector", "element", "xpath", "locator", "uid"];
    name::checks(evidence.name)
        && property_names(evidence.schema).any(|key| elements.contains(&key.as_str()))
}

fn requires(schema: Option<&Value>, wanted: Role) -> bool {
    let required = schema.and_then(|schema| schema.get("required")?.as_array());
    let mut keys = required.into_iter().flatten().filter_map(Value::as_str);
    keys.any(|key| crate::arguments::role(key).is_some_and(|key| key.role == wanted))
}

/// Returns whether one of the operations in a schema writes.
fn offers_writing(schema: &ArgumentsByRole<'_>) -> bool {
    let action = schema.get(Role::Action).or(schema.get(Role::Command));
    let choices = action.and_then(|action| action.get("enum")?.as_array());
    let mut words = choices.into_iter().flatten().filter_map(Value::as_str);
    words.any(|word| {
        name::operation(word).is_some_and(|kind| !is_read_only(kind) && kind != Kind::Fetch)
    })
}

/// Returns whether a name such as `shuffle_list` belongs to a tool that takes a list.
fn takes_object(evidence: &Evidence<'_>) -> bool {
    let Some(object) = name::object(evidence.name) else {
        return false;
    };
    let starts = |key: &String| {
        key.get(..object.len())
            .is_some_and(|s| s.eq_ignore_ascii_case(object))
    };
    property_names(evidence.schema).any(starts)
}

fn is_choice(property: &Value) -> bool {
    property.get("enum").is_some()
}
