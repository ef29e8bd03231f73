//! The zip archive of a bundle. Writing is deterministic: the same parts give the same bytes.
//! Reading accepts nothing that could be anything else than a bundle, and never more than fits in
//! memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Cursor, Read, Seek, Write};
use std::iter;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use triphammer_settings::failure::Failure;
use triphammer_settings::format::bytes;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use crate::manifest::MANIFEST;

/// Largest archive, in bytes.
const FILE_MAX: u64 = 1 << 30;
/// Largest part, in bytes.
const PART_MAX: u64 = 1 << 29;
/// Largest sum of all parts, in bytes.
const WHOLE_MAX: u64 = 1 << 30;
/// Largest ratio of a part to its compressed form, from [`RATIO_FROM`] bytes on.
const RATIO_MAX: u64 = 250;
/// Size of parts whose ratio matters, in bytes.
const RATIO_FROM: u64 = 1 << 20;
/// Size of all parts from which two threads unpack them, in bytes.
const TOGETHER_FROM: u64 = 1 << 23;
/// Largest number of parts: a campaign of hundreds of runs has a dozen for each.
const PARTS_MAX: usize = 20_000;
/// Level of compression, of zlib's. What is large in a bundle is compressed already, and `verify` packs again.
const LEVEL: i64 = 1;
/// Length of the record at the end of an archive without a comment.
const END_BYTES: usize = 22;

/// An archive that was read: its parts by name, and those that could not be unpacked.
#[derive(Debug)]
pub struct Container {
    /// The archive itself.
    pub archive: Vec<u8>,
    /// The parts, by name.
    pub parts: BTreeMap<String, Vec<u8>>,
    /// Why a part could not be unpacked, by its name.
    pub damaged: BTreeMap<String, String>,
}

impl Container {
    /// Reads an archive from a file.
    ///
    /// # Errors
    /// When it cannot be read, is not a bundle, or is larger than any bundle.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let name = path.display();
        let refuse = |reason: String| Failure::refuse(format!("{name} is not a bundle: {reason}"));
        let system = |error| Failure::System { doing: format!("reading {name}"), error };
        let about = std::fs::metadata(path).map_err(system)?;
        if !about.is_file() {
            return Err(refuse("it is not a regular file".to_owned()));
        }
        if about.len() > FILE_MAX {
            return Err(refuse(format!("it has more than {}", bytes(FILE_MAX))));
        }
        let mut archive = Vec::new();
        let file = File::open(path).map_err(system)?;
        file.take(FILE_MAX).read_to_end(&mut archive).map_err(system)?;
        Self::of(archive).map_err(refuse)
    }

    /// Reads an archive.
    ///
    /// # Errors
    /// The reason why it is not a bundle.
    pub fn of(archive: Vec<u8>) -> Result<Self, String> {
        let mut zip = ZipArchive::new(Cursor::new(&archive[..]))
            .map_err(|error| format!("it is not a zip archive: {error}"))?;
        if zip.len() > PARTS_MAX {
            return Err(format!("it has {} parts, more than {PARTS_MAX}", zip.len()));
        }
        if !archive.starts_with(b"PK\x03\x04") {
            return Err("there is something before its first part".to_owned());
        }
        let entries = entries(&archive).ok_or("there is something after its last part")?;
        if usize::from(entries) != zip.len() {
            return Err("two of its parts have one name".to_owned());
        }
        let sizes = check_entries(&mut zip)?;
        let (mut parts, mut damaged) = (BTreeMap::new(), BTreeMap::new());
        for (name, content) in unpacked(&zip, sizes)? {
            match content {
                Ok(content) => drop(parts.insert(name, content)),
                Err(reason) => drop(damaged.insert(name, reason)),
            }
        }
        if !parts.contains_key(MANIFEST) && !damaged.contains_key(MANIFEST) {
            return Err(format!("it has no {MANIFEST}"));
        }
        Ok(Self { archive, parts, damaged })
    }
}

/// A part: its name, and its content or why that cannot be unpacked.
type Unpacked = (String, Result<Vec<u8>, String>);

