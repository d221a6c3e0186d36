//! The names under which this library puts things into `_meta`.
//! Names only: what stands under them is written and read elsewhere.

/// How far a call is: `{current, total?, fraction?, message?}`.
pub const PROGRESS: &str = "toolcall/progress";
/// How long each step took: `{queued_ms, waited_ms, ran_ms, total_ms}`, on the last update.
pub const TIMING: &str = "toolcall/timing";
/// How a call ended that did not complete: `{how, reason}`. v1 itself only says `failed`.
pub const ENDING: &str = "toolcall/ending";
/// The call on whose behalf this one runs.
pub const PARENT: &str = "toolcall/parent";
/// Why a running call is paused; null when it goes on. v1 has no such status.
pub const HELD: &str = "toolcall/held";
/// A sign of life of a silent call: `{bytes}`, how much it has printed.
pub const BEAT: &str = "toolcall/beat";
/// On a content item: which part of our own making it is (`reason`, `output`, `progress`, `note`), not the tool's.
pub const PART: &str = "toolcall/part";
/// On a content item: a change of a file that v1 has no shape for.
pub const CHANGE: &str = "toolcall/change";
/// On a permission response: why the person said no.
pub const REASON: &str = "toolcall/reason";
/// Among the agent's capabilities: `_toolcall/cancel` stops one call.
pub const CANCEL: &str = "toolcall/cancel";

/// Zed's extension: this call has a terminal of ours.
pub const TERMINAL_INFO: &str = "terminal_info";
/// Zed's extension: more output of it. Also the capability of a client that takes it.
pub const TERMINAL_OUTPUT: &str = "terminal_output";
/// Zed's extension: how it ended.
pub const TERMINAL_EXIT: &str = "terminal_exit";

/// W3C trace context, as the protocol carries it.
pub const TRACE: [&str; 3] = ["traceparent", "tracestate", "baggage"];

/// Our extension method that stops one call.
pub const CANCEL_CALL: &str = "_toolcall/cancel";
