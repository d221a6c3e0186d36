//! Shared code of the tests: a home and a project in a temporary directory, and a store for them.
//! It asserts nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolcall::{
    AnswerContext, CallId, Command, Intent, Kind, Lifetime, Policy as _, Rule, SessionContext,
    SessionId, Timestamp, Verdict,
};
use toolcall_policy::{PolicyStore, PolicyStoreConfig, Project, TrustStore, UserDirs};
use toolcall_testkit::dir::TestDir;

/// A home and a project.
pub(crate) struct Fixture {
    dir: TestDir,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let dir = TestDir::create();
        dir.mkdir("proj");
        Self { dir }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.dir.at("proj")
    }

    pub(crate) fn places(&self) -> UserDirs {
        self.config().places
    }

    pub(crate) fn config(&self) -> PolicyStoreConfig {
        PolicyStoreConfig {
            home: Some(self.path().to_owned()),
            ..config_in(self.path())
        }
    }

    pub(crate) fn store(&self) -> PolicyStore {
        PolicyStore::open(self.config())
    }

    pub(crate) fn context(&self) -> SessionContext {
        SessionContext::new(SessionId::new("s"), self.project())
    }

    /// Writes a file that no other user may write.
    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        self.dir.write_private(name, text)
    }

    pub(crate) fn runs(&self, text: &str) -> Intent {
        let reading = toolcall_shell::read(text, &self.project());
        Intent::new(Kind::Execute, text).running(Command::new(text, self.project(), reading))
    }

    pub(crate) fn judge(&self, store: &PolicyStore, text: &str) -> Verdict {
        store.rules().judge(&self.runs(text), &self.context())
    }

    /// Returns the verdict on a command in a newly opened store.
    pub(crate) fn says(&self, text: &str) -> &'static str {
        name(&self.judge(&self.store(), text))
    }

    /// Trusts the project as it is.
    pub(crate) fn trust(&self) {
        let project = Project::read(&self.project()).expect("a project");
        let trusts = TrustStore::new(&self.places());
        trusts.trust(&project, moment()).expect("trusted");
    }

    /// Returns the text of the only file of remembered rules.
    pub(crate) fn remembered_text(&self) -> String {
        let remembered = fs::read_dir(self.path().join("state/kept")).expect("kept answers");
        let paths = remembered.map(|entry| entry.expect("an entry").path());
        let mut files =
            paths.filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
        let only = files.next().expect("a file");
        assert_eq!(files.next(), None);
        fs::read_to_string(only).expect("a text")
    }
}

/// Returns the configuration for a project in this directory, without a home.
pub(crate) fn config_in(directory: &Path) -> PolicyStoreConfig {
    PolicyStoreConfig {
        places: UserDirs {
            config: directory.join("config"),
            state: directory.join("state"),
        },
        roots: vec![directory.join("proj")],
        home: None,
        layers: Vec::new(),
    }
}

pub(crate) fn name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Allow { .. } => "allow",
        Verdict::Ask { .. } => "ask",
        Verdict::Deny { .. } => "deny",
    }
}

pub(crate) fn reason(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Deny { reason, .. } => reason.to_string(),
        Verdict::Allow { .. } | Verdict::Ask { .. } => panic!("not denied: {verdict:?}"),
    }
}

pub(crate) fn moment() -> Timestamp {
    Timestamp::from_micros(1_790_000_000_000_000)
}

pub(crate) fn occasion(title: &str) -> AnswerContext {
    AnswerContext {
        when: moment(),
        session: SessionId::new("s1"),
        call: CallId::new("call-7"),
        title: title.into(),
    }
}

pub(crate) fn rule(text: &str, lifetime: Lifetime) -> Rule {
    Rule {
        text: Arc::from(text),
        lifetime,
    }
}
