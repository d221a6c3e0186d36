//! The index of the examples, with the kind of each.
//! A list: the tests check the examples.

use toolcall_acp::finding::LintRule;

/// The kind of an example, with its expected findings.
pub(crate) enum Example {
    /// A `session/update` about a call, with or without its JSON-RPC envelope.
    Report(&'static [LintRule]),
    /// A `session/update` with a plan.
    Plan,
    /// An item of `content`.
    Item(&'static [LintRule]),
    /// A place in a file.
    Location,
    /// A message that reports no call by itself.
    Message,
    /// The definition of a tool.
    Definition,
    /// The input of the tool of this name.
    Input(&'static str),
    /// The properties of a tool's input.
    Properties,
    /// Parameters or settings that v1 does not have; other tests check their parts.
    Foreign,
}

use Example::*;

const BARE: &[LintRule] = &[LintRule::ContentShape];

/// Every example by its file name: the document's number and what it shows. Those from a code sample (`registered`, `custom`, `sent`, `nested`) are written out as JSON.
pub(crate) const INDEX: &[(&str, Example)] = &[
    ("000-reading-started", Report(&[])),
    ("000-reading-completed", Report(BARE)),
    ("000-running-started", Report(&[])),
    ("000-running-completed", Report(BARE)),
    ("000-plan", Plan),
    ("000-failed", Report(BARE)),
    ("001-created", Report(&[])),
    ("001-updated", Report(&[])),
    ("001-content-text", Item(&[])),
    ("001-content-diff", Item(&[])),
    ("001-content-terminal", Item(&[])),
    ("001-permission-request", Message),
    ("001-permission-selected", Message),
    ("001-permission-cancelled", Message),
    ("001-location", Location),
    ("002-definition-read-file", Definition),
    ("002-definition-registered", Definition),
    ("002-definition-custom", Definition),
    ("002-input-read-file", Input("read_file")),
    ("002-output-read-file", Item(BARE)),
    ("002-input-write-file", Input("write_file")),
    ("002-output-write-file", Item(BARE)),
    ("002-input-list-directory", Input("list_directory")),
    ("002-output-list-directory", Item(BARE)),
    ("002-input-search-files", Input("search_files")),
    ("002-output-search-files", Item(BARE)),
    ("002-input-edit-file", Input("edit_file")),
    ("002-output-edit-file", Item(BARE)),
    ("002-input-run-command", Input("run_command")),
    ("002-output-run-command", Item(BARE)),
    ("002-input-web-search", Input("web_search")),
    ("002-output-web-search", Item(BARE)),
    ("002-tools-use", Foreign),
    ("002-tools-result", Foreign),
    ("002-tool-result-sent", Foreign),
    ("002-mcp-servers", Foreign),
    ("002-mcp-initialize", Message),
    ("002-mcp-tools-list", Message),
    ("002-mcp-tools-response", Message),
    ("002-result-text", Item(BARE)),
    ("002-result-image", Item(BARE)),
    ("002-result-diff", Item(BARE)),
    ("002-result-error", Item(BARE)),
    ("002-schema-good", Properties),
    ("002-schema-bad", Properties),
    ("003-created", Report(&[])),
    ("003-progress", Report(&[])),
    ("003-completed", Report(&[])),
    ("004-nested", Report(&[LintRule::NestedToolCall])),
];
