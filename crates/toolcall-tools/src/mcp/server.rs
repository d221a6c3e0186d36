//! One server: started when it is needed, again after it failed, and not more often than makes sense.
//! A call waits for a start and never for another server; what a server offers is kept while it is away.

use std::path::PathBuf;
use std::process::ExitStatus;
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::RoleClient;
use rmcp::service::RunningService;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use super::client::Client;
use super::connection::{Breakdown, Connection, Failure, Greeting, Handshake, Opened, open};
use super::dial::Dial;
use super::listing::{Listing, Offered};
use super::notifications::{Notifications, ServerLog};
use super::process::Process;
use super::settings::{Launch, ServerSettings};
use super::status::{ServerState, ServerStatus};
use super::tool_cache::ToolCache;

const MOST_NOTES: usize = 100;
/// Between two lists of tools, whatever a server says.
const BETWEEN_LISTS: Duration = Duration::from_millis(200);
const LONGEST_DELAY: Duration = Duration::from_secs(60);
/// How many of its last lines are told when a server fails.
const LINES_TOLD: usize = 5;
const LINES_KEPT: usize = 50;
/// What a server said before it ended is still read, unless something that it left behind holds
/// the streams open.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// A connection that broke is over soon; its end tells why.
const TO_END: Duration = Duration::from_secs(10);

/// One server.
pub(super) struct Server {
    pub(super) settings: ServerSettings,
    pub(super) provider: Arc<str>,
    dial: Box<dyn Dial>,
    roots: Arc<[PathBuf]>,
    phase: watch::Sender<Phase>,
    log: Arc<ServerLog>,
    memory: Mutex<Memory>,
    shelf: Arc<ToolCache>,
    /// Its place among the servers.
    order: usize,
}

/// Where a server is in its life.
enum Phase {
    Idle,
    Starting,
    Ready(Arc<Connection>),
    Failed { why: Arc<str>, again: Instant },
    Closed,
}

/// What outlives a connection.
struct Memory {
    failures: u32,
    handshake: Handshake,
    greeting: Greeting,
    notes: Vec<String>,
    keeper: Option<tokio::task::JoinHandle<()>>,
}

impl Server {
    pub(super) fn new(
        settings: ServerSettings,
        dial: Box<dyn Dial>,
        roots: Arc<[PathBuf]>,
        shelf: Arc<ToolCache>,
        order: usize,
    ) -> Self {
        let memory = Memory {
            failures: 0,
            handshake: Handshake::Newest,
            greeting: Greeting::default(),
            notes: settings.notes.clone(),
            keeper: None,
        };
        Self {
            provider: settings.launch.provider(),
            log: Arc::new(ServerLog::hiding(secrets(&settings.launch))),
            settings,
            dial,
            roots,
            phase: watch::Sender::new(Phase::Idle),
            memory: Mutex::new(memory),
            shelf,
            order,
        }
    }

    pub(super) fn name(&self) -> &Arc<str> {
        &self.settings.name
    }

    pub(super) fn order(&self) -> usize {
        self.order
    }

