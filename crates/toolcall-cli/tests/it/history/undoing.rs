//! Changes are taken back, if a person says so and nothing was changed since.
//! No tool call undoes or forgets anything.

use expect_test::expect;

use crate::PROGRAM;
use crate::history::ground::{edit, read};
use crate::place::Place;

#[test]
fn an_edit_a_deletion_and_a_move_are_undone() {
    let place = Place::new();
    edit(&place, "one", "two");
    let told = place.json(&["history", "undo", "last"]);
    assert_eq!(told["undone"], false);
    assert_eq!(read(&place, "a.txt").as_deref(), Some("two\n"));
    let text = place.printed(&["history", "undo", "last", "--yes"]);
    expect![[r#"
        undo Edit a.txt
                  changes …/project/a.txt
                  - two
                  + one
        as before: …/project/a.txt
    "#]]
    .assert_eq(&text);
    assert_eq!(read(&place, "a.txt").as_deref(), Some("one\n"));
    let again = place.printed(&["history", "undo", "last", "--yes"]);
    assert!(again.contains("everything is as it was before"), "{again}");

    place.printed(&["call", "delete_file", "path=a.txt", "--yes"]);
    assert!(!place.has("a.txt"));
    let told = place.json(&["history", "undo", "last", "--yes"]);
    assert_eq!(told["undone"], true);
    assert_eq!(read(&place, "a.txt").as_deref(), Some("one\n"));

    place.printed(&["call", "move_file", "from=a.txt", "to=b.txt", "--yes"]);
    assert_eq!(read(&place, "b.txt").as_deref(), Some("one\n"));
    place.printed(&["history", "undo", "last", "--yes"]);
    assert_eq!(
        (read(&place, "a.txt").as_deref(), read(&place, "b.txt")),
        (Some("one\n"), None)
    );
}

#[test]
fn what_changed_since_is_not_undone() {
    let place = Place::new();
    edit(&place, "one", "two");
    place.write("project/a.txt", "three\n");
    let (code, text, complaint) = place.run(&["history", "undo", "last", "--yes"]);
    assert_eq!((code, &*text), (Some(1), ""));
    assert_eq!(
        complaint,
        "error: `…/project/a.txt` changed since; nothing was undone\n"
    );
    assert_eq!(read(&place, "a.txt").as_deref(), Some("three\n"));
    place.printed(&["call", "read_file", "path=a.txt"]);
    let (code, _, complaint) = place.run(&["history", "undo", "last"]);
    assert_eq!(code, Some(1));
    assert!(
        complaint.contains("nothing was kept to undo this call"),
        "{complaint}"
    );
}

#[test]
fn nothing_is_undone_without_a_yes() {
    let place = Place::new();
    edit(&place, "one", "two");
    let (code, _, complaint) = place.run(&["history", "undo", "last"]);
    assert_eq!(code, Some(1));
    assert!(
        complaint.contains("there is no terminal to ask at; add --yes"),
        "{complaint}"
    );
    assert_eq!(read(&place, "a.txt").as_deref(), Some("two\n"));
}

#[test]
fn no_call_undoes_or_forgets_anything() {
    let place = Place::new();
    edit(&place, "one", "two");
    let everything = [
        "history undo last --yes",
        "history forget last",
        "history prune --older-than 0s",
    ];
    for task in everything {
        let command = format!("command={PROGRAM} {task}");
        let (code, text, _) = place.run(&["call", "run_command", &command, "--yes"]);
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains("is for people"), "{text}");
    }
    assert_eq!(place.json(&["history"]).as_array().unwrap().len(), 4);
    assert_eq!(read(&place, "a.txt").as_deref(), Some("two\n"));
}
