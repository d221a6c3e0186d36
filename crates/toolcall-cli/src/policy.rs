//! `toolcall policy`: explains, checks, lists and replays the rules, and forgets remembered answers.
//! Only `forget` changes anything.

mod check;
mod explain;
mod list;
mod replay;

use std::process::ExitCode;

use toolcall_agent::new_session;
use toolcall_policy::RuleEffect;
use toolcall_tools::command::Supervisor;

use crate::args::{PolicyCommand, PolicyScopeArgs};
use crate::context::{CliContext, CliContextOptions, CommandIsolation, ServerSelection};
use crate::environment::UserEnvironment;
use crate::policy_layers;
use crate::view::{ATTENTION, BAD, GOOD, paint};

/// Runs a `toolcall policy` command.
pub(crate) async fn run(
    command: PolicyCommand,
    supervisor: Supervisor,
) -> anyhow::Result<ExitCode> {
    match command {
        PolicyCommand::Explain(args) => {
            let context = open(&args.scope, supervisor)?;
            explain::run(&args, &context).await
        }
        PolicyCommand::Check(args) => check::run(&args, &UserEnvironment::from_env()?),
        PolicyCommand::List(args) => list::run(&args, &open(&args, supervisor)?),
        PolicyCommand::Forget(args) => {
            let context = open(&args.scope, supervisor)?;
            list::forget(&args, &context)
        }
        PolicyCommand::Try(args) => replay::run(&args),
    }
}

fn open(scope: &PolicyScopeArgs, supervisor: Supervisor) -> anyhow::Result<CliContext> {
    let user = UserEnvironment::from_env()?;
    CliContext::open(CliContextOptions {
        session: new_session(),
        directory: scope.cwd.clone(),
        layers: policy_layers::from_args(&scope.policy_args, &user)?,
        servers: ServerSelection::All,
        user,
        supervisor,
        isolation: CommandIsolation::None,
    })
}

/// Returns the word of an effect in its colour, padded to the longest word.
fn effect_label(effect: RuleEffect) -> String {
    let style = match effect {
        RuleEffect::Allow => GOOD,
        RuleEffect::Ask => ATTENTION,
        RuleEffect::Deny => BAD,
    };
    paint(style, &format!("{:<5}", effect.as_str()))
}
