//! `toolcall trust`: what a project may allow itself, shown before a person decides.
//! Nothing of the project is run; trust is for the very content that was shown.

use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;
use serde_json::{Value, json};
use toolcall::{Content, FileEdit};
use toolcall_policy::{Change, Project, ProjectFile, TrustStore};

use crate::args::Trusting;
use crate::consent::{Consent, ask};
use crate::context::working_folder;
use crate::places::{Person, by_a_person};
use crate::screen::{self, Screen};
use crate::view::{ATTENTION, BOLD, DIM, INDENT, one_line, painted, preview, width};
use crate::when::now;

/// Shows what the project brings, and trusts it if a person says so.
pub(crate) fn run(trusting: &Trusting) -> anyhow::Result<ExitCode> {
    by_a_person("trust")?;
    let folder = working_folder(trusting.folder.as_deref())?;
    let trusts = TrustStore::new(&Person::here()?.places);
    if trusting.revoke {
        return revoke(&trusts, &folder, trusting);
    }
    let project = Project::read(&folder)?;
    let changes = trusts.changes(&project)?;
    if !trusting.json {
        show(&folder, &changes)?;
    }
    let consent = match changes.iter().all(is_settled) {
        true => Consent::Given,
        false => consent(trusting)?,
    };
    if consent == Consent::Given {
        trusts.trust(&project, now())?;
    }
    tell(trusting, &changes, consent)
}

fn revoke(trusts: &TrustStore, folder: &Path, trusting: &Trusting) -> anyhow::Result<ExitCode> {
    let was_trusted = trusts.revoke(folder)?;
    let (screen, writing) = screen::open()?;
    let folder = one_line(&folder.to_string_lossy());
    match (trusting.json, was_trusted) {
        (true, _) => screen.line(&format!(
            "{:#}",
            json!({"folder": folder, "trusted": false})
        )),
        (false, true) => screen.line(&format!("{folder} is no longer trusted")),
        (false, false) => screen.line(&format!("{folder} was not trusted")),
    };
    writing.finish()?;
    Ok(ExitCode::SUCCESS)
}

fn is_settled(change: &Change) -> bool {
    match change {
        Change::Same(_) => true,
        Change::New(_) | Change::Changed { .. } | Change::Gone(_) => false,
    }
}

/// Everything that would be trusted, to the last line.
fn show(folder: &Path, changes: &[Change]) -> anyhow::Result<()> {
    let (screen, writing) = screen::open()?;
    screen.line(&painted(BOLD, &one_line(&folder.to_string_lossy())));
    if changes.is_empty() {
        screen.line("  brings no policy and no MCP servers; there is nothing to trust");
    }
    for change in changes {
        show_change(&screen, change);
    }
    writing.finish()
}

fn show_change(screen: &Screen, change: &Change) {
    let (file, note) = match change {
        Change::Same(file) => (file, "as it was trusted"),
        Change::New(file) => (file, "not trusted yet"),
        Change::Changed { is, .. } => (is, "changed since it was trusted"),
        Change::Gone(file) => (file, "trusted, and no longer there"),
    };
    screen.line("");
    screen.line(&format!("  {}: {}", file.name, painted(ATTENTION, note)));
    match change {
        Change::Same(_) | Change::Gone(_) => {}
        Change::New(file) => {
            for line in toolcall::text::clean_block(&file.text).lines() {
                screen.line(&format!("{INDENT}{line}"));
            }
        }
        Change::Changed { was, is } => {
            let edit = FileEdit::modified(&is.name, was.text.as_str(), is.text.as_str());
            for line in preview(&[Content::Edit(edit)], width()) {
                screen.line(&line);
            }
        }
    }
    screen.line(&painted(DIM, &format!("{INDENT}sha256 {}", file.sha256)));
}

fn consent(trusting: &Trusting) -> anyhow::Result<Consent> {
    if trusting.yes {
        return Ok(Consent::Given);
    }
    if trusting.json {
        return Ok(Consent::Unasked);
    }
    Ok(ask(
        "Trust exactly this? Its rules hold and its servers start from then on.",
    )?)
}

fn tell(trusting: &Trusting, changes: &[Change], consent: Consent) -> anyhow::Result<ExitCode> {
    if trusting.json {
        let (screen, writing) = screen::open()?;
        let files: Vec<Value> = changes.iter().map(as_json).collect();
        let trusted = consent == Consent::Given;
        screen.line(&format!(
            "{:#}",
            json!({"trusted": trusted, "files": files})
        ));
        writing.finish()?;
    }
    match consent {
        Consent::Given if trusting.json || changes.is_empty() => {}
        Consent::Given => anstream::println!("\ntrusted"),
        Consent::Refused => {
            anstream::println!("not trusted");
            return Ok(ExitCode::FAILURE);
        }
        Consent::Unasked if trusting.json => return Ok(ExitCode::FAILURE),
        Consent::Unasked => bail!("there is no terminal to ask at; add --yes to trust it"),
    }
    Ok(ExitCode::SUCCESS)
}

fn as_json(change: &Change) -> Value {
    let told = |state: &str, file: &ProjectFile, was: Option<&ProjectFile>| {
        json!({
            "file": file.name,
            "state": state,
            "sha256": file.sha256,
            "trusted_sha256": was.map(|was| &was.sha256),
        })
    };
    match change {
        Change::Same(file) => told("trusted", file, Some(file)),
        Change::New(file) => told("new", file, None),
        Change::Changed { was, is } => told("changed", is, Some(was)),
        Change::Gone(file) => told("gone", file, Some(file)),
    }
}
