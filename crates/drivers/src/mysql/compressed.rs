//! The compressed protocol: a layer of frames under the packets, each with a head of seven bytes and
//! compressed by itself (MySQL Source Code Documentation, "Compression"). A frame contains packets,
//! or parts of them, as the sender happened to write them. Short data is sent as it is.

use std::ops::Range;

use flate2::{
    Compress, Compression as ZlibLevel, Decompress, FlushCompress, FlushDecompress, Status,
};
use triphammer_core::{DbError, ErrorClass, SpecError};
use zstd::bulk::{Compressor, Decompressor};

use super::error::broken;

/// Length of data in a frame at most: three bytes.
const DATA_BYTES_MAX: usize = 0xff_ffff;
/// Length of data below which it is not compressed, as MySQL's own clients have it.
const COMPRESSED_MIN: usize = 50;
/// Length of compressed data, number of the frame, length of the data.
const HEAD_BYTES: usize = 7;
/// Room for reading at least, in bytes.
const READ_BYTES: usize = 16 * 1024;
/// Levels that MySQL's own clients use unless they are given others.
const ZLIB_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;

/// How a connection is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// zlib, which all versions of MySQL and MariaDB have.
    Zlib,
    /// Zstandard, which MySQL has since 8.0.18.
    Zstd,
}

impl Compression {
    /// All with their names.
    const ALL: [(Self, &'static str); 2] = [(Self::Zlib, "zlib"), (Self::Zstd, "zstd")];

    /// Reads the value of the parameter; `None` for no compression.
    ///
    /// # Errors
    /// When it is another word.
    pub fn parse(text: &str) -> Result<Option<Self>, SpecError> {
        let wanted = text.to_lowercase();
        if matches!(wanted.as_str(), "uncompressed" | "none") {
            return Ok(None);
        }
        let found = Self::ALL.iter().find(|(_, name)| *name == wanted);
        found.map(|(of, _)| Some(*of)).ok_or_else(|| {
            SpecError::new(format!(
                "invalid `compression` `{text}`: expected zlib, zstd or uncompressed"
            ))
        })
    }

    /// Name in targets and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Zlib => "zlib",
            Self::Zstd => "zstd",
        }
    }

    /// The level that a client announces at its login; `None` where it announces none.
    pub fn announced_level(self) -> Option<u8> {
        match self {
            Self::Zlib => None,
            Self::Zstd => u8::try_from(ZSTD_LEVEL).ok(),
        }
    }
}

enum Codec {
    Zlib(Box<Compress>, Box<Decompress>),
    Zstd(Compressor<'static>, Decompressor<'static>),
}

/// The frames of a connection in both directions; buffers are kept.
pub struct Frames {
    codec: Codec,
    sequence: u8,
    /// What was read; the part that is not decoded.
    input: Vec<u8>,
    waiting: Range<usize>,
    output: Vec<u8>,
}

impl Frames {
    /// The frames of a fresh connection.
    ///
    /// # Errors
    /// When the library has no memory.
    pub fn new(compression: Compression) -> Result<Self, DbError> {
        let codec = match compression {
            Compression::Zlib => Codec::Zlib(
                Box::new(Compress::new(ZlibLevel::new(ZLIB_LEVEL), true)),
                Box::new(Decompress::new(true)),
            ),
            Compression::Zstd => {
                let failed = |error: std::io::Error| {
                    DbError::new(ErrorClass::Other, format!("zstd cannot begin: {error}"))
                };
                let compressor = Compressor::new(ZSTD_LEVEL).map_err(failed)?;
                Codec::Zstd(compressor, Decompressor::new().map_err(failed)?)
            }
        };
        let (input, output) = (vec![0; READ_BYTES], Vec::new());
        Ok(Self { codec, sequence: 0, input, waiting: 0..0, output })
    }

    /// Begins a command: its frames are numbered from 0.
    pub fn begin(&mut self) {
        self.sequence = 0;
    }

    /// Puts packets into frames, and returns what is to be sent.
    ///
    /// # Errors
    /// When the library fails.
    pub fn encode(&mut self, packets: &[u8]) -> Result<&[u8], DbError> {
        self.output.clear();
        for data in packets.chunks(DATA_BYTES_MAX) {
            let head = self.output.len();
            self.output.extend_from_slice(&[0; HEAD_BYTES]);
            let is_smaller = data.len() >= COMPRESSED_MIN && self.compress(data)?;
            if !is_smaller {
                self.output.truncate(head + HEAD_BYTES);
                self.output.extend_from_slice(data);
            }
            let [a, b, c, ..] = (self.output.len() - head - HEAD_BYTES).to_le_bytes();
            let [d, e, f, ..] = if is_smaller { data.len() } else { 0 }.to_le_bytes();
            self.output[head..head + HEAD_BYTES].copy_from_slice(&[
                a,
                b,
                c,
                self.sequence,
                d,
                e,
                f,
            ]);
            self.sequence = self.sequence.wrapping_add(1);
        }
        Ok(&self.output)
    }

    /// Appends compressed data to the output; returns whether it is smaller than the data.
    fn compress(&mut self, data: &[u8]) -> Result<bool, DbError> {
        let failed = || DbError::new(ErrorClass::Other, "a command cannot be compressed");
        let before = self.output.len();
        // No room for more: then it is sent as it is.
        self.output.resize(before + data.len(), 0);
        let room = &mut self.output[before..];
        let length = match &mut self.codec {
            Codec::Zlib(zlib, _) => {
                zlib.reset();
                let status =
                    zlib.compress(data, room, FlushCompress::Finish).map_err(|_| failed())?;
                match status {
                    Status::StreamEnd => usize::try_from(zlib.total_out()).map_err(|_| failed())?,
                    Status::Ok | Status::BufError => return Ok(false),
                }
            }
            // It reports an error where the room is too small.
            Codec::Zstd(zstd, _) => match zstd.compress_to_buffer(data, room) {
                Ok(length) => length,
                Err(_) => return Ok(false),
            },
        };
        self.output.truncate(before + length);
        Ok(length < data.len())
    }

