//! One server: starts it when needed, restarts it after a failure with a growing delay, and tracks its state.
//! A call never waits for another server. The tools of a server that is down stay registered.

use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::RoleClient;
use rmcp::service::RunningService;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::client::McpClient;
use super::connection::{
    Connection, Handshake, HandshakeFailure, McpConnectionError, OpenConnection, ServerInfo, open,
};
use super::connector::Connector;
use super::listing::{OfferedTool, ToolListing};
use super::notifications::{Notifications, ServerLog};
use super::process::ServerProcess;
use super::settings::{Launch, ServerSettings};
use super::status::{ServerState, ServerStatus};
use super::tool_cache::ToolCache;

const MOST_NOTES: usize = 100;
/// The shortest time between two listings of a server's tools.
const BETWEEN_LISTS: Duration = Duration::from_millis(200);
const LONGEST_DELAY: Duration = Duration::from_secs(60);
/// How many log lines the error of a failed server includes.
const LINES_REPORTED: usize = 5;
const LINES_KEPT: usize = 50;
/// How long to read the output of a process that has exited. Its descendants may hold the streams
/// open.
const DRAIN_TIME: Duration = Duration::from_millis(500);
/// How long to wait for the reason of a broken connection.
const TO_END: Duration = Duration::from_secs(10);

/// One configured server.
pub(super) struct McpServer {
    pub(super) settings: ServerSettings,
    pub(super) provider: Arc<str>,
    connector: Box<dyn Connector>,
    roots: Arc<[PathBuf]>,
    phase: watch::Sender<Phase>,
    log: Arc<ServerLog>,
    retained: Mutex<RetainedState>,
    tool_cache: Arc<ToolCache>,
    /// The position of the server in the settings.
    order: usize,
}

/// The state of a server.
enum Phase {
    Idle,
    Starting,
    Ready(Arc<Connection>),
    Failed { why: Arc<str>, again: Instant },
    Closed,
}

/// State that outlives a connection.
struct RetainedState {
    failures: u32,
    handshake: Handshake,
    server_info: ServerInfo,
    notes: Vec<String>,
    connection_task: Option<tokio::task::JoinHandle<()>>,
}

impl McpServer {
    pub(super) fn new(
        settings: ServerSettings,
        connector: Box<dyn Connector>,
        roots: Arc<[PathBuf]>,
        tool_cache: Arc<ToolCache>,
        order: usize,
    ) -> Self {
        let retained = RetainedState {
            failures: 0,
            handshake: Handshake::Newest,
            server_info: ServerInfo::default(),
            notes: settings.notes.clone(),
            connection_task: None,
        };
        Self {
            provider: settings.launch.provider(),
            log: Arc::new(ServerLog::with_secrets(secrets(&settings.launch))),
            settings,
            connector,
            roots,
            phase: watch::Sender::new(Phase::Idle),
            retained: Mutex::new(retained),
            tool_cache,
            order,
        }
    }

    pub(super) fn name(&self) -> &Arc<str> {
        &self.settings.name
    }

    pub(super) fn order(&self) -> usize {
        self.order
    }

    /// Starts the server if needed and returns the connection; or why there is none.
    pub(super) async fn connected(self: &Arc<Self>) -> Result<Arc<Connection>, String> {
        let mut phases = self.phase.subscribe();
        self.start_if_due();
        loop {
            match &*phases.borrow_and_update() {
                Phase::Ready(connection) => return Ok(connection.clone()),
                Phase::Failed { why, again } => return Err(self.unavailable(why, *again)),
                Phase::Closed => return Err(format!("the server `{}` is closed", self.name())),
                Phase::Idle | Phase::Starting => {}
            }
            if phases.changed().await.is_err() {
                return Err(format!("the server `{}` is gone", self.name()));
            }
        }
    }

    /// Starts the server if it is idle, or has failed and its delay has passed.
    pub(super) fn start_if_due(self: &Arc<Self>) {
        let is_due = |phase: &Phase| match phase {
            Phase::Idle => true,
            Phase::Failed { again, .. } => Instant::now() >= *again,
            Phase::Starting | Phase::Ready(_) | Phase::Closed => false,
        };
        let is_starting = self.phase.send_if_modified(|phase| {
            let is_due = is_due(phase);
            if is_due {
                *phase = Phase::Starting;
            }
            is_due
        });
        if is_starting {
            tokio::spawn(self.clone().start());
        }
    }

    fn unavailable(&self, why: &str, again: Instant) -> String {
        let name = self.name();
        let left = again.saturating_duration_since(Instant::now());
        match left.as_secs() {
            0 => format!("the server `{name}` is not there: {why}"),
            seconds => {
                format!(
                    "the server `{name}` is not there: {why}; it is tried again after {seconds} s"
                )
            }
        }
    }

    async fn start(self: Arc<Self>) {
        let limit = self.settings.timeouts.start;
        let slow = || format!("it was not ready within {limit:?}");
        let mut phases = self.phase.subscribe();
        let begun = tokio::select! {
            begun = timeout(limit, self.connect_and_list()) => begun,
            () = closed(&mut phases) => return,
        };
        match begun {
            Ok(Ok((opened, listing))) => self.ready(opened, listing),
            Ok(Err(why)) => self.failed(&why),
            Err(_) => self.failed(&slow()),
        }
    }

