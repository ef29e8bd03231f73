//! Snapshots of PostgreSQL databases: databases made from them as templates, on the same server.
//!
//! The server copies files, or its blocks through the log, which is many times faster than loading
//! rows. `tpcc__clean` is the snapshot `clean` of `tpcc`; its mark is its comment. Everything is made
//! under a unique name, such as `tpcc__new_1f2e3d4c`, and renamed when it is complete. A restore makes
//! a copy of the snapshot beside the database, gives it what belongs to the database and not to its
//! contents (owner, privileges, settings, comment), and swaps their names in one transaction: at every
//! moment the database is the old one or the restored one.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use triphammer_core::DbError;
use triphammer_core::session::Session as _;

use super::database::{Postgres, Shared};
use super::session::{PostgresSession, quote_identifier, quote_literal};
use crate::snapshot::{
    Consent, Mark, Purpose, Remarks, SnapshotName, Stop, check_space, exists, missing, refuse_loss,
    refused, unfinished_name, unmarked,
};

/// Longest name of a database, in bytes.
const NAME_BYTES_MAX: usize = 63;
/// First version that can copy through the log.
const STRATEGY_SINCE: u32 = 15;
/// First version that can have the file system clone files.
const CLONES_SINCE: u32 = 18;
/// Larger databases are copied as files: that needs two checkpoints, but writes no log.
const THROUGH_LOG_MAX: u64 = 64 << 20;
/// Maximum wait for other sessions at the database to leave by themselves.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum wait for autovacuum at the database before a copy, which would cancel it.
const AUTOVACUUM_PATIENCE: Duration = Duration::from_secs(60);
/// Time between two looks.
const LOOK: Duration = Duration::from_millis(200);
/// Settings that are lists of names: their values are stored as SQL has them.
const LISTS: [&str; 6] = [
    "local_preload_libraries",
    "search_path",
    "session_preload_libraries",
    "temp_tablespaces",
    "shared_preload_libraries",
    "unix_socket_directories",
];

/// What is in a database beside the system's own.
const OBJECTS: &str = "
WITH spaces AS (SELECT oid, nspname FROM pg_namespace
    WHERE nspname NOT IN ('pg_catalog', 'information_schema') AND nspname !~ '^pg_(toast|temp_)')
SELECT 'relation ' || n.nspname || '.' || c.relname
FROM pg_class c JOIN spaces n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f', 'i', 'I')
UNION
SELECT 'column ' || n.nspname || '.' || c.relname || '.' || a.attname
FROM pg_class c JOIN spaces n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relkind IN ('r', 'p', 'm', 'f') AND a.attnum > 0 AND NOT a.attisdropped
UNION
SELECT 'type ' || n.nspname || '.' || t.typname FROM pg_type t JOIN spaces n ON n.oid = t.typnamespace
WHERE t.typtype IN ('d', 'e', 'r')
    OR t.typtype = 'c' AND (SELECT relkind FROM pg_class WHERE oid = t.typrelid) = 'c'
UNION
SELECT 'routine ' || n.nspname || '.' || p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')'
FROM pg_proc p JOIN spaces n ON n.oid = p.pronamespace
UNION
SELECT 'trigger ' || n.nspname || '.' || c.relname || '.' || t.tgname
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN spaces n ON n.oid = c.relnamespace
WHERE NOT t.tgisinternal
UNION
SELECT 'policy ' || n.nspname || '.' || c.relname || '.' || p.polname
FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid JOIN spaces n ON n.oid = c.relnamespace
UNION SELECT 'publication ' || pubname FROM pg_publication
UNION SELECT 'large object ' || oid FROM pg_largeobject_metadata
UNION SELECT 'extension ' || extname FROM pg_extension
UNION SELECT 'schema ' || nspname FROM spaces";

/// The snapshots of a database.
pub(crate) struct PostgresSnapshots<'a> {
    shared: &'a Arc<Shared>,
}

impl Postgres {
    /// The snapshots of the database.
    pub(crate) fn snapshots(&self) -> PostgresSnapshots<'_> {
        PostgresSnapshots { shared: self.shared() }
    }
}