    /// Room for what arrives next.
    pub fn room(&mut self) -> &mut [u8] {
        if self.waiting.is_empty() {
            self.waiting = 0..0;
        } else if self.waiting.end == self.input.len() {
            self.input.copy_within(self.waiting.clone(), 0);
            self.waiting = 0..self.waiting.len();
            if self.waiting.end > self.input.len() / 2 {
                self.input.resize(self.input.len() * 2, 0);
            }
        }
        &mut self.input[self.waiting.end..]
    }

    /// Takes over bytes that have arrived in the room.
    pub const fn arrived(&mut self, bytes: usize) {
        self.waiting.end += bytes;
    }

    /// Appends the data of all complete frames to `packets`.
    ///
    /// # Errors
    /// When a frame cannot be decoded.
    pub fn decode(&mut self, packets: &mut Vec<u8>) -> Result<(), DbError> {
        loop {
            let arrived = &self.input[self.waiting.clone()];
            let Some(&[a, b, c, sequence, d, e, f]) = arrived.first_chunk::<HEAD_BYTES>() else {
                return Ok(());
            };
            let length = u32::from_le_bytes([a, b, c, 0]) as usize;
            let whole = u32::from_le_bytes([d, e, f, 0]) as usize;
            if arrived.len() < HEAD_BYTES + length {
                return Ok(());
            }
            let data = &arrived[HEAD_BYTES..HEAD_BYTES + length];
            self.sequence = sequence.wrapping_add(1);
            self.waiting.start += HEAD_BYTES + length;
            if whole == 0 {
                packets.extend_from_slice(data);
                continue;
            }
            let before = packets.len();
            packets.resize(before + whole, 0);
            let decoded = decompress(&mut self.codec, data, &mut packets[before..]);
            if decoded != Some(whole) {
                return Err(broken("compressed data"));
            }
        }
    }
}

/// Decompresses data; returns the length, `None` if it cannot be decoded.
fn decompress(codec: &mut Codec, data: &[u8], room: &mut [u8]) -> Option<usize> {
    match codec {
        Codec::Zlib(_, zlib) => {
            zlib.reset(true);
            let status = zlib.decompress(data, room, FlushDecompress::Finish).ok()?;
            (status == Status::StreamEnd).then(|| usize::try_from(zlib.total_out()).ok())?
        }
        Codec::Zstd(_, zstd) => zstd.decompress_to_buffer(data, room).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What arrives of `packets` if the bytes come one after the other.
    fn through(compression: Compression, packets: &[u8]) -> (usize, Vec<u8>) {
        let mut sender = Frames::new(compression).unwrap();
        let sent = sender.encode(packets).unwrap().to_vec();
        let mut receiver = Frames::new(compression).unwrap();
        let mut seen = Vec::new();
        for byte in &sent {
            receiver.room()[0] = *byte;
            receiver.arrived(1);
            receiver.decode(&mut seen).unwrap();
        }
        assert_eq!(receiver.sequence, sender.sequence);
        (sent.len(), seen)
    }

    #[test]
    fn packets_arrive_as_they_were_sent_and_long_ones_are_shorter_on_the_way() {
        for compression in [Compression::Zlib, Compression::Zstd] {
            let text = b"SELECT ".repeat(3000);
            for packets in [&text[..1], &text[..49], &text[..50], &text] {
                let (sent, seen) = through(compression, packets);
                assert_eq!(seen, packets);
                assert_eq!(sent < packets.len(), packets.len() >= COMPRESSED_MIN, "{sent}");
            }
            let noise: Vec<u8> = (0..5000_u32).map(|n| (n * n * 31).to_le_bytes()[1]).collect();
            let (sent, seen) = through(compression, &noise);
            assert_eq!(seen, noise);
            assert!(sent <= noise.len() + HEAD_BYTES);
        }
    }

    #[test]
    fn data_that_is_longer_than_a_frame_takes_several() {
        let mut frames = Frames::new(Compression::Zlib).unwrap();
        let sent = frames.encode(&vec![7; DATA_BYTES_MAX + 10]).unwrap().to_vec();
        assert_eq!(frames.sequence, 2);
        let mut receiver = Frames::new(Compression::Zlib).unwrap();
        for part in sent.chunks(1000) {
            receiver.room()[..part.len()].copy_from_slice(part);
            receiver.arrived(part.len());
        }
        let mut seen = Vec::new();
        receiver.decode(&mut seen).unwrap();
        assert_eq!(seen.len(), DATA_BYTES_MAX + 10);
    }

    #[test]
    fn what_cannot_be_decoded_is_an_error() {
        for compression in [Compression::Zlib, Compression::Zstd] {
            let mut frames = Frames::new(compression).unwrap();
            let frame = [3, 0, 0, 0, 100, 0, 0, 1, 2, 3];
            frames.room()[..frame.len()].copy_from_slice(&frame);
            frames.arrived(frame.len());
            let error = frames.decode(&mut Vec::new()).unwrap_err();
            assert!(error.message().contains("compressed data"), "{error}");
        }
    }

    #[test]
    fn a_target_names_its_compression() {
        assert_eq!(Compression::parse("ZSTD").unwrap(), Some(Compression::Zstd));
        assert_eq!(Compression::parse("uncompressed").unwrap(), None);
        let error = Compression::parse("lz4").unwrap_err().to_string();
        assert!(error.contains("expected zlib, zstd or uncompressed"), "{error}");
    }
}
