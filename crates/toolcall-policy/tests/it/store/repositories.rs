//! The programs that repositories make `git` run count when `git` is judged.
//! They are found from the session's directory, wherever the repository begins.

use std::fs;

use crate::store::fixture::Fixture;

const ALLOWS_GIT: &str = "[[allow]]\nrun = 'git status'\n";
const FSMONITOR: &str = "[core]\n\tfsmonitor = touch x\n";

fn fixture() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("config/policy.toml", ALLOWS_GIT);
    fixture
}

#[test]
fn a_plain_repository_lets_git_be_allowed() {
    let fixture = fixture();
    fixture.write("proj/.git/config", "[core]\n\tbare = false\n");
    assert_eq!(fixture.says("git status"), "allow");
}

#[test]
fn a_repository_with_helpers_does_not() {
    let (here, above) = (fixture(), fixture());
    here.write("proj/.git/config", FSMONITOR);
    above.write(".git/config", FSMONITOR);
    for fixture in [here, above] {
        assert_eq!(fixture.says("git status"), "ask");
    }
}

#[test]
fn a_worktree_is_followed_to_its_repository() {
    let fixture = fixture();
    fixture.write("proj/.git", "gitdir: ../main/.git/worktrees/proj\n");
    fixture.write("main/.git/worktrees/proj/commondir", "../..\n");
    fixture.write("main/.git/config", "[core]\n\tbare = false\n");
    assert_eq!(fixture.says("git status"), "allow");
    fixture.write("main/.git/config", FSMONITOR);
    assert_eq!(fixture.says("git status"), "ask");
}

#[test]
fn what_cannot_be_read_counts_as_a_helper() {
    let (pointer, config) = (fixture(), fixture());
    pointer.write("proj/.git", "nonsense");
    fs::create_dir_all(config.project().join(".git/config")).unwrap();
    for fixture in [pointer, config] {
        assert_eq!(fixture.says("git status"), "ask");
    }
}
