//! What is asked of a server besides transactions: its version, settings, counters, tables and locks.

use std::sync::atomic::Ordering;

use triphammer_core::DbError;
use triphammer_core::isolation::Isolation;
use triphammer_core::session::{
    Admin, LockMode, NodeStatus, ServerInfo, ServerProcess, Session as _,
};

use super::database::WORKERS_KNOWN_SINCE;
use super::session::{KEEP_OPEN, PostgresSession, quote_literal};
use crate::socket::Address;

/// Names that a server's process may have.
const PROCESS_NAMES: &[&str] = &["postgres", "postmaster", "edb-postgres"];

impl PostgresSession {
    /// The count of ended transactions. Each parallel worker adds two, with which it starts, and the
    /// one that belongs to its query is not counted.
    fn count_sql(&self) -> &'static str {
        match self.version() {
            WORKERS_KNOWN_SINCE.. => {
                "(SELECT sum(xact_commit + xact_rollback \
                 - 2 * coalesce(parallel_workers_launched, 0))::int8 FROM pg_stat_database)"
            }
            _ => "(SELECT sum(xact_commit + xact_rollback)::int8 FROM pg_stat_database)",
        }
    }

    /// Notes how many servers are behind pgpool, if that is what the session is connected to. It is
    /// asked only if the server's port is not the one that we connected to: the server itself
    /// rejects the question, and logs that.
    async fn look_for_pgpool(&mut self, server_port: Option<u16>) -> Result<(), DbError> {
        let is_behind = match &self.route.address {
            Address::Tcp(address) => server_port != Some(address.port()),
            _ => false,
        };
        if !is_behind {
            return Ok(());
        }
        match self.ask("SHOW pool_nodes").await {
            Ok(nodes) => {
                self.shared.behind_pgpool.store(nodes.len(), Ordering::Relaxed);
                Ok(())
            }
            Err(error) if error.class().loses_session() => Err(error),
            Err(_) => Ok(()),
        }
    }
}

impl Admin for PostgresSession {
    async fn server(&mut self) -> Result<ServerInfo, DbError> {
        let sql = "SELECT version(), current_setting('server_version'), \
                   (SELECT version || ' ' || cipher FROM pg_stat_ssl \
                    WHERE pid = pg_backend_pid() AND ssl), inet_server_port()";
        let mut rows = self.ask(sql).await?;
        let mut fields = rows.pop().unwrap_or_default().into_iter();
        let mut next = || fields.next().flatten();
        let (product, version, cipher, port) = (next(), next(), next(), next());
        self.look_for_pgpool(port.and_then(|port| port.parse().ok())).await?;
        let first_word = |text: String| text.split(' ').next().unwrap_or_default().to_owned();
        Ok(ServerInfo {
            product: product.map(first_word).unwrap_or_default(),
            version: version.unwrap_or_default(),
            transport: self.route.transport.to_owned(),
            // Behind a pooler, the server reports on a connection other than ours.
            cipher: self.route.has_tls.then(|| cipher.unwrap_or_else(|| "TLS".to_owned())),
            same_host: Some(self.route.same_host),
        })
    }

    async fn settings(&mut self) -> Result<Vec<(String, String)>, DbError> {
        let sql = "SELECT name, current_setting(name, true) FROM pg_settings ORDER BY name";
        let rows = self.ask(sql).await?;
        let pair = |row: Vec<Option<String>>| {
            let mut fields = row.into_iter().map(Option::unwrap_or_default);
            (fields.next().unwrap_or_default(), fields.next().unwrap_or_default())
        };
        Ok(rows.into_iter().map(pair).collect())
    }

    /// What the server computes has no default, and what clients set is of this session.
    async fn settings_set(&mut self) -> Result<Option<Vec<String>>, DbError> {
        let sql = "SELECT name FROM pg_settings WHERE source NOT IN \
                   ('default', 'override', 'client', 'session') \
                   AND setting IS DISTINCT FROM boot_val ORDER BY name";
        let rows = self.ask(sql).await?;
        Ok(Some(rows.into_iter().flatten().flatten().collect()))
    }

    async fn transaction_count(&mut self) -> Result<Option<u64>, DbError> {
        let sql = format!("SELECT {}", self.count_sql());
        let rows = self.ask(&sql).await?;
        Ok(rows.first().and_then(|row| row.first()?.as_deref()?.parse().ok()))
    }

