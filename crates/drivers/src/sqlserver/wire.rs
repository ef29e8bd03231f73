//! Messages as packets: a head of eight bytes, then a part of the message. Each direction uses one
//! buffer that is kept. The data of an answer are joined in place: of an answer in one packet, which
//! is the rule, nothing is copied.

use std::future::poll_fn;
use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWriteExt, ReadBuf};
use tokio_rustls::TlsConnector;
use triphammer_core::{DbError, ErrorClass};

use super::cancel::CancelFlag;
use super::error::broken;
use super::shell::Shell;
use crate::answer::{ANSWER_BYTES_MAX, too_large};
use crate::socket::Socket;
use crate::stream::{self, Stream, closed};

/// Types of messages to the server.
pub(super) mod message_type {
    pub const BATCH: u8 = 1;
    pub const RPC: u8 = 3;
    pub const ATTENTION: u8 = 6;
    pub const BULK: u8 = 7;
    pub const TRANSACTION: u8 = 14;
    pub const LOGIN: u8 = 16;
    pub const PRELOGIN: u8 = 18;
}

/// Type of all packets from the server.
pub(super) const REPLY: u8 = 4;
/// Status of a message's last packet.
pub(super) const END_OF_MESSAGE: u8 = 1;
/// Length of a packet's head.
pub(super) const HEAD_BYTES: usize = 8;
/// Length of packets until the server agrees to another.
pub(super) const PACKET_BYTES: usize = 4096;
/// Lengths of packets that servers may choose.
pub(super) const PACKET_SIZES: std::ops::RangeInclusive<usize> = 512..=32_767;
const BUFFER_BYTES: usize = 16 * 1024;

/// One connection, message by message.
pub(super) struct Wire {
    /// `None` only while TLS starts or ends.
    stream: Option<Stream<Shell>>,
    input: Vec<u8>,
    /// Data of the answer that have not been read, a part of `input`.
    unread: Range<usize>,
    /// Packets behind them that have arrived and were not opened.
    packets: Range<usize>,
    /// Whether the last packet of the message was opened.
    ended: bool,
    /// Space for a head, and the data of the message that is being written.
    output: Vec<u8>,
    /// Packets of a long message.
    framed: Vec<u8>,
    packet_bytes: usize,
    /// Number of the next packet of a message.
    number: u8,
    /// Whether a command is in progress, or was abandoned half-way.
    busy: bool,
    lost: bool,
    cancel: Arc<CancelFlag>,
    /// Whether the server was asked to cancel, and has not confirmed it.
    attention: bool,
}

/// What a wait for the server ended with.
enum Event {
    Read(usize),
    Cancel,
}

impl Wire {
    /// Sends and receives messages over a socket.
    pub(super) fn new(socket: Socket, cancel: Arc<CancelFlag>) -> Self {
        Self {
            stream: Some(Stream::Plain(Shell::new(socket))),
            input: vec![0; BUFFER_BYTES],
            unread: 0..0,
            packets: 0..0,
            ended: false,
            output: Vec::with_capacity(BUFFER_BYTES),
            framed: Vec::new(),
            packet_bytes: PACKET_BYTES,
            number: 1,
            busy: false,
            lost: false,
            cancel,
            attention: false,
        }
    }

    /// Starts TLS: with the handshake in packets, or as it is.
    ///
    /// # Errors
    /// When the handshake fails.
    pub(super) async fn secure(
        &mut self,
        tls: &TlsConnector,
        host: &str,
        wraps: bool,
    ) -> Result<(), DbError> {
        if !self.packets.is_empty() {
            // Whoever put it there would have it taken for the server's protected data.
            return Err(broken("data before the TLS handshake"));
        }
        let Some(Stream::Plain(mut shell)) = self.stream.take() else { return Err(closed()) };
        shell.set_wraps(wraps);
        let mut secured = Stream::secure(tls, shell, host).await?;
        if let Stream::Tls(tls) = &mut secured {
            tls.get_mut().0.set_wraps(false);
        }
        self.stream = Some(secured);
        Ok(())
    }

