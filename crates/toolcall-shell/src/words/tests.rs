//! Hidden words, and the texts that contain them.
//! Nothing is run here.

use super::*;

fn check(text: &str, words: &[&str]) {
    assert!(Words::of(text).contains(words), "{text:?} hides {words:?}");
}

#[test]
fn a_word_is_found_wherever_it_hides() {
    for text in [
        "rm x",
        "/bin/rm x",
        "'rm' x",
        "r'm' x",
        "r\"\"m x",
        "r\\m x",
        "\\rm x",
        "r\\\nm x",
        "$'\\x72m' x",
        "$'\\162\\u006d' x",
        "echo $(rm x)",
        "echo `rm x`",
        "a;rm x",
        "a|rm",
        "a&rm",
        "(rm x)",
        "{ rm x; }",
        "{rm,x}",
        "if true; then rm x; fi",
        "x=rm; $x y",
        "rm${IFS}-rf${IFS}x",
        "r$@m x",
        "r${y}m x",
        "r$()m x",
        "r$(true)m x",
        "sh -c 'rm x'",
        "bash -lc \"sh -c 'rm x'\"",
        "cat <<E | sh\nrm x\nE",
        "find . -exec rm {} +",
        "env A=b rm x",
        "git -c alias.x='!rm x' x",
        "tar --to-command=rm",
        "/bin/r? x",
        "/bin/r* x",
        "/b[i]n/[r]m x",
        "r\u{200b}m x",
        "rm\u{a0}x",
        "r{,}m x",
        "a\trm",
        "a\rrm",
    ] {
        check(text, &["rm"]);
    }
}

#[test]
fn words_are_found_in_their_order() {
    check("git push", &["git", "push"]);
    check("git -C x push --force", &["git", "push"]);
    check("pwsh -c 'git push --force'", &["git", "push"]);
    check("/usr/bin/git 'pu'sh", &["git", "push"]);
    check("a 'my prog' b", &["my prog"]);
    check("a'a\\'a", &["aa\\a"]);
    check("a \"it's\"", &["it's"]);
    assert!(!Words::of("push git").contains(&["git", "push"]));
}

#[test]
fn other_words_are_not_found() {
    for text in [
        "",
        "ls",
        "docker run --rm x",
        "rmdir x",
        "farm",
        "ls rm.txt",
        "ls *",
        "ls *.txt",
        "/rm/x",
    ] {
        assert!(!Words::of(text).contains(&["rm"]), "{text}");
    }
}

#[test]
fn what_is_too_long_may_be_anything() {
    let text = "a ".repeat(LONGEST_SEARCHED);
    assert!(Words::of(&text).contains(&["rm"]));
    let pattern = "*a".repeat(LONGEST_PATTERN);
    assert!(Words::of(&pattern).contains(&["rm"]));
}

#[test]
fn every_word_is_returned_once() {
    let words = Words::of("git 'log' git | /bin/sh -c \"git\"");
    let words: Vec<_> = words.iter().collect();
    assert_eq!(words, ["git", "log", "/bin/sh", "-c"]);
}
