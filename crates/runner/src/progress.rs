//! What long commands tell while they work. The terminal shows it as bars, the server as events.

/// Hears how a build, check or drop goes on. Called from several threads.
pub trait Progress: Sync {
    /// A phase begins, with so many units to do: rows, statements, checks.
    fn phase(&self, name: &str, total: u64, unit: &str);
    /// So many more units are done.
    fn advance(&self, units: u64);
    /// So many more units are done, which are rows of this table.
    fn rows(&self, table: &str, rows: u64) {
        let _ = table;
        self.advance(rows);
    }
    /// Something worth a line.
    fn say(&self, text: &str);
}

/// Hears nothing.
#[derive(Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn phase(&self, _: &str, _: u64, _: &str) {}
    fn advance(&self, _: u64) {}
    fn say(&self, _: &str) {}
}
