//! How Payment and Order-Status find their customer (clauses 2.5.2.2 and 2.6.2.2).

use triphammer_core::rows::Rows;
use triphammer_core::session::{Session, StatementId};
use triphammer_core::value::Value;
use triphammer_core::{DbError, ErrorClass};

use super::input::CustomerKey;
use super::names::LastNames;

/// The district of a customer.
#[derive(Clone, Copy, Debug)]
pub(super) struct District {
    pub(super) w_id: i32,
    pub(super) d_id: i32,
}

/// The two arguments with which a procedure selects a customer: id and last name, one of them null.
pub(super) fn key_args(key: CustomerKey, names: &LastNames) -> [Value<'_>; 2] {
    match key {
        CustomerKey::Id(c_id) => [c_id.into(), Value::Null],
        CustomerKey::LastName(number) => [Value::Null, Value::Text(names.get(number))],
    }
}

/// The customer's number. By last name it is the one at position ⌈n/2⌉ among those with that name,
/// in byte order of their first names and then by number.
pub(super) async fn find<S: Session>(
    by_last_name: StatementId,
    district: District,
    key: CustomerKey,
    names: &LastNames,
    rows: &mut Rows,
    session: &mut S,
) -> Result<i32, DbError> {
    let number = match key {
        CustomerKey::Id(c_id) => return Ok(c_id),
        CustomerKey::LastName(number) => number,
    };
    let name = names.get(number);
    let args = [district.w_id.into(), district.d_id.into(), Value::Text(name)];
    session.query(by_last_name, &args, rows).await?;
    if rows.is_empty() {
        return Err(DbError::new(
            ErrorClass::Other,
            format!("no customer has the last name {name}"),
        ));
    }
    rows.row(rows.len().div_ceil(2) - 1).int32(0)
}
