//! Properties of the inbound reader: whatever the bytes are, only valid messages are dispatched.
//! The tests of the connection check which error each bad line gets.

use std::io;
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll};

use agent_client_protocol::TransportFrame;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, ReadBuf};

use super::{Inbound, IncomingRequests, message};
use crate::dispatch::{Dispatch, Handled, Responder};
use crate::lane::Lane;
use crate::peer::Peer;
use crate::requests::Requests;
use crate::transport::ConnectionLimits;

const LIMITS: ConnectionLimits = ConnectionLimits {
    line: 2000,
    lane: usize::MAX,
    depth: 127,
    requests: 4096,
};

/// A reader that returns its bytes in chunks of this size.
struct Pieces(Vec<u8>, usize);

impl AsyncRead for Pieces {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let bytes = self.1.min(self.0.len()).min(out.remaining());
        out.put_slice(&self.0[..bytes]);
        self.0.drain(..bytes);
        Poll::Ready(Ok(()))
    }
}

/// What was dispatched, and what was sent to the peer.
struct Outcome {
    handed_on: Vec<Value>,
    replies: Vec<Value>,
}

/// A handler that records what it receives and answers nothing.
#[derive(Default)]
struct Keeping {
    messages: Mutex<Vec<Value>>,
    responders: Mutex<Vec<Responder>>,
}

impl Keeping {
    fn keep(&self, method: &str, params: Option<&RawValue>) {
        let params = params.map(|params| serde_json::from_str::<Value>(params.get()).unwrap());
        let message = json!({"method": method, "params": params});
        self.messages.lock().unwrap().push(message);
    }
}

impl Dispatch for Keeping {
    fn request(&self, method: &str, params: Option<&RawValue>, to: Responder) -> Handled {
        self.keep(method, params);
        self.responders.lock().unwrap().push(to);
        Handled::Later
    }

    fn notification(&self, method: &str, params: Option<&RawValue>) {
        self.keep(method, params);
    }
}

fn run(bytes: Vec<u8>, piece: usize) -> Outcome {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.build().unwrap();
    runtime.block_on(async {
        let (lane, outlet) = Lane::new(LIMITS.lane);
        let peer = Peer::new(
            lane.clone(),
            Requests::new(1),
            IncomingRequests::new(LIMITS.requests),
        );
        let source = Box::new(Pieces(bytes, piece));
        let keeping = Keeping::default();
        Inbound::new(source, &LIMITS, peer).run(&keeping).await;
        lane.close();
        let mut written = Vec::new();
        outlet.drain(&mut written).await.unwrap();
        let written = String::from_utf8(written).unwrap();
        let replies = written.lines().map(serde_json::from_str);
        let replies = replies.collect::<Result<_, _>>().unwrap();
        let handed_on = keeping.messages.into_inner().unwrap();
        Outcome { handed_on, replies }
    })
}

/// A member of a message, good or bad.
fn member() -> impl Strategy<Value = &'static str> {
    select(vec![
        r#""jsonrpc":"2.0""#,
        r#""jsonrpc":"2\u002e0""#,
        r#""jsonrpc":2"#,
        r#""id":1"#,
        r#""id":"one""#,
        r#""id":null"#,
        r#""id":1.5"#,
        r#""id":-0"#,
        r#""id":{}"#,
        r#""\u0069d":2"#,
        r#""method":"m""#,
        r#""m\u0065thod":"\"\ud83d\ude00""#,
        r#""method":"\ud800""#,
        r#""method":["m"]"#,
        r#""params":{"a":[1,2]}"#,
        r#""params":null"#,
        r#""params":5"#,
        r#""params":1e999"#,
        r#""params":{"a":"\udc00"}"#,
        r#""params":{"a":1e999}"#,
        r#""params":{"$serde_json::private::RawValue":5}"#,
        r#""params":{"a":{"\u0024serde_json::private::RawValue":"[}"}}"#,
        r#""result":null"#,
        r#""result":"\ud83d""#,
        r#""error":{"code":-1,"message":"no"}"#,
        r#""error":{"code":-1,"code":99999999999,"message":"no"}"#,
        r#""error":{"code":1.5,"message":"no"}"#,
        r#""other":0"#,
    ])
}

