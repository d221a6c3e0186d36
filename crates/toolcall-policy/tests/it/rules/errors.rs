//! Policies with errors, each with its message.
//! One error makes the whole policy unusable.

use std::fmt::Write;

use expect_test::expect;
use proptest::prelude::*;
use proptest::sample::select;
use toolcall::Verdict;
use toolcall_policy::{LayerSource, RuleEffect, Rules, Trust};

use crate::rules::fixture::{command, judged, parse};

const BROKEN: &[&str] = &[
    "[[allow]\nrun = 'ls'\n",
    "mode = 'yolo'\n",
    "mode = 'readonly'\n",
    "mode = 3\n",
    "[[alow]]\nrun = 'ls'\n",
    "[allow]\nrun = 'ls'\n",
    "allow = []\n",
    "[[allow]]\n",
    "[[allow]]\nbecause = 'x'\n",
    "[[allow]]\nrun = []\n",
    "[[allow]]\nrun = ''\n",
    "[[allow]]\nrun = 7\n",
    "[[deny]]\nrun = ['ls', 7]\n",
    "[[allow]]\nrunn = 'ls'\n",
    "[[deny]]\nregex = '('\n",
    "[[allow]]\nrun = '*'\n",
    "[[allow]]\nrun = 'git status && git log'\n",
    "[[allow]]\nrun = 'ls > x'\n",
    "[[allow]]\nrun = 'ls *'\n",
    "[[allow]]\nrun = 'cd'\n",
    "[[allow]]\nrun = 'xargs'\n",
    "[[allow]]\nrun = 'docker'\n",
    "[[allow]]\nwrite = 'src/{a'\n",
    "[[allow]]\nwrite = 'src/[a'\n",
    "[[allow]]\nwrite = '../x'\n",
    "[[allow]]\nwrite = ['src/', '.git/hooks/**']\n",
    "[[allow]]\nread = '.env'\n",
    "[[deny]]\nread = '!x'\n",
    "[[deny]]\nread = ''\n",
    "[[allow]]\nreach = 'https://docs.rs/'\n",
    "[[allow]]\nreach = 'mcp:docs'\n",
    "[[allow]]\nreach = 'mcp:docs/search'\n",
    "[[allow]]\ntool = '*'\n",
    "[[allow]]\ntool = 'think'\n",
    "[[allow]]\ntool = 'mcp:gh'\n",
    "[[allow]]\nrun = 'ls'\nin = '/w'\n",
    "[[deny]]\nexactly = ' '\n",
    "[[allow]]\nexactly = 'ls'\nin = 'w'\n",
    "[[allow]]\nrun = 'ls'\ndefinition = 'x'\n",
    "[[allow]]\nrun = 'git status'\nmatches = ['git status', 'git log']\n",
    "[[allow]]\nrun = 'find'\nrefuses = ['find . -delete', 'find .']\n",
    "[[deny]]\nrun = 'rm'\nrefuses = [\n  'ls',\n  'ls; /bin/rm x',\n]\n",
    "[[allow]]\nwrite = 'src/'\nmatches = ['src/a/b.rs', 'tests/a.rs']\n",
    "[[allow]]\nreach = '*.docs.rs'\nmatches = 'docs.rs'\n",
];

