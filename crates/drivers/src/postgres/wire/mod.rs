//! One connection and its messages: PostgreSQL's protocol 3.0 (manual, chapter "Frontend/Backend
//! Protocol"). Messages are assembled in one buffer, sent in one write, and read in place in
//! another, inside the call that waits for them: a round trip is one write, one read and one
//! wake-up, and allocates nothing once the buffers have grown. The meaning of statements and rows
//! is the session's concern.

mod cancel;
mod copy;
mod inbox;
mod messages;
mod startup;

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

use bytes::BytesMut;
use postgres_protocol::message::{backend, frontend};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use triphammer_core::{DbError, ErrorClass};

use self::inbox::{Inbox, MessagePosition};
use super::codec::Misfit;
use super::error::{ErrorContext, classify};
use crate::stream::{Stream, broken, closed};

pub use self::cancel::CancelKey;
pub use self::copy::Chunk;
pub use self::messages::{
    BindHead, Body, Column, Fields, ServerError, Texts, Unwritable, columns, touched,
};
pub use self::startup::{Greeting, Login, start};

/// The server's source file that waits for standbys at the end of a commit.
const SYNCHRONOUS_REPLICATION: &str = "syncrep.c";

/// What follows a statement in the same write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// The request for the answer.
    Sync,
    /// COMMIT, and the request for both answers. The server skips COMMIT if the statement fails.
    CommitAndSync,
    /// Nothing: the statement is part of a pipeline.
    Nothing,
}

impl Then {
    /// The message that runs the unnamed portal to its end, and what follows it.
    const fn execute_and_self(self) -> &'static [u8] {
        match self {
            Self::Sync => b"E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04",
            Self::CommitAndSync => {
                b"E\0\0\0\x09\0\0\0\0\0\
                  P\0\0\0\x0e\0COMMIT\0\0\0B\0\0\0\x0c\0\0\0\0\0\0\0\0\
                  E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04"
            }
            Self::Nothing => b"E\0\0\0\x09\0\0\0\0\0",
        }
    }
}

/// State of the transaction, as of the last answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// There is no transaction.
    Idle,
    /// A transaction is open.
    Open,
    /// A transaction is open and can only be rolled back.
    Failed,
}

/// A message from the server, read in place.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Type of the message, one of [`backend`]'s tags.
    pub tag: u8,
    /// Body of the message, after its length.
    pub body: &'a [u8],
}

/// A connection. Calls may be cancelled between any two messages: the next call reads the rest of
/// the answer before it sends anything.
pub struct Connection {
    stream: Stream,
    /// Data waiting to be sent, from `sent` on.
    out: BytesMut,
    sent: usize,
    inbox: Inbox,
    status: Status,
    /// Whether a call in an open transaction was abandoned half-way, with an unknown effect.
    is_spoiled: bool,
    /// Whether a request was sent and the end of its answer has not arrived.
    is_asking: bool,
    /// Number of synchronisations in the pipeline so far; `None` outside of one.
    pipeline: Option<u32>,
    /// A BEGIN that is sent with the next request.
    begin: Option<&'static str>,
    /// Whether the server waits for rows.
    is_copying: bool,
    /// The error with which the current answer, or the connection, will end.
    failure: Option<DbError>,
    /// Why nothing can be sent any more.
    unsent: Option<io::Error>,
    /// Why the connection is lost.
    end: Option<DbError>,
    /// Warning that a commit was not confirmed by a standby.
    unconfirmed: Option<String>,
}

impl Connection {
    fn new(stream: Stream) -> Self {
        Self {
            stream,
            out: BytesMut::new(),
            sent: 0,
            inbox: Inbox::default(),
            status: Status::Idle,
            is_spoiled: false,
            is_asking: false,
            pipeline: None,
            begin: None,
            is_copying: false,
            failure: None,
            unsent: None,
            end: None,
            unconfirmed: None,
        }
    }

    /// Takes the server's warning that it has committed without waiting for a standby.
    #[inline]
    pub fn take_unconfirmed(&mut self) -> Option<String> {
        self.unconfirmed.take()
    }

