//! `toolcall policy`: what the rules say, where they are from, and which answers were kept.
//! It tells; the only thing it changes is what it is told to forget.

mod check;
mod explain;
mod list;
mod replay;

use std::process::ExitCode;

use toolcall_agent::new_session;
use toolcall_policy::RuleEffect;
use toolcall_tools::command::Supervisor;

use crate::args::{PolicyTask, Ruled};
use crate::context::{Crew, Plan, Walls, Workshop};
use crate::places::Person;
use crate::ruling;
use crate::view::{ATTENTION, BAD, GOOD, painted};

/// Does what was asked of the rules.
pub(crate) async fn run(task: PolicyTask, supervisor: Supervisor) -> anyhow::Result<ExitCode> {
    match task {
        PolicyTask::Explain(explaining) => {
            let workshop = open(&explaining.ruled, supervisor)?;
            explain::run(&explaining, &workshop).await
        }
        PolicyTask::Check(checking) => check::run(&checking, &Person::here()?),
        PolicyTask::List(ruled) => list::run(&ruled, &open(&ruled, supervisor)?),
        PolicyTask::Forget(forgetting) => {
            let workshop = open(&forgetting.ruled, supervisor)?;
            list::forget(&forgetting, &workshop)
        }
        PolicyTask::Try(trying) => replay::run(&trying),
    }
}

fn open(ruled: &Ruled, supervisor: Supervisor) -> anyhow::Result<Workshop> {
    let person = Person::here()?;
    Workshop::open(Plan {
        session: new_session(),
        folder: ruled.cwd.clone(),
        layers: ruling::layers(&ruled.ruling, &person)?,
        crew: Crew::Every,
        person,
        supervisor,
        walls: Walls::None,
    })
}

/// What is said about something, in its colour and as wide as the widest.
fn stance(stance: RuleEffect) -> String {
    let style = match stance {
        RuleEffect::Allow => GOOD,
        RuleEffect::Ask => ATTENTION,
        RuleEffect::Deny => BAD,
    };
    painted(style, &format!("{:<5}", stance.as_str()))
}
