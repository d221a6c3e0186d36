//! The stored form of endings, results and output.
//! Output is stored as far as the call held it; at a cut, what may be part of a secret is masked.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use toolcall::serde_forms::{BudgetForm, CancellerForm, CompletenessForm};
use toolcall::{Canceller, Completeness, OutputBudget};

use super::content::{self, StoredContent};
use super::text::{BlobSource, OutputCut, StoredBytes, StoredJson};
use super::{DecodeError, Encoder};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredFinish {
    ending: StoredEnding,
    content: Vec<StoredContent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    structured: Option<StoredJson>,
    output: StoredOutput,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredEnding {
    Completed,
    Failed(Arc<str>),
    Denied(Arc<str>),
    #[serde(with = "CancellerForm")]
    Cancelled(Canceller),
    TimedOut(Duration),
    Interrupted(Arc<str>),
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredOutput {
    #[serde(with = "BudgetForm")]
    budget: OutputBudget,
    held: StoredOutputBody,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spill: Option<StoredSpill>,
}

/// The bytes of an output: all of them, or its beginning and its end.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredOutputBody {
    Whole(StoredBytes),
    Ends {
        head: StoredBytes,
        tail: StoredBytes,
        omitted: u64,
    },
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredSpill {
    uri: Arc<str>,
    bytes: u64,
    #[serde(with = "CompletenessForm")]
    completeness: Completeness,
}

impl StoredFinish {
    pub(crate) fn encode(finish: &toolcall::Finish, encoder: &mut Encoder<'_>) -> Self {
        let toolcall::Finish {
            ending,
            result,
            output,
        } = finish;
        Self {
            ending: StoredEnding::encode(ending, encoder),
            content: content::encode_all(&result.content, encoder),
            structured: result.structured.as_ref().map(|value| encoder.json(value)),
            output: StoredOutput::encode(output, encoder),
        }
    }

    pub(crate) fn decode(self, blobs: &dyn BlobSource) -> Result<toolcall::Finish, DecodeError> {
        let structured = self.structured.map(|value| value.decode(blobs));
        Ok(toolcall::Finish {
            ending: self.ending.decode(),
            result: toolcall::ToolResult {
                content: content::decode_all(self.content, blobs)?,
                structured: structured.transpose()?,
            },
            output: Arc::new(self.output.decode(blobs)?),
        })
    }
}

impl StoredEnding {
    fn encode(ending: &toolcall::Ending, encoder: &Encoder<'_>) -> Self {
        match ending {
            toolcall::Ending::Completed => StoredEnding::Completed,
            toolcall::Ending::Failed { reason } => {
                StoredEnding::Failed(encoder.content_line(reason))
            }
            toolcall::Ending::Denied { reason } => {
                StoredEnding::Denied(encoder.content_line(reason))
            }
            toolcall::Ending::Cancelled { by } => StoredEnding::Cancelled(by.clone()),
            toolcall::Ending::TimedOut { after } => StoredEnding::TimedOut(*after),
            toolcall::Ending::Interrupted { reason } => {
                StoredEnding::Interrupted(encoder.content_line(reason))
            }
        }
    }

    fn decode(self) -> toolcall::Ending {
        match self {
            StoredEnding::Completed => toolcall::Ending::Completed,
            StoredEnding::Failed(reason) => toolcall::Ending::Failed { reason },
            StoredEnding::Denied(reason) => toolcall::Ending::Denied { reason },
            StoredEnding::Cancelled(by) => toolcall::Ending::Cancelled { by },
            StoredEnding::TimedOut(after) => toolcall::Ending::TimedOut { after },
            StoredEnding::Interrupted(reason) => toolcall::Ending::Interrupted { reason },
        }
    }
}

impl StoredOutput {
    fn encode(output: &toolcall::Output, encoder: &mut Encoder<'_>) -> Self {
        let [head, front, back] = output.pieces();
        let held = match output.omitted() {
            // In one piece: a secret may cross the border between head and tail.
            0 => StoredOutputBody::Whole(
                encoder.bytes(&[head, front, back].concat(), OutputCut::Whole),
            ),
            omitted => StoredOutputBody::Ends {
                head: encoder.bytes(head, OutputCut::CutAfter),
                tail: encoder.bytes(&[front, back].concat(), OutputCut::CutBefore),
                omitted,
            },
        };
        Self {
            budget: output.budget(),
            held,
            spill: output.spill().map(|spill| StoredSpill {
                uri: encoder.redacted(&spill.uri),
                bytes: spill.bytes,
                completeness: spill.completeness,
            }),
        }
    }

    fn decode(self, blobs: &dyn BlobSource) -> Result<toolcall::Output, DecodeError> {
        let mut output = match self.held {
            StoredOutputBody::Whole(bytes) => {
                toolcall::Output::restored(self.budget, &bytes.decode(blobs)?, 0, &[])
            }
            StoredOutputBody::Ends {
                head,
                tail,
                omitted,
            } => {
                let (head, tail) = (head.decode(blobs)?, tail.decode(blobs)?);
                toolcall::Output::restored(self.budget, &head, omitted, &tail)
            }
        };
        if let Some(spill) = self.spill {
            output.set_spill(toolcall::Spill {
                uri: spill.uri,
                bytes: spill.bytes,
                completeness: spill.completeness,
            });
        }
        Ok(output)
    }
}