    /// State of the transaction; a call cancelled half-way has failed it.
    pub fn status(&self) -> Status {
        match self.status {
            Status::Open if self.is_spoiled => Status::Failed,
            status => status,
        }
    }

    /// Prepares the connection for a request that nothing can be sent with: reads the rest of an
    /// abandoned answer, and sends a deferred BEGIN.
    ///
    /// # Errors
    /// When the connection is lost, and as the server reports.
    pub async fn ready(&mut self) -> Result<(), DbError> {
        self.settled().await?;
        if self.begin.is_none() {
            return Ok(());
        }
        self.encode(|out| {
            frontend::sync(out);
            Ok(())
        })?;
        self.answer(|_| Ok(())).await
    }

    /// Prepares the connection for a request that a deferred BEGIN is sent with: reads the rest of an
    /// abandoned answer.
    ///
    /// # Errors
    /// When the connection is lost.
    #[inline]
    pub async fn settled(&mut self) -> Result<(), DbError> {
        if self.is_asking || self.end.is_some() { self.settle().await } else { Ok(()) }
    }

    /// Has a transaction begin with the next request.
    pub fn defer_begin(&mut self, begin: &'static str) {
        self.begin = Some(begin);
    }

    /// Whether a BEGIN is to be sent with the next request.
    pub fn has_deferred_begin(&self) -> bool {
        self.begin.is_some()
    }

    /// Forgets a BEGIN that was not sent.
    pub fn forget_begin(&mut self) {
        self.begin = None;
    }

    /// Whether requests are only written.
    pub fn is_in_pipeline(&self) -> bool {
        self.pipeline.is_some()
    }

    /// From here on, requests are only written.
    ///
    /// # Errors
    /// When a pipeline is open already, or the connection is lost.
    pub async fn start_pipeline(&mut self) -> Result<(), DbError> {
        if self.is_in_pipeline() {
            return Err(DbError::new(ErrorClass::Other, "a pipeline is open already"));
        }
        self.ready().await?;
        self.pipeline = Some(0);
        Ok(())
    }

    /// Writes a synchronisation.
    ///
    /// # Errors
    /// When there is no pipeline.
    pub fn sync_pipeline(&mut self) -> Result<(), DbError> {
        let Some(syncs) = &mut self.pipeline else {
            return Err(DbError::new(ErrorClass::Other, "there is no pipeline"));
        };
        *syncs += 1;
        frontend::sync(&mut self.out);
        self.is_asking = true;
        Ok(())
    }

    /// Sends what was written, reads all answers, and leaves the pipeline.
    ///
    /// # Errors
    /// The first error of an answer.
    pub async fn end_pipeline(&mut self) -> Result<(), DbError> {
        self.sync_pipeline()?;
        let mut problem = None;
        for _ in 0..self.pipeline.take().unwrap_or(0) {
            self.is_asking = true;
            if let Err(error) = self.answer(|_| Ok(())).await {
                if self.end.is_some() {
                    return Err(error);
                }
                problem.get_or_insert(error);
            }
        }
        problem.map_or(Ok(()), Err)
    }

    /// Undoes what was sent since the last synchronisation, where that does not fail anyway, and
    /// leaves the pipeline. A synchronisation alone would commit it.
    ///
    /// # Errors
    /// The first error of an answer.
    pub async fn abandon_pipeline(&mut self) -> Result<(), DbError> {
        if self.is_in_pipeline() {
            self.out.extend_from_slice(
                b"P\0\0\0\x10\0ROLLBACK\0\0\0B\0\0\0\x0c\0\0\0\0\0\0\0\0\
                  E\0\0\0\x09\0\0\0\0\0",
            );
        }
        self.end_pipeline().await
    }

    #[cold]
    async fn settle(&mut self) -> Result<(), DbError> {
        if let Some(end) = &self.end {
            return Err(copy_of(end));
        }
        if self.is_copying {
            frontend::copy_fail("load cancelled", &mut self.out).map_err(unwritable)?;
            self.is_copying = false;
        }
        while self.is_asking {
            // An error that ends an abandoned answer has no receiver.
            if let Err(error) = self.next().await
                && self.end.is_some()
            {
                return Err(error);
            }
        }
        self.is_spoiled |= self.status == Status::Open;
        Ok(())
    }

