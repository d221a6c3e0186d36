//! The tool by which a model asks for another permission mode.
//! It decides nothing: the policy says whether a switch is allowed, asked about or denied.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use toolcall::text::clean_line;
use toolcall::{Content, Intent, Kind, PrepareContext, RunContext, Tool, ToolError, Touch};
use toolcall_policy::{Mode, PolicyStore};

/// The longest reason in a title, in characters.
const LONGEST_REASON: usize = 200;

/// Switches the permission mode of a session.
pub struct SwitchMode {
    policy: PolicyStore,
}

impl SwitchMode {
    /// Returns the tool for the session of this policy.
    pub fn new(policy: PolicyStore) -> Self {
        Self { policy }
    }

    fn way(&self, wanted: Mode) -> Way {
        if wanted < self.policy.rules().mode() {
            Way::Looser
        } else {
            Way::NoLooser
        }
    }

    /// The mode may have become stricter since the call was judged, by another call or by the user.
    /// A switch that was allowed silently because it did not loosen the mode must not loosen it now.
    fn check_way(&self, wanted: Mode, scope: &RunContext) -> Result<(), ToolError> {
        let was_harmless = scope.prepared().intent.preview == [shown(wanted, Way::NoLooser)];
        if was_harmless && self.way(wanted) == Way::Looser {
            Err(ToolError::new(
                "the mode became stricter meanwhile, so nothing was switched; ask again if it is still wanted",
            ))
        } else {
            Ok(())
        }
    }
}

impl fmt::Debug for SwitchMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SwitchMode").finish_non_exhaustive()
    }
}

/// What [`SwitchMode`] takes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SwitchInput {
    #[serde(deserialize_with = "named")]
    #[schemars(schema_with = "modes")]
    mode: Mode,
    /// Why it is wanted, in one line for the person who is asked.
    #[serde(default)]
    because: Option<String>,
}

/// The direction of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Looser,
    NoLooser,
}

impl Tool for SwitchMode {
    const NAME: &'static str = "switch_mode";
    const DESCRIPTION: &'static str = "Asks for another permission mode for the rest of the session. The person is asked \
                                       about every looser one; a stricter one holds at once.";
    const KIND: Option<Kind> = Some(Kind::SwitchMode);
    type Input = SwitchInput;
    type Output = String;

    async fn prepare(
        &self,
        input: &SwitchInput,
        _look: &PrepareContext,
    ) -> Result<Intent, ToolError> {
        let wanted = input.mode;
        let touch = Touch::Reaches(format!("mode:{}", wanted.as_str()).into());
        let intent = Intent::new(Kind::SwitchMode, title(input)).touching(touch);
        Ok(intent.showing(shown(wanted, self.way(wanted))))
    }

    async fn run(&self, input: SwitchInput, scope: &RunContext) -> Result<String, ToolError> {
        let wanted = input.mode;
        self.check_way(wanted, scope)?;
        self.policy.set_mode(wanted);
        let holding = self.policy.rules().mode();
        Ok(description(wanted, holding))
    }
}

fn title(input: &SwitchInput) -> String {
    let mode = input.mode.as_str();
    match input.because.as_deref().map(str::trim) {
        Some(because) if !because.is_empty() => {
            format!("Switch to {mode}: {}", clean_line(because, LONGEST_REASON))
        }
        Some(_) | None => format!("Switch to {mode}"),
    }
}

/// Returns what the user should know before allowing the switch.
fn shown(wanted: Mode, way: Way) -> Content {
    let mut lines = vec![wanted.description()];
    lines.extend(wanted.warning());
    lines.push(match way {
        Way::Looser => "This is looser than the mode that holds now.",
        Way::NoLooser => "This is no looser than the mode that holds now.",
    });
    Content::Text(lines.join("\n").into())
}

fn description(wanted: Mode, holding: Mode) -> String {
    let (name, description) = (holding.as_str(), holding.description());
    if holding == wanted {
        format!("the mode is `{name}` now. {description}")
    } else {
        format!(
            "the mode is `{name}`, not `{}`: the project insists on it. {description}",
            wanted.as_str()
        )
    }
}

fn named<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Mode, D::Error> {
    let name = String::deserialize(deserializer)?;
    Mode::named(&name).ok_or_else(|| D::Error::custom(format!("there is no mode `{name}`")))
}

/// Lists the modes, each with what it allows.
fn modes(_: &mut SchemaGenerator) -> Schema {
    let all = Mode::ALL.map(|mode| format!("`{}`: {}", mode.as_str(), mode.description()));
    json_schema!({
        "type": "string",
        "enum": Mode::ALL.map(Mode::as_str),
        "description": format!("The mode. {}", all.join(" ")),
    })
}
