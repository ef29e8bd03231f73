//! `datagen`: writes a workload's data to files, as text or, with the feature `parquet`, as Parquet.
//!
//! The rows are those that `build` loads, from the same chunks. A part is a range of chunks and has one file per table;
//! parts are written in parallel. The name of an incomplete file ends in `.partial`.

#[cfg(feature = "parquet")]
mod parquet;

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use triphammer_core::Rows;
use triphammer_core::workload::{Chunk, TableDef, Workload, WorkloadSettings};
use triphammer_document::datagen::DatagenReport;
use triphammer_settings::failure::Failure;
use triphammer_settings::file_format::FileFormat;
use triphammer_settings::{JOBS_MAX, Settings};
use triphammer_workloads::AnyWorkload;

use crate::new_file::{NewFile, NewFolders, Readers, failed, refuse_present};
use crate::requests;

/// Bytes that are gathered before they are written.
const BUFFER_BYTES: usize = 1 << 20;

/// What to write.
#[derive(Debug)]
pub struct DatagenRequest {
    workload: AnyWorkload,
    format: FileFormat,
    parts: usize,
    jobs: u32,
    folder: PathBuf,
}

impl DatagenRequest {
    /// What the settings ask for.
    ///
    /// # Errors
    /// When a value cannot be read or cannot be.
    pub fn new(settings: &mut Settings) -> Result<(Self, String), Failure> {
        let workload = requests::workload(settings)?;
        let scale = requests::scale(settings, 1.into())?;
        let of_workload = WorkloadSettings {
            scale,
            data_seed: settings.parse("seed")?,
            ..WorkloadSettings::default()
        };
        let made = AnyWorkload::new(&workload.name, &of_workload)?;
        let format = settings.read("format", FileFormat::read, |f| f.word().to_owned())?;
        let chunks = made.chunks().len() as u64;
        let parts = settings.count("parts", chunks)?.max(1);
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
        let jobs = u32::try_from(cores.min(parts)).unwrap_or(JOBS_MAX);
        let jobs = settings.count_or("jobs", JOBS_MAX, || jobs)?.max(1);
        let folder = settings.parse_or("output", || workload.name.to_string())?.into();
        let parts = usize::try_from(parts).unwrap_or(usize::MAX);
        let size = workload.scale_unit.count(scale);
        Ok((Self { workload: made, format, parts, jobs, folder }, size))
    }

    /// About how many rows there will be, for progress.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.workload.chunks().iter().map(|chunk| chunk.rows).sum()
    }
}

/// Writes the files; `advance` gets the rows of each chunk that is written.
///
/// # Errors
/// When a file is there already or cannot be written.
pub fn datagen(
    request: &DatagenRequest,
    size: String,
    advance: &(dyn Fn(u64) + Sync),
) -> Result<DatagenReport, Failure> {
    let begun = tokio::time::Instant::now();
    let chunks = request.workload.chunks();
    let parts = cut(&chunks, request.parts);
    request.refuse_present(&parts)?;
    let _folders = NewFolders::create(&request.folder)?;
    let next = AtomicUsize::new(0);
    let (files, rows, bytes) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let work = || {
        loop {
            let part = next.fetch_add(1, Ordering::Relaxed);
            let Some(chunks) = parts.get(part) else { return Ok::<(), Failure>(()) };
            for table in tables(chunks) {
                let written = request.write(&table, part, chunks, advance)?;
                files.fetch_add(1, Ordering::Relaxed);
                rows.fetch_add(written.0, Ordering::Relaxed);
                bytes.fetch_add(written.1, Ordering::Relaxed);
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..request.jobs).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a writer does not panic"))
    })?;
    Ok(DatagenReport {
        workload: request.workload.description().title.to_string(),
        size,
        folder: request.folder.clone(),
        files: files.into_inner(),
        rows: rows.into_inner(),
        bytes: bytes.into_inner(),
        seconds: begun.elapsed().as_secs_f64(),
    })
}

/// The chunks of each part, as even as can be.
fn cut(chunks: &[Chunk], parts: usize) -> Vec<&[Chunk]> {
    let edge = |part: usize| chunks.len() * part / parts;
    (0..parts).map(|part| &chunks[edge(part)..edge(part + 1)]).collect()
}

/// The tables of these chunks, each once.
fn tables(chunks: &[Chunk]) -> Vec<TableDef> {
    let mut found: Vec<TableDef> = Vec::new();
    for table in chunks.iter().flat_map(|chunk| &*chunk.tables) {
        if found.iter().all(|known| known.name != table.name) {
            found.push(table.clone());
        }
    }
    found
}

