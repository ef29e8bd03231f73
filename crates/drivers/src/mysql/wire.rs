//! Packets: four bytes of length and number, then the content. Each direction uses one buffer,
//! which grows to the size of the largest packet and is kept.

use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead as _, AsyncReadExt, AsyncWriteExt, ReadBuf};
use tokio_rustls::TlsConnector;
use triphammer_core::{DbError, ErrorClass};

use super::compressed::{Compression, Frames};
use super::error::{ErrorContext, broken, read_error};
use crate::socket::Socket;
use crate::stream::{self, Stream, closed};

/// Length of a packet that is continued in another one. None of ours is that long.
const CONTINUED: usize = 0xff_ffff;
const HEAD_BYTES: usize = 4;
const BUFFER_BYTES: usize = 16 * 1024;

/// One connection, packet by packet.
pub struct Wire {
    /// `None` only during the TLS handshake.
    stream: Option<Stream>,
    /// The layer of frames under the packets; `None` without compression.
    frames: Option<Box<Frames>>,
    input: Vec<u8>,
    /// The part of `input` that has arrived and has not been read.
    waiting: Range<usize>,
    output: Vec<u8>,
    /// Start of the packet that is being written.
    packet_at: usize,
    sequence: u8,
    /// Whether a command is in progress, or was abandoned half-way.
    busy: bool,
    lost: bool,
}

impl Wire {
    /// Sends and receives packets over a socket.
    pub fn new(socket: Socket) -> Self {
        Self {
            stream: Some(Stream::Plain(socket)),
            frames: None,
            input: vec![0; BUFFER_BYTES],
            waiting: 0..0,
            output: Vec::with_capacity(BUFFER_BYTES),
            packet_at: 0,
            sequence: 0,
            busy: true,
            lost: false,
        }
    }

    /// Starts TLS on the socket.
    ///
    /// # Errors
    /// When the handshake fails.
    pub async fn secure(&mut self, tls: &TlsConnector, host: &str) -> Result<(), DbError> {
        let Some(Stream::Plain(socket)) = self.stream.take() else {
            return Err(closed());
        };
        self.stream = Some(Stream::secure(tls, socket, host).await?);
        Ok(())
    }

    /// Compresses what follows, in both directions: after the login.
    ///
    /// # Errors
    /// When the library has no memory.
    pub fn compress(&mut self, compression: Compression) -> Result<(), DbError> {
        self.frames = Some(Box::new(Frames::new(compression)?));
        Ok(())
    }

    /// Begins a client command.
    ///
    /// # Errors
    /// When the connection is lost, or an earlier command was cancelled half-way.
    pub fn command(&mut self, code: u8) -> Result<&mut Vec<u8>, DbError> {
        if self.busy && !self.lost {
            self.lost = true;
            let message = "an earlier call was interrupted, and its answer may still arrive";
            return Err(DbError::new(ErrorClass::Disconnected, message));
        }
        if self.lost {
            return Err(closed());
        }
        self.busy = true;
        self.sequence = 0;
        if let Some(frames) = &mut self.frames {
            frames.begin();
        }
        self.output.clear();
        let out = self.open_packet();
        out.push(code);
        Ok(out)
    }

    /// Begins a packet in response to the server's.
    pub fn reply(&mut self) -> &mut Vec<u8> {
        self.output.clear();
        self.open_packet()
    }

    fn open_packet(&mut self) -> &mut Vec<u8> {
        self.packet_at = self.output.len();
        self.output.extend_from_slice(&[0; HEAD_BYTES]);
        &mut self.output
    }

    /// Drops a command that was begun but not sent.
    pub fn take_back(&mut self) {
        self.busy = false;
    }

    /// Ends the packet and sends it.
    ///
    /// # Errors
    /// When it is too long, or the connection breaks.
    pub async fn send(&mut self) -> Result<(), DbError> {
        let length = self.output.len() - self.packet_at - HEAD_BYTES;
        if length >= CONTINUED {
            self.busy = false;
            let message = format!("a command of {length} bytes is too long: must be under 16 MiB");
            return Err(DbError::new(ErrorClass::Unsupported, message));
        }
        let [low, middle, high, ..] = length.to_le_bytes();
        let head = [low, middle, high, self.sequence];
        self.output[self.packet_at..self.packet_at + HEAD_BYTES].copy_from_slice(&head);
        self.sequence = self.sequence.wrapping_add(1);
        let Some(stream) = &mut self.stream else { return Err(closed()) };
        let bytes = match &mut self.frames {
            Some(frames) => frames.encode(&self.output)?,
            None => &self.output,
        };
        let sent = async {
            stream.write_all(bytes).await?;
            stream.flush().await
        };
        sent.await.map_err(|error| {
            self.lost = true;
            stream::broken(&error)
        })
    }

    /// Receives the first packet, if the data can be a server's greeting at all.
    ///
    /// # Errors
    /// When it cannot, or the connection breaks.
    pub async fn greeting(&mut self) -> Result<&[u8], DbError> {
        while self.waiting.len() < HEAD_BYTES {
            self.fill().await?;
        }
        // Short, and the first packet.
        if self.input[2..HEAD_BYTES] != [0, 0] {
            return Err(no_greeting());
        }
        self.packet().await
    }

    /// Receives the next packet.
    ///
    /// # Errors
    /// When the connection breaks.
    pub async fn packet(&mut self) -> Result<&[u8], DbError> {
        loop {
            if let Some(content) = self.take_packet()? {
                return Ok(&self.input[content]);
            }
            self.fill().await?;
        }
    }

