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

use crate::args::AgentArgs;
use crate::config::{Config, ModelChoice};
use crate::context::CommandIsolation;
use crate::environment::{UserEnvironment, history_file};
use crate::policy_layers;
use crate::telemetry::Tracing;

const HINT: &str = "\
This speaks the Agent Client Protocol on standard input and output; an editor starts it.
`toolcall agent --help` explains the setup, `toolcall demo` shows an agent at work. Ctrl-D ends it.";

/// How long to wait for the client to read the last messages.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// How to use another model, for users of the manual one.
const OTHER_MODELS: &str = "`toolcall agent --model script:FILE` plays a script instead; set `model` in the \
                            file that `toolcall config path` prints to make that the default.";

/// Serves the client that started this program until it disconnects.
pub(crate) async fn run(args: AgentArgs, supervisor: Supervisor) -> anyhow::Result<ExitCode> {
    let user = UserEnvironment::from_env()?;
    let config = Config::read(&user)?;
    if let Some(file) = args.log.as_ref().or(config.log.as_ref()) {
        log::write_to(file)?;
    }
    if std::io::stdin().is_terminal() {
        anstream::eprintln!("{HINT}");
    }
    let tracing = Tracing::default();
    let agent_config = agent_config(&args, &config, user, supervisor, &tracing)?;
    let (client, transport) = stdio();
    let agent = Agent::new(client.clone(), agent_config);
    tracing::info!(version = env!("CARGO_PKG_VERSION"), "agent started");
    let served = serve(
        &client,
        toolcall_acp::serve(client.clone(), transport, agent.clone()),
    )
    .await?;
    // Messages that were not sent by now are dropped; running calls are ended all the same.
    client.end().await;
    agent.close().await;
    tracing.close().await;
    tracing::info!("agent stopped");
    match served {
        Some(Err(error)) => bail!("the connection to the client failed: {error}"),
        Some(Ok(())) | None => Ok(ExitCode::SUCCESS),
    }
}

/// Serves until the client disconnects or a signal asks to stop. Returns `None` if the client did not
/// read the last messages within the timeout.
async fn serve<E>(
    client: &ClientConnection,
    serving: impl Future<Output = Result<(), E>>,
) -> anyhow::Result<Option<Result<(), E>>> {
    let mut serving = pin!(serving);
    tokio::select! {
        served = &mut serving => Ok(Some(served)),
        () = client.peer().gone() => Ok(with_timeout(serving).await),
        stopped = stop_signal() => {
            stopped.context("signals cannot be received")?;
            let served = with_timeout(async { tokio::join!(client.leave(), serving).1 });
            Ok(served.await)
        }
    }
}

/// Waits for the last messages, until the timeout or a second stop signal.
async fn with_timeout<T>(serving: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        served = serving => Some(served),
        () = tokio::time::sleep(SHUTDOWN_TIMEOUT) => None,
        _again = stop_signal() => None,
    }
}

fn agent_config(
    args: &AgentArgs,
    config: &Config,
    user: UserEnvironment,
    supervisor: Supervisor,
    tracing: &Tracing,
) -> anyhow::Result<AgentConfig> {
    let isolation = CommandIsolation::from_flag(args.sandbox);
    let is_recorded = config.history.is_enabled && !args.no_history;
    let history = is_recorded.then(|| (history_file(&user.dirs), config.history.to_config()));
    let model = match &args.model {
        Some(name) => name.parse()?,
        None => config.model.clone(),
    };
    Ok(AgentConfig {
        layers: policy_layers::from_args(&args.policy_args, &user)?,
        models: models(model)?,
        places: user.dirs,
        home: user.home,
        supervisor: Some(supervisor),
        sandbox: isolation.or(config.isolation).sandbox(),
        search: config.search(|name| std::env::var(name).ok())?,
        limits: config.limits(),
        history,
        guests: Vec::new(),
        observer: Some(Arc::new(tracing.clone())),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

/// Returns the chosen model, and the manual one, which is always available.
fn models(choice: ModelChoice) -> anyhow::Result<Models> {
    let manual: Arc<dyn Model> = Arc::new(Manual::new(OTHER_MODELS));
    match choice {
        ModelChoice::Manual => Ok(Models::new(manual)),
        ModelChoice::Script(file) => {
            let name = format!("script:{}", file.display());
            let script = ScriptModel::new(name, Script::read(&file)?);
            Ok(Models::new(Arc::new(script)).and(manual))
        }
    }
}

/// Waits for SIGTERM or SIGINT.
async fn stop_signal() -> std::io::Result<()> {
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

/// Sends calls and turns to the collector that the environment names.
impl Observer for Tracing {
    fn attach(&self, engine: EngineBuilder) -> EngineBuilder {
        Tracing::attach(self, engine)
    }

    fn turn(&self, engine: &Engine) -> Box<dyn Send> {
        Box::new(Tracing::turn(self, engine))
    }
}
