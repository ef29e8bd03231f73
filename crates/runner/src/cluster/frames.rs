//! Frames on a pipe: the number of a host and the length of what follows, each in four bytes, the
//! most significant first, and then as many bytes.

use std::io::{Error, ErrorKind, Read, Result, Write};

/// Maximum length of a frame, in bytes: a second of hundreds of transaction types.
const LENGTH_MAX: u32 = 64 << 20;

/// Reads the next frame; `None` at the end.
///
/// # Errors
/// When the pipe breaks within a frame, or what arrives is not a frame.
pub(super) fn read(from: &mut impl Read) -> Result<Option<(u32, Vec<u8>)>> {
    let mut head = [0; 8];
    let begun = loop {
        match from.read(&mut head[..1]) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => break read?,
        }
    };
    if begun == 0 {
        return Ok(None);
    }
    from.read_exact(&mut head[1..])?;
    let [a, b, c, d, e, f, g, h] = head;
    let (host, length) = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
    if length > LENGTH_MAX {
        return Err(Error::new(ErrorKind::InvalidData, "what it wrote is not a message"));
    }
    let mut bytes = vec![0; length as usize];
    from.read_exact(&mut bytes)?;
    Ok(Some((host, bytes)))
}

/// Writes a frame.
///
/// # Errors
/// When the pipe is closed.
pub(super) fn write(to: &mut impl Write, host: u32, bytes: &[u8]) -> Result<()> {
    let length = u32::try_from(bytes.len()).map_err(|_| Error::from(ErrorKind::InvalidInput))?;
    to.write_all(&host.to_be_bytes())?;
    to.write_all(&length.to_be_bytes())?;
    to.write_all(bytes)?;
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_read_as_written_and_other_bytes_do_not() {
        let mut bytes = Vec::new();
        write(&mut bytes, 7, b"{}").unwrap();
        write(&mut bytes, u32::MAX, b"").unwrap();
        let mut from = &*bytes;
        assert_eq!(read(&mut from).unwrap(), Some((7, b"{}".to_vec())));
        assert_eq!(read(&mut from).unwrap(), Some((u32::MAX, Vec::new())));
        assert_eq!(read(&mut from).unwrap(), None);
        assert!(read(&mut &bytes[..9]).is_err(), "it ends within a frame");
        assert!(read(&mut &b"Traceback (most recent call last)"[..]).is_err());
    }
}
