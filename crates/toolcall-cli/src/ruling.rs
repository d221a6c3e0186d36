//! What the command line says about rules, as layers of a policy.
//! It reads what was named; whether it holds is not decided here.

use anyhow::Context as _;
use toolcall_policy::{Layer, LayerSource, Mode, PolicyText, Trust};

use crate::args::{ModeName, Ruling};
use crate::places::Person;

/// The layers of the command line. A broken file is an error before anything is done.
pub(crate) fn layers(ruling: &Ruling, person: &Person) -> anyhow::Result<Vec<Layer>> {
    let mut layers = Vec::new();
    if let Some(file) = &ruling.policy {
        let named = file.display().to_string();
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("`{named}` cannot be read as a policy"))?;
        layers.push(Layer::parse(PolicyText {
            file: &named,
            text: &text,
            scope: LayerSource::Flags,
            trust: Trust::Trusted,
            home: person.home.as_deref(),
        })?);
    }
    if let Some(name) = ruling.mode {
        layers.push(Layer::of_mode(LayerSource::Flags, mode(name)));
    }
    Ok(layers)
}

fn mode(name: ModeName) -> Mode {
    match name {
        ModeName::AllowAll => Mode::AllowAll,
        ModeName::AcceptEdits => Mode::AcceptEdits,
        ModeName::Ask => Mode::Ask,
        ModeName::ReadOnly => Mode::ReadOnly,
        ModeName::DenyAll => Mode::DenyAll,
    }
}