impl DatagenRequest {
    /// `lineitem.tbl`, or `lineitem.tbl.3` where there are several parts.
    fn path(&self, table: &TableDef, part: usize) -> PathBuf {
        let word = self.format.word();
        self.folder.join(match self.parts {
            1 => format!("{}.{word}", table.name),
            _ => format!("{}.{word}.{}", table.name, part + 1),
        })
    }

    /// Refuses to write over a file.
    fn refuse_present(&self, parts: &[&[Chunk]]) -> Result<(), Failure> {
        for (part, chunks) in parts.iter().enumerate() {
            let paths = tables(chunks).into_iter().map(|table| self.path(&table, part));
            paths.into_iter().try_for_each(|path| refuse_present(&path))?;
        }
        Ok(())
    }

    /// Writes the rows of a table in these chunks; returns the number of rows and of bytes.
    fn write(
        &self,
        table: &TableDef,
        part: usize,
        chunks: &[Chunk],
        advance: &(dyn Fn(u64) + Sync),
    ) -> Result<(u64, u64), Failure> {
        let path = self.path(table, part);
        let file = NewFile::create(&path, Readers::Default)?;
        let written = self.write_all(table, file.file(), chunks, advance);
        let written = written.map_err(|error| failed(&path, error))?;
        file.keep()?;
        Ok(written)
    }

    fn write_all(
        &self,
        table: &TableDef,
        file: &File,
        chunks: &[Chunk],
        advance: &(dyn Fn(u64) + Sync),
    ) -> io::Result<(u64, u64)> {
        let mut rows = 0;
        let mut counted = |batch: &Rows| {
            rows += batch.len() as u64;
            advance(batch.len() as u64);
        };
        let bytes = match self.format {
            #[cfg(feature = "parquet")]
            FileFormat::Parquet => {
                let mut parquet = parquet::ParquetFile::new(file.try_clone()?, table)?;
                self.each_batch(table, chunks, |batch| {
                    counted(batch);
                    parquet.write(batch)
                })?;
                parquet.close()?;
                file.metadata()?.len()
            }
            FileFormat::Tbl | FileFormat::Csv => {
                let mut text = TextFile::new(file, self.format, table)?;
                self.each_batch(table, chunks, |batch| {
                    counted(batch);
                    text.write(batch)
                })?;
                text.close()?
            }
        };
        Ok((rows, bytes))
    }

    /// Makes the rows of a table in these chunks.
    fn each_batch(
        &self,
        table: &TableDef,
        chunks: &[Chunk],
        mut each: impl FnMut(&Rows) -> io::Result<()>,
    ) -> io::Result<()> {
        let has_table = |chunk: &&Chunk| chunk.tables.iter().any(|t| t.name == table.name);
        let mut batch = Rows::new();
        for chunk in chunks.iter().filter(has_table) {
            let mut source = self.workload.rows(chunk, table);
            let mut more = true;
            while more {
                batch.reset(table.columns.len());
                more = source.fill(&mut batch);
                each(&batch)?;
            }
        }
        Ok(())
    }
}

/// A file of lines that is being written.
struct TextFile<'a> {
    file: &'a File,
    format: FileFormat,
    /// What was gathered and not yet written.
    text: Vec<u8>,
    written: u64,
}

impl<'a> TextFile<'a> {
    fn new(file: &'a File, format: FileFormat, table: &TableDef) -> io::Result<Self> {
        let mut text = Vec::with_capacity(BUFFER_BYTES * 2);
        if format == FileFormat::Csv {
            let names: Vec<&str> = table.columns.iter().map(|column| &*column.name).collect();
            writeln!(text, "{}", names.join(","))?;
        }
        Ok(Self { file, format, text, written: 0 })
    }

    fn write(&mut self, batch: &Rows) -> io::Result<()> {
        for row in batch.iter() {
            self.format.put(&mut self.text, row)?;
        }
        if self.text.len() >= BUFFER_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.text)?;
        self.written += self.text.len() as u64;
        self.text.clear();
        Ok(())
    }

    /// Ends the file; returns its size.
    fn close(mut self) -> io::Result<u64> {
        self.flush()?;
        Ok(self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_even_and_hold_every_chunk() {
        let chunk = |key| Chunk { name: String::new(), key, tables: [].into(), rows: 0 };
        let chunks: Vec<Chunk> = (0..7).map(chunk).collect();
        let sizes: Vec<usize> = cut(&chunks, 3).iter().map(|part| part.len()).collect();
        assert_eq!(sizes, [2, 2, 3]);
        assert_eq!(cut(&chunks, 1)[0].len(), 7);
    }
}
