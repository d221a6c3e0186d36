//! `cargo xtask tidy`: the rules of the house, each a small pure function over a file, and running them all.
//! It changes nothing; what to do about a finding is said in the finding.

pub(crate) mod aliases;
pub(crate) mod booleans;
mod borders;
mod channels;
pub(crate) mod code;
mod direction;
pub(crate) mod file;
pub(crate) mod glossary;
mod heart;
mod leftovers;
mod map;
mod names;
mod shape;
pub(crate) mod tree;
mod unique;
mod versions;

use std::path::Path;

use file::{Fault, File, Finding};
use tree::Tree;

/// A rule of the house.
struct Rule {
    name: &'static str,
    summary: &'static str,
    check: Check,
}

/// How a rule looks at a file.
enum Check {
    /// By itself.
    Alone(fn(&File) -> Vec<Fault>),
    /// Together with the tree it is in.
    Within(fn(&File, &Tree) -> Vec<Fault>),
}

const RULES: [Rule; 17] = [
    rule(
        "opening",
        "every Rust file opens with `//!`",
        shape::opening,
    ),
    rule(
        "length",
        "no Rust file has more than 600 lines",
        shape::length,
    ),
    rule(
        "names",
        "no …Manager, …Helper, …Util, …Handler, …Processor, common or misc",
        names::names,
    ),
    rule(
        "borders",
        "`agent_client_protocol` only in toolcall-acp, `rmcp` only in its room mcp",
        borders::borders,
    ),
    rule(
        "direction",
        "cli → {agent, wrap} → {acp, tools, policy, history, telemetry} → toolcall",
        direction::direction,
    ),
    rule(
        "no-wire",
        "no `Serialize` on types of crates/toolcall",
        heart::no_wire,
    ),
    rule(
        "purity",
        "call.rs, command.rs and intent.rs name no time, files, async",
        heart::purity,
    ),
    rule(
        "versions",
        "`v1` and `v2` only inside their modules and where a version is chosen",
        versions::versions,
    ),
    rule(
        "glossary",
        "no definition has a name that the field has a better word for",
        glossary::glossary,
    ),
    rule("booleans", "no `match` on a boolean", booleans::booleans),
    rule(
        "aliases",
        "types of std and tokio keep their names",
        aliases::aliases,
    ),
    Rule {
        name: "unique",
        summary: "a public type name stands for one thing in the workspace",
        check: Check::Within(unique::unique),
    },
    rule("channels", "every channel has a bound", channels::channels),
    rule(
        "ignored",
        "no test is switched off",
        leftovers::ignored_tests,
    ),
    rule(
        "holes",
        "no `todo!` and no `unimplemented!`",
        leftovers::holes,
    ),
    rule(
        "dead-code",
        "nothing unused is allowed to stay",
        leftovers::dead_code,
    ),
    Rule {
        name: "map",
        summary: "ARCHITECTURE.md and docs/invariants.md name only what exists, as it describes itself",
        check: Check::Within(map::map),
    },
];

const fn rule(name: &'static str, summary: &'static str, check: fn(&File) -> Vec<Fault>) -> Rule {
    let check = Check::Alone(check);
    Rule {
        name,
        summary,
        check,
    }
}

/// Checks the tree below `root` and prints what is found.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let tree = Tree::read(root)?;
    let findings = findings(&tree);
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => {
            println!("tidy: {} files, {} rules", tree.files.len(), RULES.len());
            Ok(())
        }
        1 => Err("1 finding; `cargo xtask tidy --help` lists the rules".into()),
        many => Err(format!(
            "{many} findings; `cargo xtask tidy --help` lists the rules"
        )),
    }
}

/// The rules, a line each, for the help page.
pub(crate) fn rules_as_text() -> String {
    let lines = RULES
        .iter()
        .map(|rule| format!("  {:<10} {}", rule.name, rule.summary));
    let lines: Vec<_> = lines.collect();
    let head = "Rules (comments and literals do not count as code):";
    let tail = "A finding is printed as `path:line: rule: what to do`. There is no way to except a file;\n\
                a rule that is wrong is changed in xtask/src/tidy.";
    format!("{head}\n{}\n\n{tail}", lines.join("\n"))
}

fn findings(tree: &Tree) -> Vec<Finding> {
    let files = tree.files.iter();
    files
        .flat_map(|file| RULES.iter().flat_map(move |rule| apply(rule, file, tree)))
        .collect()
}

fn apply(rule: &Rule, file: &File, tree: &Tree) -> impl Iterator<Item = Finding> {
    let faults = match rule.check {
        Check::Alone(check) => check(file),
        Check::Within(check) => check(file, tree),
    };
    let (name, path) = (rule.name, file.path.clone());
    faults.into_iter().map(move |fault| Finding {
        path: path.clone(),
        line: fault.line,
        rule: name,
        advice: fault.advice,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tree_is_tidy() {
        let tree = Tree::read(&crate::root()).unwrap();
        let findings: Vec<_> = findings(&tree).iter().map(Finding::to_string).collect();
        assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
    }

    #[test]
    fn every_rule_is_applied_to_the_tree() {
        let bad = "\
            struct Helper;\n\
            use agent_client_protocol as acp;\n\
            #[derive(Serialize)]\n\
            #[ignore]\n\
            #[allow(dead_code)]\n\
            async fn f() { todo!(); unbounded() }\n\
            pub enum Which {}\n\
            use std::sync::Mutex as Door;\n\
            fn g() { match a {\n\
            true => 1,\n\
            } }\n";
        let long = format!("{bad}{}", "\n".repeat(600));
        let tree = Tree::of(&[
            ("crates/toolcall/src/call.rs", &long),
            (
                "crates/toolcall/Cargo.toml",
                "[dependencies]\ntoolcall-acp = \"0\"",
            ),
            (
                "crates/toolcall-agent/src/turn.rs",
                "//! A turn.\nuse toolcall_acp::v1;\npub struct Turn;",
            ),
            (
                "crates/toolcall-acp/src/turn.rs",
                "//! Another.\npub struct Turn;",
            ),
            ("ARCHITECTURE.md", "`gone.rs`"),
        ]);
        let mut found: Vec<_> = findings(&tree).iter().map(|finding| finding.rule).collect();
        let mut rules: Vec<_> = RULES.iter().map(|rule| rule.name).collect();
        found.sort_unstable();
        found.dedup();
        rules.sort_unstable();
        assert_eq!(found, rules);
    }

    #[test]
    fn a_finding_says_where_and_what_to_do() {
        let tree = Tree::of(&[("a.rs", "//! A.\nfn f() { todo!() }")]);
        let said: Vec<_> = findings(&tree).iter().map(Finding::to_string).collect();
        let advice = "write it, or return an error that says what is not supported";
        assert_eq!(said, [format!("a.rs:2: holes: {advice}")]);
    }
}
