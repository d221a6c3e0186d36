//! `toolcall policy check`: reports errors in policy files, with position and advice.
//! It changes no files.

use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};
use toolcall_policy::{
    FileState, Layer, LayerSource, PolicyError, PolicyFile, PolicySources, PolicyStoreConfig,
    PolicyText, Trust,
};

use crate::args::PolicyCheckArgs;
use crate::context::working_directory;
use crate::environment::UserEnvironment;
use crate::policy_layers;
use crate::screen;
use crate::view::{BAD, DIM, GOOD, one_line, paint, pluralize};

/// Checks the named files, or those that apply in the directory.
pub(crate) fn run(args: &PolicyCheckArgs, user: &UserEnvironment) -> anyhow::Result<ExitCode> {
    let files = if args.files.is_empty() {
        applying_files(args, user)?
    } else {
        let files = args.files.iter();
        files.map(|file| read_file(file, user)).collect()
    };
    let is_broken = |file: &PolicyFile| matches!(file.state, FileState::Broken(_));
    let (screen, output) = screen::open()?;
    if args.scope.json {
        let all: Vec<Value> = files.iter().map(as_json).collect();
        screen.line(&format!("{:#}", Value::Array(all)));
    } else {
        for file in &files {
            screen.line(&line(file));
        }
    }
    output.finish()?;
    Ok(if files.iter().any(is_broken) {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn applying_files(
    args: &PolicyCheckArgs,
    user: &UserEnvironment,
) -> anyhow::Result<Vec<PolicyFile>> {
    let cwd = working_directory(args.scope.cwd.as_deref())?;
    let sources = PolicySources::read(&PolicyStoreConfig {
        places: user.dirs.clone(),
        roots: vec![cwd],
        home: user.home.clone(),
        layers: policy_layers::from_args(&args.scope.policy_args, user)?,
    });
    // The file of remembered answers is optional: that it is absent is not worth a line.
    let is_shown = |file: &&PolicyFile| {
        file.scope != LayerSource::Remembered || file.state != FileState::Absent
    };
    Ok(sources.files().iter().filter(is_shown).cloned().collect())
}

fn read_file(file: &Path, user: &UserEnvironment) -> PolicyFile {
    let parsed = std::fs::read_to_string(file)
        .map_err(|error| PolicyError {
            file: file.display().to_string().into(),
            line: 0,
            column: 0,
            problem: format!("the file cannot be read: {error}"),
            advice: "name a readable file".to_owned(),
        })
        .and_then(|text| {
            Layer::parse(PolicyText {
                file: &file.display().to_string(),
                text: &text,
                scope: LayerSource::Flags,
                trust: Trust::Trusted,
                home: user.home.as_deref(),
            })
        });
    PolicyFile {
        path: file.to_owned(),
        scope: LayerSource::Flags,
        state: match parsed {
            Ok(layer) => FileState::Active(layer),
            Err(error) => FileState::Broken(error),
        },
    }
}

fn line(file: &PolicyFile) -> String {
    let path = one_line(&file.path.to_string_lossy());
    match &file.state {
        FileState::Absent => paint(DIM, &format!("none      {path}")),
        FileState::Active(layer) => {
            format!("{}  {path}, {}", paint(GOOD, "good    "), rules(layer))
        }
        FileState::Untrusted(layer) => format!(
            "{}  {path}, {}; not trusted, so its allow rules do not apply (`toolcall trust`)",
            paint(GOOD, "good    "),
            rules(layer)
        ),
        FileState::Broken(error) => {
            let error = one_line(&error.to_string());
            format!("{}  {error}", paint(BAD, "broken  "))
        }
    }
}

fn rules(layer: &Layer) -> String {
    pluralize(layer.rules().len(), "rule")
}

fn as_json(file: &PolicyFile) -> Value {
    let path = file.path.to_string_lossy();
    match &file.state {
        FileState::Absent => json!({"file": path, "state": "absent"}),
        FileState::Active(layer) => {
            json!({"file": path, "state": "good", "rules": layer.rules().len()})
        }
        FileState::Untrusted(layer) => {
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