/// Unpacks all parts, large archives on two threads. `order` has their sizes and numbers.
fn unpacked(
    zip: &ZipArchive<Cursor<&[u8]>>,
    mut order: Vec<(u64, usize)>,
) -> Result<Vec<Unpacked>, String> {
    // The largest first, so that both end at nearly the same time.
    order.sort_unstable_by(|a, b| b.cmp(a));
    let next = AtomicUsize::new(0);
    let unpack = |mut zip: ZipArchive<Cursor<&[u8]>>| {
        let taken = || order.get(next.fetch_add(1, Ordering::Relaxed));
        iter::from_fn(taken).map(|(_, index)| part(&mut zip, *index)).collect::<Result<Vec<_>, _>>()
    };
    if order.iter().map(|(size, _)| size).sum::<u64>() < TOGETHER_FROM {
        return unpack(zip.clone());
    }
    thread::scope(|scope| {
        let other = scope.spawn(|| unpack(zip.clone()));
        let here = unpack(zip.clone())?;
        let there = other.join().unwrap_or_else(|panic| resume_unwind(panic))?;
        Ok(here.into_iter().chain(there).collect())
    })
}

/// Unpacks the part with this number.
fn part(zip: &mut ZipArchive<Cursor<&[u8]>>, index: usize) -> Result<Unpacked, String> {
    let of_part = |error| format!("part {index}: {error}");
    let mut entry = zip.by_index(index).map_err(of_part)?;
    let name = entry.name().map_err(of_part)?.into_owned();
    let size = entry.size();
    let mut content = Vec::with_capacity(usize::try_from(size).unwrap_or(0) + 1);
    // A header may state less than there is.
    Ok(match entry.by_ref().take(size + 1).read_to_end(&mut content) {
        Ok(read) if read as u64 == size => (name, Ok(content)),
        Ok(_) => (name, Err("its size is another one".to_owned())),
        Err(error) => (name, Err(error.to_string())),
    })
}

/// Rejects names that are none of a bundle, and parts that would be too large, alone or together, before any is unpacked.
/// Returns their sizes and numbers.
fn check_entries(zip: &mut ZipArchive<Cursor<&[u8]>>) -> Result<Vec<(u64, usize)>, String> {
    let (mut all, mut all_packed) = (0, 0_u64);
    let mut sizes = Vec::with_capacity(zip.len());
    for index in 0..zip.len() {
        let part = |error| format!("part {index}: {error}");
        let entry = zip.by_index_raw(index).map_err(part)?;
        let name = entry.name().map_err(part)?;
        safe(&name)?;
        let (size, packed) = (entry.size(), entry.compressed_size());
        if size > PART_MAX {
            return Err(format!("{name} would unpack to {}: that is no bundle", bytes(size)));
        }
        if is_bomb(size, packed) {
            let (packed, size) = (bytes(packed), bytes(size));
            return Err(format!(
                "{name} would unpack from {packed} to {size}: that is no part of a bundle"
            ));
        }
        sizes.push((size, index));
        all += size;
        all_packed = all_packed.saturating_add(packed);
    }
    if all > WHOLE_MAX || is_bomb(all, all_packed) {
        let (packed, all) = (bytes(all_packed), bytes(all));
        return Err(format!("its parts would unpack from {packed} to {all}: that is no bundle"));
    }
    Ok(sizes)
}

/// Whether so many bytes are more than what a bundle unpacks to from so many.
const fn is_bomb(size: u64, packed: u64) -> bool {
    size > RATIO_FROM && size / RATIO_MAX > packed
}

/// Number of entries that the end of an archive states; `None` if the archive has a comment, which no bundle has.
fn entries(archive: &[u8]) -> Option<u16> {
    let end = archive.get(archive.len().checked_sub(END_BYTES)?..)?;
    end.starts_with(b"PK\x05\x06").then(|| u16::from_le_bytes([end[10], end[11]]))
}

