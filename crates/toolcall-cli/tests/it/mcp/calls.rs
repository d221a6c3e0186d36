//! Calls of every tool, each with a part of the expected content.
//! `ROOT` in an input is the directory of the session.

/// A call and its expected outcome.
pub(crate) struct McpCall {
    pub(crate) tool: &'static str,
    /// JSON.
    pub(crate) input: &'static str,
    pub(crate) expected: Expected,
}

/// How a call ends, and a part of its content.
#[derive(Clone, Copy)]
pub(crate) enum Expected {
    Done(&'static str),
    Failed(&'static str),
}

use Expected::{Done, Failed};

const fn call(tool: &'static str, input: &'static str, expected: Expected) -> McpCall {
    McpCall {
        tool,
        input,
        expected,
    }
}

pub(crate) const ENDLESS: McpCall = call(
    "trigger-long-running-operation",
    r#"{"duration": 600, "steps": 6000}"#,
    Failed(""),
);

pub(crate) const ECHO: McpCall = call("echo", r#"{"message": "tea"}"#, Done("Echo: tea"));

pub(crate) const CALLS: &[McpCall] = &[
    ECHO,
    call("echo", "{}", Failed("`/message` is missing")),
    call(
        "get-annotated-message",
        r#"{"messageType": "error", "includeImage": true}"#,
        Done("image/png"),
    ),
    call("get-env", "{}", Done("PATH")),
    call(
        "get-resource-links",
        r#"{"count": 2}"#,
        Done("resource_link"),
    ),
    call(
        "get-resource-reference",
        r#"{"resourceType": "Text", "resourceId": 1}"#,
        Done("\"resource\""),
    ),
    call(
        "get-resource-reference",
        r#"{"resourceType": "Blob", "resourceId": 1}"#,
        Done("\"blob\""),
    ),
    call(
        "get-structured-content",
        r#"{"location": "Chicago"}"#,
        Done("humidity"),
    ),
    call("get-sum", r#"{"a": 2, "b": 3}"#, Done("5")),
    call("get-tiny-image", "{}", Done("image/png")),
    call(
        "gzip-file-as-resource",
        r#"{"name": "a.gz", "data": "data:text/plain,tea", "outputType": "resource"}"#,
        Done("gzip"),
    ),
    call("toggle-simulated-logging", "{}", Done("logging")),
    call("toggle-simulated-logging", "{}", Done("logging")),
    call("toggle-subscriber-updates", "{}", Done("updates")),
    call("toggle-subscriber-updates", "{}", Done("updates")),
    call(
        "trigger-long-running-operation",
        r#"{"duration": 1, "steps": 4}"#,
        Done("completed"),
    ),
    call(
        "trigger-elicitation-request",
        "{}",
        Done("User provided the requested information"),
    ),
    call("get-roots-list", "{}", Done("ROOT")),
    call(
        "files__write_file",
        r#"{"path": "ROOT/note.txt", "content": "one\ntwo\n"}"#,
        Done("wrote"),
    ),
    call(
        "files__read_file",
        r#"{"path": "ROOT/note.txt"}"#,
        Done("two"),
    ),
    call(
        "files__read_file",
        r#"{"path": "ROOT/none.txt"}"#,
        Failed("ENOENT"),
    ),
    call(
        "read_text_file",
        r#"{"path": "ROOT/note.txt", "head": 1}"#,
        Done("one"),
    ),
    call(
        "read_text_file",
        r#"{"path": "/etc/passwd"}"#,
        Failed("outside allowed directories"),
    ),
    call(
        "read_media_file",
        r#"{"path": "ROOT/dot.png"}"#,
        Done("image/png"),
    ),
    call(
        "read_multiple_files",
        r#"{"paths": ["ROOT/note.txt"]}"#,
        Done("note.txt"),
    ),
    call(
        "files__edit_file",
        r#"{"path": "ROOT/note.txt", "edits": [{"oldText": "two", "newText": "three"}]}"#,
        Done("three"),
    ),
    call(
        "create_directory",
        r#"{"path": "ROOT/sub"}"#,
        Done("created"),
    ),
    call(
        "files__list_directory",
        r#"{"path": "ROOT"}"#,
        Done("note.txt"),
    ),
    call(
        "list_directory_with_sizes",
        r#"{"path": "ROOT"}"#,
        Done("Total"),
    ),
    call("directory_tree", r#"{"path": "ROOT/sub"}"#, Done("[]")),
    call(
        "files__move_file",
        r#"{"source": "ROOT/note.txt", "destination": "ROOT/sub/note.txt"}"#,
        Done("moved"),
    ),
    call(
        "files__search_files",
        r#"{"path": "ROOT", "pattern": "**/note.txt"}"#,
        Done("sub/note.txt"),
    ),
    call(
        "get_file_info",
        r#"{"path": "ROOT/sub/note.txt"}"#,
        Done("size"),
    ),
    call("list_allowed_directories", "{}", Done("ROOT")),
    call(
        "create_entities",
        r#"{"entities": [{"name": "tea", "entityType": "drink", "observations": ["hot"]}, {"name": "cup", "entityType": "thing", "observations": []}]}"#,
        Done("tea"),
    ),
    call(
        "create_relations",
        r#"{"relations": [{"from": "tea", "to": "cup", "relationType": "is in"}]}"#,
        Done("is in"),
    ),
    call(
        "add_observations",
        r#"{"observations": [{"entityName": "tea", "contents": ["green"]}]}"#,
        Done("green"),
    ),
    call(
        "add_observations",
        r#"{"observations": [{"entityName": "nobody", "contents": ["x"]}]}"#,
        Failed("nobody"),
    ),
    call("read_graph", "{}", Done("is in")),
    call("search_nodes", r#"{"query": "green"}"#, Done("tea")),
    call("open_nodes", r#"{"names": ["cup"]}"#, Done("cup")),
    call(
        "delete_observations",
        r#"{"deletions": [{"entityName": "tea", "observations": ["green"]}]}"#,
        Done("deleted"),
    ),
    call(
        "delete_relations",
        r#"{"relations": [{"from": "tea", "to": "cup", "relationType": "is in"}]}"#,
        Done("deleted"),
    ),
    call(
        "delete_entities",
        r#"{"entityNames": ["cup"]}"#,
        Done("deleted"),
    ),
    call(
        "git_status",
        r#"{"repo_path": "ROOT/repo"}"#,
        Done("On branch"),
    ),
    call(
        "git_add",
        r#"{"repo_path": "ROOT/repo", "files": ["new.txt"]}"#,
        Done("staged"),
    ),
    call(
        "git_diff_staged",
        r#"{"repo_path": "ROOT/repo"}"#,
        Done("new.txt"),
    ),
    call("git_reset", r#"{"repo_path": "ROOT/repo"}"#, Done("reset")),
    call(
        "git_add",
        r#"{"repo_path": "ROOT/repo", "files": ["new.txt"]}"#,
        Done("staged"),
    ),
    call(
        "git_commit",
        r#"{"repo_path": "ROOT/repo", "message": "Add tea"}"#,
        Done("committed"),
    ),
    call("git_log", r#"{"repo_path": "ROOT/repo"}"#, Done("Add tea")),
    call(
        "git_show",
        r#"{"repo_path": "ROOT/repo", "revision": "HEAD"}"#,
        Done("Add tea"),
    ),
    call(
        "git_create_branch",
        r#"{"repo_path": "ROOT/repo", "branch_name": "green"}"#,
        Done("green"),
    ),
    call(
        "git_checkout",
        r#"{"repo_path": "ROOT/repo", "branch_name": "green"}"#,
        Done("green"),
    ),
    call(
        "git_branch",
        r#"{"repo_path": "ROOT/repo", "branch_type": "local"}"#,
        Done("green"),
    ),
    call(
        "git_diff",
        r#"{"repo_path": "ROOT/repo", "target": "HEAD"}"#,
        Done("Diff"),
    ),
    call(
        "git_diff_unstaged",
        r#"{"repo_path": "ROOT/repo"}"#,
        Done("Unstaged"),
    ),
    call(
        "git_status",
        r#"{"repo_path": "ROOT/nowhere"}"#,
        Failed("nowhere"),
    ),
    call(
        "get_current_time",
        r#"{"timezone": "Europe/Berlin"}"#,
        Done("Europe/Berlin"),
    ),
    call(
        "convert_time",
        r#"{"source_timezone": "Etc/UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}"#,
        Done("21:00"),
    ),
    call(
        "get_current_time",
        r#"{"timezone": "Moon/Base"}"#,
        Failed("Moon/Base"),
    ),
];
