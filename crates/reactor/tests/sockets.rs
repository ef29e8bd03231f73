//! Sockets of a worker, on epoll and on a ring, against the standard library's at the other end, in the same process.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on ends")]

use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Notify, oneshot};
use tokio::task::LocalSet;
use triphammer_reactor::{Io, Worker, WorkerSocket, is_here, probe, sleep};

/// Longer than any test takes.
const LIMIT: Duration = Duration::from_secs(60);

/// Set where the kernel allows no rings, so that these tests do not fail there.
const WITHOUT_RING: &str = "TRIPHAMMER_TEST_WITHOUT_RING";

/// Whether there are rings.
///
/// # Panics
/// When there are none, and nobody said that this is to be expected.
fn has_rings() -> bool {
    let Err(error) = probe() else { return true };
    let is_expected = std::env::var(WITHOUT_RING).is_ok_and(|set| set == "1");
    assert!(
        is_expected,
        "the kernel does not allow io_uring ({error}): allow it (sysctl kernel.io_uring_disabled=0, \
         or the container's seccomp profile), or set {WITHOUT_RING}=1 to go without these tests"
    );
    eprintln!("did not run, because the kernel does not allow io_uring: {error}");
    false
}

/// Runs a test on epoll, and on a ring if there are rings.
fn on_workers<T: Future<Output = ()>>(test: impl Fn() -> T) {
    on_worker(Io::Epoll, test());
    if has_rings() {
        on_worker(Io::Ring, test());
    }
}

/// Runs a test on a worker, with another thread that drives tokio's timers.
fn on_worker(io: Io, test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (runtime, end) = (Arc::new(runtime), Arc::new(Notify::new()));
    let driving = {
        let (runtime, end) = (Arc::clone(&runtime), Arc::clone(&end));
        thread::spawn(move || runtime.block_on(end.notified()))
    };
    {
        let _context = runtime.enter();
        let worker = Worker::new(io).unwrap();
        let local = LocalSet::new();
        let limited = tokio::time::timeout(LIMIT, test);
        worker.block_on(local.run_until(limited)).expect("a test ends in time");
    }
    end.notify_one();
    driving.join().unwrap();
}

/// A socket of the worker, and the other end of it, which blocks.
fn pair() -> (WorkerSocket, UnixStream) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    theirs.set_read_timeout(Some(LIMIT)).unwrap();
    theirs.set_write_timeout(Some(LIMIT)).unwrap();
    (WorkerSocket::new(ours.into()).unwrap(), theirs)
}

/// Bytes that show when some are missing, twice there, or in another order.
fn pattern(length: usize) -> Vec<u8> {
    (0..length as u64).map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8).collect()
}

#[test]
fn more_sockets_than_the_ring_has_entries_talk_at_the_same_time() {
    on_workers(|| async {
        let mut talks = tokio::task::JoinSet::new();
        let mut others = Vec::new();
        for number in 0..700u32 {
            let (mut socket, theirs) = pair();
            others.push(theirs);
            talks.spawn_local(async move {
                for round in 0..20u32 {
                    let question = [number.to_le_bytes(), round.to_le_bytes()].concat();
                    socket.write_all(&question).await.unwrap();
                    let mut answer = [0; 8];
                    socket.read_exact(&mut answer).await.unwrap();
                    assert_eq!(answer, *question);
                }
            });
        }
        let echo = thread::spawn(move || {
            let mut message = [0; 8];
            for _ in 0..20 {
                for other in &mut others {
                    other.read_exact(&mut message).unwrap();
                    other.write_all(&message).unwrap();
                }
            }
        });
        while let Some(talk) = talks.join_next().await {
            talk.unwrap();
        }
        echo.join().unwrap();
    });
}

#[test]
fn short_and_long_writes_arrive_whole_and_in_order_at_a_slow_reader() {
    on_workers(|| async {
        let (mut socket, mut theirs) = pair();
        let sent = pattern(3_000_000);
        let (begin, begun) = std::sync::mpsc::channel::<()>();
        let reading = thread::spawn(move || {
            begun.recv().unwrap();
            let mut received = Vec::new();
            theirs.read_to_end(&mut received).unwrap();
            received
        });
        let mut rest = &sent[..];
        let mut complete = 0;
        for length in [1, 900, 16_384, 16_385, 70_000, 3, 300_000].into_iter().cycle() {
            let (piece, others) = rest.split_at(length.min(rest.len()));
            rest = others;
            let write = socket.write_all(piece);
            // The reader begins when nothing more fits.
            match tokio::time::timeout(Duration::from_secs(1), write).await {
                Ok(written) => written.unwrap(),
                Err(_) => break,
            }
            complete += piece.len();
            if rest.is_empty() {
                break;
            }
        }
        // A write that was given up half-way leaves the number of its bytes unknown: send no more.
        begin.send(()).unwrap();
        socket.shutdown().await.unwrap();
        let received = reading.join().unwrap();
        assert!(complete > 100_000, "{complete}");
        assert!(received.len() >= complete, "{} of {complete}", received.len());
        assert!(sent.starts_with(&received));
    });
}

