//! Encodes and decodes every sort of value; each must come back as it was.
//! Texts over the limit are the exception, shown in full below.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use expect_test::{Expect, expect};
use serde_json::json;
use toolcall::*;

use super::{BlobSource, Encoder, Hash, event_from_json, event_to_json};
use crate::redact::Redactor;
use crate::settings::KeepContent;

impl BlobSource for HashMap<Hash, Vec<u8>> {
    fn blob(&self, hash: &Hash) -> Option<Vec<u8>> {
        self.get(hash).cloned()
    }
}

fn there_and_back(event: &Event, longest: usize) -> (Event, usize) {
    let redactor = Redactor::get();
    let mut encoder = Encoder::new(redactor, KeepContent::Contents, longest);
    let body = event_to_json(event, &mut encoder);
    let blobs: HashMap<Hash, Vec<u8>> = encoder.blobs.into_iter().collect();
    let count = blobs.len();
    let back = event_from_json(&body, &blobs).unwrap_or_else(|error| panic!("{error}: {body}"));
    (back, count)
}

#[cfg(unix)]
fn odd_path() -> std::path::PathBuf {
    use std::os::unix::ffi::OsStringExt as _;
    std::ffi::OsString::from_vec(b"/work/\xff\xfe".to_vec()).into()
}

#[cfg(not(unix))]
fn odd_path() -> std::path::PathBuf {
    "/work/odd".into()
}

fn commands() -> Vec<Touch> {
    let file = |access| Target::File {
        path: "/work/out".into(),
        access,
    };
    let redirects = [
        (Stream::Input, file(Access::Read)),
        (Stream::Output, file(Access::Replace)),
        (Stream::Output, file(Access::Append)),
        (Stream::Error, Target::Stream(Stream::Output)),
        (Stream::Error, Target::Null),
    ];
    let redirects = redirects.map(|(stream, target)| Redirect { stream, target });
    let parts = [Join::Then, Join::And, Join::Or, Join::Pipe].map(|join| Part {
        join,
        argv: vec!["cargo".into(), "test".into()],
        cwd: "/work".into(),
        redirects: redirects.to_vec(),
    });
    let mut understood = Command::new("cargo test", "/work", Reading::Understood(parts.to_vec()));
    understood.scripts = [("/work/run.sh".into(), Digest([9; 32]))].into();
    understood.env.insert("LANG".into(), "C".into());
    vec![
        Touch::Runs(understood),
        Touch::Runs(Command::unread("$(x)", "/work")),
    ]
}

fn bodies() -> Vec<FileBody> {
    vec![
        FileBody::Text("text".into()),
        FileBody::Text("long ".repeat(1000).into()),
        FileBody::Binary {
            bytes: 7,
            digest: Some(Digest([7; 32])),
        },
        FileBody::Folder {
            files: 2,
            bytes: u64::MAX,
            digest: None,
        },
    ]
}

fn contents() -> Vec<Content> {
    let edits = bodies().into_iter().flat_map(|body| {
        [
            FileChange::Added {
                after: body.clone(),
            },
            FileChange::Modified {
                before: body.clone(),
                after: FileBody::Text("".into()),
            },
            FileChange::Deleted { before: body },
            FileChange::Moved { to: "/b".into() },
        ]
    });
    let edits = edits.map(|change| {
        Content::Edit(FileEdit {
            path: odd_path(),
            change,
        })
    });
    let resource = |body| Resource {
        uri: "file:///a".into(),
        mime: Some("text/plain".into()),
        body,
    };
    let link = Link {
        uri: "file:///a".into(),
        name: "a".into(),
        title: Some("A".into()),
        description: None,
        mime: None,
        size: Some(3),
    };
    let mut contents = vec![
        Content::text("text"),
        Content::text("ü ".repeat(2000)),
        Content::image("image/png", &[0, 255, 3]),
        Content::audio("audio/wav", &[9; 5000]),
        Content::Resource(resource(ResourceBody::Text("t".into()))),
        Content::Resource(resource(ResourceBody::Base64("dA==".into()))),
        Content::Link(link),
        Content::Terminal("terminal-1".into()),
    ];
    contents.extend(edits);
    contents
}