/// Rejects names that are no part of a bundle, or that lead out of a folder.
fn safe(name: &str) -> Result<(), String> {
    if name.ends_with('/') {
        let advice =
            "as if an unpacked bundle was packed again: verify the file that `bundle` wrote";
        return Err(format!("it has a folder, `{}`, {advice}", name.escape_default()));
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    let is_step =
        |step: &str| !step.is_empty() && !step.starts_with('.') && step.chars().all(is_plain);
    match name.split('/').all(is_step) {
        true => Ok(()),
        false => Err(format!("`{}` cannot be the name of a part", name.escape_default())),
    }
}

/// Packs parts in the order of their names; the same parts give the same bytes.
///
/// # Errors
/// When they are too large for an archive.
pub(crate) fn pack(parts: &BTreeMap<String, Vec<u8>>) -> Result<Vec<u8>, Failure> {
    pack_into(parts, Cursor::new(Vec::new())).map(Cursor::into_inner)
}

/// Does the same into a file.
///
/// # Errors
/// As [`pack`], and when the file cannot be written to.
pub(crate) fn pack_into<W: Write + Seek>(
    parts: &BTreeMap<String, Vec<u8>>,
    to: W,
) -> Result<W, Failure> {
    pack_at(LEVEL, parts, to)
}

fn pack_at<W: Write + Seek>(
    level: i64,
    parts: &BTreeMap<String, Vec<u8>>,
    to: W,
) -> Result<W, Failure> {
    let failed = |error: zip::result::ZipError| Failure::refuse(format!("packing: {error}"));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(level))
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    let mut zip = ZipWriter::new(to);
    for (name, content) in parts {
        zip.start_file(name.as_str(), options).map_err(failed)?;
        let written = zip.write_all(content);
        written.map_err(|error| Failure::System { doing: format!("packing {name}"), error })?;
    }
    zip.finish().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(names: &[&str]) -> BTreeMap<String, Vec<u8>> {
        names.iter().map(|name| ((*name).to_owned(), name.as_bytes().to_vec())).collect()
    }

    #[test]
    fn an_archive_is_a_function_of_its_parts() {
        let parts = parts(&["manifest.json", "jobs/1/job.json"]);
        let archive = pack(&parts).unwrap();
        assert_eq!(archive, pack(&parts).unwrap());
        assert_eq!(Container::of(archive).unwrap().parts, parts);
    }

    #[test]
    fn other_archives_are_refused() {
        let refused = |archive: Vec<u8>| Container::of(archive).unwrap_err();
        assert!(refused(b"no archive".to_vec()).contains("not a zip archive"));
        assert!(refused(pack(&parts(&["a"])).unwrap()).contains("it has no manifest.json"));
        for name in ["../x", "/etc/passwd", "a//b", "a\\b", "a/..", "C:x"] {
            let archive = pack(&parts(&["manifest.json", name])).unwrap();
            assert!(refused(archive).contains("cannot be the name of a part"), "{name}");
        }
        let mut bomb = parts(&["manifest.json"]);
        bomb.insert("a".into(), vec![0; 8 << 20]);
        // Others pack as densely as they can.
        let bomb = pack_at(9, &bomb, Cursor::new(Vec::new())).unwrap().into_inner();
        assert!(refused(bomb).contains("would unpack from"));
    }

    #[test]
    fn what_stands_around_the_parts_is_refused() {
        let archive = pack(&parts(&["manifest.json"])).unwrap();
        let mut after = archive.clone();
        let length = after.len() - 2;
        after[length] = 1;
        after.push(b'x');
        assert!(Container::of(after).unwrap_err().contains("after its last part"));
        let before = [b"x".to_vec(), archive].concat();
        assert!(Container::of(before).is_err());
    }

    #[test]
    fn two_parts_with_one_name_are_refused() {
        let mut archive = pack(&parts(&["a1", "a2", "manifest.json"])).unwrap();
        while let Some(at) = archive.windows(2).position(|pair| pair == b"a2") {
            archive[at + 1] = b'1';
        }
        assert!(Container::of(archive).unwrap_err().contains("one name"));
    }

    #[test]
    fn a_byte_that_differs_damages_its_part() {
        let mut content = BTreeMap::new();
        content.insert("manifest.json".to_owned(), b"x".repeat(100));
        let archive = pack(&content).unwrap();
        let at = archive.windows(13).position(|name| name == b"manifest.json").unwrap() + 14;
        let mut other = archive.clone();
        other[at] ^= 0x10;
        let container = Container::of(other).unwrap();
        assert!(container.parts.is_empty() && container.damaged.contains_key("manifest.json"));
    }
}
