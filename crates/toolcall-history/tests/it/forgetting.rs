//! What is forgotten is gone from every file, and what stays can still be verified.
//! It looks at bytes, because that is what is left of a promise.

use toolcall::{CallId, Ending, FileEdit, Intent, Journal, Kind, SessionId, Timestamp};
use toolcall_history::{Filter, Pruned};
use toolcall_testkit::clock::TestClock;

use crate::ground::{Ground, begin, clock, finished, wait, write};

/// A session with one edit, whose every text holds this word; long texts are stored by hash.
fn tell(ground: &Ground, session: &str, word: &str, clock: &TestClock) {
    let history = ground.open();
    let journal = Journal::new(SessionId::new(session))
        .with_clock(clock.clone())
        .with_store(history.clone());
    let long = format!("{word} {}", "and so on ".repeat(1000));
    let edit = FileEdit::modified(format!("/work/{word}"), &*long, format!("{long} more"));
    let id = CallId::new("call");
    let intent = Intent::new(Kind::Edit, format!("Edit {word}")).editing(edit);
    drop(begin(&journal, &id, intent));
    let ending = write(&journal, &id, finished(Ending::Completed, long));
    assert_eq!(wait(ending), Ok(()));
}

#[test]
fn a_forgotten_session_is_gone_from_every_file() {
    let ground = Ground::default();
    let clock = clock();
    for number in 0..20 {
        tell(
            &ground,
            &format!("kept-{number}"),
            &format!("kept{number}"),
            &clock,
        );
    }
    tell(&ground, "forgotten", "unmistakable", &clock);
    assert!(ground.holds("unmistakable"));
    let history = ground.open();
    let pruned = history
        .forget(&SessionId::new("forgotten"))
        .expect("it is forgotten");
    let expected = Pruned {
        sessions: 1,
        calls: 1,
        texts: 2,
    };
    assert_eq!(pruned, expected);
    assert!(!ground.holds("unmistakable"));
    let archive = history.archive().expect("an archive");
    assert_eq!(archive.verify().map(|verified| verified.sessions), Ok(20));
    assert_eq!(archive.integrity(), Ok(()));
    let word = Filter {
        text: Some("unmistakable".into()),
        ..Filter::default()
    };
    assert_eq!(archive.calls(&word), Ok(Vec::new()));
}

#[test]
fn what_is_older_than_a_moment_is_forgotten_as_whole_sessions() {
    let ground = Ground::default();
    let clock = clock();
    tell(&ground, "old", "ancient", &clock);
    let between = toolcall::Clock::now(&clock);
    tell(&ground, "new", "recent", &clock);
    let history = ground.open();
    let pruned = history.prune(between).expect("it is pruned");
    assert_eq!((pruned.sessions, pruned.calls), (1, 1));
    assert!(!ground.holds("ancient") && ground.holds("recent"));
    assert_eq!(
        history
            .prune(Timestamp::default())
            .map(|pruned| pruned.sessions),
        Ok(0)
    );
    let archive = history.archive().expect("an archive");
    assert_eq!(archive.verify().map(|verified| verified.sessions), Ok(1));
}