fn prepared() -> Arc<Prepared> {
    let mut intent = Intent::new(Kind::SwitchMode, "A title")
        .reading(odd_path())
        .touching(Touch::Writes("/w".into()))
        .touching(Touch::Deletes("/d".into()))
        .touching(Touch::Moves {
            from: "/f".into(),
            to: "/t".into(),
        })
        .touching(Touch::Reaches("example.org".into()))
        .touching(Touch::Unknown)
        .at(Location::line("/w", 7));
    intent.touches.extend(commands());
    intent.preview = contents();
    intent.tool = ToolIdentity {
        name: "tool".into(),
        origin: Origin::Mcp("server".into()),
        ..ToolIdentity::default()
    };
    let odd =
        json!({"floats": [0.1, 1e300, -0.0, 5e-324], "ints": [u64::MAX, i64::MIN], "null": null});
    Arc::new(Prepared {
        input: Arc::new(odd),
        intent,
    })
}

fn outputs() -> Vec<Arc<Output>> {
    let printed = |bytes: &[u8], budget| {
        let mut output = Output::new(budget);
        output.push(bytes);
        Arc::new(output)
    };
    let small = OutputBudget { head: 6, tail: 6 };
    let mut spilled = Output::clone(&printed(b"all is well", OutputBudget::default()));
    spilled.set_spill(Spill {
        uri: "file:///spill".into(),
        bytes: 12,
        completeness: Completeness::Capped,
    });
    vec![
        printed(b"", small),
        printed(b"abcdefgh", small),
        printed(b"\xff\xfe\x00", small),
        printed(b"a b c d e f g h i j k l m n", small),
        printed("line\n".repeat(2000).as_bytes(), OutputBudget::default()),
        Arc::new(spilled),
    ]
}

fn every_ending() -> Vec<Ending> {
    let cancelled = |by| Ending::Cancelled { by };
    vec![
        Ending::Completed,
        Ending::failed("it broke"),
        Ending::denied("never"),
        cancelled(Canceller::Person),
        cancelled(Canceller::Turn),
        cancelled(Canceller::Engine),
        cancelled(Canceller::Parent),
        Ending::TimedOut {
            after: Duration::new(3, 999_999_999),
        },
        Ending::interrupted("gone"),
    ]
}

fn decisions() -> Vec<Event> {
    let rule = |lifetime| Rule {
        text: "exactly this".into(),
        lifetime,
    };
    let judges = [
        Judge::Rule(RuleName::new("name")),
        Judge::Person(Remembered::Once),
        Judge::Person(Remembered::Kept(rule(Lifetime::Project))),
        Judge::Person(Remembered::NotKept {
            rule: rule(Lifetime::Everywhere),
            why: "the disk is full".into(),
        }),
        Judge::Unseen,
    ];
    let decided = |by| {
        Event::Decided(Arc::new(Decision {
            question: Some(QuestionId::new("q")),
            effect: Effect::Deny,
            by,
        }))
    };
    let asked = Event::Asked(Arc::new(Question {
        id: QuestionId::new("q"),
        session: SessionId::new("s"),
        call: CallId::new("c"),
        subject: prepared(),
        offers: vec![rule(Lifetime::Session)],
        because: RuleName::new("ask"),
    }));
    judges.map(decided).into_iter().chain([asked]).collect()
}

fn forms() -> Vec<Event> {
    let schema = serde_json::json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "Name", "minLength": 1},
            "days": {"type": "integer", "minimum": 1, "default": 3},
            "some": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        },
        "required": ["name"],
    });
    let asked = Event::FormAsked(Arc::new(FormQuestion {
        id: QuestionId::new("f"),
        session: SessionId::new("s"),
        call: CallId::new("c"),
        form: Form::read("server", "Who?", &schema).expect("a form"),
    }));
    let replies = [
        FormReply::Accepted(vec!["name".into()]),
        FormReply::Declined {
            reason: Some("nobody is there".into()),
        },
        FormReply::Cancelled,
    ];
    let answered = |reply| {
        Event::FormAnswered(Arc::new(FormAnswered {
            question: QuestionId::new("f"),
            reply,
        }))
    };
    replies.map(answered).into_iter().chain([asked]).collect()
}

