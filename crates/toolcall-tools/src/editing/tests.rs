//! Tables of edits: the edited text, or the error message.
//! It uses texts only, no files.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::*;

fn edited(text: &str, edits: Value) -> String {
    let edits: Vec<Edit> = serde_json::from_value(edits).expect("edits");
    match apply(text, &edits) {
        Ok(edited) => format!("line {}: {:?}", edited.first_line, edited.text),
        Err(error) => error.to_string(),
    }
}

fn check(rows: &[(&str, Value)], expect: Expect) {
    let results = rows
        .iter()
        .map(|(text, edits)| edited(text, edits.clone()) + "\n");
    expect.assert_eq(&results.collect::<String>());
}

fn replace(old: &str, new: &str) -> Value {
    json!({"type": "replace", "oldText": old, "newText": new})
}

#[test]
fn texts_are_replaced() {
    check(
        &[
            ("a\nb\nc\n", json!([replace("b", "B")])),
            ("a\nb\nc\n", json!([replace("b\nc", "")])),
            (
                "a a a",
                json!([{"type": "replace", "oldText": "a", "newText": "b", "all": true}]),
            ),
            // Each edit sees the result of the one before it.
            (
                "one",
                json!([replace("one", "two"), replace("two", "three")]),
            ),
            ("x\r\ny\r\n", json!([replace("x\ny", "1\n2")])),
            ("x\r\ny\r\n", json!([replace("y", "1\n2")])),
            ("\u{feff}a\r\n", json!([replace("a", "b")])),
            ("mixed\r\nlines\n", json!([replace("lines\n", "1\n2\n")])),
        ],
        expect![[r#"
            line 2: "a\nB\nc\n"
            line 2: "a\n\n"
            line 1: "b b b"
            line 1: "three"
            line 1: "1\r\n2\r\n"
            line 2: "x\r\n1\r\n2\r\n"
            line 1: "\u{feff}b\r\n"
            line 2: "mixed\r\n1\n2\n"
        "#]],
    );
}

#[test]
fn lines_are_inserted() {
    let insert = |more: Value| {
        let mut edit = json!({"type": "insert", "newText": "new"});
        edit.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        json!([edit])
    };
    check(
        &[
            ("a\nb\n", insert(json!({}))),
            ("a\nb", insert(json!({}))),
            ("", insert(json!({}))),
            ("a\nb\n", insert(json!({"line": 1}))),
            ("a\nb\n", insert(json!({"line": 2}))),
            ("a\nb\n", insert(json!({"line": 3}))),
            ("a\nb", insert(json!({"line": 3}))),
            ("\u{feff}a\r\nb\r\n", insert(json!({"line": 1}))),
            ("a\r\nb\r\n", insert(json!({"line": 2}))),
            (
                "fn a() {\n}\n\nfn b() {}\n",
                insert(json!({"after": "a() {\n}"})),
            ),
            (
                "fn a() {\n}\n\nfn b() {}\n",
                insert(json!({"before": "b()"})),
            ),
            ("\u{feff}a\n", insert(json!({"before": "a"}))),
            ("last", insert(json!({"after": "last"}))),
        ],
        expect![[r#"
            line 3: "a\nb\nnew\n"
            line 2: "a\nb\nnew\n"
            line 1: "new\n"
            line 1: "new\na\nb\n"
            line 2: "a\nnew\nb\n"
            line 3: "a\nb\nnew\n"
            line 2: "a\nb\nnew\n"
            line 1: "\u{feff}new\r\na\r\nb\r\n"
            line 2: "a\r\nnew\r\nb\r\n"
            line 3: "fn a() {\n}\nnew\n\nfn b() {}\n"
            line 4: "fn a() {\n}\n\nnew\nfn b() {}\n"
            line 1: "\u{feff}new\na\n"
            line 1: "last\nnew\n"
        "#]],
    );
}

#[test]
fn what_cannot_be_done_is_said() {
    let text = "fn main() {\n    println!(\"one\");\n    println!(\"two\");\n}\n";
    check(
        &[
            (text, json!([replace("", "x")])),
            (text, json!([replace("printn!(\"two\");", "x")])),
            (text, json!([replace("fn main() {\nprintln!", "x")])),
            (text, json!([replace("entirely elsewhere", "x")])),
            (text, json!([replace("println!", "x")])),
            ("a\na\na\na\na\na\na\na\na\na\n", json!([replace("a", "x")])),
            (
                text,
                json!([{"type": "insert", "newText": "x", "after": "println!"}]),
            ),
            (text, json!([{"type": "insert", "newText": "x", "line": 0}])),
            (text, json!([{"type": "insert", "newText": "x", "line": 6}])),
            (
                text,
                json!([{"type": "insert", "newText": "x", "line": 1, "before": "fn"}]),
            ),
            // All or nothing: the second one is told, the first is not made.
            (
                text,
                json!([replace("main", "other"), replace("main", "x")]),
            ),
            ("", json!([replace("x", "y")])),
        ],
        expect![[r#"
            edit 1: `oldText` is empty; give the text that is there
            edit 1: `oldText` is not in the file. The nearest is line 3: `    println!("two");`
            edit 1: `oldText` is not in the file. Its first line stands in line 1, but what follows or the spaces around differ; read the file again
            edit 1: `oldText` is not in the file. Nothing there is like it; read the file again
            edit 1: `oldText` is there 2 times, in lines 2, 3; quote more of it, or set `all`
            edit 1: `oldText` is there 10 times, in lines 1, 2, 3, 4, 5, 6, 7, 8, …; quote more of it, or set `all`
            edit 1: `after` is there 2 times, in lines 2, 3; quote more of it
            edit 1: there is no line 0; the file has 4 lines, so give 1 to 5
            edit 1: there is no line 6; the file has 4 lines, so give 1 to 5
            edit 1: give only one of `line`, `before` and `after`
            edit 2: `oldText` is not in the file. Nothing there is like it; read the file again
            edit 1: `oldText` is not in the file. Nothing there is like it; read the file again
        "#]],
    );
}
