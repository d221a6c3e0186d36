//! Plain values of the heart that are stored as they are: the compiler keeps both sides alike.
//! Nothing here holds a text of an input or an output.

use serde::{Deserialize, Serialize};
use std::time::Duration;
use toolcall::{
    Access, Beat, Canceller, Completeness, Effect, Exit, Join, Kind, Lifetime, OutputBudget,
    PlanStatus, Printed, Priority, Stream,
};

#[derive(Serialize, Deserialize)]
#[serde(remote = "Kind", rename_all = "snake_case")]
pub(crate) enum KindForm {
    Read,
    Edit,
    Delete,
    Move,
    Search,
    Execute,
    Think,
    Fetch,
    SwitchMode,
    Other,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Effect", rename_all = "snake_case")]
pub(crate) enum EffectForm {
    Allow,
    Deny,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Lifetime", rename_all = "snake_case")]
pub(crate) enum LifetimeForm {
    Session,
    Project,
    Everywhere,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Exit", rename_all = "snake_case")]
pub(crate) enum ExitForm {
    Code(i32),
    Signal(i32),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Printed")]
pub(crate) struct PrintedForm {
    from: u64,
    to: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Beat")]
pub(crate) struct BeatForm {
    elapsed: Duration,
    bytes: u64,
    quiet: Duration,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Canceller", rename_all = "snake_case")]
pub(crate) enum CancellerForm {
    Person,
    Turn,
    Engine,
    Parent,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "OutputBudget")]
pub(crate) struct BudgetForm {
    head: usize,
    tail: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Completeness", rename_all = "snake_case")]
pub(crate) enum CompletenessForm {
    Whole,
    Capped,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Join", rename_all = "snake_case")]
pub(crate) enum JoinForm {
    Then,
    And,
    Or,
    Pipe,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Stream", rename_all = "snake_case")]
pub(crate) enum StreamForm {
    Input,
    Output,
    Error,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Access", rename_all = "snake_case")]
pub(crate) enum AccessForm {
    Read,
    Replace,
    Append,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "PlanStatus", rename_all = "snake_case")]
pub(crate) enum PlanStatusForm {
    Pending,
    InProgress,
    Completed,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Priority", rename_all = "snake_case")]
pub(crate) enum PriorityForm {
    High,
    Medium,
    Low,
}