/// A session at another database of the server, whose statements end early if they are to.
struct Server<'s, 'f> {
    session: PostgresSession,
    stop: &'s mut Stop<'f>,
}

impl<'s, 'f> Server<'s, 'f> {
    async fn connect(shared: &Arc<Shared>, stop: &'s mut Stop<'f>) -> Result<Self, DbError> {
        let session = shared.maintenance().await?;
        Ok(Self { session, stop })
    }

    async fn run(&mut self, sql: &str) -> Result<(), DbError> {
        self.ask(sql).await.map(drop)
    }

    async fn ask(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, DbError> {
        let canceller = self.session.canceller();
        self.stop.unless(canceller, self.session.ask(sql)).await
    }

    /// Asks for one column.
    async fn texts(&mut self, sql: &str) -> Result<Vec<String>, DbError> {
        let rows = self.ask(sql).await?.into_iter();
        Ok(rows.filter_map(|mut row| row.pop().flatten()).collect())
    }

    async fn number(&mut self, sql: &str) -> Result<Option<u64>, DbError> {
        Ok(self.texts(sql).await?.first().and_then(|text| text.parse().ok()))
    }

    /// Sessions of others at a database, each as `program of user`, with their processes.
    async fn others(&mut self, database: &str) -> Result<Vec<(String, String)>, DbError> {
        let sql = format!(
            "SELECT pid, coalesce(nullif(application_name, ''), 'a session') || ' of ' \
             || coalesce(usename, 'nobody') FROM pg_stat_activity WHERE datname = {} \
             AND usesysid IS NOT NULL AND coalesce(backend_type, 'client backend') = 'client backend' \
             AND pid <> pg_backend_pid() ORDER BY pid",
            quote_literal(database)
        );
        let rows = self.ask(&sql).await?.into_iter();
        Ok(rows
            .map(|row| {
                let mut fields = row.into_iter().map(Option::unwrap_or_default);
                (fields.next().unwrap_or_default(), fields.next().unwrap_or_default())
            })
            .collect())
    }

    /// Waits until nobody else is at a database, and ends the sessions of those who stay if that is
    /// allowed.
    async fn clear(&mut self, database: &str, consent: Consent) -> Result<Remarks, DbError> {
        let mut waited = Duration::ZERO;
        let mut others = self.others(database).await?;
        while !others.is_empty() && waited < PATIENCE {
            self.stop.pause(LOOK).await?;
            waited += LOOK;
            others = self.others(database).await?;
        }
        if others.is_empty() {
            return Ok(Remarks::new());
        }
        let who = others.iter().map(|(_, who)| who.as_str()).collect::<Vec<_>>().join(", ");
        let (count, name) = (others.len(), quote_identifier(database));
        if !consent.end_sessions {
            return Err(refused(format!(
                "{count} other sessions use database {name} ({who}), which cannot be copied or \
                 replaced meanwhile: end them, or let --end-sessions do so"
            )));
        }
        for (process, _) in &others {
            self.run(&format!("SELECT pg_terminate_backend({process})")).await?;
        }
        Ok(vec![format!("ended {count} other sessions at database {name}: {who}")])
    }

    /// Waits until autovacuum is done with a database, for a while.
    async fn settle(&mut self, database: &str) -> Result<Remarks, DbError> {
        let sql = format!(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = {} AND usesysid IS NULL",
            quote_literal(database)
        );
        let mut waited = Duration::ZERO;
        while self.number(&sql).await?.unwrap_or_default() > 0 {
            if waited >= AUTOVACUUM_PATIENCE {
                let limit = AUTOVACUUM_PATIENCE.as_secs();
                return Ok(vec![format!(
                    "autovacuum still worked after {limit} s: the copy ended it"
                )]);
            }
            self.stop.pause(LOOK).await?;
            waited += LOOK;
        }
        Ok(match waited {
            Duration::ZERO => Remarks::new(),
            waited => vec![format!("waited {:.1} s for autovacuum", waited.as_secs_f64())],
        })
    }

    /// Makes a database from another one.
    async fn copy(
        &mut self,
        from: &str,
        to: &str,
        owner: Option<&str>,
    ) -> Result<Remarks, DbError> {
        let from_literal = quote_literal(from);
        let bytes = self.number(&format!("SELECT pg_database_size({from_literal})")).await?;
        let bytes = bytes.unwrap_or_default();
        let folder = self.data_folder(&from_literal).await?;
        let mut remarks: Remarks =
            check_space(folder.as_deref().map(Path::new), bytes)?.into_iter().collect();
        let mut sql =
            format!("CREATE DATABASE {} TEMPLATE {}", quote_identifier(to), quote_identifier(from));
        if let Some(owner) = owner {
            sql.push_str(&format!(" OWNER {}", quote_identifier(owner)));
        }
        let version = self.session.version();
        let copies_files = version < STRATEGY_SINCE || bytes > THROUGH_LOG_MAX;
        if copies_files && version >= STRATEGY_SINCE {
            sql.push_str(" STRATEGY file_copy");
        }
        if copies_files && version >= CLONES_SINCE && self.can_clone().await? {
            match self.run(&sql).await {
                // A file system that cannot.
                Err(error) if error.class() == triphammer_core::ErrorClass::Other => {
                    self.run("SET file_copy_method = copy").await?;
                }
                Err(error) => return Err(error),
                Ok(()) => {
                    remarks.push("the server had the file system clone the files".to_owned());
                    return Ok(remarks);
                }
            }
        }
        self.run(&sql).await?;
        remarks.push(match copies_files {
            true => "the server copied the files".to_owned(),
            false => "the server copied the pages through its log".to_owned(),
        });
        Ok(remarks)
    }

    /// Asks for clones of files; false if the server was built without them.
    async fn can_clone(&mut self) -> Result<bool, DbError> {
        match self.run("SET file_copy_method = clone").await {
            Err(error) if error.class().loses_session() => Err(error),
            asked => Ok(asked.is_ok()),
        }
    }

    /// The server's folder of a database, if it is known and on this host.
    async fn data_folder(&mut self, database_literal: &str) -> Result<Option<String>, DbError> {
        if !self.session.route.same_host {
            return Ok(None);
        }
        let sql = format!(
            "SELECT s.setting FROM pg_settings s WHERE s.name = 'data_directory' AND EXISTS (SELECT 1 \
             FROM pg_database d JOIN pg_tablespace t ON t.oid = d.dattablespace WHERE d.datname = \
             {database_literal} AND t.spcname = 'pg_default')"
        );
        Ok(self.texts(&sql).await?.pop())
    }

    async fn mark(&mut self, database: &str, mark: &Mark) -> Result<(), DbError> {
        self.run(&comment(database, Some(&mark.text()))).await
    }

    /// Drops a database that this program made.
    async fn drop_own(&mut self, database: &str) -> Result<(), DbError> {
        self.run(&format!("DROP DATABASE IF EXISTS {}", quote_identifier(database))).await
    }
}

fn comment(database: &str, text: Option<&str>) -> String {
    let text = text.map_or_else(|| "NULL".to_owned(), quote_literal);
    format!("COMMENT ON DATABASE {} IS {text}", quote_identifier(database))
}

fn rename(from: &str, to: &str) -> String {
    format!("ALTER DATABASE {} RENAME TO {}", quote_identifier(from), quote_identifier(to))
}

impl PostgresSnapshots<'_> {
    fn database(&self) -> &str {
        self.shared.database()
    }