    /// Receives the next packet of the answer to a command.
    ///
    /// # Errors
    /// The error that the server sends, which ends the answer; also when the connection breaks.
    pub async fn answer(&mut self) -> Result<&[u8], DbError> {
        loop {
            if let Some(content) = self.take_packet()? {
                // No other packet of an answer begins with this byte.
                if self.input.get(content.start) == Some(&0xff) && !content.is_empty() {
                    return Err(self.refused(content));
                }
                return Ok(&self.input[content]);
            }
            self.fill().await?;
        }
    }

    #[cold]
    fn refused(&mut self, content: Range<usize>) -> DbError {
        let error = read_error(&self.input[content], ErrorContext::InUse);
        self.busy = false;
        self.lost |= error.class().loses_session();
        error
    }

    fn take_packet(&mut self) -> Result<Option<Range<usize>>, DbError> {
        let arrived = &self.input[self.waiting.clone()];
        let Some(&[low, middle, high, sequence]) = arrived.first_chunk::<HEAD_BYTES>() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes([low, middle, high, 0]) as usize;
        if length == CONTINUED {
            self.lost = true;
            return Err(broken("a row of 16 MiB or more"));
        }
        if arrived.len() < HEAD_BYTES + length {
            return Ok(None);
        }
        self.sequence = sequence.wrapping_add(1);
        let from = self.waiting.start + HEAD_BYTES;
        self.waiting.start = from + length;
        Ok(Some(from..from + length))
    }

    /// Reads what is available, at least one byte.
    async fn fill(&mut self) -> Result<(), DbError> {
        if self.waiting.is_empty() {
            self.waiting = 0..0;
        } else if self.waiting.end == self.input.len() {
            self.input.copy_within(self.waiting.clone(), 0);
            self.waiting = 0..self.waiting.len();
            // Decoded data makes its own room.
            if self.frames.is_none() && self.waiting.end > self.input.len() / 2 {
                self.input.resize(self.input.len() * 2, 0);
            }
        }
        let Some(stream) = &mut self.stream else { return Err(closed()) };
        let room = match &mut self.frames {
            Some(frames) => frames.room(),
            None => &mut self.input[self.waiting.end..],
        };
        match stream.read(room).await {
            Ok(0) => {
                self.lost = true;
                Err(closed())
            }
            Ok(count) => self.arrived(count),
            Err(error) => {
                self.lost = true;
                Err(stream::broken(&error))
            }
        }
    }

    /// Takes over bytes that were read.
    fn arrived(&mut self, bytes: usize) -> Result<(), DbError> {
        let Some(frames) = &mut self.frames else {
            self.waiting.end += bytes;
            return Ok(());
        };
        frames.arrived(bytes);
        self.input.truncate(self.waiting.end);
        let decoded = frames.decode(&mut self.input);
        self.lost |= decoded.is_err();
        self.waiting.end = self.input.len();
        decoded
    }

    /// Marks the rest of an answer as abandoned: the connection can no longer be used.
    pub fn give_up(&mut self) {
        self.lost = true;
    }

    /// Marks the answer to a command as fully read.
    pub fn done(&mut self) {
        self.busy = false;
    }

    /// Whether the connection is known to be lost. Between commands a server sends nothing but a
    /// shutdown message, so on an unencrypted connection any data means that; TLS may have messages
    /// of its own.
    pub fn is_closed(&self) -> bool {
        if self.lost || self.busy {
            return true;
        }
        match &self.stream {
            None => true,
            Some(Stream::Plain(socket)) => peek(socket) != Peek::Nothing,
            Some(Stream::Tls(stream)) => peek(stream.get_ref().0) == Peek::End,
        }
    }

    /// Looks, without waiting, whether the server has ended the connection between two commands, and
    /// why: it sends an error, or nothing.
    pub fn ended_idle(&mut self) -> Option<DbError> {
        if self.lost || self.busy {
            return Some(closed());
        }
        let stream = self.stream.as_mut()?;
        self.waiting = 0..0;
        let mut room = ReadBuf::new(match &mut self.frames {
            Some(frames) => frames.room(),
            None => &mut self.input,
        });
        let mut context = Context::from_waker(Waker::noop());
        let read = match Pin::new(stream).poll_read(&mut context, &mut room) {
            Poll::Pending => return None,
            Poll::Ready(read) => read.map(|()| room.filled().len()),
        };
        self.lost = true;
        Some(match read {
            Ok(count) => {
                let _ = self.arrived(count);
                match self.take_packet() {
                    Ok(Some(content)) if self.input[content.clone()].first() == Some(&0xff) => {
                        read_error(&self.input[content], ErrorContext::InUse)
                    }
                    _ => closed(),
                }
            }
            Err(error) => stream::broken(&error),
        })
    }

    /// Whether the connection uses TLS.
    pub fn has_tls(&self) -> bool {
        self.stream.as_ref().is_some_and(Stream::has_tls)
    }

    /// TLS version and cipher; `None` without TLS.
    pub fn cipher(&self) -> Option<String> {
        self.stream.as_ref().and_then(Stream::cipher)
    }

    /// Closes the connection properly, as far as possible.
    pub async fn shut_down(&mut self) {
        if let Some(stream) = &mut self.stream {
            // The other end may already be gone, which is fine.
            let _ = stream.shutdown().await;
        }
    }
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

/// The error for a peer that is not a MySQL server.
pub fn no_greeting() -> DbError {
    let message = "the server does not speak the MySQL protocol: check host and port";
    DbError::new(ErrorClass::Refused, message)
}
