//! The hostile cases about paths and output, through the real tools and a real engine.
//! Each is judged by what is on the disk and what is reported, never by a decision alone.

#![cfg(target_os = "linux")]

mod case;
mod fixture;
mod outputs;
mod paths;

use toolcall_testkit::process::{again, role};

use case::Case;

const CASES: &str = include_str!("hostile/cases.jsonl");

/// How a case ended. One that failed panics.
pub(crate) enum Verdict {
    Passed,
    Skipped(&'static str),
}

/// Runs in a separate process, because it measures the memory of its process.
#[tokio::test]
async fn hostile_paths_and_output() {
    if role().is_none() {
        let alone = again("hostile::hostile_paths_and_output", "alone").status();
        assert!(alone.unwrap().success());
        return;
    }
    let (mut passed, mut skipped, mut failed) = (0, 0, Vec::new());
    for line in CASES.lines() {
        let case = Case::set_up(line);
        let id = case.id.clone();
        match tokio::spawn(judge(case)).await {
            Ok(Verdict::Passed) => passed += 1,
            Ok(Verdict::Skipped(why)) => {
                println!("skipped {id}: {why}");
                skipped += 1;
            }
            Err(_panicked) => failed.push(id),
        }
    }
    println!(
        "hostile path and output cases: {passed} passed, {skipped} skipped, {} failed",
        failed.len()
    );
    assert_eq!(failed, [""; 0]);
}

async fn judge(case: Case) -> Verdict {
    match case.id.split_once('-').unwrap() {
        ("path", name) => paths::judge(name, &case).await,
        ("output", name) => outputs::judge(name, &case).await,
        (other, _) => panic!("there are no cases about {other}"),
    }
}