    /// Writes a simple query to the buffer.
    ///
    /// # Errors
    /// When the text contains a zero byte.
    pub fn query(&mut self, sql: &str) -> Result<(), DbError> {
        frontend::query(sql, &mut self.out).map_err(unwritable)?;
        self.is_asking = true;
        Ok(())
    }

    /// Writes the preparation of a statement, and a request for its columns, to the buffer; it
    /// replaces the statement `old`, if there is one.
    ///
    /// # Errors
    /// When the text contains a zero byte.
    pub fn prepare(
        &mut self,
        old: Option<&str>,
        name: &str,
        sql: &str,
        types: &[u32],
    ) -> Result<(), DbError> {
        self.encode(|out| {
            if let Some(old) = old {
                frontend::close(b'S', old, out)?;
            }
            frontend::parse(name, sql, types.iter().copied(), out)?;
            frontend::describe(b'S', name, out)?;
            frontend::sync(out);
            Ok(())
        })
    }

    /// Writes the removal of a prepared statement to the buffer.
    ///
    /// # Errors
    /// When the name contains a zero byte.
    pub fn forget(&mut self, name: &str) -> Result<(), DbError> {
        self.encode(|out| {
            frontend::close(b'S', name, out)?;
            frontend::sync(out);
            Ok(())
        })
    }

    /// Writes an empty transaction to the buffer: a deferred BEGIN, and its end.
    ///
    /// # Errors
    /// Never, for the texts of transaction control.
    pub fn end_empty(&mut self, end: &str) -> Result<(), DbError> {
        self.encode(|out| {
            messages::control(out, end)?;
            frontend::sync(out);
            Ok(())
        })
    }

    /// Writes a run of a prepared statement to the buffer; `put` writes argument n, or returns
    /// false for NULL.
    ///
    /// # Errors
    /// When an argument does not fit.
    #[inline]
    pub fn execute(
        &mut self,
        head: &BindHead,
        results: bool,
        then: Then,
        put: impl FnMut(usize, &mut BytesMut) -> Result<bool, Misfit>,
    ) -> Result<(), DbError> {
        self.encode(|out| {
            messages::bind(out, head, results, put)?;
            out.extend_from_slice(then.execute_and_self());
            Ok(())
        })
    }

    /// Like [`Connection::execute`] for a statement that is not kept on the server, with a request
    /// for its columns.
    ///
    /// # Errors
    /// As [`Connection::execute`].
    pub fn execute_text(
        &mut self,
        sql: &str,
        types: &[u32],
        texts: Texts,
        then: Then,
        put: impl FnMut(usize, &mut BytesMut) -> Result<bool, Misfit>,
    ) -> Result<(), DbError> {
        self.encode(|out| {
            frontend::parse("", sql, types.iter().copied(), out)?;
            let head = BindHead::new("", types.len(), texts.arguments)?;
            messages::bind(out, &head, texts.results, put)?;
            frontend::describe(b'P', "", out)?;
            out.extend_from_slice(then.execute_and_self());
            Ok(())
        })
    }

    /// Writes messages to the buffer, behind a deferred BEGIN: all or none.
    #[inline]
    fn encode(
        &mut self,
        write: impl FnOnce(&mut BytesMut) -> Result<(), Unwritable>,
    ) -> Result<(), DbError> {
        let before = self.out.len();
        let begun = self.begin.map_or(Ok(()), |begin| messages::control(&mut self.out, begin));
        match begun.and_then(|()| write(&mut self.out)) {
            Ok(()) => {
                self.begin = None;
                self.is_asking = true;
                Ok(())
            }
            Err(error) => {
                self.out.truncate(before);
                Err(error.into_error())
            }
        }
    }