    async fn connect_and_list(&self) -> Result<(OpenConnection, ToolListing), String> {
        let opened = match self.handshake().await {
            Ok(opened) => opened,
            Err(failure) => return Err(self.explain(failure).await),
        };
        match opened.connection.list(&self.settings).await {
            Ok(listing) => Ok((opened, listing)),
            Err(why) => Err(why),
        }
    }

    /// Performs the handshake, with a fallback. The fallback that worked is used from then on.
    async fn handshake(&self) -> Result<OpenConnection, McpConnectionError> {
        let usual = self.retained.lock().handshake;
        let failure = match open(&*self.connector, self.client(), usual).await {
            Err(failure) if usual == Handshake::Newest => failure,
            other => return other,
        };
        let Some(fallback) = failure.failure_kind.fallback() else {
            return Err(failure);
        };
        // End the process first, so that its last log lines come before those of the next run.
        if let Some(process) = failure.process {
            process.end().await;
        }
        let opened = open(&*self.connector, self.client(), fallback).await?;
        self.retained.lock().handshake = fallback;
        Ok(opened)
    }

    fn client(&self) -> McpClient {
        self.log.start_run();
        let notifications = Arc::new(Notifications::new(self.log.clone()));
        McpClient {
            server: self.settings.name.clone(),
            notifications,
            roots: self.roots.clone(),
        }
    }

    async fn explain(&self, failure: McpConnectionError) -> String {
        match failure.process {
            Some(process) if failure.failure_kind == HandshakeFailure::Closed => {
                how_it_ended(process.end().await)
            }
            Some(_) | None => failure.why,
        }
    }

    fn ready(self: &Arc<Self>, opened: OpenConnection, listing: ToolListing) {
        let connection = opened.connection;
        self.retained.lock().server_info = connection.server_info.clone();
        self.offer(listing);
        let is_ready = self.phase.send_if_modified(|phase| {
            let is_open = matches!(phase, Phase::Starting);
            if is_open {
                *phase = Phase::Ready(connection.clone());
            }
            is_open
        });
        if !is_ready {
            // The server was closed in the meantime.
            return self.tool_cache.withdraw(self.order);
        }
        let connection_task = ConnectionTask {
            server: Arc::downgrade(self),
            connection,
            phases: self.phase.subscribe(),
        };
        let running = tokio::spawn(connection_task.run(opened.service, opened.process));
        self.retained.lock().connection_task = Some(running);
    }

    /// Puts the listed tools into the cache and notes what changed.
    fn offer(self: &Arc<Self>, listing: ToolListing) {
        if matches!(*self.phase.borrow(), Phase::Closed) {
            return;
        }
        let notes = self.tool_cache.put(self, listing.tools);
        self.note(listing.notes.into_iter().chain(notes));
    }

    fn note(&self, notes: impl IntoIterator<Item = String>) {
        let mut retained = self.retained.lock();
        for note in notes {
            let note = self.log.redacted(&note);
            if retained.notes.last() != Some(&note) {
                retained.notes.push(note);
            }
        }
        let more = retained.notes.len().saturating_sub(MOST_NOTES);
        retained.notes.drain(..more);
    }

    /// Records a failure. The next use starts the server again: at once after the first failure, after a
    /// growing delay from the second on.
    fn failed(&self, why: &str) {
        if matches!(*self.phase.borrow(), Phase::Closed) {
            return;
        }
        let failures = {
            let mut retained = self.retained.lock();
            retained.failures = retained.failures.saturating_add(1);
            retained.failures
        };
        let why: Arc<str> = self.log.redacted(&self.with_recent_log(why)).into();
        self.note([why.to_string()]);
        let again = Instant::now() + delay(failures);
        self.phase.send_if_modified(|phase| {
            let is_open = !matches!(phase, Phase::Closed);
            if is_open {
                *phase = Phase::Failed { why, again };
            }
            is_open
        });
    }

    fn with_recent_log(&self, why: &str) -> String {
        let why = match &self.settings.launch {
            Launch::Stdio(_) => why.to_owned(),
            // Connection errors contain the full URL, which may hold secrets.
            Launch::Http(address) => why.replace(address.url.as_str(), &self.provider),
        };
        let words = self.log.recent(LINES_REPORTED);
        if words.is_empty() {
            why
        } else {
            format!("{why}; the last it said: {}", words.join(" | "))
        }
    }

    /// Resets the failure count after a successful call.
    pub(super) fn worked(&self) {
        self.retained.lock().failures = 0;
    }