    /// The database of a snapshot or of something unfinished.
    fn named(&self, name: &str) -> Result<String, DbError> {
        let full = format!("{}__{name}", self.database());
        if full.len() > NAME_BYTES_MAX {
            return Err(refused(format!(
                "the name `{full}` is longer than the {NAME_BYTES_MAX} bytes that the server allows: \
                 use a shorter one"
            )));
        }
        Ok(full)
    }

    /// Databases of this one's snapshots, with their marks; `None` without one.
    async fn all(
        &self,
        server: &mut Server<'_, '_>,
    ) -> Result<Vec<(String, Option<Mark>)>, DbError> {
        let start = format!("{}__", self.database());
        let sql = format!(
            "SELECT datname, shobj_description(oid, 'pg_database') FROM pg_database \
             WHERE left(datname, {}) = {} ORDER BY datname",
            start.chars().count(),
            quote_literal(&start)
        );
        let rows = server.ask(&sql).await?.into_iter().map(|row| {
            let mut fields = row.into_iter();
            let name = fields.next().flatten().unwrap_or_default();
            let mark = fields.next().flatten().and_then(|text| Mark::read(&text));
            (name, mark.filter(|mark| mark.of == self.database()))
        });
        Ok(rows.collect())
    }

    async fn found(
        &self,
        server: &mut Server<'_, '_>,
        name: &SnapshotName,
    ) -> Result<(String, Mark), DbError> {
        let database = self.named(name.as_str())?;
        let all = self.all(server).await?;
        match all.into_iter().find(|(found, _)| *found == database) {
            None => Err(missing(name)),
            Some((_, Some(mark))) if mark.purpose == Purpose::Snapshot => Ok((database, mark)),
            Some(_) => Err(unmarked(&format!("database {}", quote_identifier(&database)))),
        }
    }

