//! Endings, results and output in the stored form.
//! What was printed is kept as far as the call held it; where it was cut, what may be half a secret goes.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use toolcall::serde_forms::{BudgetForm, CancellerForm, CompletenessForm};
use toolcall::{self as heart, Canceller, Completeness, OutputBudget};

use super::content::{self, Content};
use super::text::{Blobs, Bytes, Edges, Json};
use super::{DecodeError, Packer};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Finish {
    ending: Ending,
    content: Vec<Content>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    structured: Option<Json>,
    output: Output,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Ending {
    Completed,
    Failed(Arc<str>),
    Denied(Arc<str>),
    #[serde(with = "CancellerForm")]
    Cancelled(Canceller),
    TimedOut(Duration),
    Interrupted(Arc<str>),
}

#[derive(Debug, Serialize, Deserialize)]
struct Output {
    #[serde(with = "BudgetForm")]
    budget: OutputBudget,
    held: Held,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spill: Option<Spill>,
}

/// What is held of an output.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Held {
    Whole(Bytes),
    Ends {
        head: Bytes,
        tail: Bytes,
        omitted: u64,
    },
}

#[derive(Debug, Serialize, Deserialize)]
struct Spill {
    uri: Arc<str>,
    bytes: u64,
    #[serde(with = "CompletenessForm")]
    completeness: Completeness,
}

impl Finish {
    pub(crate) fn pack(finish: &heart::Finish, packer: &mut Packer<'_>) -> Self {
        let heart::Finish {
            ending,
            result,
            output,
        } = finish;
        Self {
            ending: Ending::pack(ending, packer),
            content: content::pack_all(&result.content, packer),
            structured: result.structured.as_ref().map(|value| packer.json(value)),
            output: Output::pack(output, packer),
        }
    }

    pub(crate) fn unpack(self, blobs: &dyn Blobs) -> Result<heart::Finish, DecodeError> {
        let structured = self.structured.map(|value| value.unpack(blobs));
        Ok(heart::Finish {
            ending: self.ending.unpack(),
            result: heart::ToolResult {
                content: content::unpack_all(self.content, blobs)?,
                structured: structured.transpose()?,
            },
            output: Arc::new(self.output.unpack(blobs)?),
        })
    }
}

impl Ending {
    fn pack(ending: &heart::Ending, packer: &Packer<'_>) -> Self {
        match ending {
            heart::Ending::Completed => Ending::Completed,
            heart::Ending::Failed { reason } => Ending::Failed(packer.told(reason)),
            heart::Ending::Denied { reason } => Ending::Denied(packer.told(reason)),
            heart::Ending::Cancelled { by } => Ending::Cancelled(by.clone()),
            heart::Ending::TimedOut { after } => Ending::TimedOut(*after),
            heart::Ending::Interrupted { reason } => Ending::Interrupted(packer.told(reason)),
        }
    }

    fn unpack(self) -> heart::Ending {
        match self {
            Ending::Completed => heart::Ending::Completed,
            Ending::Failed(reason) => heart::Ending::Failed { reason },
            Ending::Denied(reason) => heart::Ending::Denied { reason },
            Ending::Cancelled(by) => heart::Ending::Cancelled { by },
            Ending::TimedOut(after) => heart::Ending::TimedOut { after },
            Ending::Interrupted(reason) => heart::Ending::Interrupted { reason },
        }
    }
}

impl Output {
    fn pack(output: &heart::Output, packer: &mut Packer<'_>) -> Self {
        let [head, front, back] = output.pieces();
        let held = match output.omitted() {
            // In one piece: a secret may lie across the border between head and tail.
            0 => Held::Whole(packer.bytes(&[head, front, back].concat(), Edges::Whole)),
            omitted => Held::Ends {
                head: packer.bytes(head, Edges::CutAfter),
                tail: packer.bytes(&[front, back].concat(), Edges::CutBefore),
                omitted,
            },
        };
        Self {
            budget: output.budget(),
            held,
            spill: output.spill().map(|spill| Spill {
                uri: packer.shared(&spill.uri),
                bytes: spill.bytes,
                completeness: spill.completeness,
            }),
        }
    }

    fn unpack(self, blobs: &dyn Blobs) -> Result<heart::Output, DecodeError> {
        let mut output = match self.held {
            Held::Whole(bytes) => {
                heart::Output::restored(self.budget, &bytes.unpack(blobs)?, 0, &[])
            }
            Held::Ends {
                head,
                tail,
                omitted,
            } => {
                let (head, tail) = (head.unpack(blobs)?, tail.unpack(blobs)?);
                heart::Output::restored(self.budget, &head, omitted, &tail)
            }
        };
        if let Some(spill) = self.spill {
            output.set_spill(heart::Spill {
                uri: spill.uri,
                bytes: spill.bytes,
                completeness: spill.completeness,
            });
        }
        Ok(output)
    }
}
