//! A root, a runner of commands in it, a console that records, and a search for leftover processes.
//! It asserts nothing but that no process is left.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use toolcall::{
    BoxFuture, Command, Console, Content, Decision, Effect, Exit, HostError, Judge, Reading,
    Remembered,
};
use toolcall_testkit::dir::TestDir;
use toolcall_testkit::process::{MARK, fresh_mark, marked};
use toolcall_tools::command::{Commands, Supervisor};
use toolcall_tools::local::Files;

/// The grace of commands that end when they are stopped, however busy the machine is.
pub(crate) const PATIENT: Duration = Duration::from_secs(60);
/// The grace of commands that do not.
const IMPATIENT: Duration = Duration::from_millis(300);

/// A temporary root, and a marker for the processes that run in it.
pub(crate) struct CommandFixture {
    dir: TestDir,
    pub(crate) mark: Arc<str>,
}

impl CommandFixture {
    pub(crate) fn new() -> Self {
        let (dir, mark) = (TestDir::create(), fresh_mark().into());
        dir.mkdir("root");
        dir.mkdir("outside");
        Self { dir, mark }
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.dir.at(path)
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.at("root")
    }

    pub(crate) fn files(&self) -> Arc<Files> {
        Arc::new(Files::open(&[self.root()]).unwrap())
    }

    /// A runner without a supervisor.
    pub(crate) fn alone(&self) -> Commands {
        Commands::new(self.files()).with_grace(IMPATIENT)
    }

    /// A runner with a supervisor.
    pub(crate) fn commands(&self) -> Commands {
        self.alone().with_supervisor(supervisor())
    }

    /// Adds the marker of this fixture to the environment of a command.
    fn marked(&self, mut command: Command) -> Command {
        command.env.insert(MARK.into(), self.mark.clone());
        command
    }

    /// A command that the parser understands.
    pub(crate) fn understood(&self, text: &str) -> Command {
        let reading = toolcall_shell::read(text, &self.root());
        assert!(matches!(reading, Reading::Understood(_)), "{text}");
        self.marked(Command::new(text, self.root(), reading))
    }

    /// A command that was not parsed and needs a shell.
    pub(crate) fn unclear(&self, text: &str) -> Command {
        self.marked(Command::unread(text, self.root()))
    }

    /// Runs a text that the user approved, and returns how it ended and what it printed.
    pub(crate) async fn run(&self, text: &str) -> (Result<Exit, HostError>, String) {
        self.run_with(&self.commands(), text).await
    }

    pub(crate) async fn run_with(
        &self,
        commands: &Commands,
        text: &str,
    ) -> (Result<Exit, HostError>, String) {
        let console = RecordingConsole::approved();
        let command = self.unclear(text);
        let ended = commands.run(&command, &console).await;
        (ended, console.text())
    }

    /// Returns the processes of this fixture that still exist.
    #[cfg(target_os = "linux")]
    pub(crate) fn left(&self) -> Vec<u32> {
        marked(&self.mark)
    }

    /// Waits until several scans in a row find no process of this fixture: one that forks and exits
    /// all the time is missed by some.
    #[cfg(target_os = "linux")]
    pub(crate) fn assert_nothing_is_left(&self) {
        let until = Instant::now() + Duration::from_secs(60);
        let mut in_vain = 0;
        while in_vain < 20 {
            let left = self.left();
            assert!(Instant::now() < until, "{left:?} are left");
            in_vain = if left.is_empty() { in_vain + 1 } else { 0 };
        }
    }
}

pub(crate) fn supervisor() -> Supervisor {
    Supervisor::at(env!("CARGO_BIN_EXE_toolcall-supervisor"))
}

/// A console that records what was printed.
pub(crate) struct RecordingConsole {
    decision: Option<Arc<Decision>>,
    printed: Mutex<Vec<u8>>,
    length: watch::Sender<usize>,
    stop: watch::Sender<bool>,
}

impl RecordingConsole {
    /// A console without a decision.
    pub(crate) fn new() -> Self {
        Self {
            decision: None,
            printed: Mutex::default(),
            length: watch::channel(0).0,
            stop: watch::channel(false).0,
        }
    }

    /// A console whose command the user approved.
    pub(crate) fn approved() -> Self {
        Self::decided(Effect::Allow, Judge::Person(Remembered::Once))
    }

    pub(crate) fn decided(effect: Effect, by: Judge) -> Self {
        let decision = Decision {
            question: None,
            effect,
            by,
        };
        Self {
            decision: Some(Arc::new(decision)),
            ..Self::new()
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.printed.lock().unwrap().clone()
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes()).into_owned()
    }

    /// Waits until the output contains a text.
    pub(crate) async fn shows(&self, text: &str) {
        let mut length = self.length.subscribe();
        while !self.text().contains(text) {
            length.changed().await.unwrap();
        }
    }

    pub(crate) fn stop(&self) {
        self.stop.send_replace(true);
    }
}

impl Console for RecordingConsole {
    fn print(&self, bytes: &[u8]) {
        let mut printed = self.printed.lock().unwrap();
        printed.extend_from_slice(bytes);
        self.length.send_replace(printed.len());
    }

    fn show(&self, _content: Content) {}

    fn decision(&self) -> Option<Arc<Decision>> {
        self.decision.clone()
    }

    fn stopped(&self) -> BoxFuture<'_, ()> {
        let mut stop = self.stop.subscribe();
        Box::pin(async move {
            stop.wait_for(|stop| *stop).await.unwrap();
        })
    }
}
