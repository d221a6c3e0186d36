//! Converts `--policy` and `--mode` to policy layers.
//! It parses them; the policy store combines them with the other layers.

use anyhow::Context as _;
use toolcall_policy::{Layer, LayerSource, Mode, PolicyText, Trust};

use crate::args::{ModeName, PolicyArgs};
use crate::environment::UserEnvironment;

/// Returns the layers of the command line. An invalid file is an error before anything runs.
pub(crate) fn from_args(args: &PolicyArgs, user: &UserEnvironment) -> anyhow::Result<Vec<Layer>> {
    let mut layers = Vec::new();
    if let Some(file) = &args.policy {
        let named = file.display().to_string();
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("the policy file `{named}` cannot be read"))?;
        layers.push(Layer::parse(PolicyText {
            file: &named,
            text: &text,
            scope: LayerSource::Flags,
            trust: Trust::Trusted,
            home: user.home.as_deref(),
        })?);
    }
    if let Some(name) = args.mode {
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