    /// The lag is 0 where everything received has been replayed; otherwise the age of the last commit
    /// that was replayed.
    async fn node_status(&mut self) -> Result<NodeStatus, DbError> {
        let count = self.count_sql();
        let sql = format!(
            "SELECT NOT pg_is_in_recovery() \
                   AND current_setting('default_transaction_read_only') = 'off', \
                   CASE WHEN NOT pg_is_in_recovery() THEN NULL \
                   WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() THEN 0 \
                   ELSE greatest(0, extract(epoch FROM clock_timestamp() \
                   - pg_last_xact_replay_timestamp()) * 1e6)::int8 END, \
                   (SELECT sum(numbackends)::int8 FROM pg_stat_database), \
                   {count}, \
                   CASE WHEN pg_is_in_recovery() THEN pg_is_wal_replay_paused() ELSE false END, \
                   pg_is_in_recovery()"
        );
        let mut rows = self.ask(&sql).await?;
        let mut fields = rows.pop().unwrap_or_default().into_iter();
        let is_writable = fields.next().flatten().map(|text| text == "t");
        let mut next = || fields.next().flatten()?.parse().ok();
        let (lag_us, connections, transactions) = (next(), next(), next());
        let mut is_true = || fields.next().flatten().as_deref() == Some("t");
        let (has_stopped_applying, is_replicating) = (is_true(), is_true());
        let is_behind = lag_us.is_some_and(|lag| lag > 0);
        Ok(NodeStatus {
            is_writable,
            is_replicating,
            is_behind,
            has_stopped_applying,
            // "cannot use serializable mode in a hot standby" (manual, "Serializable Isolation Level").
            lacks_isolation: is_replicating.then_some(Isolation::Serializable),
            lag_us,
            connections,
            transactions,
        })
    }

    /// A pooler in between forwards the query, so the answer still comes from the server.
    async fn server_process(&mut self) -> Result<Option<ServerProcess>, DbError> {
        if !self.route.same_host {
            return Ok(None);
        }
        let rows = self.ask("SELECT pg_backend_pid()").await?;
        let id = rows.first().and_then(|row| row.first()?.as_deref()?.parse().ok());
        Ok(id.map(|id| ServerProcess { id, names: PROCESS_NAMES }))
    }

    async fn tables(&mut self) -> Result<Vec<String>, DbError> {
        let sql = "SELECT lower(c.relname) FROM pg_class c \
                   JOIN pg_namespace n ON n.oid = c.relnamespace \
                   WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') ORDER BY 1";
        let rows = self.ask(sql).await?;
        Ok(rows.into_iter().filter_map(|mut row| row.pop().flatten()).collect())
    }

    async fn relations(&mut self) -> Result<Vec<[String; 2]>, DbError> {
        let sql = "SELECT CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' \
                   WHEN 'S' THEN 'sequence' WHEN 'f' THEN 'foreign table' WHEN 'c' THEN 'type' \
                   WHEN 'i' THEN 'index' WHEN 'I' THEN 'index' ELSE 'table' END, \
                   lower(c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                   WHERE n.nspname = current_schema() \
                   AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f', 'c', 'i', 'I') \
                   UNION ALL SELECT 'type', lower(t.typname) FROM pg_type t \
                   JOIN pg_namespace n ON n.oid = t.typnamespace \
                   WHERE n.nspname = current_schema() AND t.typtype IN ('d', 'e', 'r') ORDER BY 2";
        let rows = self.ask(sql).await?;
        let texts = rows.into_iter().filter_map(|row| row.into_iter().collect::<Option<Vec<_>>>());
        Ok(texts.filter_map(|texts| texts.try_into().ok()).collect())
    }

    /// Takes the lock for as long as the transaction that this opens and never ends: unlike a
    /// session's lock, that works behind poolers that assign connections per transaction.
    async fn advisory_lock(&mut self, name: &str, mode: LockMode) -> Result<bool, DbError> {
        let function = match mode {
            LockMode::Shared => "pg_try_advisory_xact_lock_shared",
            LockMode::Exclusive => "pg_try_advisory_xact_lock",
        };
        let name = quote_literal(name);
        // Limits on idle or long transactions would release the lock.
        let sql = format!(
            "BEGIN; {KEEP_OPEN}; \
             SELECT {function}(hashtextextended(\
             'triphammer/' || coalesce(current_schema(), '') || '/' || {name}, 0))"
        );
        let answer = self.ask(&sql).await?;
        let has_it = answer.last().is_some_and(|row| row[0].as_deref() == Some("t"));
        if !has_it {
            self.rollback().await?;
        }
        Ok(has_it)
    }
}
