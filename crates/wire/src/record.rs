//! The thread that reads the copies: pieces become messages, events, transactions, and lines of the recording.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write};
use std::sync::Arc;
use std::time::Duration;

use triphammer_capture::recording::{Mark, Recorder, from_wire};
use triphammer_capture::sql::Syntax;
use triphammer_capture::{Assembler, Databases, Event, Shapes, Skipped, Transaction};
use triphammer_core::clock::wall;
use triphammer_core::{Clock, Elapsed};

use crate::queue::{Batch, Intake, Kind, Piece, Queue};
use crate::{mysql, postgres};

/// How often the copies are read: they wait meanwhile, so that the thread is not woken for each.
const TICK: Duration = Duration::from_millis(5);
/// Bytes that are written at once.
const BUFFER_BYTES: usize = 64 * 1024;
/// Bytes that wait to be written.
const UNWRITTEN_MAX: usize = 1024 * 1024;
/// Bytes that the end of a recording may need.
const END_BYTES: u64 = 4 * 1024;

/// What limits a recording.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of memory: of copies that wait, and of what is read of sessions.
    pub memory: usize,
    /// Bytes of the file.
    pub file: u64,
}

/// Why a recording ended before it was asked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The limit of memory was reached.
    Memory,
    /// The limit of the file was reached.
    File,
    /// The file could not be written further, as on a full disk.
    Unwritable,
}

/// What was recorded.
#[derive(Debug)]
pub struct Recorded {
    /// Bytes of messages that were read.
    pub bytes: u64,
    /// Number of sessions.
    pub sessions: usize,
    /// Number of transactions.
    pub transactions: u64,
    /// Number of their statements.
    pub statements: u64,
    /// Number of different statements.
    pub shapes: usize,
    /// Seconds from the first to the last start of a transaction.
    pub seconds: f64,
    /// What cannot be replayed.
    pub skipped: Skipped,
    /// Databases of the statements.
    pub databases: Databases,
    /// Why and when the recording ended before it was asked to, in seconds after its beginning.
    pub cut: Option<(Cut, f64)>,
}

/// Reads the messages of a session, by its protocol.
enum Reader {
    Postgres(postgres::Reader),
    Mysql(mysql::Reader),
}

impl Reader {
    fn new(syntax: Syntax, name: String, first: &[u8]) -> Self {
        match syntax {
            Syntax::MySql => Self::Mysql(mysql::Reader::new(name, first)),
            _ => Self::Postgres(postgres::Reader::new(name, first)),
        }
    }

    fn held(&self) -> usize {
        match self {
            Self::Postgres(reader) => reader.held(),
            Self::Mysql(reader) => reader.held(),
        }
    }

    fn piece(&mut self, piece: Piece<'_>, at_us: i64, events: &mut Vec<Event>) {
        match (self, piece.kind) {
            (_, Kind::Opened) => {}
            (Self::Postgres(one), Kind::FromClient) => one.client_sent(piece.bytes, at_us, events),
            (Self::Postgres(one), Kind::FromServer) => one.server_sent(piece.bytes, at_us, events),
            (Self::Postgres(one), Kind::Closed) => one.closed(at_us, events),
            (Self::Mysql(one), Kind::FromClient) => one.client_sent(piece.bytes, at_us, events),
            (Self::Mysql(one), Kind::FromServer) => one.server_sent(piece.bytes, at_us, events),
            (Self::Mysql(one), Kind::Closed) => one.closed(at_us, events),
        }
    }
}

/// Records what is copied to a queue.
pub struct Recording {
    syntax: Syntax,
    queue: Arc<Queue>,
    limits: Limits,
    clock: Clock,
    /// The clock's zero, in microseconds since 1970-01-01.
    zero_us: i64,
    assembler: Assembler,
    recorder: Recorder<Output>,
    sessions: HashMap<u64, Reader>,
    events: Vec<Event>,
    /// Bytes that sessions hold.
    held: usize,
    bytes: u64,
    /// The last two states of the file that have reached it.
    marks: [(u64, Mark); 2],
}

impl Recording {
    /// Records to a file what passes in this syntax, by an assembler that has nothing yet.
    pub fn new(
        queue: Arc<Queue>,
        limits: Limits,
        clock: Clock,
        file: File,
        (syntax, assembler): (Syntax, Assembler),
    ) -> Self {
        let recorder = Recorder::new(Output::new(file), from_wire(syntax));
        let marks = [(0, recorder.mark()), (0, recorder.mark())];
        let passed = i64::try_from(clock.now().0 / 1000).unwrap_or_default();
        Self {
            syntax,
            queue,
            limits,
            clock,
            zero_us: wall().0 - passed,
            assembler,
            recorder,
            sessions: HashMap::new(),
            events: Vec::new(),
            held: 0,
            bytes: 0,
            marks,
        }
    }