    /// Ends the use of TLS, which was for the login only.
    pub(super) fn unsecure(&mut self) {
        self.stream = match self.stream.take() {
            Some(Stream::Tls(tls)) => Some(Stream::Plain(tls.into_inner().0)),
            other => other,
        };
    }

    /// Sets the length of packets that the server has chosen.
    ///
    /// # Errors
    /// When it is not a possible one.
    pub(super) fn set_packet_bytes(&mut self, bytes: usize) -> Result<(), DbError> {
        if !PACKET_SIZES.contains(&bytes) {
            return Err(broken("a packet size"));
        }
        self.packet_bytes = bytes;
        Ok(())
    }

    /// Begins a command.
    ///
    /// # Errors
    /// When the connection is lost, or an earlier command was cancelled half-way.
    pub(super) fn command(&mut self) -> Result<&mut Vec<u8>, DbError> {
        if self.busy && !self.lost {
            self.lost = true;
            let message = "an earlier call was interrupted, and its answer may still arrive";
            return Err(DbError::new(ErrorClass::Disconnected, message));
        }
        if self.lost || self.stream.is_none() {
            return Err(closed());
        }
        if !self.unread.is_empty() || !self.packets.is_empty() {
            return Err(self.give_up(broken("data that was not requested")));
        }
        self.busy = true;
        self.cancel.clear();
        Ok(self.reply())
    }

    /// Begins a message in the course of a command.
    pub(super) fn reply(&mut self) -> &mut Vec<u8> {
        self.number = 1;
        self.ended = false;
        self.output.clear();
        self.output.resize(HEAD_BYTES, 0);
        &mut self.output
    }

    /// Drops a command that was begun but not sent.
    pub(super) fn take_back(&mut self) {
        self.busy = false;
    }

    /// Ends the message and sends it.
    ///
    /// # Errors
    /// When the connection breaks.
    #[inline]
    pub(super) async fn send(&mut self, kind: u8) -> Result<(), DbError> {
        if self.output.len() > self.packet_bytes {
            return self.send_packets(kind, true).await;
        }
        let head = self.head(kind, END_OF_MESSAGE, self.output.len());
        self.output[..HEAD_BYTES].copy_from_slice(&head);
        let Some(stream) = &mut self.stream else { return Err(closed()) };
        let sent = write(stream, &self.output).await;
        sent.map_err(|error| self.give_up(stream::broken(&error)))
    }

    /// The message that is being written, to append to.
    pub(super) fn message(&mut self) -> &mut Vec<u8> {
        &mut self.output
    }

    /// Sends as many whole packets as there are data for; the last one, too, if the message ends.
    ///
    /// # Errors
    /// When the connection breaks.
    pub(super) async fn send_packets(&mut self, kind: u8, ends: bool) -> Result<(), DbError> {
        let room = self.packet_bytes - HEAD_BYTES;
        let mut at = HEAD_BYTES;
        let mut framed = std::mem::take(&mut self.framed);
        framed.clear();
        loop {
            let left = self.output.len() - at;
            let is_last = left <= room;
            if is_last && !ends {
                break;
            }
            let length = left.min(room);
            let status = if is_last { END_OF_MESSAGE } else { 0 };
            framed.extend_from_slice(&self.head(kind, status, length + HEAD_BYTES));
            framed.extend_from_slice(&self.output[at..at + length]);
            at += length;
            if is_last {
                break;
            }
        }
        let Some(stream) = &mut self.stream else { return Err(closed()) };
        let sent = write(stream, &framed).await;
        self.framed = framed;
        self.output.drain(HEAD_BYTES..at);
        sent.map_err(|error| self.give_up(stream::broken(&error)))
    }

    fn head(&mut self, kind: u8, status: u8, length: usize) -> [u8; HEAD_BYTES] {
        let length = u16::try_from(length).expect("packets are shorter than 32 KiB");
        let [high, low] = length.to_be_bytes();
        let number = self.number;
        self.number = number.wrapping_add(1);
        [kind, status, high, low, 0, 0, number, 0]
    }

