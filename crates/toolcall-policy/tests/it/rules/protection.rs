//! Protected paths in every spelling, for files, redirects and arguments of commands.
//! The policy here allows everything that rules can allow.

use std::fmt::Write;

use expect_test::expect;
use toolcall::{Intent, Touch};
use toolcall_policy::{RuleContext, RuleEffect, Rules};

use crate::rules::fixture::{command, in_root, judged, rules, touching, user};

const EVERYTHING: &str = "[[allow]]\nread = '/**'\nwrite = '/**'\ndelete = '/**'\n\
    run = ['cat', 'touch', 'cp', 'tee', 'echo', 'ls', 'grep', 'sh', 'make', 'git add', 'tar', 'timeout', 'sed -i', 'sort -o', 'find', 'git log']\n";

fn shown(all: &mut String, name: &str, intent: &Intent) {
    let effect = judged(&rules(EVERYTHING), intent);
    writeln!(all, "{} {name}", effect.as_str()).unwrap();
}

#[test]
fn protected_names_in_every_spelling() {
    let paths = [
        "src/a.rs",
        ".git/hooks/pre-commit",
        ".GIT/config",
        ".git /config",
        ".git./config",
        "GIT~1/config",
        ".g\u{200c}it/config",
        ".\u{ff47}it/config",
        ".git::$INDEX_ALLOCATION/config",
        "sub/.git",
        "sub/.git/worktrees/x/gitdir",
        ".toolcall/policy.toml",
        ".gitignore",
        "git/config",
        ".github/workflows/ci.yml",
        ".GitHub/Workflows/ci.yml",
        ".github/CODEOWNERS",
        ".VSCODE/settings.json",
        "x.code-workspace",
        ".claude/settings.local.json",
        "docs/AGENTS.md",
        "claude.md",
        ".env",
        ".env.local",
        ".envrc",
        ".yarnrc.yml",
        ".cargo/config.toml",
        ".cargo/config",
        "config.toml",
        "GITMOD~1",
        "ENVRC~1",
        "VSCODE~2/settings.json",
        "git~x",
        ".gitattributes",
        ".pre-commit-config.yaml",
        ".bashrc",
        "environment.rs",
    ];
    let mut all = String::new();
    for path in paths {
        shown(
            &mut all,
            &path.escape_debug().to_string(),
            &touching(Touch::Writes(in_root(path))),
        );
    }
    expect![[r#"
        allow src/a.rs
        deny .git/hooks/pre-commit
        deny .GIT/config
        deny .git /config
        deny .git./config
        deny GIT~1/config
        deny .g\u{200c}it/config
        deny .ｇit/config
        deny .git::$INDEX_ALLOCATION/config
        deny sub/.git
        deny sub/.git/worktrees/x/gitdir
        deny .toolcall/policy.toml
        allow .gitignore
        allow git/config
        ask .github/workflows/ci.yml
        ask .GitHub/Workflows/ci.yml
        allow .github/CODEOWNERS
        ask .VSCODE/settings.json
        ask x.code-workspace
        ask .claude/settings.local.json
        ask docs/AGENTS.md
        ask claude.md
        ask .env
        ask .env.local
        ask .envrc
        ask .yarnrc.yml
        ask .cargo/config.toml
        ask .cargo/config
        allow config.toml
        ask GITMOD~1
        ask ENVRC~1
        ask VSCODE~2/settings.json
        allow git~x
        ask .gitattributes
        ask .pre-commit-config.yaml
        ask .bashrc
        allow environment.rs
    "#]]
    .assert_eq(&all);
}

#[test]
fn as_source_target_or_ancestor() {
    let moves = |from: &str, to: &str| {
        touching(Touch::Moves {
            from: in_root(from),
            to: in_root(to),
        })
    };
    let mut all = String::new();
    shown(
        &mut all,
        "move a to .git/hooks/x",
        &moves("a", ".git/hooks/x"),
    );
    shown(
        &mut all,
        "move .git/config to a",
        &moves(".git/config", "a"),
    );
    shown(&mut all, "move .git to a", &moves(".git", "a"));
    shown(&mut all, "move a to .vscode/x", &moves("a", ".vscode/x"));
    shown(&mut all, "move a to b", &moves("a", "b"));
    shown(
        &mut all,
        "delete .github",
        &touching(Touch::Deletes(in_root(".github"))),
    );
    shown(
        &mut all,
        "delete the root",
        &touching(Touch::Deletes(in_root(""))),
    );
    shown(
        &mut all,
        "delete above the root",
        &touching(Touch::Deletes("/w".into())),
    );
    shown(
        &mut all,
        "write the root",
        &touching(Touch::Writes(in_root(""))),
    );
    shown(
        &mut all,
        "delete src",
        &touching(Touch::Deletes(in_root("src"))),
    );
    shown(
        &mut all,
        "read .git/HEAD",
        &touching(Touch::Reads(in_root(".git/HEAD"))),
    );
    shown(
        &mut all,
        "read .env",
        &touching(Touch::Reads(in_root(".env"))),
    );
    shown(
        &mut all,
        "read AGENTS.md",
        &touching(Touch::Reads(in_root("AGENTS.md"))),
    );
    expect![[r#"
        deny move a to .git/hooks/x
        deny move .git/config to a
        deny move .git to a
        ask move a to .vscode/x
        allow move a to b
        ask delete .github
        deny delete the root
        deny delete above the root
        ask write the root
        allow delete src
        allow read .git/HEAD
        ask read .env
        allow read AGENTS.md
    "#]]
    .assert_eq(&all);
}

#[test]
fn in_commands() {
    let texts = [
        "cat .git/HEAD",
        "touch .git/hooks/x",
        "touch .GIT/hooks/x",
        "cp x .git/hooks/x",
        "cp --target-directory=.git/hooks x",
        "tar -C.git -xf x",
        "echo x > .git/config",
        "echo x > sub/.GIT/config",
        "echo x > .vscode/settings.json",
        "echo .git",
        "cat .env",
        "timeout 5 cat .git/HEAD",
        "timeout 5 touch .git/x",
        "sh -c 'touch .git/x'",
        "sh -c 'echo x > .git/config'",
        "sh -c 'sh -c \"touch .git/x\"'",
        "sh -c '[ -d .git ]'",
        "cd .git/hooks && touch x",
        "cd .vscode && tee settings.json",
        "cd .git && ls",
        "git add .gitmodules",
        "tar cf x.tar --exclude=.git src",
        "grep -r x --exclude-dir=.git .",
        "sed -i s/a/b/ .git/config",
        "sort -o .git/config a",
        "sort -o.vscode/x a",
        "find .git -delete",
        "git log --output=.git/config",
        "awk '{print > \".git/config\"}' a",
        "sed -n 'w .git/config' a",
        "touch $X .git/x",
        "find . -exec touch .git/x ';'",
        "ls | xargs touch .git/x",
        "env env env env env env env env env touch .git/x",
    ];
    let mut all = String::new();
    for text in texts {
        shown(&mut all, text, &command(text));
    }
    expect![[r#"
        allow cat .git/HEAD
        deny touch .git/hooks/x
        deny touch .GIT/hooks/x
        deny cp x .git/hooks/x
        deny cp --target-directory=.git/hooks x
        deny tar -C.git -xf x
        deny echo x > .git/config
        deny echo x > sub/.GIT/config
        ask echo x > .vscode/settings.json
        allow echo .git
        ask cat .env
        allow timeout 5 cat .git/HEAD
        deny timeout 5 touch .git/x
        deny sh -c 'touch .git/x'
        deny sh -c 'echo x > .git/config'
        deny sh -c 'sh -c "touch .git/x"'
        ask sh -c '[ -d .git ]'
        deny cd .git/hooks && touch x
        ask cd .vscode && tee settings.json
        allow cd .git && ls
        ask git add .gitmodules
        ask tar cf x.tar --exclude=.git src
        allow grep -r x --exclude-dir=.git .
        deny sed -i s/a/b/ .git/config
        deny sort -o .git/config a
        ask sort -o.vscode/x a
        deny find .git -delete
        deny git log --output=.git/config
        ask awk '{print > ".git/config"}' a
        ask sed -n 'w .git/config' a
        ask touch $X .git/x
        deny find . -exec touch .git/x ';'
        deny ls | xargs touch .git/x
        deny env env env env env env env env env touch .git/x
    "#]]
    .assert_eq(&all);
}

#[test]
fn our_own_files() {
    let facts = RuleContext {
        own_files: vec!["/srv/kept/history.db".into()],
        ..RuleContext::default()
    };
    let rules = Rules::new([user(EVERYTHING)], facts).expect("a policy");
    let effect_of = |touch| judged(&rules, &touching(touch));
    assert_eq!(
        effect_of(Touch::Writes("/srv/kept/history.db".into())),
        RuleEffect::Deny
    );
    assert_eq!(
        effect_of(Touch::Writes("/srv/kept/HISTORY.db".into())),
        RuleEffect::Deny
    );
    assert_eq!(
        effect_of(Touch::Deletes("/srv/kept".into())),
        RuleEffect::Deny
    );
    assert_eq!(
        effect_of(Touch::Writes("/srv/kept/other".into())),
        RuleEffect::Allow
    );
    assert_eq!(
        effect_of(Touch::Writes("/home/u/.config/toolcall/policy.toml".into())),
        RuleEffect::Deny
    );
}

/// Roots may be anywhere; protected names in the path of a root do not matter.
#[test]
fn a_root_beneath_a_name_that_is_asked_about() {
    let mut context = crate::rules::fixture::context();
    context.roots = vec!["/home/u/.cursor/worktrees/a".into()];
    let write = |path: &str| {
        let intent = touching(Touch::Writes(path.into()));
        crate::rules::fixture::effect_of(&toolcall::Policy::judge(
            &rules(EVERYTHING),
            &intent,
            &context,
        ))
    };
    assert_eq!(
        write("/home/u/.cursor/worktrees/a/src/x.rs"),
        RuleEffect::Allow
    );
    assert_eq!(
        write("/home/u/.cursor/worktrees/a/.cursor/x"),
        RuleEffect::Ask
    );
}
