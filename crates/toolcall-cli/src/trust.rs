//! `toolcall trust`: shows a project's policy and MCP servers, and trusts them if the user agrees.
//! It runs nothing of the project; trust covers exactly the content that was shown.

use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;
use serde_json::{Value, json};
use toolcall::{Content, FileEdit};
use toolcall_policy::{Project, ProjectFile, TrustChange, TrustStore};

use crate::args::TrustArgs;
use crate::consent::{Consent, ask};
use crate::context::working_directory;
use crate::environment::{UserEnvironment, refuse_inside_tool_call};
use crate::screen::{self, Screen};
use crate::time::now;
use crate::view::{ATTENTION, BOLD, DIM, INDENT, one_line, paint, preview, width};

/// Shows the project's files, and trusts them if the user agrees.
pub(crate) fn run(args: &TrustArgs) -> anyhow::Result<ExitCode> {
    refuse_inside_tool_call("trust")?;
    let directory = working_directory(args.directory.as_deref())?;
    let store = TrustStore::new(&UserEnvironment::from_env()?.dirs);
    if args.revoke {
        return revoke(&store, &directory, args);
    }
    let project = Project::read(&directory)?;
    let changes = store.changes(&project)?;
    if !args.json {
        show(&directory, &changes)?;
    }
    let consent = if changes.iter().all(is_trusted) {
        Consent::Given
    } else {
        consent(args)?
    };
    if consent == Consent::Given {
        store.trust(&project, now())?;
    }
    report(args, &changes, consent)
}

fn revoke(store: &TrustStore, directory: &Path, args: &TrustArgs) -> anyhow::Result<ExitCode> {
    let was_trusted = store.revoke(directory)?;
    let (screen, output) = screen::open()?;
    let directory = one_line(&directory.to_string_lossy());
    if args.json {
        let object = json!({"folder": directory, "trusted": false});
        screen.line(&format!("{object:#}"));
    } else if was_trusted {
        screen.line(&format!("{directory} is no longer trusted"));
    } else {
        screen.line(&format!("{directory} was not trusted"));
    }
    output.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn is_trusted(change: &TrustChange) -> bool {
    match change {
        TrustChange::Same(_) => true,
        TrustChange::New(_) | TrustChange::Changed { .. } | TrustChange::Gone(_) => false,
    }
}

/// Shows everything that would be trusted, in full.
fn show(directory: &Path, changes: &[TrustChange]) -> anyhow::Result<()> {
    let (screen, output) = screen::open()?;
    screen.line(&paint(BOLD, &one_line(&directory.to_string_lossy())));
    if changes.is_empty() {
        screen.line("  has no policy and no MCP servers; there is nothing to trust");
    }
    for change in changes {
        show_change(&screen, change);
    }
    output.finish()
}

fn show_change(screen: &Screen, change: &TrustChange) {
    let (file, note) = match change {
        TrustChange::Same(file) => (file, "trusted"),
        TrustChange::New(file) => (file, "not trusted yet"),
        TrustChange::Changed { is, .. } => (is, "changed since it was trusted"),
        TrustChange::Gone(file) => (file, "trusted, but no longer there"),
    };
    screen.line("");
    screen.line(&format!("  {}: {}", file.name, paint(ATTENTION, note)));
    match change {
        TrustChange::Same(_) | TrustChange::Gone(_) => {}
        TrustChange::New(file) => {
            for line in toolcall::text::clean_block(&file.text).lines() {
                screen.line(&format!("{INDENT}{line}"));
            }
        }
        TrustChange::Changed { was, is } => {
            let edit = FileEdit::modified(&is.name, was.text.as_str(), is.text.as_str());
            for line in preview(&[Content::Edit(edit)], width()) {
                screen.line(&line);
            }
        }
    }
    screen.line(&paint(DIM, &format!("{INDENT}sha256 {}", file.sha256)));
}

fn consent(args: &TrustArgs) -> anyhow::Result<Consent> {
    if args.yes {
        return Ok(Consent::Given);
    }
    if args.json {
        return Ok(Consent::Unasked);
    }
    Ok(ask(
        "Trust exactly this? From then on its rules apply and its servers are started.",
    )?)
}

fn report(args: &TrustArgs, changes: &[TrustChange], consent: Consent) -> anyhow::Result<ExitCode> {
    if args.json {
        let (screen, output) = screen::open()?;
        let files: Vec<Value> = changes.iter().map(as_json).collect();
        let trusted = consent == Consent::Given;
        screen.line(&format!(
            "{:#}",
            json!({"trusted": trusted, "files": files})
        ));
        output.finish()?;
    }
    match consent {
        Consent::Given if args.json || changes.is_empty() => {}
        Consent::Given => anstream::println!("\ntrusted"),
        Consent::Refused => {
            anstream::println!("not trusted");
            return Ok(ExitCode::FAILURE);
        }
        Consent::Unasked if args.json => return Ok(ExitCode::FAILURE),
        Consent::Unasked => bail!("there is no terminal to ask at; add --yes to trust it"),
    }
    Ok(ExitCode::SUCCESS)
}

fn as_json(change: &TrustChange) -> Value {
    let object = |state: &str, file: &ProjectFile, was: Option<&ProjectFile>| {
        json!({
            "file": file.name,
            "state": state,
            "sha256": file.sha256,
            "trusted_sha256": was.map(|was| &was.sha256),
        })
    };
    match change {
        TrustChange::Same(file) => object("trusted", file, Some(file)),
        TrustChange::New(file) => object("new", file, None),
        TrustChange::Changed { was, is } => object("changed", is, Some(was)),
        TrustChange::Gone(file) => object("gone", file, Some(file)),
    }
}
