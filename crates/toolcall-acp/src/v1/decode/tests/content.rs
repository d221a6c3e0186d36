//! Content items of every type, and what they are decoded to.
//! It must not test other fields.

use expect_test::expect;
use serde_json::{Value, json};

use super::{check, part, text, update};

#[test]
fn every_kind_of_content_is_read() {
    check(
        [update(json!({"content": [
            text("t"),
            {"type": "content", "content": {"type": "image", "data": "AA==", "mimeType": "image/png"}},
            {"type": "content", "content": {"type": "audio", "data": "AA==", "mimeType": "audio/wav"}},
            {"type": "content", "content": {"type": "resource", "resource":
                {"uri": "file:///a", "text": "a", "mimeType": "text/plain"}}},
            {"type": "content", "content": {"type": "resource", "resource": {"uri": "u", "blob": "AA=="}}},
            {"type": "content", "content": {"type": "resource_link", "uri": "u", "name": "n", "size": 4}},
            {"type": "diff", "path": "/new", "newText": "n"},
            {"type": "diff", "path": "/new", "newText": "n", "oldText": null},
            {"type": "diff", "path": "/old", "oldText": "o", "newText": "n"},
            {"type": "diff", "path": "/gone", "oldText": "o", "newText": "",
                "_meta": {"toolcall/change": "deleted"}},
            {"type": "terminal", "terminalId": "t1"},
        ]}))],
        expect![[r#"
            restated None Sketch { title: "T", kind: Other, locations: [] } None [Text("t"), Image(Blob { mime: "image/png", base64: "AA==" }), Audio(Blob { mime: "audio/wav", base64: "AA==" }), Resource(Resource { uri: "file:///a", mime: Some("text/plain"), body: Text("a") }), Resource(Resource { uri: "u", mime: None, body: Base64("AA==") }), Link(Link { uri: "u", name: "n", title: None, description: None, mime: None, size: Some(4) }), Edit(FileEdit { path: "/new", change: Added { after: Text("n") } }), Edit(FileEdit { path: "/new", change: Added { after: Text("n") } }), Edit(FileEdit { path: "/old", change: Modified { before: Text("o"), after: Text("n") } }), Edit(FileEdit { path: "/gone", change: Deleted { before: Text("o") } }), Terminal("t1")]
        "#]],
    );
}

#[test]
fn marked_texts_are_changes_of_files() {
    let changed = |mark: Value| {
        let mut item = text("for people");
        item["_meta"] = json!({ "toolcall/change": mark });
        item
    };
    check(
        [update(json!({"content": [
            changed(json!({"how": "moved", "path": "/a", "to": "/b"})),
            changed(json!({"how": "added", "path": "/a", "bytes": 9})),
            changed(json!({"how": "modified", "path": "/a", "bytes": 9, "before_bytes": 8})),
            changed(json!({"how": "deleted", "path": "/a", "before_bytes": 8})),
            changed(json!({"how": "moved", "path": "/a"})),
            changed(json!({"how": "eaten", "path": "/a"})),
            changed(json!(1)),
        ]}))],
        expect![[r#"
            restated None Sketch { title: "T", kind: Other, locations: [] } None [Edit(FileEdit { path: "/a", change: Moved { to: "/b" } }), Edit(FileEdit { path: "/a", change: Added { after: Binary { bytes: 9, digest: None } } }), Edit(FileEdit { path: "/a", change: Modified { before: Binary { bytes: 8, digest: None }, after: Binary { bytes: 9, digest: None } } }), Edit(FileEdit { path: "/a", change: Deleted { before: Binary { bytes: 8, digest: None } } }), Text("for people"), Text("for people"), Text("for people")]
            ! content-shape: `c`: `toolcall/change` cannot be read; its text was kept
            ! content-shape: `c`: `toolcall/change` cannot be read; its text was kept
            ! content-shape: `c`: `toolcall/change` cannot be read; its text was kept
        "#]],
    );
}

#[test]
fn no_content_is_lost_in_silence() {
    check(
        [update(json!({"content": [
            {"type": "text", "text": "bare"},
            {"type": "image", "source": {"type": "base64", "data": "AA=="}},
            {"type": "image", "data": "AA==", "mimeType": "image/png"},
            {"type": "diff", "path": "src/a", "diff": "@@"},
            {"type": "diff", "path": "src/a", "oldText": 1, "newText": "n"},
            {"type": "diff", "path": "src/a:7", "newText": "n"},
            {"type": "terminal"},
            {"type": "video"},
            {"type": "content", "content": "text"},
            {"type": "content", "content": {"type": "resource", "resource": {"uri": "u"}}},
            {"type": "content", "content": {"type": "resource_link", "uri": "u", "name": "n", "size": -1}},
            {"text": "no type"},
            "text",
        ]}))],
        expect![[r#"
            restated None Sketch { title: "T", kind: Other, locations: [] } None [Text("bare"), Image(Blob { mime: "image/png", base64: "AA==" }), Edit(FileEdit { path: "src/a:7", change: Added { after: Text("n") } }), Link(Link { uri: "u", name: "n", title: None, description: None, mime: None, size: None })]
            ! content-shape: `c`: content item 0 is a bare `text`; wrap it as `content`
            ! content-shape: `c`: content item 1 was left out: it has no `mimeType`
            ! content-shape: `c`: content item 2 is a bare `image`; wrap it as `content`
            ! content-shape: `c`: content item 3 was left out: it has no `newText`
            ! content-shape: `c`: content item 4 was left out: its `oldText` is a number, not a string
            ! relative-path: `c`: `src/a:7` is not an absolute path
            ! bad-location: `c`: `src/a:7` ends in a line number, which is no part of a path
            ! content-shape: `c`: content item 6 was left out: it has no `terminalId`
            ! content-shape: `c`: content item 7 was left out: v1 has no content item of type `video`
            ! content-shape: `c`: content item 8 was left out: in its `content`, it is a string, not an object
            ! content-shape: `c`: content item 9 was left out: it has no `blob`
            ! bad-field: `c`: `size` is a number, not a whole number
            ! content-shape: `c`: content item 11 was left out: it has no `type`
            ! content-shape: `c`: content item 12 was left out: it is a string, not an object
        "#]],
    );
    check(
        [update(json!({"content": "text"}))],
        expect![[r#"
        ! bad-field: `c`: `content` is a string, not a list
    "#]],
    );
}

#[test]
fn parts_of_our_own_making_are_not_content() {
    let printed = part("output", "```\na\nb\n```");
    let parts = json!([
        part("progress", "1/2"),
        part("note", "n"),
        printed,
        part("own", "kept")
    ]);
    check(
        [
            update(json!({"status": "in_progress", "content": parts})),
            update(
                json!({"status": "completed", "content": [printed, part("none", "(no output)")]}),
            ),
        ],
        expect![[r#"
            decided Allow Unseen
            Started
            Showed([Text("kept")])
            ---
            finished Completed [] None "a\nb\n"
        "#]],
    );
}

#[test]
fn what_was_shown_before_is_not_shown_twice() {
    let diff = json!({"type": "diff", "path": "/a", "oldText": "a", "newText": "b"});
    check(
        [
            update(json!({"content": [diff, text("because")]})),
            update(json!({"status": "in_progress", "content": [diff, text("because")]})),
            update(json!({"content": [diff, text("because"), text("writing")]})),
            update(json!({"content": [text("writing")]})),
            update(json!({"status": "completed", "content": [diff, text("written")]})),
        ],
        expect![[r#"
            restated None Sketch { title: "T", kind: Other, locations: [] } None [Edit(FileEdit { path: "/a", change: Modified { before: Text("a"), after: Text("b") } }), Text("because")]
            ---
            decided Allow Unseen
            Started
            ---
            Showed([Text("writing")])
            ---
            ---
            finished Completed [Text("written")] None ""
        "#]],
    );
}
