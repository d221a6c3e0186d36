//! Changes are undone if the user agrees and the files did not change since.
//! No tool call undoes or deletes anything.

use expect_test::expect;

use crate::PROGRAM;
use crate::history::fixture::{edit, read};
use crate::home::CliHome;

#[test]
fn an_edit_a_deletion_and_a_move_are_undone() {
    let home = CliHome::new();
    edit(&home, "one", "two");
    let output = home.json(&["history", "undo", "last"]);
    assert_eq!(output["undone"], false);
    assert_eq!(read(&home, "a.txt").as_deref(), Some("two\n"));
    let text = home.printed(&["history", "undo", "last", "--yes"]);
    expect![[r#"
        undo Edit a.txt
                  changes …/project/a.txt
                  - two
                  + one
        restored …/project/a.txt
    "#]]
    .assert_eq(&text);
    assert_eq!(read(&home, "a.txt").as_deref(), Some("one\n"));
    let again = home.printed(&["history", "undo", "last", "--yes"]);
    assert!(
        again.contains("the files are already as they were"),
        "{again}"
    );

    home.printed(&["call", "delete_file", "path=a.txt", "--yes"]);
    assert!(!home.has("a.txt"));
    let output = home.json(&["history", "undo", "last", "--yes"]);
    assert_eq!(output["undone"], true);
    assert_eq!(read(&home, "a.txt").as_deref(), Some("one\n"));

    home.printed(&["call", "move_file", "from=a.txt", "to=b.txt", "--yes"]);
    assert_eq!(read(&home, "b.txt").as_deref(), Some("one\n"));
    home.printed(&["history", "undo", "last", "--yes"]);
    assert_eq!(
        (read(&home, "a.txt").as_deref(), read(&home, "b.txt")),
        (Some("one\n"), None)
    );
}

#[test]
fn what_changed_since_is_not_undone() {
    let home = CliHome::new();
    edit(&home, "one", "two");
    home.write("project/a.txt", "three\n");
    let (code, text, complaint) = home.run(&["history", "undo", "last", "--yes"]);
    assert_eq!((code, &*text), (Some(1), ""));
    assert_eq!(
        complaint,
        "error: `…/project/a.txt` changed since; nothing was undone\n"
    );
    assert_eq!(read(&home, "a.txt").as_deref(), Some("three\n"));
    home.printed(&["call", "read_file", "path=a.txt"]);
    let (code, _, complaint) = home.run(&["history", "undo", "last"]);
    assert_eq!(code, Some(1));
    assert!(
        complaint.contains("nothing was kept to undo this call"),
        "{complaint}"
    );
}

#[test]
fn nothing_is_undone_without_a_yes() {
    let home = CliHome::new();
    edit(&home, "one", "two");
    let (code, _, complaint) = home.run(&["history", "undo", "last"]);
    assert_eq!(code, Some(1));
    assert!(
        complaint.contains("there is no terminal to ask at; add --yes"),
        "{complaint}"
    );
    assert_eq!(read(&home, "a.txt").as_deref(), Some("two\n"));
}

#[test]
fn no_call_undoes_or_forgets_anything() {
    let home = CliHome::new();
    edit(&home, "one", "two");
    let everything = [
        "history undo last --yes",
        "history forget last",
        "history prune --older-than 0s",
    ];
    for task in everything {
        let command = format!("command={PROGRAM} {task}");
        let (code, text, _) = home.run(&["call", "run_command", &command, "--yes"]);
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains("a tool call may not run"), "{text}");
    }
    assert_eq!(home.json(&["history"]).as_array().unwrap().len(), 4);
    assert_eq!(read(&home, "a.txt").as_deref(), Some("two\n"));
}
