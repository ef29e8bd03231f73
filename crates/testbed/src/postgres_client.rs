//! An application's session on PostgreSQL, by another client than ours.

use tokio::runtime::Runtime;
use tokio_postgres::SimpleQueryMessage;
use tokio_postgres::types::ToSql;

use crate::TestbedError;

/// A session of an application that waits for each answer.
pub struct PostgresClient {
    runtime: Runtime,
    client: tokio_postgres::Client,
}

impl PostgresClient {
    /// Connects to a database by TCP without TLS.
    ///
    /// # Errors
    /// When the server cannot be reached, or refuses the user.
    pub fn open(url: &str) -> Result<Self, TestbedError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(TestbedError::io("starting a runtime"))?;
        let opened = runtime.block_on(tokio_postgres::connect(url, tokio_postgres::NoTls));
        let (client, connection) = opened.map_err(|error| failed(url, &error))?;
        runtime.spawn(connection);
        Ok(Self { runtime, client })
    }

    /// Runs SQL text; returns the rows of its last statement that has some, as texts.
    ///
    /// # Errors
    /// When the server reports one.
    pub fn text(&self, sql: &str) -> Result<Vec<Vec<Option<String>>>, TestbedError> {
        let done = self.runtime.block_on(self.client.simple_query(sql));
        Ok(rows_of(&done.map_err(|error| failed(sql, &error))?))
    }

    /// Prepares a statement and runs it with integers; returns the first column of its rows, integers too.
    ///
    /// # Errors
    /// When the server reports one.
    pub fn prepared(&self, sql: &str, arguments: &[i32]) -> Result<Vec<i32>, TestbedError> {
        let arguments: Vec<&(dyn ToSql + Sync)> =
            arguments.iter().map(|argument| argument as &(dyn ToSql + Sync)).collect();
        let done = self.runtime.block_on(self.client.query(sql, &arguments));
        let rows = done.map_err(|error| failed(sql, &error))?;
        let first = |row: &tokio_postgres::Row| row.try_get(0);
        rows.iter().map(first).collect::<Result<_, _>>().map_err(|error| failed(sql, &error))
    }

    /// Prepares a statement and runs it with arguments of any type, in binary format; returns the first column of its rows, which
    /// must be 64-bit integers.
    ///
    /// # Errors
    /// When the server reports one.
    pub fn bound(
        &self,
        sql: &str,
        arguments: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<i64>, TestbedError> {
        let done = self.runtime.block_on(self.client.query(sql, arguments));
        let rows = done.map_err(|error| failed(sql, &error))?;
        let first = |row: &tokio_postgres::Row| row.try_get(0);
        rows.iter().map(first).collect::<Result<_, _>>().map_err(|error| failed(sql, &error))
    }
}

/// The fields of all rows, as texts.
pub fn rows_of(messages: &[SimpleQueryMessage]) -> Vec<Vec<Option<String>>> {
    let row = |message: &SimpleQueryMessage| match message {
        SimpleQueryMessage::Row(row) => {
            Some((0..row.len()).map(|column| row.get(column).map(str::to_owned)).collect())
        }
        _ => None,
    };
    messages.iter().filter_map(row).collect()
}

/// The error of a statement, in the server's words if it is the server's.
pub fn failed(what: &str, error: &tokio_postgres::Error) -> TestbedError {
    let answer = error.as_db_error().map(ToString::to_string);
    TestbedError::Failed(format!("{}: {what}", answer.unwrap_or_else(|| format!("{error:?}"))))
}
