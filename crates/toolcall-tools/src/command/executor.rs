//! The process that executes one command for its supervisor: enters the sandbox, then runs the programs.
//! It does not end descendants that left the command's process group; the supervisor does.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::process::exit;

use rustix::process::{Resource, Rlimit, setrlimit};
use tokio::sync::oneshot;
use toolcall::{Exit, Part};
use toolcall_shell::{RunEnvironment, run_into};

use super::protocol::{CommandReport, JobPart, JobRequest};
use super::redirects::RootedFiles;
use super::sandbox::enforce;
use crate::local::{Files, RootId};

/// Reads the job, runs it, sends the report, and exits.
pub(super) fn execute() -> ! {
    CommandReport::from(read_and_run()).send();
    exit(0)
}

fn read_and_run() -> Result<Exit, String> {
    let read = JobRequest::read(&mut io::stdin().lock());
    let (_, job) = read.map_err(|error| error.to_string())?;
    limit_resources();
    let roots: Vec<_> = job.roots.iter().map(RootId::from).collect();
    let mut files = Files::open_same(&roots).map_err(|error| error.to_string())?;
    if job.refuses_symlinks {
        files = files.refusing_symlinks();
    }
    // Before any thread is started: a sandbox confines one thread and what that starts.
    if let Some(isolation) = &job.isolation {
        enforce(isolation, &files)?;
    }
    run(job, &files)
}

fn run(job: JobRequest, files: &Files) -> Result<Exit, String> {
    let env: BTreeMap<_, _> = job.env.into_iter().collect();
    let parts: Vec<Part> = job.parts.into_iter().map(|JobPart(part)| part).collect();
    let environment = RunEnvironment {
        env: &env,
        files: &RootedFiles(files),
        grace: job.grace,
    };
    let to_message = |error: io::Error| error.to_string();
    let output = io::stdout().as_fd().try_clone_to_owned();
    let output = output.map_err(to_message)?;
    let mut builder = tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build().map_err(to_message)?;
    let ended = runtime.block_on(run_into(&parts, &environment, output, wait_for_stop()));
    // A thread may still be blocked writing to a program that does not read.
    runtime.shutdown_background();
    ended.map_err(|error| error.to_string())
}

/// Completes when the other end of standard input is closed.
async fn wait_for_stop() {
    let (ended, end) = oneshot::channel::<()>();
    std::thread::spawn(move || {
        let mut rest = [0; 64];
        while io::stdin().read(&mut rest).is_ok_and(|read| read > 0) {}
        drop(ended);
    });
    drop(end.await);
}

/// Turns off core dumps, and lets the kernel kill the command before the agent when memory runs out.
fn limit_resources() {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    // Both are best effort: where the system refuses, the command runs all the same.
    setrlimit(Resource::Core, none).ok();
    #[cfg(target_os = "linux")]
    std::fs::write("/proc/self/oom_score_adj", "500").ok();
}