    /// Sends the buffer, and returns the next message of the answer; the last is
    /// [`backend::READY_FOR_QUERY_TAG`].
    ///
    /// # Errors
    /// Instead of that last one, when the server reports an error; also when the connection breaks.
    #[inline]
    pub async fn next(&mut self) -> Result<Frame<'_>, DbError> {
        let found = loop {
            match self.take()? {
                Some(found) => break found,
                None => self.more().await?,
            }
        };
        Ok(self.frame(&found))
    }

    /// The next message of the answer, if it has arrived: without a future, because most messages of
    /// an answer arrive together. If there is none, [`Connection::more`] waits for it.
    ///
    /// # Errors
    /// As [`Connection::next`].
    #[inline]
    pub fn taken(&mut self) -> Result<Option<Frame<'_>>, DbError> {
        match self.take()? {
            Some(found) => Ok(Some(self.frame(&found))),
            None => Ok(None),
        }
    }

    /// Sends the buffer, and waits until something has arrived.
    ///
    /// # Errors
    /// When the connection breaks.
    #[inline]
    pub async fn more(&mut self) -> Result<(), DbError> {
        poll_fn(|cx| self.poll_turn(cx)).await
    }

    #[inline]
    fn frame(&self, found: &MessagePosition) -> Frame<'_> {
        Frame { tag: found.tag, body: self.inbox.body(found) }
    }

    /// Takes the next message that is part of an answer.
    #[inline]
    fn take(&mut self) -> Result<Option<MessagePosition>, DbError> {
        loop {
            match self.inbox.take() {
                Ok(Some(found)) if is_plain(found.tag) => return Ok(Some(found)),
                Ok(Some(found)) => {
                    if !self.absorb(&found)? {
                        return Ok(Some(found));
                    }
                }
                Ok(None) => return Ok(None),
                Err(what) => return Err(self.garbled(what)),
            }
        }
    }

    /// Handles a message that is not part of an answer (and returns true), and notes its effect on
    /// the connection.
    fn absorb(&mut self, found: &MessagePosition) -> Result<bool, DbError> {
        match found.tag {
            backend::READY_FOR_QUERY_TAG => {
                self.status = match self.inbox.body(found) {
                    b"I" => Status::Idle,
                    b"T" => Status::Open,
                    b"E" => Status::Failed,
                    _ => return Err(self.garbled("an unknown state")),
                };
                self.is_spoiled &= self.status != Status::Idle;
                self.is_asking = false;
                self.is_copying = false;
                match self.failure.take() {
                    Some(failure) => Err(failure),
                    None => Ok(false),
                }
            }
            backend::ERROR_RESPONSE_TAG => {
                let failure = match ServerError::read(self.inbox.body(found)) {
                    Some(answer) => classify(&answer, ErrorContext::InUse),
                    None => return Err(self.garbled("an error without an end")),
                };
                self.failure.get_or_insert(failure);
                Ok(true)
            }
            backend::NOTICE_RESPONSE_TAG => {
                if let Some(warning) = unconfirmed(self.inbox.body(found)) {
                    self.unconfirmed = Some(warning);
                }
                Ok(true)
            }
            backend::PARAMETER_STATUS_TAG | backend::NOTIFICATION_RESPONSE_TAG => Ok(true),
            backend::COPY_IN_RESPONSE_TAG => {
                self.is_copying = true;
                Ok(false)
            }
            _ => Ok(false),
        }
    }

    /// Whether the connection is known to be lost, after checking for unsolicited messages.
    pub fn is_closed(&mut self) -> bool {
        if self.end.is_none() && !self.is_asking {
            let mut context = Context::from_waker(Waker::noop());
            // Anything that ends the connection is kept as its end.
            let _ = self.poll_unasked(&mut context);
        }
        self.end.is_some()
    }

    /// Why the connection is lost, for a call that cannot begin.
    pub fn end(&self) -> DbError {
        self.end.as_ref().map_or_else(closed, copy_of)
    }

    /// Closes the connection properly.
    pub async fn terminate(mut self) {
        frontend::terminate(&mut self.out);
        if poll_fn(|cx| self.poll_send(cx).map(Ok::<_, io::Error>)).await.is_ok() {
            let _ = poll_fn(|cx| Pin::new(&mut self.stream).poll_shutdown(cx)).await;
        }
    }

    /// Sends waiting data, and is ready when something has arrived.
    #[inline]
    fn poll_turn(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), DbError>> {
        if !self.out.is_empty() {
            // The rest is sent when the waker fires.
            let _ = self.poll_send(cx);
        }
        self.poll_receive(cx)
    }

    /// Ready when everything is sent or never will be; then reading reports why.
    #[inline]
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let result = loop {
            if self.sent == self.out.len() {
                break ready!(Pin::new(&mut self.stream).poll_flush(cx));
            }
            match ready!(Pin::new(&mut self.stream).poll_write(cx, &self.out[self.sent..])) {
                Ok(0) => break Err(io::ErrorKind::WriteZero.into()),
                Ok(sent) => self.sent += sent,
                Err(error) => break Err(error),
            }
        };
        self.out.clear();
        self.sent = 0;
        if let Err(error) = result {
            self.unsent.get_or_insert(error);
        }
        Poll::Ready(())
    }

    #[inline]
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), DbError>> {
        let mut room = ReadBuf::new(self.inbox.room());
        let read = ready!(Pin::new(&mut self.stream).poll_read(cx, &mut room));
        Poll::Ready(match read.map(|()| room.filled().len()) {
            Ok(0) => Err(self.ended(None)),
            Ok(read) => {
                self.inbox.filled(read);
                Ok(())
            }
            Err(error) => Err(self.ended(Some(error))),
        })
    }

    /// Handles everything that has arrived while no answer, or only an error, is expected.
    fn poll_unasked(&mut self, cx: &mut Context<'_>) -> Result<(), DbError> {
        loop {
            match self.inbox.take() {
                Ok(Some(found)) => {
                    if !self.absorb(&found)? {
                        return Err(self.garbled("an unsolicited answer"));
                    }
                }
                Ok(None) => match self.poll_receive(cx) {
                    Poll::Ready(result) => result?,
                    Poll::Pending => return Ok(()),
                },
                Err(what) => return Err(self.garbled(what)),
            }
        }
    }

    /// Marks the connection as lost: because of what the server reported last, or of what the
    /// system reports.
    #[cold]
    fn ended(&mut self, cause: Option<io::Error>) -> DbError {
        let cause = self.unsent.take().or(cause);
        let end = || cause.as_ref().map_or_else(closed, broken);
        match self.failure.take() {
            Some(failure) if failure.class().loses_session() => {
                self.end = Some(copy_of(&failure));
                failure
            }
            failure => {
                self.end = Some(end());
                failure.unwrap_or_else(end)
            }
        }
    }

    /// Abandons the answer: the connection ends with this error.
    #[cold]
    pub fn given_up(&mut self, error: DbError) -> DbError {
        self.end = Some(copy_of(&error));
        error
    }

    /// Marks a protocol violation; nothing after it can be trusted.
    #[cold]
    pub fn garbled(&mut self, what: &str) -> DbError {
        let message = format!("the server's answer violates the protocol: {what}");
        self.given_up(DbError::new(ErrorClass::Disconnected, message))
    }

    /// Like [`Connection::garbled`], for a message that is unexpected here.
    #[cold]
    pub fn misplaced(&mut self, tag: u8) -> DbError {
        self.garbled(&format!("an unexpected message of type {:?}", char::from(tag)))
    }
}

/// Whether a message is part of an answer and changes nothing of the connection.
#[inline]
const fn is_plain(tag: u8) -> bool {
    matches!(
        tag,
        backend::DATA_ROW_TAG | backend::BIND_COMPLETE_TAG | backend::COMMAND_COMPLETE_TAG
    )
}

/// The text of a notice if it is about a commit that no standby confirmed. Its place in the server's
/// source is in it, which no language changes.
#[cold]
fn unconfirmed(notice: &[u8]) -> Option<String> {
    let notice = ServerError::read(notice)?;
    let is_about_standby = notice.source.as_deref() == Some(SYNCHRONOUS_REPLICATION);
    is_about_standby.then(|| match &notice.detail {
        Some(detail) => format!("{}; detail: {}", notice.message, detail.trim_end_matches('.')),
        None => notice.message,
    })
}

#[cold]
fn unwritable(error: io::Error) -> DbError {
    DbError::new(ErrorClass::Other, format!("the statement cannot be sent: {error}"))
}

#[cold]
fn copy_of(error: &DbError) -> DbError {
    let copied = DbError::new(error.class(), error.message());
    match error.code() {
        Some(code) => copied.with_code(code),
        None => copied,
    }
}
