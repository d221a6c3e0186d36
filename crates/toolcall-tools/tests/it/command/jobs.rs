//! Background commands: read, stopped, limited in number, and ended with their session.
//! Their ends are awaited; no test waits for a clock.

use std::sync::Arc;

use toolcall::{CallId, Completeness, Exit};
use toolcall_tools::command::{JobError, JobId, JobStatus, Jobs};
use toolcall_tools::local::Spills;

use crate::command::fixture::{CommandFixture, PATIENT, RecordingConsole};

struct JobsFixture {
    fixture: CommandFixture,
    jobs: Jobs,
}

impl JobsFixture {
    fn new() -> Self {
        let fixture = CommandFixture::new();
        let jobs = Jobs::new(fixture.commands());
        Self { fixture, jobs }
    }

    fn start(&self, text: &str) -> Result<JobId, JobError> {
        let command = self.fixture.unclear(text);
        let call = CallId::new(text);
        self.jobs
            .start(&command, &call, &RecordingConsole::approved())
    }

    /// Reads new output until what was read contains a text.
    async fn see(&self, id: JobId, text: &str) -> String {
        let mut seen = String::new();
        while !seen.contains(text) {
            seen += &self.jobs.news(id).unwrap().text;
            tokio::task::yield_now().await;
        }
        seen
    }
}

#[tokio::test]
async fn a_job_is_looked_at_and_ends() {
    let session = JobsFixture::new();
    let go = session.fixture.root().join("go");
    let id = session
        .start("echo one; until [ -e go ]; do sleep 0.01; done; echo two; exit 3")
        .unwrap();
    assert_eq!(id.to_string(), "1");
    assert_eq!("1".parse(), Ok(id));
    assert_eq!(session.see(id, "one\n").await, "one\n");
    let news = session.jobs.news(id).unwrap();
    assert_eq!((&*news.text, news.status), ("", JobStatus::Running));
    std::fs::write(go, "").unwrap();
    let ended = JobStatus::Ended(Exit::Code(3));
    assert_eq!(session.jobs.ended(id).await, Ok(ended.clone()));
    let news = session.jobs.news(id).unwrap();
    assert_eq!((&*news.text, news.bytes, news.skipped), ("two\n", 4, 0));
    let all = session.jobs.output(id).unwrap();
    assert_eq!((&*all.text, all.bytes), ("one\ntwo\n", 8));
    assert_eq!(all.status, ended);
    assert_eq!(session.jobs.all(), [(id, ended.clone())]);
    assert_eq!(session.jobs.stop(id).await, Ok(ended), "it stays as it was");
    let next = session.start("true").unwrap();
    assert_eq!(next.to_string(), "2");
    session.jobs.close().await;
}

#[tokio::test]
async fn long_output_is_held_at_both_ends_and_kept_whole() {
    let mut session = JobsFixture::new();
    let dir = tempfile::tempdir().unwrap();
    let spills = Arc::new(Spills::new(dir.path(), Spills::DEFAULT_CAP).unwrap());
    session.jobs = Jobs::new(session.fixture.commands()).with_spills(spills.clone());
    let id = session.start("seq 100000").unwrap();
    let ended = JobStatus::Ended(Exit::Code(0));
    assert_eq!(session.jobs.ended(id).await, Ok(ended));
    let all = session.jobs.output(id).unwrap();
    assert_eq!((all.bytes, all.skipped), (588_895, 588_895 - 64 * 1024));
    assert!(all.text.starts_with("1\n2\n") && all.text.ends_with("\n100000\n"));
    let news = session.jobs.news(id).unwrap();
    assert_eq!((news.bytes, news.skipped), (all.bytes, all.skipped));
    let spill = all.spill.unwrap();
    assert_eq!(
        (spill.bytes, spill.completeness),
        (588_895, Completeness::Whole)
    );
    let path = spill.uri.strip_prefix("file://").unwrap();
    let kept = std::fs::read_to_string(path).unwrap();
    let expected: String = (1..=100_000).map(|number| format!("{number}\n")).collect();
    assert!(kept == expected, "the whole is kept, in order");
}

#[tokio::test]
async fn a_stopped_job_tells_how_it_ended() {
    let mut session = JobsFixture::new();
    session.jobs = Jobs::new(session.fixture.commands().with_grace(PATIENT));
    let id = session
        .start("trap 'echo bye; exit 5' TERM; setsid sleep 1000 & sleep 1000 & echo ready; wait $!")
        .unwrap();
    session.see(id, "ready").await;
    let stopped = JobStatus::Stopped(Exit::Code(5));
    assert_eq!(session.jobs.stop(id).await, Ok(stopped));
    let printed = session.jobs.output(id).unwrap().text;
    // Some shells add a line about the child that ended.
    assert!(printed.ends_with("bye\n"), "{printed}");
    #[cfg(target_os = "linux")]
    session.fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn only_so_many_run_and_only_so_many_are_remembered() {
    let session = JobsFixture::new();
    let running: Vec<_> = (0..16)
        .map(|_| session.start("sleep 1000").unwrap())
        .collect();
    assert_eq!(session.start("true"), Err(JobError::TooMany));
    session.jobs.stop(running[0]).await.unwrap();
    for _ in 0..70 {
        let id = session.start("true").unwrap();
        session.jobs.ended(id).await.unwrap();
    }
    let all = session.jobs.all();
    let is_running = |status: &JobStatus| *status == JobStatus::Running;
    let ended = all.iter().filter(|(_, status)| !is_running(status)).count();
    assert_eq!((all.len() - ended, ended), (15, 64));
    let forgotten = session.jobs.status(running[0]);
    assert_eq!(forgotten, Err(JobError::Unknown("1".into())));
    session.jobs.close().await;
    #[cfg(target_os = "linux")]
    assert_eq!(session.fixture.left(), [0; 0]);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_session_takes_its_jobs_with_it() {
    let session = JobsFixture::new();
    let mut ids = Vec::new();
    for text in [
        "setsid sh -c 'trap \"\" TERM; sleep 1000 & wait' & echo ready; wait",
        "trap '' TERM; echo ready; while :; do sleep 1; done",
    ] {
        ids.push(session.start(text).unwrap());
    }
    for id in ids {
        session.see(id, "ready").await;
    }
    assert!(!session.fixture.left().is_empty());
    let JobsFixture { fixture, jobs } = session;
    drop(jobs);
    // The supervisors do the rest, without this runtime.
    tokio::task::yield_now().await;
    fixture.assert_nothing_is_left();
}

#[tokio::test]
async fn what_cannot_run_is_told() {
    let session = JobsFixture::new();
    let (command, call) = (session.fixture.unclear("echo $A"), CallId::new("a"));
    let refused = session
        .jobs
        .start(&command, &call, &RecordingConsole::new());
    assert!(matches!(refused, Err(JobError::Host(_))), "{refused:?}");
    assert_eq!("x".parse::<JobId>(), Err(JobError::Unknown("x".into())));
    let commands = session.fixture.alone();
    let nowhere = toolcall_tools::command::Supervisor::at("/no/such/program");
    let jobs = Jobs::new(commands.with_supervisor(nowhere));
    let id = jobs
        .start(&command, &call, &RecordingConsole::approved())
        .unwrap();
    let JobStatus::Failed(why) = jobs.ended(id).await.unwrap() else {
        panic!("it does not run");
    };
    assert!(why.contains("cannot be started"), "{why}");
}
