//! What repositories make `git` run counts when `git` is judged.
//! It is found from the folder of the session, wherever the repository begins.

use std::fs;

use crate::store::desk::Desk;

const ALLOWS_GIT: &str = "[[allow]]\nrun = 'git status'\n";
const FSMONITOR: &str = "[core]\n\tfsmonitor = touch x\n";

fn desk() -> Desk {
    let desk = Desk::new();
    desk.write("config/policy.toml", ALLOWS_GIT);
    desk
}

#[test]
fn a_plain_repository_lets_git_be_allowed() {
    let desk = desk();
    desk.write("proj/.git/config", "[core]\n\tbare = false\n");
    assert_eq!(desk.says("git status"), "allow");
}

#[test]
fn a_repository_with_helpers_does_not() {
    let (here, above) = (desk(), desk());
    here.write("proj/.git/config", FSMONITOR);
    above.write(".git/config", FSMONITOR);
    for desk in [here, above] {
        assert_eq!(desk.says("git status"), "ask");
    }
}

#[test]
fn a_worktree_is_followed_to_its_repository() {
    let desk = desk();
    desk.write("proj/.git", "gitdir: ../main/.git/worktrees/proj\n");
    desk.write("main/.git/worktrees/proj/commondir", "../..\n");
    desk.write("main/.git/config", "[core]\n\tbare = false\n");
    assert_eq!(desk.says("git status"), "allow");
    desk.write("main/.git/config", FSMONITOR);
    assert_eq!(desk.says("git status"), "ask");
}

#[test]
fn what_cannot_be_read_counts_as_a_helper() {
    let (pointer, config) = (desk(), desk());
    pointer.write("proj/.git", "nonsense");
    fs::create_dir_all(config.project().join(".git/config")).unwrap();
    for desk in [pointer, config] {
        assert_eq!(desk.says("git status"), "ask");
    }
}
