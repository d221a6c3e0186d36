//! The keys that this crate uses in `_meta`.
//! Names only: the codec writes and reads their values.

/// The progress of a call: `{current, total?, fraction?, message?}`.
pub const PROGRESS: &str = "toolcall/progress";
/// The time of each phase of a call: `{queued_ms, waited_ms, ran_ms, total_ms}`, on the last update.
pub const TIMING: &str = "toolcall/timing";
/// How a call ended that did not complete: `{how, reason}`. v1 itself has only `failed`.
pub const ENDING: &str = "toolcall/ending";
/// The id of the call that made this one.
pub const PARENT: &str = "toolcall/parent";
/// Why a running call is paused; null when it continues. v1 has no such status.
pub const HELD: &str = "toolcall/held";
/// A heartbeat of a silent call: `{bytes}`, how much it has printed.
pub const HEARTBEAT: &str = "toolcall/beat";
/// On a content item that this crate generated: what it is (`reason`, `output`, `progress`, `note`).
pub const PART: &str = "toolcall/part";
/// On a content item: a file change that v1 cannot express.
pub const CHANGE: &str = "toolcall/change";
/// On a permission response: why the user rejected the call.
pub const REASON: &str = "toolcall/reason";
/// In the agent's capabilities: `_toolcall/cancel` cancels one call.
pub const CANCEL: &str = "toolcall/cancel";

/// Zed's extension: this call has a terminal that the agent fills.
pub const TERMINAL_INFO: &str = "terminal_info";
/// Zed's extension: more output for that terminal. Also the capability of a client that accepts it.
pub const TERMINAL_OUTPUT: &str = "terminal_output";
/// Zed's extension: the exit status of that terminal.
pub const TERMINAL_EXIT: &str = "terminal_exit";

/// W3C trace context, as the protocol carries it.
pub const TRACE: [&str; 3] = ["traceparent", "tracestate", "baggage"];

/// Our extension method that cancels one call.
pub const CANCEL_CALL: &str = "_toolcall/cancel";