    pub async fn list(&self, stop: &mut Stop<'_>) -> Result<Vec<Mark>, DbError> {
        let mut server = Server::connect(self.shared, stop).await?;
        let mut marks: Vec<Mark> =
            self.all(&mut server).await?.into_iter().filter_map(|(_, mark)| mark).collect();
        marks.sort_by(|a, b| a.made_at.cmp(&b.made_at));
        Ok(marks)
    }

    /// A copy without a mark is of a process that was killed while the server copied.
    pub async fn repair(&self, stop: &mut Stop<'_>) -> Result<Remarks, DbError> {
        let mut server = Server::connect(self.shared, stop).await?;
        let mut done = Remarks::new();
        for (database, mark) in self.all(&mut server).await? {
            let quoted = quote_identifier(&database);
            match mark {
                Some(mark) if mark.is_abandoned() => {
                    server.drop_own(&database).await?;
                    done.push(format!(
                        "dropped database {quoted}, which a process that has ended left behind"
                    ));
                }
                Some(_) => {}
                None if database.contains("__new_") => done.push(format!(
                    "database {quoted} has the name of an unfinished copy, but no mark: if nobody \
                     needs it, DROP DATABASE {quoted}"
                )),
                None => {}
            }
        }
        Ok(done)
    }

    pub async fn make(
        &self,
        mark: Mark,
        consent: Consent,
        stop: &mut Stop<'_>,
    ) -> Result<(Mark, Remarks), DbError> {
        let database = self.database().to_owned();
        let place = self.named(mark.name.as_str())?;
        let work = self.named(&unfinished_name(Purpose::Unfinished))?;
        let mut server = Server::connect(self.shared, stop).await?;
        if self.all(&mut server).await?.iter().any(|(found, _)| *found == place) {
            return Err(exists(&mark.name));
        }
        let mut remarks = server.clear(&database, consent).await?;
        remarks.extend(server.settle(&database).await?);
        let made = async {
            remarks.extend(server.copy(&database, &work, None).await?);
            // Whoever may not connect to the database may not to its copy.
            let own = Belongings::of(&mut server, &database).await?;
            for sql in own.iter().flat_map(|own| own.given_to(&work)) {
                server.run(&sql).await?;
            }
            let unfinished = Mark::unfinished(&database, &mark.name, Purpose::Unfinished);
            server.mark(&work, &unfinished).await?;
            let size = format!("SELECT pg_database_size({})", quote_literal(&work));
            let bytes = server.number(&size).await?;
            let mark = Mark { of: database.clone(), bytes, ..mark };
            let named = [comment(&work, Some(&mark.text())), rename(&work, &place)].join("; ");
            server.run(&named).await?;
            Ok((mark, remarks))
        };
        let made: Result<_, DbError> = made.await;
        self.cleaned(made, &work).await
    }

