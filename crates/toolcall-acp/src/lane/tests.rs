//! The memory that a lane keeps, and lines that are removed again.
//! Its order and its bounds are tested with the connection.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;

#[tokio::test]
async fn a_huge_line_does_not_cost_its_memory_for_ever() {
    let (lane, mut reader) = Lane::new(100);
    for _ in 0..3 {
        lane.send(&[b'a'; 10 * BURST]).await.unwrap();
        assert!(reader.fill().await);
        assert!(reader.batch.capacity() > 10 * BURST);
        reader.recycle();
        assert_eq!(reader.batch.capacity(), BURST);
    }
}

#[tokio::test]
async fn what_can_never_be_written_costs_no_memory() {
    let (lane, reader) = Lane::new(100);
    lane.send(b"never written").await.unwrap();
    drop(reader);
    assert_eq!(lane.0.state.lock().pending.capacity(), 0);
}

#[tokio::test]
async fn lines_that_belong_together_are_all_taken_or_none() {
    let (lane, mut reader) = Lane::new(100);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        lane.try_send_all(|group| {
            group.line(|line| line.push(b'1'));
            group.line(|_| panic!("while it is written"));
        })
    }));
    assert!(panicked.is_err());
    let sent = lane.try_send_all(|group| {
        group.line(|line| line.push(b'2'));
        group.line(|line| line.push(b'3'));
    });
    assert_eq!(sent, Ok(4));
    assert!(reader.fill().await);
    assert_eq!(reader.batch, b"2\n3\n");
    assert_eq!(lane.counters().lines, 2);
}