/// A message that is mostly well formed and mostly invalid.
fn object() -> impl Strategy<Value = Vec<u8>> {
    let version = select(vec![r#""jsonrpc":"2.0","#, ""]);
    (version, vec(member(), 1..5)).prop_map(|(version, members)| {
        let members = members.join(",");
        format!("{{{version}{members}}}").into_bytes()
    })
}

fn noise() -> impl Strategy<Value = Vec<u8>> {
    let tokens = select(vec![
        "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "1", "-", "true", "nul", " ", "\t", "é",
    ]);
    let tokens = vec(tokens, 0..20).prop_map(|tokens| tokens.concat().into_bytes());
    let deep = (120..140_usize).prop_map(|depth| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        format!(r#"{{"jsonrpc":"2.0","method":"m","params":{open}{close}}}"#).into_bytes()
    });
    let long = (1990..2010_usize).prop_map(|bytes| vec![b' '; bytes]);
    prop_oneof![tokens, deep, long, vec(any::<u8>(), 0..20)]
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    let broken = (object(), any::<proptest::sample::Index>(), any::<u8>());
    let broken = broken.prop_map(|(mut line, at, byte)| {
        let at = at.index(line.len());
        line[at] = byte;
        line
    });
    prop_oneof![4 => object(), 2 => broken, 1 => noise()]
}

fn lines() -> impl Strategy<Value = Vec<u8>> {
    let end = select(vec![&b"\n"[..], b"\r\n", b"\n\n"]);
    let lines = vec((line(), end), 0..8);
    (lines, line()).prop_map(|(lines, last)| {
        let lines = lines.into_iter().flat_map(|(line, end)| [line, end.into()]);
        lines.chain([last]).collect::<Vec<_>>().concat()
    })
}

/// A value as a peer may send it.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 30, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::from),
            vec((any::<String>(), inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn good_message() -> impl Strategy<Value = Value> {
    let id = prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    (id, any::<String>(), value(), 0..4).prop_map(|(id, method, value, kind)| match kind {
        0 => json!({"jsonrpc": "2.0", "id": id, "method": method, "params": [value]}),
        1 => json!({"jsonrpc": "2.0", "method": method, "params": {"a": value}}),
        2 => json!({"jsonrpc": "2.0", "id": id, "result": value}),
        _ => json!({"jsonrpc": "2.0", "id": id,
            "error": {"code": -1, "message": method, "data": value}}),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn only_messages_go_on_and_a_bad_line_is_answered_at_most_once(
        bytes in lines(),
        piece in 1..200_usize,
    ) {
        let most = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
        let outcome = run(bytes, piece);
        for reply in &outcome.replies {
            let message = reply["error"]["message"].as_str().unwrap();
            prop_assert!(message.len() < 500 && !message.contains(char::is_control), "{reply}");
        }
        prop_assert!(outcome.handed_on.len() + outcome.replies.len() <= most);
    }

    #[test]
    fn what_is_accepted_here_the_sdk_accepts_too(line in line()) {
        if let Ok(line) = std::str::from_utf8(&line)
            && message::read(line, LIMITS.depth).is_ok()
        {
            let frame = TransportFrame::parse_json(line);
            prop_assert!(matches!(frame, TransportFrame::Single(_)), "{line}");
        }
    }

    #[test]
    fn every_good_message_goes_on_unchanged(message in good_message(), piece in 1..200_usize) {
        let line = message.to_string();
        prop_assume!(line.len() <= LIMITS.line && !line.contains("\"toolcall-"));
        prop_assert!(message::read(&line, LIMITS.depth).is_ok());
        let outcome = run(line.into_bytes(), piece);
        let method = message.get("method").filter(|method| *method != "$/cancel_request");
        let handed_on = method.map(|method| json!({"method": method, "params": message["params"]}));
        prop_assert_eq!((outcome.handed_on, outcome.replies), (Vec::from_iter(handed_on), vec![]));
    }
}