    /// After a failure, drops the copy that was being made.
    async fn cleaned<T>(&self, done: Result<T, DbError>, work: &str) -> Result<T, DbError> {
        let error = match done {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        let mut stop = Stop::of_clean_up();
        let dropped = match Server::connect(self.shared, &mut stop).await {
            Ok(mut server) => server.drop_own(work).await,
            Err(error) => Err(error),
        };
        Err(match dropped {
            Ok(()) => error,
            Err(left) => {
                let advice = format!(
                    "; the unfinished copy {} is left, because it could not be dropped: {}",
                    quote_identifier(work),
                    left.message()
                );
                error.with_advice(advice)
            }
        })
    }

    pub async fn restore(
        &self,
        name: &SnapshotName,
        consent: Consent,
        stop: &mut Stop<'_>,
    ) -> Result<Remarks, DbError> {
        let work = self.named(&unfinished_name(Purpose::Unfinished))?;
        let restored = self.restored(name, &work, consent, stop).await;
        self.cleaned(restored, &work).await
    }

    async fn restored(
        &self,
        name: &SnapshotName,
        work: &str,
        consent: Consent,
        stop: &mut Stop<'_>,
    ) -> Result<Remarks, DbError> {
        let database = self.database().to_owned();
        let old = self.named(&unfinished_name(Purpose::Replaced))?;
        let mut server = Server::connect(self.shared, stop).await?;
        let (snapshot, _) = self.found(&mut server, name).await?;
        let of_old = Belongings::of(&mut server, &database).await?;
        if of_old.is_some() {
            refuse_bound(&mut server, &database).await?;
            self.refuse_loss(&mut server, &snapshot).await?;
        }
        let mut remarks = server.clear(&database, consent).await?;
        let owner = of_old.as_ref().map(|of| of.owner.as_str());
        remarks.extend(server.copy(&snapshot, work, owner).await?);
        server.mark(work, &Mark::unfinished(&database, name, Purpose::Unfinished)).await?;
        let mut swap = vec!["BEGIN".to_owned()];
        if let Some(of_old) = &of_old {
            for sql in of_old.given_to(work) {
                server.run(&sql).await?;
            }
            let replaced = Mark::unfinished(&database, name, Purpose::Replaced);
            swap.extend([comment(&database, Some(&replaced.text())), rename(&database, &old)]);
        }
        let own = of_old.as_ref().and_then(|of| of.comment.as_deref());
        swap.extend([comment(work, own), rename(work, &database), "COMMIT".to_owned()]);
        // Somebody may have come meanwhile.
        remarks.extend(server.clear(&database, consent).await?);
        if let Err(error) = server.run(&swap.join("; ")).await {
            let _ = server.run("ROLLBACK").await;
            return Err(error);
        }
        if of_old.is_some()
            && let Err(error) = server.drop_own(&old).await
        {
            remarks.push(format!(
                "the old state is left as database {}: {}",
                quote_identifier(&old),
                error.message()
            ));
        }
        Ok(remarks)
    }

    /// Rejects a restore that would lose what is in the database and not in the snapshot.
    async fn refuse_loss(
        &self,
        server: &mut Server<'_, '_>,
        snapshot: &str,
    ) -> Result<(), DbError> {
        let mut found = Vec::new();
        for database in [self.database(), snapshot] {
            let mut session = self.shared.open(database).await?;
            let canceller = session.canceller();
            let rows = server.stop.unless(canceller, session.ask(OBJECTS)).await?;
            session.end().await;
            let names = rows.into_iter().filter_map(|mut row| row.pop().flatten());
            found.push(names.collect::<Vec<String>>());
        }
        let copied = found.pop().unwrap_or_default();
        refuse_loss(found.pop().unwrap_or_default(), copied)
    }

    pub async fn drop(&self, name: &SnapshotName, stop: &mut Stop<'_>) -> Result<(), DbError> {
        let mut server = Server::connect(self.shared, stop).await?;
        let (database, _) = self.found(&mut server, name).await?;
        server.drop_own(&database).await
    }
}

/// Rejects a database that something outside it depends on.
async fn refuse_bound(server: &mut Server<'_, '_>, database: &str) -> Result<(), DbError> {
    let literal = quote_literal(database);
    let sql = format!(
        "SELECT 'replication slot ' || slot_name FROM pg_replication_slots WHERE database = {literal} \
         UNION ALL SELECT 'prepared transaction ' || gid FROM pg_prepared_xacts WHERE database = {literal} \
         UNION ALL SELECT 'subscription ' || s.subname FROM pg_subscription s JOIN pg_database d \
         ON d.oid = s.subdbid WHERE d.datname = {literal}"
    );
    match server.texts(&sql).await?.first() {
        None => Ok(()),
        Some(bound) => Err(refused(format!(
            "the database cannot be replaced as long as it has the {bound}: remove that first"
        ))),
    }
}

/// What belongs to a database and not to its contents, so that a copy does not have it.
struct Belongings {
    owner: String,
    comment: Option<String>,
    /// Most sessions at once; -1 for any number.
    connections: String,
    /// Whether its privileges are not those of a new database.
    has_privileges: bool,
    /// Privilege, whom it is granted to, and whether they may pass it on.
    privileges: Vec<[String; 3]>,
    /// Role (empty for all), name and value of settings.
    settings: Vec<[String; 3]>,
}

impl Belongings {
    /// Reads them; `None` if there is no such database.
    async fn of(server: &mut Server<'_, '_>, database: &str) -> Result<Option<Self>, DbError> {
        let literal = quote_literal(database);
        let sql = format!(
            "SELECT pg_get_userbyid(datdba), shobj_description(oid, 'pg_database'), datconnlimit, \
             (datacl IS NOT NULL)::text FROM pg_database WHERE datname = {literal}"
        );
        let Some(row) = server.ask(&sql).await?.pop() else { return Ok(None) };
        let mut fields = row.into_iter();
        let mut next = || fields.next().flatten();
        let (owner, comment) = (next().unwrap_or_default(), next());
        let (connections, has_privileges) = (next().unwrap_or_default(), next());
        let privileges = format!(
            "SELECT a.privilege_type, CASE a.grantee WHEN 0 THEN '' ELSE pg_get_userbyid(a.grantee) \
             END, a.is_grantable::text FROM pg_database d, aclexplode(d.datacl) a WHERE d.datname = {literal}"
        );
        let settings = format!(
            "SELECT coalesce(r.rolname, ''), split_part(c, '=', 1), substr(c, strpos(c, '=') + 1) \
             FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase LEFT JOIN pg_roles r \
             ON r.oid = s.setrole, unnest(s.setconfig) c WHERE d.datname = {literal}"
        );
        Ok(Some(Self {
            owner,
            comment,
            connections,
            has_privileges: has_privileges.as_deref() == Some("true"),
            privileges: threes(server.ask(&privileges).await?),
            settings: threes(server.ask(&settings).await?),
        }))
    }