#[test]
fn a_long_write_waits_for_room_and_is_complete() {
    on_workers(|| async {
        let (mut socket, mut theirs) = pair();
        let sent = pattern(5_000_000);
        let reading = thread::spawn(move || {
            let mut received = Vec::new();
            theirs.read_to_end(&mut received).unwrap();
            received
        });
        for piece in sent.chunks(10_000) {
            socket.write_all(piece).await.unwrap();
        }
        socket.shutdown().await.unwrap();
        assert!(reading.join().unwrap() == sent);
    });
}

#[test]
fn a_socket_that_nobody_reads_stops_receiving_and_goes_on_later() {
    on_workers(|| async {
        let (mut socket, mut theirs) = pair();
        let sent = pattern(8_000_000);
        theirs.set_nonblocking(true).unwrap();
        let mut written = 0;
        let mut refused = 0;
        while written < sent.len() && refused < 100 {
            match theirs.write(&sent[written..]) {
                Ok(more) => {
                    written += more;
                    refused = 0;
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::WouldBlock);
                    refused += 1;
                }
            }
            tokio::task::yield_now().await;
        }
        assert!(written < 4_000_000, "{written} bytes were received ahead");
        theirs.set_nonblocking(false).unwrap();
        let all = sent.clone();
        let writing = thread::spawn(move || theirs.write_all(&all[written..]).unwrap());
        let mut received = Vec::new();
        socket.read_to_end(&mut received).await.unwrap();
        writing.join().unwrap();
        assert!(received == sent);
    });
}

#[test]
fn the_end_of_a_stream_is_read_after_its_data_and_writing_then_fails() {
    on_workers(|| async {
        let (mut socket, mut theirs) = pair();
        theirs.write_all(b"last words").unwrap();
        drop(theirs);
        let mut received = Vec::new();
        socket.read_to_end(&mut received).await.unwrap();
        assert_eq!(received, b"last words");
        let mut error = None;
        for _ in 0..3 {
            error = socket.write_all(b"?").await.err().or(error);
            tokio::task::yield_now().await;
        }
        assert_eq!(error.unwrap().kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn a_dropped_socket_is_closed_although_the_kernel_receives_for_it() {
    on_workers(|| async {
        let (mut socket, mut theirs) = pair();
        let waiting = tokio::task::spawn_local(async move { socket.read_u8().await });
        tokio::task::yield_now().await;
        waiting.abort();
        let _ = waiting.await;
        let closed = tokio::task::spawn_blocking(move || theirs.read(&mut [0; 1]).unwrap());
        assert_eq!(closed.await.unwrap(), 0);
    });
}

#[test]
fn what_was_written_before_a_drop_is_sent() {
    on_workers(|| async {
        let (mut socket, mut theirs) = pair();
        socket.write_all(b"farewell").await.unwrap();
        drop(socket);
        let reading = tokio::task::spawn_blocking(move || {
            let mut received = Vec::new();
            theirs.read_to_end(&mut received).unwrap();
            received
        });
        assert_eq!(reading.await.unwrap(), b"farewell");
    });
}

#[test]
fn a_socket_that_is_left_is_closed_with_its_worker_and_works_on_no_other() {
    let ways = if has_rings() { &[Io::Epoll, Io::Ring][..] } else { &[Io::Epoll] };
    for &io in ways {
        let worker = Worker::new(io).unwrap();
        assert!(Worker::new(io).is_err(), "one worker per thread");
        let (mut socket, mut theirs) = worker.block_on(async { pair() });
        assert!(is_here());
        drop(worker);
        assert!(!is_here());
        assert_eq!(theirs.read(&mut [0; 1]).unwrap(), 0);
        let worker = Worker::new(io).unwrap();
        let (_other, mut theirs) = worker.block_on(async { pair() });
        theirs.write_all(b"not for the first").unwrap();
        let error = worker.block_on(async { socket.read_u8().await }).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotConnected);
        drop(socket);
    }
}

#[test]
fn other_threads_and_timers_wake_a_thread_that_waits() {
    on_workers(|| async {
        for _ in 0..200 {
            let (send, receive) = oneshot::channel();
            thread::spawn(move || send.send(7).unwrap());
            assert_eq!(receive.await.unwrap(), 7);
        }
        let never = std::future::pending::<()>();
        assert!(tokio::time::timeout(Duration::from_millis(5), never).await.is_err());
    });
}

#[test]
fn a_sleep_ends_after_its_time_beside_a_socket_that_is_silent() {
    on_workers(|| async {
        let (_socket, _theirs) = pair();
        let before = tokio::time::Instant::now();
        for _ in 0..10 {
            assert!(sleep(Duration::from_micros(1500)).await);
        }
        assert!(before.elapsed() >= Duration::from_millis(15));
    });
}

#[tokio::test]
async fn a_thread_that_is_no_worker_has_neither_sockets_nor_sleeps() {
    let (ours, _theirs) = UnixStream::pair().unwrap();
    assert!(WorkerSocket::new(ours.into()).is_err());
    assert!(!sleep(LIMIT).await);
}
