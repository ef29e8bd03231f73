//! Times of `doctor --cpu-test`. They belong to no job.

use rusqlite::params;
use triphammer_document::doctor::StoredCpuTest;

use super::error::StoreError;
use super::open::Store;

impl Store {
    /// Stores the time of a test.
    ///
    /// # Errors
    /// When the store cannot be written to.
    pub fn add_cpu_test(&self, test: &StoredCpuTest) -> Result<(), StoreError> {
        let StoredCpuTest { at, product, version, cpu, seconds } = test;
        self.write(|connection| {
            connection
                .execute(
                    "INSERT INTO cpu_tests (at, product, version, cpu, seconds)
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                    params![at, product, version, cpu, seconds],
                )
                .map(drop)
        })
    }

    /// The last tests, the newest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn cpu_tests(&self, limit: u32) -> Result<Vec<StoredCpuTest>, StoreError> {
        let sql =
            "SELECT at, product, version, cpu, seconds FROM cpu_tests ORDER BY id DESC LIMIT ?1";
        let read = || {
            let mut statement = self.connection.prepare(sql)?;
            let rows = statement.query_map([limit], |row| {
                Ok(StoredCpuTest {
                    at: row.get(0)?,
                    product: row.get(1)?,
                    version: row.get(2)?,
                    cpu: row.get(3)?,
                    seconds: row.get(4)?,
                })
            })?;
            rows.collect::<rusqlite::Result<_>>()
        };
        read().map_err(|error| self.failed(error))
    }
}
