//! Slash commands that the user types into a prompt.
//! They show and undo; the model neither sees nor runs them.

mod show;
mod undo;

use toolcall::{Content, ToolRequest};
use toolcall_acp::service::{ServiceError, SlashCommand, StopReason};
use toolcall_history::{CallFilter, StatsPeriod};

use crate::markdown::line;
use crate::model::ModelError;
use crate::session::AgentSession;

/// The commands: name, description, and a hint for the argument.
const KNOWN: [(&str, &str, Option<&str>); 6] = [
    (
        "tools",
        "List the tools, or show one in full",
        Some("name of a tool"),
    ),
    (
        "policy",
        "Show which rules hold, or how a command would be judged",
        Some("command to judge"),
    ),
    ("history", "List the calls of this session", None),
    (
        "undo",
        "Take back what a call changed in files: the latest one, or the one you name",
        Some("id of a call"),
    ),
    (
        "stats",
        "Count calls by tool: success, run times, denials",
        None,
    ),
    (
        "model",
        "Show who answers, or choose somebody else",
        Some("name of a model"),
    ),
];

/// A command as the user typed it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Typed {
    name: String,
    rest: String,
}

/// Returns the commands for the client to offer.
pub(crate) fn known() -> Vec<SlashCommand> {
    let known = KNOWN.iter().map(|(name, description, hint)| SlashCommand {
        name: (*name).to_owned(),
        description: (*description).to_owned(),
        hint: hint.map(str::to_owned),
    });
    known.collect()
}

/// Parses a prompt as a command: its first text begins with a slash and a letter.
pub(crate) fn read(said: &[Content]) -> Option<Typed> {
    let Content::Text(text) = said.first()? else {
        return None;
    };
    read_text(text)
}

/// Parses a text as a command.
pub(crate) fn read_text(text: &str) -> Option<Typed> {
    let line = text.trim().strip_prefix('/')?;
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let is_name = name.chars().all(|c| c.is_ascii_lowercase()) && !name.is_empty();
    is_name.then(|| Typed {
        name: name.to_owned(),
        rest: rest.trim().to_owned(),
    })
}

impl Typed {
    /// Returns whether the command shows tools, including those of servers.
    pub(crate) fn is_about_tools(&self) -> bool {
        self.name == "tools"
    }
}

/// Runs a command and sends its result to the user.
pub(crate) async fn run(typed: &Typed, session: &AgentSession) -> Result<StopReason, ModelError> {
    let said = match typed.name.as_str() {
        "tools" => Ok(show::tools(
            &session.resources.tools().snapshot(),
            &typed.rest,
        )),
        "policy" => Ok(policy(session, &typed.rest).await),
        "history" => history(session).await,
        "undo" => undo::run(session, &typed.rest).await,
        "stats" => {
            let stats = session
                .history
                .read(|archive| archive.stats(StatsPeriod::ALL));
            stats.await.map(|stats| show::stats(&stats))
        }
        "model" => model(session, &typed.rest).await,
        unknown => Ok(show::unknown(unknown, &KNOWN.map(|(name, ..)| name))),
    };
    let said = said.map_err(|refusal| ModelError::new(words(refusal)))?;
    session.say(said).await;
    Ok(StopReason::EndTurn)
}

async fn policy(session: &AgentSession, command: &str) -> String {
    if command.is_empty() {
        return show::rules(&session.resources);
    }
    let input = serde_json::json!({"command": command});
    let engine = session.client_session.engine();
    match engine.dry_run(ToolRequest::new("run_command", input)).await {
        Ok(prepared) => {
            let setting = session.resources.setting();
            let rules = session.resources.policy().rules();
            show::explanation(command, &rules.explain(&prepared.intent, setting))
        }
        Err(ending) => line(&ending.reason().unwrap_or_default()),
    }
}

async fn history(session: &AgentSession) -> Result<String, ServiceError> {
    let filter = CallFilter {
        session: Some(session.id().clone()),
        ..CallFilter::default()
    };
    let calls = session
        .history
        .read(move |archive| archive.calls(&filter))
        .await?;
    Ok(show::calls(&calls))
}

async fn model(session: &AgentSession, name: &str) -> Result<String, ServiceError> {
    if !name.is_empty() {
        session.choose_model(name)?;
    }
    let choices = session.choices();
    session.client_session.send_config_options(&choices).await;
    Ok(show::models(&choices))
}

fn words(refusal: ServiceError) -> String {
    match refusal {
        ServiceError::InvalidParams(why) | ServiceError::Failed(why) => why,
        ServiceError::SessionNotFound(id) => format!("there is no session `{id}`"),
        ServiceError::Unsupported => "that is not done here".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Option<(String, String)> {
        read(&[Content::text(text)]).map(|typed| (typed.name, typed.rest))
    }

    #[test]
    fn what_begins_with_a_slash_and_a_name_is_a_command() {
        let pair = |name: &str, rest: &str| Some((name.to_owned(), rest.to_owned()));
        assert_eq!(typed("/tools"), pair("tools", ""));
        assert_eq!(typed("  /undo call-3 \n"), pair("undo", "call-3"));
        assert_eq!(
            typed("/policy git push --force"),
            pair("policy", "git push --force")
        );
    }

    #[test]
    fn a_path_is_no_command() {
        assert_eq!(typed("/etc/passwd"), None);
        assert_eq!(typed("/"), None);
        assert_eq!(typed("read /tools"), None);
    }
}