    /// The connection, once there is one; or why there is none.
    pub(super) async fn connected(self: &Arc<Self>) -> Result<Arc<Connection>, String> {
        let mut phases = self.phase.subscribe();
        self.set_off();
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

    /// Starts it, if it is not started and may be.
    pub(super) fn set_off(self: &Arc<Self>) {
        let is_due = |phase: &Phase| match phase {
            Phase::Idle => true,
            Phase::Failed { again, .. } => Instant::now() >= *again,
            Phase::Starting | Phase::Ready(_) | Phase::Closed => false,
        };
        let sets_off = self.phase.send_if_modified(|phase| {
            let is_due = is_due(phase);
            if is_due {
                *phase = Phase::Starting;
            }
            is_due
        });
        if sets_off {
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
            begun = timeout(limit, self.begin()) => begun,
            () = closed(&mut phases) => return,
        };
        match begun {
            Ok(Ok((opened, listing))) => self.ready(opened, listing),
            Ok(Err(why)) => self.failed(&why),
            Err(_) => self.failed(&slow()),
        }
    }

    async fn begin(&self) -> Result<(Opened, Listing), String> {
        let opened = match self.greet().await {
            Ok(opened) => opened,
            Err(failure) => return Err(self.explain(failure).await),
        };
        match opened.connection.list(&self.settings).await {
            Ok(listing) => Ok((opened, listing)),
            Err(why) => Err(why),
        }
    }

    /// Not every server takes the usual greeting; how it took another one is remembered.
    async fn greet(&self) -> Result<Opened, Failure> {
        let usual = self.memory.lock().handshake;
        let failure = match open(&*self.dial, self.client(), usual).await {
            Err(failure) if usual == Handshake::Newest => failure,
            other => return other,
        };
        let Some(instead) = failure.breakdown.instead() else {
            return Err(failure);
        };
        // Its last words come before the first of its next life.
        if let Some(process) = failure.process {
            process.end().await;
        }
        let opened = open(&*self.dial, self.client(), instead).await?;
        self.memory.lock().handshake = instead;
        Ok(opened)
    }

    fn client(&self) -> Client {
        self.log.begin();
        let ears = Arc::new(Notifications::new(self.log.clone()));
        Client {
            server: self.settings.name.clone(),
            ears,
            roots: self.roots.clone(),
        }
    }

    async fn explain(&self, failure: Failure) -> String {
        match failure.process {
            Some(process) if failure.breakdown == Breakdown::HungUp => {
                how_it_ended(process.end().await)
            }
            Some(_) | None => failure.why,
        }
    }

    fn ready(self: &Arc<Self>, opened: Opened, listing: Listing) {
        let connection = opened.connection;
        self.memory.lock().greeting = connection.greeting.clone();
        self.offer(listing);
        let is_ready = self.phase.send_if_modified(|phase| {
            let is_open = matches!(phase, Phase::Starting);
            if is_open {
                *phase = Phase::Ready(connection.clone());
            }
            is_open
        });
        if !is_ready {
            // It was closed meanwhile.
            return self.shelf.withdraw(self.order);
        }
        let keeper = Keeper {
            server: Arc::downgrade(self),
            connection,
            phases: self.phase.subscribe(),
        };
        let keeping = tokio::spawn(keeper.keep(opened.service, opened.process));
        self.memory.lock().keeper = Some(keeping);
    }

    /// Puts what it lists where calls find it, and tells what is new about it.
    fn offer(self: &Arc<Self>, listing: Listing) {
        if matches!(*self.phase.borrow(), Phase::Closed) {
            return;
        }
        let notes = self.shelf.put(self, listing.tools);
        self.note(listing.notes.into_iter().chain(notes));
    }

    fn note(&self, notes: impl IntoIterator<Item = String>) {
        let mut memory = self.memory.lock();
        for note in notes {
            let note = self.log.hidden(&note);
            if memory.notes.last() != Some(&note) {
                memory.notes.push(note);
            }
        }
        let more = memory.notes.len().saturating_sub(MOST_NOTES);
        memory.notes.drain(..more);
    }

    /// It is tried again at its next use: at once after the first failure, later and later after
    /// each that follows.
    fn failed(&self, why: &str) {
        if matches!(*self.phase.borrow(), Phase::Closed) {
            return;
        }
        let failures = {
            let mut memory = self.memory.lock();
            memory.failures = memory.failures.saturating_add(1);
            memory.failures
        };
        let why: Arc<str> = self.log.hidden(&self.with_last_words(why)).into();
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

    fn with_last_words(&self, why: &str) -> String {
        let why = match &self.settings.launch {
            Launch::Stdio(_) => why.to_owned(),
            // Errors of connections name the whole address.
            Launch::Http(address) => why.replace(address.url.as_str(), &self.provider),
        };
        let words = self.log.last_words(LINES_TOLD);
        if words.is_empty() {
            why
        } else {
            format!("{why}; the last it said: {}", words.join(" | "))
        }
    }

    /// A call went well: it works.
    pub(super) fn worked(&self) {
        self.memory.lock().failures = 0;
    }

    /// Why a connection that broke did so.
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

    /// Whether it still offers exactly this tool.
    pub(super) fn offers(&self, offered: &Offered) -> bool {
        self.shelf.offers(self.order, offered)
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
        let memory = self.memory.lock();
        ServerStatus {
            name: self.name().clone(),
            provider: self.provider.clone(),
            state,
            protocol: memory.greeting.protocol.clone(),
            server: memory.greeting.server.clone(),
            tools: self.shelf.names(self.order),
            notes: memory.notes.clone(),
            log: self.log.tail(LINES_KEPT),
        }
    }

    /// Waits until it is ready or failed.
    pub(super) async fn settled(&self) {
        let mut phases = self.phase.subscribe();
        let is_settled = |phase: &Phase| !matches!(phase, Phase::Starting);
        // There is always somebody who could change it: this server.
        drop(phases.wait_for(is_settled).await);
    }

    /// Tells it to end.
    pub(super) fn hang_up(&self) {
        self.phase.send_replace(Phase::Closed);
    }

    /// Tells it to end, and waits until it did.
    pub(super) async fn close(&self) {
        self.hang_up();
        let keeper = self.memory.lock().keeper.take();
        if let Some(keeper) = keeper {
            // One that panicked is over, too.
            drop(keeper.await);
        }
    }
}

/// What keeps a connection for as long as it lives. It does not hold the server: one that nobody
/// uses any more is ended by its drop.
struct Keeper {
    server: Weak<Server>,
    connection: Arc<Connection>,
    phases: watch::Receiver<Phase>,
}

impl Keeper {
    async fn keep(
        mut self,
        service: RunningService<RoleClient, Arc<Client>>,
        mut process: Option<Process>,
    ) {
        let token = service.cancellation_token();
        let mut serving = std::pin::pin!(service.waiting());
        let is_over = tokio::select! {
            _ = &mut serving => true,
            () = exited(&mut process) => timeout(LAST_WORDS, &mut serving).await.is_ok(),
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

async fn exited(process: &mut Option<Process>) {
    match process {
        Some(process) => process.exited().await,
        None => std::future::pending().await,
    }
}

/// Waits until the server is to end.
async fn closed(phases: &mut watch::Receiver<Phase>) {
    let is_closed = |phase: &Phase| matches!(phase, Phase::Closed);
    // Where there is no server any more, it is to end, too.
    drop(phases.wait_for(is_closed).await);
}

/// Lists the tools again whenever the server says that they changed.
async fn refresh(server: &Weak<Server>, connection: &Arc<Connection>) {
    loop {
        connection.ears().changed().await;
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

/// How long a server is left alone after so many failures in a row.
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
