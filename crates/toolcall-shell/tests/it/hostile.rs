//! Known hostile command lines, judged by minimal rules on their reading.
//! Nothing is run, and no case is skipped: those that reading alone does not decide are listed.

use std::fmt::Write;

use expect_test::expect;
use serde_json::Value;
use toolcall::{Part, Reading};
use toolcall_shell::{Words, read, touches, unwrapped};

const CASES: &str = include_str!("hostile/commands.jsonl");

#[derive(Clone, Copy, Debug, PartialEq)]
enum Verdict {
    Allow,
    Ask,
    Deny,
}

struct Case {
    id: String,
    command: String,
    decision: String,
    allowed: Vec<Vec<String>>,
    denied: Vec<Vec<String>>,
}

fn cases() -> Vec<Case> {
    CASES.lines().map(case).collect()
}

fn case(line: &str) -> Case {
    let value: Value = serde_json::from_str(line).expect("a case is JSON");
    let text = |key: &str| value[key].as_str().expect("a text").to_owned();
    Case {
        id: text("id"),
        command: text("command"),
        decision: text("decision"),
        allowed: prefixes(&value, "allow"),
        denied: prefixes(&value, "deny"),
    }
}

fn prefixes(case: &Value, effect: &str) -> Vec<Vec<String>> {
    let rules = case["rules"].as_array().expect("a list of rules");
    let rules = rules.iter().filter(|rule| rule["effect"] == effect);
    rules
        .map(|rule| serde_json::from_value(rule["prefix"].clone()).expect("a list of words"))
        .collect()
}

/// Denies broadly, allows narrowly and asks about everything else.
fn judge(case: &Case) -> Verdict {
    let words = Words::of(&case.command);
    let is_denied = |prefix: &Vec<String>| {
        let prefix: Vec<_> = prefix.iter().map(String::as_str).collect();
        words.contains(&prefix)
    };
    if case.denied.iter().any(is_denied) {
        return Verdict::Deny;
    }
    let reading = read(&case.command, "/w/proj".as_ref());
    let has_touches = !touches(&reading).is_empty();
    match reading {
        Reading::Understood(parts)
            if !has_touches && parts.iter().all(|part| allows(case, part)) =>
        {
            Verdict::Allow
        }
        Reading::Understood(_) | Reading::Unclear(_) => Verdict::Ask,
    }
}

fn allows(case: &Case, part: &Part) -> bool {
    let found = unwrapped(part);
    let is_allowed = |part: &Part| {
        case.allowed
            .iter()
            .any(|prefix| part.argv.starts_with(prefix))
    };
    found.unclear.is_none() && found.parts.iter().all(is_allowed)
}

#[test]
fn denied_programs_are_found_in_every_disguise() {
    for case in cases().iter().filter(|case| !case.denied.is_empty()) {
        assert_eq!(judge(case), Verdict::Deny, "{}: {}", case.id, case.command);
    }
}

/// Commands that are allowed although an option makes them harmful. The reading shows their options as
/// written; rules for programs have to know them.
#[test]
fn nothing_dangerous_is_allowed_but_by_the_options_of_an_allowed_program() {
    let mut left = String::new();
    let cases = cases();
    let wary = cases.iter().filter(|case| case.decision != "allow");
    for case in wary.filter(|case| judge(case) == Verdict::Allow) {
        writeln!(left, "{}: {}", case.id, case.command).unwrap();
    }
    expect![[r#"
        path-114-model-cwd: touch x
        command-037-sed-i: sed -i.bak s/a/b/ .env
        command-042-find-delete: find . -delete
        command-051-sort-o: sort -o M a.txt
        command-054-uniq-out: uniq a.txt M
        command-076-git-branch-D: git branch -D main
        command-078-git-repo-config: git status
        command-079-git-attr-clean: git status
    "#]]
    .assert_eq(&left);
}

#[test]
fn every_case_is_judged() {
    let verdicts: Vec<_> = cases().iter().map(judge).collect();
    let count = |verdict| verdicts.iter().filter(|found| **found == verdict).count();
    let counts = [Verdict::Allow, Verdict::Ask, Verdict::Deny].map(count);
    expect!["113 cases: [9, 88, 16]"].assert_eq(&format!("{} cases: {counts:?}", verdicts.len()));
}