#[test]
fn broken_policies_say_where_and_what_to_write() {
    let mut all = String::new();
    for text in BROKEN {
        let said = match parse(text, LayerSource::User, Trust::Trusted) {
            Ok(layer) => format!("fine: {} rules", layer.rules().len()),
            Err(error) => error.to_string(),
        };
        writeln!(all, "{}\n    {said}", text.trim_end().replace('\n', " ⏎ ")).unwrap();
    }
    expect![[r#"
        [[allow] ⏎ run = 'ls'
            policy.toml:1:9: not TOML: unclosed array table, expected `]`; correct the syntax; rules are `[[allow]]` and lines such as `run = "git status"`
        mode = 'yolo'
            policy.toml:1:8: there is no mode `yolo`; write one of `allow-all`, `accept-edits`, `ask`, `read-only`, `deny-all`
        mode = 'readonly'
            policy.toml:1:8: there is no mode `readonly`; write `read-only`
        mode = 3
            policy.toml:1:8: a string is wanted, not integer; put it into quotes
        [[alow]] ⏎ run = 'ls'
            policy.toml:1:3: there is no key `alow`; write `allow`
        [allow] ⏎ run = 'ls'
            policy.toml:1:1: `allow` is not a list of rules; write `[[allow]]` and the rule below it
        allow = []
            policy.toml:1:9: `allow` is an empty list; write `[[allow]]` and the rule below it
        [[allow]]
            policy.toml:1:1: a rule about nothing can never match; add `run`, `read`, `write`, `delete`, `reach` or `tool`
        [[allow]] ⏎ because = 'x'
            policy.toml:1:1: a rule about nothing can never match; add `run`, `read`, `write`, `delete`, `reach` or `tool`
        [[allow]] ⏎ run = []
            policy.toml:2:7: an empty list matches nothing; name something, or take the key out
        [[allow]] ⏎ run = ''
            policy.toml:2:7: `` can never match: it has no command at byte 0; write plain words, in quotes where they hold anything else
        [[allow]] ⏎ run = 7
            policy.toml:2:7: a string is wanted, not integer; put it into quotes
        [[deny]] ⏎ run = ['ls', 7]
            policy.toml:2:14: a string is wanted, not integer; put it into quotes
        [[allow]] ⏎ runn = 'ls'
            policy.toml:2:1: there is no key `runn`; write `run`
        [[deny]] ⏎ regex = '('
            policy.toml:2:1: there is no key `regex`; write one of `run`, `exactly`, `in`, `read`, `write`, `delete`, `reach`, `tool`, `definition`, `because`, `matches`, `refuses`
        [[allow]] ⏎ run = '*'
            policy.toml:2:7: `*` allows every command; name the programs, or set `mode = "allow-all"`
        [[allow]] ⏎ run = 'git status && git log'
            policy.toml:2:7: `git status && git log` is more than one program; write a list, one string for each program
        [[allow]] ⏎ run = 'ls > x'
            policy.toml:2:7: `ls > x` is more than words; leave redirects and `cd` out; files are matched by `read` and `write`
        [[allow]] ⏎ run = 'ls *'
            policy.toml:2:7: `ls *` can never match: it has a pattern (`*`) at byte 3; write plain words, in quotes where they hold anything else
        [[allow]] ⏎ run = 'cd'
            policy.toml:2:7: `cd` can never match: it has `cd` without exactly one directory at byte 0; write plain words, in quotes where they hold anything else
        [[allow]] ⏎ run = 'xargs'
            policy.toml:2:7: no rule can allow `xargs`: what it runs is not seen; allow whole commands with `exactly`, or let it be asked
        [[allow]] ⏎ run = 'docker'
            policy.toml:2:7: no rule can allow `docker`: what it runs is not seen; allow whole commands with `exactly`, or let it be asked
        [[allow]] ⏎ write = 'src/{a'
            policy.toml:2:9: `src/{a` is not a pattern: unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?); put what is meant by the letter into brackets, as in `[[]x]`
        [[allow]] ⏎ write = 'src/[a'
            policy.toml:2:9: `src/[a` is not a pattern: unclosed character class; missing ']'; put what is meant by the letter into brackets, as in `[[]x]`
        [[allow]] ⏎ write = '../x'
            policy.toml:2:9: `../x` has `..` in it and can never match; write where it leads: `/…` or `~/…`
        [[allow]] ⏎ write = ['src/', '.git/hooks/**']
            policy.toml:1:1: `.git/hooks/**` can never be allowed: `.git` is protected; take it out; it stays as it is, whatever rules say
        [[allow]] ⏎ read = '.env'
            policy.toml:1:1: `.env` can never be allowed: `.env*` is protected; take it out; it stays as it is, whatever rules say
        [[deny]] ⏎ read = '!x'
            policy.toml:2:8: `!x` begins with `!`; write a rule of its own for what is excepted; deny wins over ask, ask over allow
        [[deny]] ⏎ read = ''
            policy.toml:2:8: an empty pattern; write a path, or `**` for everything in the workspace
        [[allow]] ⏎ reach = 'https://docs.rs/'
            policy.toml:2:9: `https://docs.rs/` is not a host; write a host such as `docs.rs` or `*.docs.rs`, without `https://` and without a path
        [[allow]] ⏎ reach = 'mcp:docs'
            policy.toml:2:9: `mcp:docs` names no tool of a server; write `mcp:server/tool`, or `mcp:server/*` to ask or deny
        [[allow]] ⏎ reach = 'mcp:docs/search'
            policy.toml:1:1: a server's tool is allowed whatever its definition becomes; add `definition = "…"`, which the question about the tool shows, or say what it may do
        [[allow]] ⏎ tool = '*'
            policy.toml:1:1: `tool` allows every tool; name one tool
        [[allow]] ⏎ tool = 'think'
            policy.toml:1:1: a tool is allowed whatever it does; add `definition = "…"`, which the question about the tool shows, or say what it may do
        [[allow]] ⏎ tool = 'mcp:gh'
            policy.toml:2:8: `mcp:gh` names no tool; write `read_file`, `mcp:server/tool` or `agent:tool`
        [[allow]] ⏎ run = 'ls' ⏎ in = '/w'
            policy.toml:1:1: `in` without `exactly`; add the command with `exactly`, or take `in` out
        [[deny]] ⏎ exactly = ' '
            policy.toml:2:11: an empty command; write the command to the letter
        [[allow]] ⏎ exactly = 'ls' ⏎ in = 'w'
            policy.toml:3:6: `w` is not an absolute path; write the directory from `/`
        [[allow]] ⏎ run = 'ls' ⏎ definition = 'x'
            policy.toml:1:1: `definition` without `tool`; add the tool, or take `definition` out
        [[allow]] ⏎ run = 'git status' ⏎ matches = ['git status', 'git log']
            policy.toml:3:26: the rule does not match its example `git log`; widen the rule, or take the example out of `matches`
        [[allow]] ⏎ run = 'find' ⏎ refuses = ['find . -delete', 'find .']
            policy.toml:3:30: the rule matches `find .`, which it should refuse; narrow the rule, or take the example out of `refuses`
        [[deny]] ⏎ run = 'rm' ⏎ refuses = [ ⏎   'ls', ⏎   'ls; /bin/rm x', ⏎ ]
            policy.toml:5:3: the rule matches `ls; /bin/rm x`, which it should refuse; narrow the rule, or take the example out of `refuses`
        [[allow]] ⏎ write = 'src/' ⏎ matches = ['src/a/b.rs', 'tests/a.rs']
            policy.toml:3:26: the rule does not match its example `tests/a.rs`; widen the rule, or take the example out of `matches`
        [[allow]] ⏎ reach = '*.docs.rs' ⏎ matches = 'docs.rs'
            policy.toml:3:11: the rule does not match its example `docs.rs`; widen the rule, or take the example out of `matches`
    "#]].assert_eq(&all);
}

#[test]
fn a_broken_policy_denies_everything_and_says_why() {
    let error = parse("[[deny]]\nregex = '('\n", LayerSource::User, Trust::Trusted).unwrap_err();
    let rules = Rules::denying_all(&error);
    assert_eq!(judged(&rules, &command("ls")), RuleEffect::Deny);
    let verdict =
        toolcall::Policy::judge(&rules, &command("ls"), &crate::rules::fixture::context());
    let Verdict::Deny { reason, .. } = verdict else {
        panic!("not denied");
    };
    expect!["the policy cannot be used: policy.toml:2:1: there is no key `regex`; write one of `run`, `exactly`, `in`, `read`, `write`, `delete`, `reach`, `tool`, `definition`, `because`, `matches`, `refuses`"].assert_eq(&reason);
}

const PIECES: &[&str] = &[
    "[[allow]]\n",
    "[[deny]]\n",
    "[[ask]]\n",
    "mode",
    " = ",
    "run",
    "read",
    "write",
    "reach",
    "tool",
    "exactly",
    "matches",
    "'ls'",
    "'é *'",
    "['a', 'b']",
    "[]",
    "{ run = 'x' }",
    "'**/[a'",
    "'mcp:a/b'",
    "\n",
    "\n",
    "#é\n",
    "\"\\u0000\"",
    "3",
    "'~/x'",
    "'..'",
];

proptest! {
    /// Any text is either a policy or an error with a position in it.
    #[test]
    fn every_fault_has_a_place(pieces in prop::collection::vec(select(PIECES), 0..16)) {
        let text = pieces.concat();
        if let Err(error) = parse(&text, LayerSource::User, Trust::Trusted) {
            let lines: Vec<_> = text.split('\n').collect();
            let line = lines.get(error.line - 1);
            prop_assert!(line.is_some_and(|line| error.column <= line.chars().count() + 1), "{error}");
        }
    }
}
