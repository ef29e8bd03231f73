//! Results of `doctor --cpu-test` and `--host-test`. They belong to no job.

use rusqlite::params;
use triphammer_document::doctor::{HostTestMachine, StoredCpuTest, StoredHostTest};

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

    /// Stores a test of a host.
    ///
    /// # Errors
    /// When the store cannot be written to.
    pub fn add_host_test(&self, test: &StoredHostTest) -> Result<(), StoreError> {
        let StoredHostTest { at, machine, file_system, figures } = test;
        let figures = serde_json::to_string(figures).expect("figures are JSON");
        self.write(|connection| {
            connection
                .execute(
                    "INSERT INTO host_tests (at, host, cpu, cpus, file_system, figures)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    params![at, machine.host, machine.cpu, machine.cpus, file_system, figures],
                )
                .map(drop)
        })
    }

    /// The last tests of a machine, the newest first. One whose figures cannot be read is left out.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn host_tests(
        &self,
        machine: &HostTestMachine,
        limit: u32,
    ) -> Result<Vec<StoredHostTest>, StoreError> {
        let sql = "SELECT at, file_system, figures FROM host_tests
                   WHERE host = ?1 AND cpu IS ?2 AND cpus IS ?3 ORDER BY id DESC LIMIT ?4";
        let read = || {
            let mut statement = self.connection.prepare(sql)?;
            let of = params![machine.host, machine.cpu, machine.cpus, limit];
            let rows = statement.query_map(of, |row| {
                let figures: String = row.get(2)?;
                Ok(serde_json::from_str(&figures)
                    .ok()
                    .map(|figures| (row.get(0), row.get(1), figures)))
            })?;
            let rows: Vec<_> = rows.collect::<rusqlite::Result<_>>()?;
            let tests = rows.into_iter().flatten().map(|(at, file_system, figures)| {
                let machine = machine.clone();
                Ok(StoredHostTest { at: at?, machine, file_system: file_system?, figures })
            });
            tests.collect::<rusqlite::Result<_>>()
        };
        read().map_err(|error| self.failed(error))
    }
}