    /// Data of the answer that have arrived and were not consumed.
    #[inline]
    pub(super) fn data(&self) -> &[u8] {
        &self.input[self.unread.clone()]
    }

    /// Marks data as read.
    #[inline]
    pub(super) fn consume(&mut self, count: usize) {
        self.unread.start += count;
        debug_assert!(self.unread.start <= self.unread.end, "only what was there is consumed");
    }

    /// Whether no more data of this message will arrive.
    #[inline]
    pub(super) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Receives another packet of the answer.
    ///
    /// # Errors
    /// When the message has ended, it is too long, or the connection breaks.
    pub(super) async fn more(&mut self) -> Result<(), DbError> {
        if self.ended {
            return Err(self.give_up(broken("an answer that ends too early")));
        }
        if self.unread.len() > ANSWER_BYTES_MAX {
            return Err(self.give_up(too_large()));
        }
        while !self.open_packet()? {
            self.fill().await?;
        }
        Ok(())
    }

    /// Begins to read another message, such as one that confirms a cancellation.
    pub(super) fn next_message(&mut self) {
        self.ended = false;
    }

    /// Puts the data of the next packet behind those that are there.
    fn open_packet(&mut self) -> Result<bool, DbError> {
        let arrived = &self.input[self.packets.clone()];
        let Some(&[kind, status, high, low, ..]) = arrived.first_chunk::<HEAD_BYTES>() else {
            return Ok(false);
        };
        let length = usize::from(u16::from_be_bytes([high, low]));
        if kind != REPLY || length < HEAD_BYTES {
            return Err(self.give_up(no_packet()));
        }
        if arrived.len() < length {
            return Ok(false);
        }
        let data = self.packets.start + HEAD_BYTES..self.packets.start + length;
        self.packets.start = data.end;
        if self.unread.is_empty() {
            self.unread = data;
        } else {
            let end = self.unread.end;
            self.unread.end += data.len();
            self.input.copy_within(data, end);
        }
        self.ended = status & END_OF_MESSAGE != 0;
        Ok(true)
    }

    /// Reads what is available, at least one byte; asks the server to cancel when that is requested
    /// meanwhile.
    async fn fill(&mut self) -> Result<(), DbError> {
        self.make_room();
        loop {
            let Self { stream, input, packets, cancel, attention, .. } = self;
            let Some(stream) = stream else { return Err(closed()) };
            let event = poll_fn(|cx| {
                let mut buffer = ReadBuf::new(&mut input[packets.end..]);
                match Pin::new(&mut *stream).poll_read(cx, &mut buffer) {
                    Poll::Ready(read) => {
                        Poll::Ready(read.map(|()| Event::Read(buffer.filled().len())))
                    }
                    Poll::Pending if !*attention && cancel.poll(cx) => {
                        Poll::Ready(Ok(Event::Cancel))
                    }
                    Poll::Pending => Poll::Pending,
                }
            });
            match event.await {
                Ok(Event::Read(0)) => return Err(self.give_up(closed())),
                Ok(Event::Read(count)) => {
                    self.packets.end += count;
                    return Ok(());
                }
                Ok(Event::Cancel) => self.send_attention().await?,
                Err(error) => return Err(self.give_up(stream::broken(&error))),
            }
        }
    }

    fn make_room(&mut self) {
        if self.unread.is_empty() && self.packets.is_empty() {
            (self.unread, self.packets) = (0..0, 0..0);
        } else if self.packets.end == self.input.len() {
            let start = if self.unread.is_empty() { self.packets.start } else { self.unread.start };
            self.input.copy_within(start..self.packets.end, 0);
            let moved = |range: &Range<usize>| range.start - start..range.end - start;
            self.unread = if self.unread.is_empty() { 0..0 } else { moved(&self.unread) };
            self.packets = moved(&self.packets);
            if self.packets.end > self.input.len() / 2 {
                self.input.resize(self.input.len() * 2, 0);
            }
        }
    }

