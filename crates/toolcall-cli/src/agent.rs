//! `toolcall agent`: a complete agent on standard input and output.
//! Assembly only; nothing but the protocol may go to standard output.

mod log;

use std::io::IsTerminal as _;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use tokio::signal::unix::{SignalKind, signal};
use toolcall::{Engine, EngineBuilder};
use toolcall_acp::{ClientConnection, stdio};
use toolcall_agent::model::manual::Manual;
use toolcall_agent::model::script::{Script, ScriptModel};
use toolcall_agent::model::{Model, Models};
use toolcall_agent::{Agent, AgentConfig, Observer};
use toolcall_tools::command::Supervisor;

use crate::args::AgentWishes;
use crate::config::{Config, ModelChoice};
use crate::context::Walls;
use crate::places::{Person, history_file};
use crate::ruling;
use crate::telemetry::Tracing;

const HINT: &str = "\
This speaks the Agent ClientConnection Protocol on standard input and output; an editor starts it.
`toolcall agent --help` says how to set one up, `toolcall demo` shows it at work. Ctrl-D ends it.";

/// How long a client may take to hear the last of it.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// How a model is connected, for people who have none.
const CONNECTING: &str = "`toolcall agent --model script:FILE` plays a script instead; `toolcall config path` \
                          is where a model is set for good.";

/// Serves whoever started this program until they are gone.
pub(crate) async fn run(wishes: AgentWishes, supervisor: Supervisor) -> anyhow::Result<ExitCode> {
    let person = Person::here()?;
    let chosen = Config::read(&person)?;
    if let Some(file) = wishes.log.as_ref().or(chosen.log.as_ref()) {
        log::write_to(file)?;
    }
    if std::io::stdin().is_terminal() {
        anstream::eprintln!("{HINT}");
    }
    let tracing = Tracing::default();
    let settings = settings(&wishes, &chosen, person, supervisor, &tracing)?;
    let (client, transport) = stdio();
    let agent = Agent::new(client.clone(), settings);
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "the agent begins");
    let served = serve(
        &client,
        toolcall_acp::serve(client.clone(), transport, agent.clone()),
    )
    .await?;
    // What was not told by now is not; what runs is ended all the same.
    client.end().await;
    agent.close().await;
    tracing.close().await;
    tracing::info!("the agent ends");
    match served {
        Some(Err(error)) => bail!("the client broke off: {error}"),
        Some(Ok(())) | None => Ok(ExitCode::SUCCESS),
    }
}

/// Serves until the client is gone or somebody asks to stop. Nothing, if the client did not take the
/// last words within a while.
async fn serve<E>(
    client: &ClientConnection,
    serving: impl Future<Output = Result<(), E>>,
) -> anyhow::Result<Option<Result<(), E>>> {
    let mut serving = pin!(serving);
    tokio::select! {
        served = &mut serving => Ok(Some(served)),
        () = client.peer().gone() => Ok(last_words(serving).await),
        stopped = asked_to_stop() => {
            stopped.context("signals cannot be heard")?;
            let said = last_words(async { tokio::join!(client.leave(), serving).1 });
            Ok(said.await)
        }
    }
}

/// A client that does not read holds nobody up for long, and who asks to stop again even less.
async fn last_words<T>(words: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        said = words => Some(said),
        () = tokio::time::sleep(LAST_WORDS) => None,
        _again = asked_to_stop() => None,
    }
}

fn settings(
    wishes: &AgentWishes,
    chosen: &Config,
    person: Person,
    supervisor: Supervisor,
    tracing: &Tracing,
) -> anyhow::Result<AgentConfig> {
    let walls = match wishes.sandbox {
        true => Walls::Sandbox,
        false => Walls::None,
    };
    let history = match wishes.no_history || !chosen.history.is_enabled {
        true => None,
        false => Some((history_file(&person.places), chosen.history.settings())),
    };
    let model = match &wishes.model {
        Some(name) => name.parse()?,
        None => chosen.model.clone(),
    };
    Ok(AgentConfig {
        layers: ruling::layers(&wishes.ruling, &person)?,
        models: models(model)?,
        places: person.places,
        home: person.home,
        supervisor: Some(supervisor),
        sandbox: walls.or(chosen.walls).sandbox(),
        search: chosen.search(|name| std::env::var(name).ok())?,
        limits: chosen.limits(),
        history,
        guests: Vec::new(),
        observer: Some(Arc::new(tracing.clone())),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// The model that was chosen, and manual, which is always there.
fn models(choice: ModelChoice) -> anyhow::Result<Models> {
    let manual: Arc<dyn Model> = Arc::new(Manual::new(CONNECTING));
    match choice {
        ModelChoice::Manual => Ok(Models::new(manual)),
        ModelChoice::Script(file) => {
            let name = format!("script:{}", file.display());
            let script = ScriptModel::new(name, Script::read(&file)?);
            Ok(Models::new(Arc::new(script)).and(manual))
        }
    }
}

/// Whoever asks to stop, by a signal, gets the time that it takes to end everything.
async fn asked_to_stop() -> std::io::Result<()> {
    let (mut terminate, mut interrupt) = (
        signal(SignalKind::terminate())?,
        signal(SignalKind::interrupt())?,
    );
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

/// Calls and turns, told to the collector that the environment names.
impl Observer for Tracing {
    fn attach(&self, engine: EngineBuilder) -> EngineBuilder {
        Tracing::attach(self, engine)
    }

    fn turn(&self, engine: &Engine) -> Box<dyn Send> {
        Box::new(Tracing::turn(self, engine))
    }
}
