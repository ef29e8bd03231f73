//! The floor on io_uring: a request and the wait for its answer are two linked entries of one ring,
//! and one system call submits them and waits. Shows how much could still be gained from the
//! kernel.

use std::io::{Error, ErrorKind};
use std::os::fd::AsRawFd;

use io_uring::squeue::Flags;
use io_uring::types::Fixed;
use io_uring::{IoUring, opcode};
use rustix::time::ClockId;

use super::{Length, User, nanoseconds};

/// Marks the kind of a completion, beside the user's index.
const SEND: u64 = 1 << 32;

/// Runs to the end; returns transactions and CPU nanoseconds.
pub fn drive(users: &mut [User], accounts: u64, length: Length) -> Result<(u64, u64), Error> {
    let entries = u32::try_from(users.len() * 2).map_err(Error::other)?.next_power_of_two().max(8);
    // One thread submits and reaps; completions are delivered when it requests them, without
    // interrupts.
    let mut ring: IoUring = IoUring::builder()
        .setup_single_issuer()
        .setup_coop_taskrun()
        .setup_defer_taskrun()
        .build(entries)?;
    let sockets: Vec<_> = users.iter().map(|user| user.socket.as_raw_fd()).collect();
    ring.submitter().register_files(&sockets)?;
    let cpu = nanoseconds(ClockId::ProcessCPUTime);
    let start = nanoseconds(ClockId::Monotonic);
    for (place, user) in users.iter_mut().enumerate() {
        user.draw(accounts)?;
        ask(&mut ring, place, user)?;
    }
    let mut count = 0;
    let mut done = Vec::with_capacity(users.len() * 2);
    while length.goes_on(start, count) {
        ring.submit_and_wait(1)?;
        done.extend(ring.completion().map(|entry| (entry.user_data(), entry.result())));
        for (data, result) in done.drain(..) {
            let read = usize::try_from(result).map_err(|_| Error::from_raw_os_error(-result))?;
            if data >= SEND {
                // Only failed or partial completions are reported.
                return Err(Error::other("a request was only partly sent"));
            }
            let place = usize::try_from(data).map_err(Error::other)?;
            let user = &mut users[place];
            if read == 0 {
                return Err(Error::from(ErrorKind::UnexpectedEof));
            }
            if user.take(read)? {
                count += 1;
                user.draw(accounts)?;
                ask(&mut ring, place, user)?;
            } else {
                listen(&mut ring, place, user)?;
            }
        }
    }
    Ok((count, nanoseconds(ClockId::ProcessCPUTime) - cpu))
}

fn ask(ring: &mut IoUring, place: usize, user: &mut User) -> Result<(), Error> {
    let length = u32::try_from(user.request.len()).map_err(Error::other)?;
    let send = opcode::Send::new(fixed(place), user.request.as_ptr(), length)
        .build()
        .user_data(SEND | place as u64)
        .flags(Flags::IO_LINK | Flags::SKIP_SUCCESS);
    push(ring, &send)?;
    listen(ring, place, user)
}

fn listen(ring: &mut IoUring, place: usize, user: &mut User) -> Result<(), Error> {
    let room = &mut user.answer[user.filled..];
    let length = u32::try_from(room.len()).map_err(Error::other)?;
    let receive =
        opcode::Recv::new(fixed(place), room.as_mut_ptr(), length).build().user_data(place as u64);
    push(ring, &receive)
}

fn fixed(place: usize) -> Fixed {
    Fixed(u32::try_from(place).unwrap_or(u32::MAX))
}

#[expect(unsafe_code, reason = "io_uring takes pointers; an experiment that is not shipped")]
fn push(ring: &mut IoUring, entry: &io_uring::squeue::Entry) -> Result<(), Error> {
    // SAFETY: the buffers belong to the users, who outlive the ring, and are not touched while an
    // entry that refers to them is in progress; entries in progress at the end are ended by the end
    // of the process.
    let pushed = unsafe { ring.submission().push(entry) };
    pushed.map_err(Error::other)
}