    async fn send_attention(&mut self) -> Result<(), DbError> {
        let [high, low] = [0, HEAD_BYTES.to_le_bytes()[0]];
        let packet = [message_type::ATTENTION, END_OF_MESSAGE, high, low, 0, 0, 1, 0];
        self.attention = true;
        let Some(stream) = &mut self.stream else { return Err(closed()) };
        let sent = write(stream, &packet).await;
        sent.map_err(|error| self.give_up(stream::broken(&error)))
    }

    /// Whether the server was asked to cancel, and has not confirmed it.
    #[inline]
    pub(super) fn awaits_cancel(&self) -> bool {
        self.attention
    }

    /// Notes that the server has confirmed that it cancelled.
    pub(super) fn cancel_confirmed(&mut self) {
        self.attention = false;
    }

    /// Takes a request to cancel, between parts of a message to the server.
    pub(super) fn is_to_cancel(&self) -> bool {
        self.cancel.take()
    }

    /// Marks the connection as unusable, because of an error.
    #[cold]
    pub(super) fn give_up(&mut self, error: DbError) -> DbError {
        self.lost = true;
        error
    }

    /// Marks the answer to a command as fully read.
    #[inline]
    pub(super) fn done(&mut self) {
        self.busy = false;
    }

    /// Whether the connection is known to be lost. Between commands a server sends nothing.
    pub(super) fn is_closed(&self) -> bool {
        if self.lost || self.busy {
            return true;
        }
        match &self.stream {
            None => true,
            Some(Stream::Plain(shell)) => peek(shell.socket()) != Peek::Nothing,
            Some(Stream::Tls(stream)) => peek(stream.get_ref().0.socket()) == Peek::End,
        }
    }

    /// Looks, without waiting, whether the server has ended the connection between two commands, and
    /// why.
    pub(super) fn ended_idle(&mut self) -> Option<DbError> {
        if self.lost || self.busy {
            return Some(closed());
        }
        let stream = self.stream.as_mut()?;
        let mut room = ReadBuf::new(&mut self.input);
        let mut context = Context::from_waker(Waker::noop());
        let Poll::Ready(read) = Pin::new(stream).poll_read(&mut context, &mut room) else {
            return None;
        };
        // Whatever it sends without a command, it is its last word.
        let why = read.map_or_else(|error| stream::broken(&error), |()| closed());
        Some(self.give_up(why))
    }

    /// TLS version and cipher; `None` without TLS.
    pub(super) fn cipher(&self) -> Option<String> {
        self.stream.as_ref().and_then(Stream::cipher)
    }

    /// Whether the connection uses TLS.
    pub(super) fn has_tls(&self) -> bool {
        self.stream.as_ref().is_some_and(Stream::has_tls)
    }

    /// Closes the connection properly, as far as possible.
    pub(super) async fn shut_down(&mut self) {
        if let Some(stream) = &mut self.stream {
            // The other end may already be gone, which is fine.
            let _ = stream.shutdown().await;
        }
    }
}

async fn write(stream: &mut Stream<Shell>, data: &[u8]) -> io::Result<()> {
    stream.write_all(data).await?;
    stream.flush().await
}

/// State of a socket's input.
#[derive(PartialEq, Eq)]
enum Peek {
    Nothing,
    Bytes,
    End,
}

fn peek(socket: &Socket) -> Peek {
    match socket.peek() {
        Poll::Pending => Peek::Nothing,
        Poll::Ready(Ok(0)) => Peek::End,
        Poll::Ready(Ok(_)) => Peek::Bytes,
        Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::WouldBlock => Peek::Nothing,
        Poll::Ready(Err(_)) => Peek::End,
    }
}

/// The error for a peer whose packets are not those of a SQL Server.
fn no_packet() -> DbError {
    let message = "the server does not speak the protocol of SQL Server: check host and port";
    DbError::new(ErrorClass::Disconnected, message)
}
