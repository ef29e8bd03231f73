//! The names in a statement that grants a missing privilege: who asks, and where it would create
//! tables. They are unknown where the database cannot be asked; the statement is a hint.

use std::time::Duration;

use tokio::time::timeout;
use triphammer_core::session::{Role, Session};
use triphammer_core::text::one_line;
use triphammer_core::{DbError, Rows};
use triphammer_dialects::doctor::{DoctorDef, GrantNames};
use triphammer_drivers::AnyDatabase;
use triphammer_settings::worker_pool::connect;

use super::network::bound;

/// Maximum time for the query, and for a session that is opened for it.
const LIMIT: Duration = Duration::from_secs(3);

/// Asks on this session.
pub(super) async fn ask(session: &mut impl Session, doctor: &DoctorDef) -> GrantNames {
    let Some(sql) = doctor.names.clone() else { return GrantNames::default() };
    let asked = async {
        let id = session.prepare(&bound("doctor.names", sql, false)).await?;
        let mut rows = Rows::new();
        session.query(id, &[], &mut rows).await?;
        let Some(row) = rows.iter().next() else { return Ok(GrantNames::default()) };
        let text = |column| match row.len() > column && !row.is_null(column) {
            true => row.text(column).map(|text| Some(one_line(text).into_owned())),
            false => Ok(None),
        };
        Ok::<_, DbError>(GrantNames { user: text(0)?, database: text(1)?, schema: text(2)? })
    };
    timeout(LIMIT, asked).await.ok().and_then(Result::ok).unwrap_or_default()
}

/// Asks on a session of a user, which is opened for it.
pub(crate) async fn of(
    (database, limit): (&AnyDatabase, Duration),
    doctor: &DoctorDef,
) -> GrantNames {
    if doctor.names.is_none() {
        return GrantNames::default();
    }
    let Ok(mut session) = connect(database, Role::User, limit.min(LIMIT)).await else {
        return GrantNames::default();
    };
    let names = ask(&mut session, doctor).await;
    let _ = timeout(LIMIT, session.close()).await;
    names
}