    /// Returns why a connection broke, once that is known.
    pub(super) async fn why_gone(&self, connection: &Arc<Connection>) -> String {
        let mut phases = self.phase.subscribe();
        let is_over = |phase: &Phase| match phase {
            Phase::Ready(current) => !Arc::ptr_eq(current, connection),
            Phase::Idle | Phase::Starting | Phase::Failed { .. } | Phase::Closed => true,
        };
        let over = timeout(TO_END, phases.wait_for(is_over)).await;
        match over.as_ref().map(|phase| phase.as_deref()) {
            Ok(Ok(Phase::Failed { why, .. })) => {
                format!("the server `{}` is gone: {why}", self.name())
            }
            _ => format!("the server `{}` is gone", self.name()),
        }
    }

    /// Whether the server still offers exactly this tool.
    pub(super) fn offers(&self, offered: &OfferedTool) -> bool {
        self.tool_cache.offers(self.order, offered)
    }

    pub(super) fn status(&self) -> ServerStatus {
        let state = match &*self.phase.borrow() {
            _ if self.settings.is_disabled => ServerState::Disabled,
            Phase::Idle => ServerState::Idle,
            Phase::Starting => ServerState::Starting,
            Phase::Ready(_) => ServerState::Ready,
            Phase::Failed { why, .. } => ServerState::Failed {
                reason: why.clone(),
            },
            Phase::Closed => ServerState::Closed,
        };
        let retained = self.retained.lock();
        ServerStatus {
            name: self.name().clone(),
            provider: self.provider.clone(),
            state,
            protocol: retained.server_info.protocol.clone(),
            server: retained.server_info.server.clone(),
            tools: self.tool_cache.names(self.order),
            notes: retained.notes.clone(),
            log: self.log.tail(LINES_KEPT),
        }
    }

    /// Waits until the server is not starting any more.
    pub(super) async fn settled(&self) {
        let mut phases = self.phase.subscribe();
        let is_settled = |phase: &Phase| !matches!(phase, Phase::Starting);
        // Cannot fail: this server holds the sender.
        drop(phases.wait_for(is_settled).await);
    }

    /// Asks the server to end.
    pub(super) fn request_close(&self) {
        self.phase.send_replace(Phase::Closed);
    }

    /// Asks the server to end, and waits until it has.
    pub(super) async fn close(&self) {
        self.request_close();
        let connection_task = self.retained.lock().connection_task.take();
        if let Some(connection_task) = connection_task {
            // A task that panicked has ended, too.
            drop(connection_task.await);
        }
    }
}

/// The task that runs a connection until it ends. It holds the server weakly, so that dropping the last
/// user ends the server.
struct ConnectionTask {
    server: Weak<McpServer>,
    connection: Arc<Connection>,
    phases: watch::Receiver<Phase>,
}

impl ConnectionTask {
    async fn run(
        mut self,
        service: RunningService<RoleClient, Arc<McpClient>>,
        mut process: Option<ServerProcess>,
    ) {
        let token = service.cancellation_token();
        let mut serving = std::pin::pin!(service.waiting());
        let is_over = tokio::select! {
            _ = &mut serving => true,
            () = exited(&mut process) => timeout(DRAIN_TIME, &mut serving).await.is_ok(),
            () = closed(&mut self.phases) => false,
            () = self.connection.subscribe() => false,
            () = refresh(&self.server, &self.connection) => false,
        };
        if !is_over {
            token.cancel();
            drop(serving.await);
        }
        let how = match process {
            Some(process) => how_it_ended(process.end().await),
            None => "the connection ended".to_owned(),
        };
        if let Some(server) = self.server.upgrade() {
            server.failed(&how);
        }
    }
}

async fn exited(process: &mut Option<ServerProcess>) {
    match process {
        Some(process) => process.exited().await,
        None => std::future::pending().await,
    }
}

/// Waits until the server is closed.
async fn closed(phases: &mut watch::Receiver<Phase>) {
    let is_closed = |phase: &Phase| matches!(phase, Phase::Closed);
    // An error means that the server was dropped, which closes it as well.
    drop(phases.wait_for(is_closed).await);
}

/// Lists the tools again whenever the server reports a change.
async fn refresh(server: &Weak<McpServer>, connection: &Arc<Connection>) {
    loop {
        connection.notifications().changed().await;
        let Some(server) = server.upgrade() else {
            return;
        };
        match connection.list(&server.settings).await {
            Ok(listing) => server.offer(listing),
            Err(why) => server.note([why]),
        }
        drop(server);
        sleep(BETWEEN_LISTS).await;
    }
}

fn how_it_ended(status: Option<ExitStatus>) -> String {
    match status {
        Some(status) => format!("it ended ({status})"),
        None => "it ended".to_owned(),
    }
}

/// Returns how long to wait before the next start, after this many failures in a row.
fn delay(failures: u32) -> Duration {
    match failures {
        0 | 1 => Duration::ZERO,
        more => Duration::from_secs(1)
            .saturating_mul(1 << (more - 2).min(6))
            .min(LONGEST_DELAY),
    }
}

fn secrets(launch: &Launch) -> impl Iterator<Item = Arc<str>> {
    let values = match launch {
        Launch::Stdio(program) => &program.env,
        Launch::Http(address) => &address.headers,
    };
    values.values().map(|secret| secret.reveal().into())
}
