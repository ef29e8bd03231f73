//! A session that records what is sent through it: each statement as SQL with its values, to read
//! and to run by hand.

use std::fmt::Write as _;
use std::time::Duration;

use triphammer_core::error::DbError;
use triphammer_core::login::LoginTimes;
use triphammer_core::rows::Rows;
use triphammer_core::session::{
    Access, Canceller, ColumnSource, Isolation, Pipeline, Pipelining, RowEffect, RowSource,
    Session, StatementId,
};
use triphammer_core::sql::BoundStatement;
use triphammer_core::value::{Value, hex, write_decimal};
use triphammer_core::workload::TableDef;

/// A session that records what is sent through it.
#[derive(Debug)]
pub struct Recorded<S> {
    session: S,
    prepared: Vec<BoundStatement>,
    sent: Vec<String>,
}

impl<S: Session> Recorded<S> {
    /// Starts recording what is sent through a session.
    pub const fn new(session: S) -> Self {
        Self { session, prepared: Vec::new(), sent: Vec::new() }
    }

    /// Returns the SQL sent so far, in order, and clears it.
    pub fn take_sent(&mut self) -> Vec<String> {
        std::mem::take(&mut self.sent)
    }

    fn note(&mut self, sql: &str) {
        self.sent.push(sql.to_owned());
    }

