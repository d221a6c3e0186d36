//! Explanations as the user would read them.
//! They are plain values; printing them is tested with the command line.

use std::fmt::Write;

use expect_test::expect;
use toolcall_policy::Explanation;

use crate::rules::fixture::{command, context, rules};

fn shown(explanation: &Explanation) -> String {
    let mut all = format!("{}: {}\n", explanation.effect.as_str(), explanation.reason);
    for step in &explanation.steps {
        writeln!(
            all,
            "  {} → {} by {}",
            step.what,
            step.effect.as_str(),
            step.rule
        )
        .unwrap();
        if let Some(change) = &step.change {
            writeln!(all, "      {}; {change}", step.reason).unwrap();
        }
    }
    for offer in &explanation.offers {
        writeln!(all, "  offered ({:?}): {}", offer.lifetime, offer.text).unwrap();
    }
    all
}

#[test]
fn commands_are_explained_part_by_part() {
    let rules = rules(
        "[[allow]]\nrun = ['cargo test', 'find', 'tail']\n\
         [[deny]]\nrun = 'rm'\nbecause = 'nothing is deleted here'\n",
    );
    let texts = [
        "cargo test 2>&1 | tail -5",
        "cargo test && make > out.txt",
        "find . -delete",
        "timeout 5 sh -c 'rm x'",
        "cargo test $X",
    ];
    let explained = texts.map(|text| {
        let explanation = rules.explain(&command(text), &context());
        format!("$ {text}\n{}", shown(&explanation))
    });
    expect![[r#"
        $ cargo test 2>&1 | tail -5
        allow: a rule says so: allow run = ["cargo test", "find", "tail"] (policy.toml:1)
          runs `cargo test` in /w/proj → allow by allow run = ["cargo test", "find", "tail"] (policy.toml:1)
          runs `tail -5` in /w/proj → allow by allow run = ["cargo test", "find", "tail"] (policy.toml:1)
        $ cargo test && make > out.txt
        ask: mode `ask` asks before running a command: no rule allows `make`
          runs `cargo test` in /w/proj → allow by allow run = ["cargo test", "find", "tail"] (policy.toml:1)
          runs `make` in /w/proj → ask by mode ask
              mode `ask` asks before running a command: no rule allows `make`; add an `[[allow]]` rule with `run`, or answer the question
          writes /w/proj/out.txt → ask by mode ask
              mode `ask` asks before writing inside the workspace; add an `[[allow]]` rule, or answer the question
          offered (Session): exactly = "cargo test && make > out.txt", in = "/w/proj", write = "./out.txt"
          offered (Project): exactly = "cargo test && make > out.txt", in = "/w/proj", write = "./out.txt"
        $ find . -delete
        ask: mode `ask` asks before running a command: `-delete` makes `find` do more than that, and the rule does not name it
          runs `find . -delete` in /w/proj → ask by mode ask
              mode `ask` asks before running a command: `-delete` makes `find` do more than that, and the rule does not name it; name it in the rule's `run`, or answer the question
          offered (Session): exactly = "find . -delete", in = "/w/proj"
          offered (Project): exactly = "find . -delete", in = "/w/proj"
        $ timeout 5 sh -c 'rm x'
        deny: nothing is deleted here
          runs the text "timeout 5 sh -c 'rm x'" → deny by deny run = "rm" (policy.toml:3)
              nothing is deleted here; change or remove the rule `deny run = "rm" (policy.toml:3)`
          runs `timeout 5 sh -c 'rm x'` in /w/proj → ask by mode ask
              mode `ask` asks before running a command: no rule allows `timeout`; add an `[[allow]]` rule with `run`, or answer the question
        $ cargo test $X
        ask: mode `ask` asks before running a command: it has an expansion (`$`) at byte 11
          runs the text "cargo test $X" → ask by mode ask
              mode `ask` asks before running a command: it has an expansion (`$`) at byte 11; write it in plain words, or answer the question
          offered (Session): exactly = "cargo test $X", in = "/w/proj"
    "#]].assert_eq(&explained.concat());
}