fn plain_events() -> Vec<Event> {
    let sketch = Sketch {
        title: "Title".into(),
        kind: Kind::Fetch,
        locations: vec![Location::file("/w")],
    };
    let announced = Announced {
        tool: "tool".into(),
        model_id: Some("m".into()),
        parent: Some(CallId::new("p")),
        input: Some(Input::Text("no json".into())),
        outline: sketch.clone().into(),
    };
    let entry = |status, priority| PlanEntry {
        content: "step".into(),
        status,
        priority,
    };
    let entries = vec![
        entry(PlanStatus::Pending, Priority::High),
        entry(PlanStatus::InProgress, Priority::Medium),
        entry(PlanStatus::Completed, Priority::Low),
    ];
    vec![
        Event::Announced(Arc::new(announced)),
        Event::InputGrew(InputGrowth {
            bytes: 9,
            sketch: Arc::new(sketch.clone()),
        }),
        Event::InputArrived(json!({"long": "x".repeat(5000)}).into()),
        Event::Prepared(prepared()),
        Event::Started,
        Event::Progressed(Progress::at(1.5).of(3.1).part(0.7).saying("half")),
        Event::Progressed(Progress::at(2.0).part(0.1)),
        Event::Showed(contents().into()),
        Event::Printed(Printed { from: 1, to: 2 }),
        Event::Heartbeat(Heartbeat {
            elapsed: Duration::from_millis(1),
            bytes: 2,
            quiet: Duration::from_nanos(3),
        }),
        Event::Held("paused".into()),
        Event::Resumed,
        Event::Planned(Arc::new(Plan { entries })),
        Event::Noted {
            key: "k".into(),
            value: Arc::new(json!(0.1)),
        },
        Event::Located([Location::line("/w", 3)].into()),
        Event::Exited(Exit::Code(-1)),
        Event::Exited(Exit::Signal(9)),
        Event::Restated(Arc::new(Restatement {
            tool: Some("t".into()),
            sketch,
            input: Some(json!([1]).into()),
            preview: contents(),
        })),
        Event::StatusUnknown("warming up".into()),
    ]
}

#[test]
fn every_sort_of_event_comes_back_as_it_was() {
    let mut events = plain_events();
    events.extend(decisions());
    events.extend(forms());
    for ending in every_ending() {
        for output in outputs() {
            events.push(Event::Finished(Arc::new(Finish {
                ending: ending.clone(),
                result: ToolResult::from(contents()).structured(json!({"a": 1})),
                output,
            })));
        }
    }
    for event in events {
        let (back, _) = there_and_back(&event, 1024 * 1024);
        assert_eq!(back, event);
    }
}

#[test]
fn a_long_text_is_put_aside_once() {
    let long: Arc<str> = "long ".repeat(1000).into();
    let twice = Event::Showed([Content::Text(long.clone()), Content::Text(long)].into());
    assert_eq!(there_and_back(&twice, 1024 * 1024), (twice, 1));
}

fn check_cut(event: Event, expected: Expect) {
    let (back, _) = there_and_back(&event, 40);
    expected.assert_eq(&format!("{back:?}"));
}

#[test]
fn what_is_too_long_is_cut_or_named() {
    let long: Arc<str> = "0123456789".repeat(10).into();
    let image = Content::Image(Blob {
        mime: "image/png".into(),
        base64: long.clone(),
    });
    check_cut(
        Event::Showed([Content::Text(long.clone()), image].into()),
        expect![[
            r#"Showed([Text("01234567890123456789\n… 60 bytes were not kept …\n01234567890123456789"), Text("image: (100 bytes were not kept)")])"#
        ]],
    );
    let edit = FileEdit::added("/a", long);
    check_cut(
        Event::Showed([Content::Edit(edit)].into()),
        expect![[
            r#"Showed([Edit(FileEdit { path: "/a", change: Added { after: Binary { bytes: 100, digest: Some(Digest([156, 254, 127, 175, 247, 5, 66, 152, 202, 135, 85, 126, 21, 161, 2, 98, 222, 141, 62, 238, 119, 130, 116, 23, 251, 223, 234, 28, 65, 185, 236, 35])) } } })])"#
        ]],
    );
    check_cut(
        Event::InputArrived(json!({"long": "x".repeat(5000)}).into()),
        expect![[r#"InputArrived(Json(String("(5011 bytes were not kept)")))"#]],
    );
}

#[test]
fn what_is_missing_or_malformed_is_named() {
    let none: HashMap<Hash, Vec<u8>> = HashMap::new();
    let missing = event_from_json(r#"{"held": 3}"#, &none).expect_err("not a text");
    expect!["a stored record cannot be decoded: invalid type: integer `3`, expected a string at line 1 column 10"]
        .assert_eq(&missing.to_string());
    let hash = "0".repeat(64);
    let body = format!(r#"{{"showed": [{{"text": {{"blob": "{hash}"}}}}]}}"#);
    let missing = event_from_json(&body, &none).expect_err("not there");
    assert_eq!(missing, super::DecodeError::MissingText(hash));
}
