//! Loads chunks of a workload's data with a worker pool: what a build does itself, or a host that has a
//! part of it.

use triphammer_core::session::{Access, Database, RowSource, Session};
use triphammer_core::sql::StatementCatalogue;
use triphammer_core::workload::{Chunk, Description, TableDef, Workload as _};
use triphammer_core::{DbError, ErrorClass, Rows};
use triphammer_settings::failure::Failure;
use triphammer_settings::worker_pool::WorkerPool;
use triphammer_workloads::AnyWorkload;

use crate::record::Recording;

/// Loads chunks, each with its record in one transaction, or several where small ones are slow.
pub(crate) struct Loader<'a> {
    pub description: &'a Description,
    pub workload: &'a AnyWorkload,
    pub catalogue: &'a StatementCatalogue,
    pub pool: &'a WorkerPool,
}

/// Receives the name of a table and the number of its rows that were consumed.
type Consumed<'a> = &'a (dyn Fn(&str, u64) + Sync);

impl Loader<'_> {
    /// Loads the chunks; returns the number of rows.
    ///
    /// # Errors
    /// The first error; what is recorded is loaded.
    pub fn load(&self, chunks: &[Chunk], consumed: Consumed<'_>) -> Result<u64, Failure> {
        let rows_min = self.pool.database.capabilities().load_rows_min;
        let loaded = self.pool.work(
            &transactions(chunks, rows_min, self.pool.size),
            |chunks| format!("loading {}", names(chunks)),
            async |session| Recording::prepare(self.description, self.catalogue, session).await,
            async |session, recording, chunks| {
                session.begin(Access::Write).await?;
                let mut all = 0;
                for chunk in *chunks {
                    let rows = self.load_chunk(session, chunk, consumed).await?;
                    // The rows of a cancelled load are incomplete, so nothing of it may be committed.
                    if self.pool.cancel.is_cancelled() {
                        return Err(DbError::new(ErrorClass::Cancelled, "cancelled"));
                    }
                    let item = format!("part/{}", chunk.name);
                    recording.insert(session, &item, &rows.to_string()).await?;
                    all += rows;
                }
                session.commit().await?;
                Ok(all)
            },
        )?;
        Ok(loaded.into_iter().sum())
    }

    /// Loads the rows of a chunk; returns their number.
    async fn load_chunk<S: Session>(
        &self,
        session: &mut S,
        chunk: &Chunk,
        consumed: Consumed<'_>,
    ) -> Result<u64, DbError> {
        let mut rows = 0;
        for table in &*chunk.tables {
            let mut source = self.source(chunk, table, consumed);
            let loaded = session.load(table, &mut source).await;
            rows += loaded.map_err(|error| error.context(format_args!("table {}", table.name)))?;
        }
        Ok(rows)
    }

    /// The rows of a table in a chunk; reports progress as they are consumed.
    fn source<'a>(
        &'a self,
        chunk: &Chunk,
        table: &TableDef,
        consumed: Consumed<'a>,
    ) -> impl RowSource + 'a {
        let mut rows = self.workload.rows(chunk, table);
        let name = table.name.clone();
        move |batch: &mut Rows| {
            let more = rows.fill(batch);
            consumed(&name, batch.len() as u64);
            more && !self.pool.cancel.is_cancelled()
        }
    }
}

/// Divides chunks among transactions: each has at least `rows_min` rows, except the last one, but there are as many
/// transactions as `jobs` if there are as many chunks.
fn transactions(chunks: &[Chunk], rows_min: u64, jobs: u32) -> Vec<&[Chunk]> {
    let longest = chunks.len().div_ceil(jobs.max(1) as usize).max(1);
    let mut left = chunks;
    let mut found = Vec::new();
    while !left.is_empty() {
        let mut rows = 0;
        let is_short = |chunk: &Chunk| {
            rows += chunk.rows;
            rows < rows_min
        };
        let count = left.iter().map(is_short).take_while(|short| *short).count() + 1;
        let (first, rest) = left.split_at(count.min(longest).min(left.len()));
        found.push(first);
        left = rest;
    }
    found
}

/// `part 3 of 100`, or `part 3 of 100 to part 5 of 100`.
fn names(chunks: &[Chunk]) -> String {
    match chunks {
        [first, .., last] => format!("{} to {}", first.name, last.name),
        [only] => only.name.clone(),
        [] => "nothing".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_has_enough_rows_and_every_job_has_one() {
        let chunk = |number: i64| Chunk {
            name: format!("part {number}"),
            key: number,
            tables: [].into(),
            rows: if number == 0 { 30 } else { 100 },
        };
        let chunks: Vec<Chunk> = (0..=10).map(chunk).collect();
        let sizes = |rows_min, jobs| {
            let found = transactions(&chunks, rows_min, jobs);
            assert_eq!(found.concat().len(), chunks.len());
            found.into_iter().map(<[Chunk]>::len).collect::<Vec<_>>()
        };
        assert_eq!(sizes(0, 4), [1; 11]);
        assert_eq!(sizes(300, 1), [4, 3, 3, 1]);
        assert_eq!(sizes(u64::MAX, 1), [11]);
        assert_eq!(sizes(u64::MAX, 4), [3, 3, 3, 2]);
        assert_eq!(sizes(u64::MAX, 100), [1; 11]);
        assert!(transactions(&[], 300, 4).is_empty());
        assert_eq!(names(&chunks[1..3]), "part 1 to part 2");
        assert_eq!(names(&chunks[..1]), "part 0");
    }
}
