//! The lane by itself: whole lines, in order, within its limit, until it is closed.
//! The lines are not JSON, because the lane does not parse them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use proptest::prelude::*;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader, duplex};
use toolcall_acp::lane::{Closed, Lane, LaneCounters, LaneReader, TrySendError};

use crate::connection::support::{poll_once, settle};

fn put(lane: &Lane, line: &str) -> Result<usize, TrySendError> {
    lane.try_send(|pending| pending.extend_from_slice(line.as_bytes()))
}

/// Closes the lane and returns what was in it.
async fn drained(lane: &Lane, lane_reader: LaneReader) -> String {
    lane.close();
    let mut written = Vec::new();
    lane_reader.drain(&mut written).await.unwrap();
    String::from_utf8(written).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_full_lane_refuses_without_writing() {
    let (lane, lane_reader) = Lane::new(5);
    assert_eq!(put(&lane, "123"), Ok(4));
    assert_eq!(put(&lane, "a line may reach past the bound"), Ok(32));
    assert_eq!(lane.try_send(|_| panic!("called")), Err(TrySendError::Full));
    assert_eq!(
        drained(&lane, lane_reader).await,
        "123\na line may reach past the bound\n"
    );
    assert_eq!(
        lane.try_send(|_| panic!("called")),
        Err(TrySendError::Closed)
    );
    let counters = LaneCounters {
        lines: 2,
        bytes: 36,
        max_pending: 36,
        writes: 1,
    };
    assert_eq!(lane.counters(), counters);
}

#[tokio::test(start_paused = true)]
async fn an_urgent_line_goes_although_the_lane_is_full() {
    let (lane, lane_reader) = Lane::new(1);
    put(&lane, "full").unwrap();
    let urgent =
        |line: &str| lane.send_urgent(|pending| pending.extend_from_slice(line.as_bytes()));
    assert_eq!(urgent("urgent"), Ok(7));
    assert_eq!(drained(&lane, lane_reader).await, "full\nurgent\n");
    assert_eq!(urgent("late"), Err(Closed));
}

#[tokio::test(start_paused = true)]
async fn closing_keeps_what_is_pending_and_wakes_waiters() {
    let (lane, lane_reader) = Lane::new(1);
    put(&lane, "full").unwrap();
    let (first, second) = (lane.clone(), lane.clone());
    let waiting = tokio::spawn(async move { first.send(b"too late").await });
    let looking = tokio::spawn(async move { second.room().await });
    settle().await;
    lane.close();
    assert_eq!(waiting.await.unwrap(), Err(Closed));
    assert_eq!(looking.await.unwrap(), Err(Closed));
    assert!(lane.is_closed());
    assert_eq!(drained(&lane, lane_reader).await, "full\n");
}

#[tokio::test(start_paused = true)]
async fn a_writer_that_fails_closes_the_lane_and_wakes_waiters() {
    let (lane, lane_reader) = Lane::new(1);
    let (writer, reader) = duplex(4);
    let draining = tokio::spawn(lane_reader.drain(writer));
    put(&lane, "longer than the pipe").unwrap();
    settle().await;
    put(&lane, "full").unwrap();
    let waiter = lane.clone();
    let waiting = tokio::spawn(async move { waiter.send(b"waits").await });
    settle().await;
    drop(reader);
    let error = draining.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
    assert_eq!(waiting.await.unwrap(), Err(Closed));
    assert_eq!(put(&lane, "late"), Err(TrySendError::Closed));
}

#[tokio::test(start_paused = true)]
async fn a_lane_reader_that_is_dropped_closes_the_lane() {
    let (lane, lane_reader) = Lane::new(1);
    put(&lane, "full").unwrap();
    let mut waiting = pin!(lane.send(b"waits"));
    assert_eq!(poll_once(&mut waiting).await, Poll::Pending);
    drop(lane_reader);
    assert_eq!(waiting.await, Err(Closed));
    assert!(lane.is_closed());
}

#[tokio::test(start_paused = true)]
async fn a_line_is_written_whole_or_not_at_all() {
    let (lane, lane_reader) = Lane::new(100);
    put(&lane, "before").unwrap();
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        lane.try_send(|pending| {
            pending.extend_from_slice(b"half a li");
            panic!("while it is written");
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(put(&lane, ""), Ok(0));
    assert_eq!(put(&lane, "{\n  \"a\": 1\n}"), Ok(13));
    assert_eq!(lane.counters().lines, 2);
    assert_eq!(
        drained(&lane, lane_reader).await,
        "before\n{   \"a\": 1 }\n"
    );
}

#[tokio::test(start_paused = true)]
async fn many_lines_go_in_one_write() {
    let (lane, lane_reader) = Lane::new(10_000);
    for _ in 0..1000 {
        put(&lane, "a line").unwrap();
    }
    drained(&lane, lane_reader).await;
    assert_eq!(lane.counters().writes, 1);
}

#[tokio::test(start_paused = true)]
async fn a_line_is_flushed_when_nothing_follows() {
    let (lane, lane_reader) = Lane::new(100);
    let (writer, reader) = duplex(100);
    tokio::spawn(lane_reader.drain(tokio::io::BufWriter::new(writer)));
    put(&lane, "nothing follows").unwrap();
    let mut lines = BufReader::new(reader).lines();
    let line = lines.next_line().await.unwrap();
    assert_eq!(line.as_deref(), Some("nothing follows"));
}

#[tokio::test(start_paused = true)]
async fn who_waits_goes_first_and_in_order() {
    let (lane, lane_reader) = Lane::new(1);
    put(&lane, "full").unwrap();
    let mut first = pin!(lane.send(b"first"));
    let mut second = pin!(lane.send(b"second"));
    assert_eq!(poll_once(&mut first).await, Poll::Pending);
    assert_eq!(poll_once(&mut second).await, Poll::Pending);
    let (writer, mut reader) = duplex(100);
    tokio::spawn(lane_reader.drain(writer));
    settle().await;
    // The lane is empty now, but a new sender must wait for those who wait already.
    assert_eq!(put(&lane, "pushy"), Err(TrySendError::Full));
    // The second must wait, too.
    assert_eq!(poll_once(&mut second).await, Poll::Pending);
    first.await.unwrap();
    second.await.unwrap();
    settle().await;
    put(&lane, "pushy").unwrap();
    lane.close();
    let mut written = String::new();
    reader.read_to_string(&mut written).await.unwrap();
    assert_eq!(written, "full\nfirst\nsecond\npushy\n");
}

#[tokio::test(start_paused = true)]
async fn who_found_room_may_use_it_although_others_wait() {
    let (lane, lane_reader) = Lane::new(10);
    put(&lane, "0123456789").unwrap();
    let mut looking = pin!(lane.room());
    let mut waiting = pin!(lane.send(b"waits"));
    assert_eq!(poll_once(&mut looking).await, Poll::Pending);
    assert_eq!(poll_once(&mut waiting).await, Poll::Pending);
    let (writer, mut reader) = duplex(100);
    tokio::spawn(lane_reader.drain(writer));
    settle().await;
    assert_eq!(looking.await, Ok(()));
    assert_eq!(put(&lane, "one"), Ok(4));
    assert_eq!(put(&lane, "two"), Ok(4));
    waiting.await.unwrap();
    lane.close();
    let mut written = String::new();
    reader.read_to_string(&mut written).await.unwrap();
    assert_eq!(written, "0123456789\none\ntwo\nwaits\n");
}

#[tokio::test(start_paused = true)]
async fn who_stops_waiting_sends_nothing_and_holds_up_nobody() {
    let (lane, lane_reader) = Lane::new(1);
    put(&lane, "full").unwrap();
    let mut first = Box::pin(lane.send(b"first"));
    let mut second = pin!(lane.send(b"second"));
    assert_eq!(poll_once(&mut first).await, Poll::Pending);
    assert_eq!(poll_once(&mut second).await, Poll::Pending);
    let (writer, mut reader) = duplex(100);
    tokio::spawn(lane_reader.drain(writer));
    settle().await;
    // It was woken because there is room, and is dropped before it uses it.
    drop(first);
    second.await.unwrap();
    lane.close();
    let mut written = String::new();
    reader.read_to_string(&mut written).await.unwrap();
    assert_eq!(written, "full\nsecond\n");
}

#[tokio::test(start_paused = true)]
async fn a_producer_that_always_has_more_starves_nobody() {
    let (lane, lane_reader) = Lane::new(1000);
    let (writer, reader) = duplex(100);
    tokio::spawn(lane_reader.drain(writer));
    let greedy = lane.clone();
    tokio::spawn(async move {
        while greedy.room().await.is_ok() {
            while put(&greedy, "more").is_ok() {}
        }
    });
    settle().await;
    let modest = lane.clone();
    tokio::spawn(async move { modest.send(b"modest").await });
    settle().await;
    let mut lines = BufReader::new(reader).lines();
    let mut before = 0;
    while lines.next_line().await.unwrap().unwrap() != "modest" {
        before += 1;
    }
    // The lines in the pipe, in the writer and pending, and one turn of the greedy producer, which waited
    // first. It has no second turn.
    assert!(before <= 650, "{before} lines went first");
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_stops_reading_bounds_the_lane_and_stops_the_producers() {
    let (lane, lane_reader) = Lane::new(1000);
    let (writer, reader) = duplex(100);
    tokio::spawn(lane_reader.drain(writer));
    let producers: Vec<_> = (0..16)
        .map(|number| {
            let lane = lane.clone();
            tokio::spawn(async move {
                for line in 0..1000 {
                    lane.send(format!("{number} {line}").as_bytes())
                        .await
                        .unwrap();
                }
            })
        })
        .collect();
    settle().await;
    let stalled = lane.counters();
    settle().await;
    assert_eq!(lane.counters(), stalled, "nobody goes on");
    assert!(producers.iter().all(|producer| !producer.is_finished()));
    let mut lines = BufReader::new(reader).lines();
    for _ in 0..16_000 {
        lines.next_line().await.unwrap().unwrap();
    }
    let LaneCounters {
        lines, max_pending, ..
    } = lane.counters();
    assert_eq!(lines, 16_000);
    assert!(
        max_pending < 1000 + "15 999\n".len(),
        "{max_pending} bytes were pending"
    );
}

#[tokio::test(start_paused = true)]
async fn producers_that_wait_for_each_other_still_share_their_writes() {
    let (lane, lane_reader) = Lane::new(10_000);
    let draining = tokio::spawn(lane_reader.drain(tokio::io::sink()));
    let producers = (0..16).map(|number| {
        let lengths = vec![100; 1000];
        tokio::spawn(produce(lane.clone(), number, SendMethod::Waits, lengths))
    });
    for producer in producers.collect::<Vec<_>>() {
        producer.await.unwrap();
    }
    lane.close();
    draining.await.unwrap().unwrap();
    let LaneCounters { lines, writes, .. } = lane.counters();
    assert!(writes * 10 < lines, "{lines} lines took {writes} writes");
}

#[tokio::test(start_paused = true)]
async fn a_small_lane_that_is_full_does_not_wait_for_more() {
    let (lane, lane_reader) = Lane::new(100);
    let start = tokio::time::Instant::now();
    let lines = collect(lane, lane_reader, vec![(SendMethod::Waits, vec![10; 1000])]).await;
    assert_eq!(lines.len(), 1000);
    let waited = start.elapsed();
    assert!(waited <= Duration::from_millis(2), "it waited {waited:?}");
}

/// How a producer sends its lines.
#[derive(Clone, Copy, Debug)]
enum SendMethod {
    Waits,
    Tries,
    Urges,
}

async fn produce(lane: Lane, number: usize, method: SendMethod, lengths: Vec<usize>) {
    for (at, length) in lengths.into_iter().enumerate() {
        let line = format!("{number} {at} {}", "x".repeat(length));
        let write = |pending: &mut Vec<u8>| pending.extend_from_slice(line.as_bytes());
        match method {
            SendMethod::Waits => lane.send(line.as_bytes()).await.unwrap(),
            SendMethod::Urges => drop(lane.send_urgent(write).unwrap()),
            SendMethod::Tries => {
                while lane.try_send(write).is_err() {
                    lane.room().await.unwrap();
                }
            }
        }
    }
}

/// Returns the lines of each producer, as they were received.
async fn collect(
    lane: Lane,
    lane_reader: LaneReader,
    producers: Vec<(SendMethod, Vec<usize>)>,
) -> Vec<String> {
    let (writer, reader) = duplex(64);
    tokio::spawn(lane_reader.drain(writer));
    let producing = producers.into_iter().enumerate();
    let producing = producing.map(|(number, (method, lengths))| {
        tokio::spawn(produce(lane.clone(), number, method, lengths))
    });
    let producing: Vec<_> = producing.collect();
    tokio::spawn(async move {
        for producer in producing {
            producer.await.unwrap();
        }
        lane.close();
    });
    let mut lines = BufReader::new(reader).lines();
    let mut read = Vec::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        read.push(line);
    }
    read
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn producers_side_by_side_tear_no_line_and_keep_their_order(
        producers in prop::collection::vec((
            prop::sample::select(vec![SendMethod::Waits, SendMethod::Tries, SendMethod::Urges]),
            prop::collection::vec(0..200_usize, 0..60),
        ), 16),
        capacity in 1..2000_usize,
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(4)
            .enable_time()
            .build();
        let (lane, lane_reader) = Lane::new(capacity);
        let lines = runtime.unwrap().block_on(collect(lane, lane_reader, producers.clone()));
        let mut rest: Vec<_> = producers.iter().map(|(_, lengths)| lengths.iter().enumerate()).collect();
        for line in lines {
            let number: usize = line.split(' ').next().unwrap().parse().unwrap();
            let (at, length) = rest[number].next().unwrap();
            prop_assert_eq!(line, format!("{number} {at} {}", "x".repeat(*length)));
        }
        prop_assert!(rest.into_iter().all(|mut rest| rest.next().is_none()));
    }
}