    fn note_statement(&mut self, id: StatementId, args: &[Value<'_>]) {
        if let Some(statement) = self.prepared.get(id.index()) {
            self.sent.push(with_values(statement, args));
        }
    }
}

/// A statement's text with the values in place of its placeholders: `$1` and `?1` by number, `?` by
/// position.
fn with_values(statement: &BoundStatement, args: &[Value<'_>]) -> String {
    let (mut out, mut rest) = (String::new(), statement.sql.trim());
    let mut in_order = statement.order.iter();
    while let Some(at) = rest.find(['$', '?', '\'', '"']) {
        out.push_str(&rest[..at]);
        let sign = &rest[at..=at];
        let behind = &rest[at + 1..];
        if matches!(sign, "'" | "\"") {
            let end = behind.find(sign).map_or(behind.len(), |end| end + 1);
            out.push_str(&rest[at..at + 1 + end]);
            rest = &behind[end..];
            continue;
        }
        let digits = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
        let number = behind[..digits].parse::<usize>().ok().and_then(|n| n.checked_sub(1));
        let place = match (number, sign) {
            (None, "?") => in_order.next().copied(),
            (number, _) => number,
        };
        match place.and_then(|place| args.get(place)) {
            Some(value) => out.push_str(&literal(value)),
            None => out.push_str(&rest[at..at + 1 + digits]),
        }
        rest = &behind[digits..];
    }
    out.push_str(rest);
    out
}

/// Writes a value as an SQL literal.
fn literal(value: &Value<'_>) -> String {
    let mut out = String::new();
    let written = match value {
        Value::Null => write!(out, "NULL"),
        Value::Int(number) => write!(out, "{number}"),
        Value::Float(number) => write!(out, "{number:?}"),
        Value::Decimal { units, scale } => write_decimal(&mut out, *units, *scale),
        Value::Decimal128 { units, scale } => write_decimal(&mut out, **units, *scale),
        Value::Text(text) => write!(out, "'{}'", text.replace('\'', "''")),
        Value::Bytes(bytes) => write!(out, "x'{}'", hex(bytes)),
        Value::Timestamp(at) => write!(out, "'{at}'"),
        Value::Date(date) => write!(out, "'{date}'"),
        Value::Ints(numbers) => {
            let numbers: Vec<_> = numbers.iter().map(ToString::to_string).collect();
            write!(out, "'{{{}}}'", numbers.join(","))
        }
    };
    written.expect("writing to a string cannot fail");
    out
}

#[deny(clippy::missing_trait_methods, reason = "what is not forwarded would be lost")]
impl<S: Session> Session for Recorded<S> {
    async fn script(&mut self, sql: &str) -> Result<(), DbError> {
        self.note(sql);
        self.session.script(sql).await
    }

    async fn prepare(&mut self, statement: &BoundStatement) -> Result<StatementId, DbError> {
        let id = self.session.prepare(statement).await?;
        // Statement ids follow the order of preparation.
        self.prepared.push(statement.clone());
        Ok(id)
    }

    async fn execute(&mut self, id: StatementId, args: &[Value<'_>]) -> Result<u64, DbError> {
        self.note_statement(id, args);
        self.session.execute(id, args).await
    }

    async fn query(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
    ) -> Result<(), DbError> {
        self.note_statement(id, args);
        self.session.query(id, args, rows).await
    }

    async fn call(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: &mut Rows,
    ) -> Result<(), DbError> {
        self.note_statement(id, args);
        self.session.call(id, args, rows).await
    }

    async fn execute_autocommit(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
    ) -> Result<u64, DbError> {
        self.note_statement(id, args);
        self.session.execute_autocommit(id, args).await
    }

    async fn execute_and_commit(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        rows: Option<&mut Rows>,
    ) -> Result<u64, DbError> {
        self.note_statement(id, args);
        self.note("COMMIT");
        self.session.execute_and_commit(id, args, rows).await
    }

    async fn text(&mut self, sql: &str, commits: bool, rows: &mut Rows) -> Result<(), DbError> {
        self.note(sql);
        self.session.text(sql, commits, rows).await
    }

    async fn sources(&mut self, id: StatementId) -> Result<Vec<Option<ColumnSource>>, DbError> {
        self.session.sources(id).await
    }

    fn effect(&self) -> RowEffect {
        self.session.effect()
    }

    async fn pipeline(&mut self, step: Pipeline) -> Result<(), DbError> {
        self.session.pipeline(step).await
    }

    async fn pause(&mut self, wait: Duration) {
        self.session.pause(wait).await;
    }

    async fn stream(
        &mut self,
        id: StatementId,
        args: &[Value<'_>],
        batch: &mut Rows,
        each: &mut dyn FnMut(&Rows),
    ) -> Result<(), DbError> {
        self.note_statement(id, args);
        self.session.stream(id, args, batch, each).await
    }

    fn announce(&mut self, access: Access) {
        self.session.announce(access);
    }

    fn pipelining(&self) -> Pipelining {
        self.session.pipelining()
    }

    async fn begin(&mut self, access: Access) -> Result<(), DbError> {
        self.note("BEGIN");
        self.session.begin(access).await
    }

    async fn begin_isolated(&mut self, access: Access, level: Isolation) -> Result<(), DbError> {
        let level_name = level.name().replace('-', " ").to_uppercase();
        self.note(&format!("BEGIN ISOLATION LEVEL {level_name}"));
        self.session.begin_isolated(access, level).await
    }

    async fn begin_at(&mut self, name: &str) -> Result<(), DbError> {
        self.note("BEGIN");
        self.session.begin_at(name).await
    }

    async fn share_snapshot(&mut self) -> Result<Option<String>, DbError> {
        self.session.share_snapshot().await
    }

    async fn commit(&mut self) -> Result<(), DbError> {
        self.note("COMMIT");
        self.session.commit().await
    }

    async fn rollback(&mut self) -> Result<(), DbError> {
        self.note("ROLLBACK");
        self.session.rollback().await
    }

    async fn load(&mut self, table: &TableDef, source: &mut dyn RowSource) -> Result<u64, DbError> {
        self.session.load(table, source).await
    }

    fn is_closed(&self) -> bool {
        self.session.is_closed()
    }

    fn ended_idle(&mut self) -> Option<DbError> {
        self.session.ended_idle()
    }

    fn take_unconfirmed(&mut self) -> Option<String> {
        self.session.take_unconfirmed()
    }

    fn login_times(&self) -> LoginTimes {
        self.session.login_times()
    }

    fn canceller(&self) -> Box<dyn Canceller> {
        self.session.canceller()
    }

    async fn ping(&mut self) -> Result<bool, DbError> {
        self.session.ping().await
    }

    async fn close(self) {
        self.session.close().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(sql: &str, order: &[usize]) -> BoundStatement {
        let (name, sql) = ("one".to_owned(), sql.to_owned());
        BoundStatement { name, sql, params: Vec::new(), order: order.to_vec() }
    }

    #[test]
    fn values_stand_where_their_placeholders_did() {
        let args = [Value::Int(-7), Value::Text("O'Neil"), Value::cents(1250), Value::Null];
        let numbered = statement("SELECT '$1', \"?\" FROM t WHERE a = $2 AND b > $1 + $3", &[]);
        assert_eq!(
            with_values(&numbered, &args),
            "SELECT '$1', \"?\" FROM t WHERE a = 'O''Neil' AND b > -7 + 12.50"
        );
        let in_order = statement("UPDATE t SET a = ?, b = ?\nWHERE c = ?", &[3, 0, 1]);
        assert_eq!(
            with_values(&in_order, &args),
            "UPDATE t SET a = NULL, b = -7\nWHERE c = 'O''Neil'"
        );
        assert_eq!(literal(&Value::Ints(&[1, 2])), "'{1,2}'");
    }
}
