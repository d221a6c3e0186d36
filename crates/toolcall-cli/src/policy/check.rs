//! `toolcall policy check`: what is wrong with policy files, with the place and what to write.
//! It reads files and changes none.

use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};
use toolcall_policy::{
    FileState, Layer, LayerSource, PolicyError, PolicyFile, PolicySources, PolicyStoreConfig,
    PolicyText, Trust,
};

use crate::args::Checking;
use crate::context::working_folder;
use crate::places::Person;
use crate::screen;
use crate::view::{BAD, DIM, GOOD, one_line, painted};

/// Checks the files that are named, or those that hold.
pub(crate) fn run(checking: &Checking, person: &Person) -> anyhow::Result<ExitCode> {
    let files = match checking.files.is_empty() {
        true => holding(checking, person)?,
        false => checking
            .files
            .iter()
            .map(|file| named(file, person))
            .collect(),
    };
    let is_broken = |file: &PolicyFile| matches!(file.state, FileState::Broken(_));
    let (screen, writing) = screen::open()?;
    match checking.ruled.json {
        true => {
            let all: Vec<Value> = files.iter().map(as_json).collect();
            screen.line(&format!("{:#}", Value::Array(all)));
        }
        false => {
            for file in &files {
                screen.line(&line(file));
            }
        }
    }
    writing.finish()?;
    Ok(match files.iter().any(is_broken) {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    })
}

fn holding(checking: &Checking, person: &Person) -> anyhow::Result<Vec<PolicyFile>> {
    let cwd = working_folder(checking.ruled.cwd.as_deref())?;
    let sources = PolicySources::read(&PolicyStoreConfig {
        places: person.places.clone(),
        roots: vec![cwd],
        home: person.home.clone(),
        layers: crate::ruling::layers(&checking.ruled.ruling, person)?,
    });
    // That no answer was kept is nothing to report.
    let is_told = |file: &&PolicyFile| {
        file.scope != LayerSource::Remembered || file.state != FileState::Absent
    };
    Ok(sources.files().iter().filter(is_told).cloned().collect())
}

fn named(file: &Path, person: &Person) -> PolicyFile {
    let parsed = std::fs::read_to_string(file)
        .map_err(|error| PolicyError {
            file: file.display().to_string().into(),
            line: 0,
            column: 0,
            problem: format!("it cannot be read: {error}"),
            advice: "name a readable file".to_owned(),
        })
        .and_then(|text| {
            Layer::parse(PolicyText {
                file: &file.display().to_string(),
                text: &text,
                scope: LayerSource::Flags,
                trust: Trust::Trusted,
                home: person.home.as_deref(),
            })
        });
    PolicyFile {
        path: file.to_owned(),
        scope: LayerSource::Flags,
        state: match parsed {
            Ok(layer) => FileState::Holds(layer),
            Err(error) => FileState::Broken(error),
        },
    }
}

fn line(file: &PolicyFile) -> String {
    let path = one_line(&file.path.to_string_lossy());
    match &file.state {
        FileState::Absent => painted(DIM, &format!("none      {path}")),
        FileState::Holds(layer) => {
            format!("{}  {path}, {}", painted(GOOD, "good    "), rules(layer))
        }
        FileState::OnlyTightens(layer) => format!(
            "{}  {path}, {}; not trusted, so what it allows is left out (`toolcall trust`)",
            painted(GOOD, "good    "),
            rules(layer)
        ),
        FileState::Broken(error) => {
            let said = one_line(&error.to_string());
            format!("{}  {said}", painted(BAD, "broken  "))
        }
    }
}

fn rules(layer: &Layer) -> String {
    match layer.rules().len() {
        1 => "1 rule".to_owned(),
        many => format!("{many} rules"),
    }
}

fn as_json(file: &PolicyFile) -> Value {
    let path = file.path.to_string_lossy();
    match &file.state {
        FileState::Absent => json!({"file": path, "state": "absent"}),
        FileState::Holds(layer) => {
            json!({"file": path, "state": "good", "rules": layer.rules().len()})
        }
        FileState::OnlyTightens(layer) => {
            json!({"file": path, "state": "untrusted", "rules": layer.rules().len()})
        }
        FileState::Broken(error) => json!({
            "file": path,
            "state": "broken",
            "line": error.line,
            "column": error.column,
            "problem": error.problem,
            "advice": error.advice,
        }),
    }
}