    /// The statements that give them to another database; it has the owner already.
    fn given_to(&self, database: &str) -> Vec<String> {
        let name = quote_identifier(database);
        let mut all = Vec::new();
        if self.connections != "-1" {
            all.push(format!("ALTER DATABASE {name} CONNECTION LIMIT {}", self.connections));
        }
        if self.has_privileges {
            all.push(format!("REVOKE ALL ON DATABASE {name} FROM PUBLIC"));
        }
        for [privilege, grantee, is_grantable] in &self.privileges {
            let grantee = match grantee.as_str() {
                "" => "PUBLIC".to_owned(),
                role => quote_identifier(role),
            };
            let further = if is_grantable == "true" { " WITH GRANT OPTION" } else { "" };
            all.push(format!("GRANT {privilege} ON DATABASE {name} TO {grantee}{further}"));
        }
        for [role, setting, value] in &self.settings {
            let value = match LISTS.contains(&setting.as_str()) && !value.is_empty() {
                true => value.clone(),
                false => quote_literal(value),
            };
            let setting = setting.split('.').map(quote_identifier).collect::<Vec<_>>().join(".");
            all.push(match role.as_str() {
                "" => format!("ALTER DATABASE {name} SET {setting} TO {value}"),
                role => {
                    let role = quote_identifier(role);
                    format!("ALTER ROLE {role} IN DATABASE {name} SET {setting} TO {value}")
                }
            });
        }
        all
    }
}

/// Rows of three texts.
fn threes(rows: Vec<Vec<Option<String>>>) -> Vec<[String; 3]> {
    let three = |row: Vec<Option<String>>| {
        let mut fields = row.into_iter().map(Option::unwrap_or_default);
        [(); 3].map(|()| fields.next().unwrap_or_default())
    };
    rows.into_iter().map(three).collect()
}