    /// Reads copies until the queue is closed or a limit is reached, and ends the recording.
    ///
    /// # Errors
    /// When the end of the file cannot be written.
    pub fn run(mut self) -> io::Result<Recorded> {
        let mut batch = Batch::default();
        let cut = loop {
            let intake = self.queue.intake();
            self.queue.swap(&mut batch);
            let read = batch.pieces().try_for_each(|piece| self.piece(piece));
            batch.clear();
            match read.and_then(|()| self.check()) {
                Err(cut) => break Some(cut),
                Ok(()) if intake == Intake::Full => break Some(Cut::Memory),
                Ok(()) if intake == Intake::Closed => break None,
                Ok(()) => std::thread::sleep(TICK),
            }
        };
        self.queue.close();
        let at = self.clock.now();
        self.queue.swap(&mut batch);
        drop(batch);
        self.end(cut.map(|cut| (cut, at)))
    }

    fn us(&self, at: Elapsed) -> i64 {
        self.zero_us.saturating_add(i64::try_from(at.0 / 1000).unwrap_or(i64::MAX))
    }

    fn piece(&mut self, piece: Piece<'_>) -> Result<(), Cut> {
        let at_us = self.us(piece.at);
        self.bytes += piece.bytes.len() as u64;
        let number = piece.connection;
        if piece.kind == Kind::Opened {
            let reader = Reader::new(self.syntax, number.to_string(), piece.bytes);
            self.sessions.insert(number, reader);
        }
        let Some(session) = self.sessions.get_mut(&number) else { return Ok(()) };
        self.held -= session.held().min(self.held);
        session.piece(piece, at_us, &mut self.events);
        if piece.kind == Kind::Closed {
            self.sessions.remove(&number);
        } else {
            self.held += session.held();
        }
        if self.held > self.limits.memory {
            return Err(Cut::Memory);
        }
        self.assemble()
    }

    /// Passes the events on.
    fn assemble(&mut self) -> Result<(), Cut> {
        let recorder = &mut self.recorder;
        let mut sink =
            |transaction: Transaction, shapes: &Shapes| recorder.add(&transaction, shapes);
        for event in self.events.drain(..) {
            self.assembler.event(event, &mut sink).map_err(|_| Cut::Unwritable)?;
        }
        let limit = self.limits.file;
        let output = self.recorder.writer();
        if output.length() > limit.saturating_sub(END_BYTES) {
            return Err(Cut::File);
        }
        Ok(())
    }

    /// Notes a state of the file to which it can be cut, whenever it has grown.
    fn check(&mut self) -> Result<(), Cut> {
        if self.recorder.writer().unwritten() < BUFFER_BYTES {
            return Ok(());
        }
        self.recorder.writer().flush().map_err(|_| Cut::Unwritable)?;
        let length = self.recorder.writer().length();
        self.marks.swap(0, 1);
        self.marks[1] = (length, self.recorder.mark());
        Ok(())
    }

    fn end(mut self, cut: Option<(Cut, Elapsed)>) -> io::Result<Recorded> {
        let is_unwritable = matches!(cut, Some((Cut::Unwritable, _)));
        if !is_unwritable {
            let recorder = &mut self.recorder;
            let mut sink =
                |transaction: Transaction, shapes: &Shapes| recorder.add(&transaction, shapes);
            self.assembler.finish(&mut sink)?;
        }
        let mut mark = self.recorder.mark();
        if is_unwritable {
            // What was written last makes room for the end.
            let (length, earlier) = self.marks[0].clone();
            self.recorder.writer().cut(length)?;
            mark = earlier;
        }
        let seconds = self.recorder.end(&mark, self.assembler.sessions())?;
        Ok(Recorded {
            bytes: self.bytes,
            sessions: self.assembler.sessions(),
            transactions: mark.transactions,
            statements: mark.statements,
            shapes: self.assembler.shapes.len(),
            seconds,
            skipped: std::mem::take(&mut self.assembler.skipped),
            databases: std::mem::take(&mut self.assembler.databases),
            cut: cut.map(|(cut, at)| (cut, at.duration().as_secs_f64())),
        })
    }
}

/// The file of a recording, which can be cut back to an earlier length.
#[derive(Debug)]
struct Output {
    file: File,
    buffer: Vec<u8>,
    written: u64,
}

impl Output {
    fn new(file: File) -> Self {
        Self { file, buffer: Vec::with_capacity(2 * BUFFER_BYTES), written: 0 }
    }

    /// Length of the file once all is written.
    fn length(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Bytes that are not written yet.
    const fn unwritten(&self) -> usize {
        self.buffer.len()
    }

    /// Cuts the file to a length that it has had.
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.buffer.clear();
        self.file.set_len(length)?;
        self.file.seek(SeekFrom::Start(length))?;
        self.written = length;
        Ok(())
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() > UNWRITTEN_MAX {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.buffer)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}
