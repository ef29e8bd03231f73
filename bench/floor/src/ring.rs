//! The floor on io_uring: a request and the wait for its answer are two linked entries of one ring, and
//! one system call hands over what there is to do and waits. Shows what is left to be had of the kernel.

use std::io::{Error, ErrorKind};
use std::os::fd::AsRawFd;

use io_uring::squeue::Flags;
use io_uring::types::Fixed;
use io_uring::{IoUring, opcode};
use rustix::time::ClockId;

use super::{User, nanoseconds};

/// Marks what a completion is of, beside the user's place.
const SEND: u64 = 1 << 32;

/// Goes round until the time is over; gives transactions and CPU nanoseconds.
pub fn drive(users: &mut [User], accounts: u64, seconds: u64) -> Result<(u64, u64), Error> {
    let entries = u32::try_from(users.len() * 2).map_err(Error::other)?.next_power_of_two().max(8);
    // One thread asks and takes; its completions are made when it asks for them, not by interrupting it.
    let mut ring: IoUring = IoUring::builder()
        .setup_single_issuer()
        .setup_coop_taskrun()
        .setup_defer_taskrun()
        .build(entries)?;
    let sockets: Vec<_> = users.iter().map(|user| user.socket.as_raw_fd()).collect();
    ring.submitter().register_files(&sockets)?;
    let cpu = nanoseconds(ClockId::ProcessCPUTime);
    let end = nanoseconds(ClockId::Monotonic) + seconds * 1_000_000_000;
    for (place, user) in users.iter_mut().enumerate() {
        user.draw(accounts)?;
        ask(&mut ring, place, user)?;
    }
    let mut count = 0;
    let mut done = Vec::with_capacity(users.len() * 2);
    while nanoseconds(ClockId::Monotonic) < end {
        ring.submit_and_wait(1)?;
        done.extend(ring.completion().map(|entry| (entry.user_data(), entry.result())));
        for (data, result) in done.drain(..) {
            let read = usize::try_from(result).map_err(|_| Error::from_raw_os_error(-result))?;
            if data >= SEND {
                // Only those that went wrong, or not wholly, are told.
                return Err(Error::other("a request was sent in part"));
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

#[expect(unsafe_code, reason = "io_uring takes pointers; an experiment, in no crate that ships")]
fn push(ring: &mut IoUring, entry: &io_uring::squeue::Entry) -> Result<(), Error> {
    // SAFETY: the buffers are the users', who outlive the ring, and are left alone while an entry that names
    // them is under way; what is under way at the end, the end of the process ends.
    let pushed = unsafe { ring.submission().push(entry) };
    pushed.map_err(Error::other)
}
