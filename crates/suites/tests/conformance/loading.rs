//! Cases of bulk loads.

use std::sync::LazyLock;
use triphammer_core::session::{Access, Role, Session};
use triphammer_core::workload::{TableDef, column, table};
use triphammer_core::{ColumnType, ErrorClass, Rows};

use crate::bed::Bed;

static TABLE: LazyLock<TableDef> = LazyLock::new(|| {
    table(
        "t",
        [
            column("id", ColumnType::Int),
            column("amount", ColumnType::BigInt),
            column("words", ColumnType::Text),
        ],
    )
});

const CREATE: &str = "CREATE TABLE t (id integer PRIMARY KEY, amount bigint, words varchar(40))";

/// Generates `count` rows in batches; `id` makes the key of a row from its number.
fn rows(count: i64, id: impl Fn(i64) -> i64) -> impl FnMut(&mut Rows) -> bool {
    let mut next = 0;
    move |rows| {
        for _ in 0..1000.min(count - next) {
            next += 1;
            rows.int(id(next));
            if next % 10 == 0 {
                rows.null()
            } else {
                rows.int(next * 1_000_007)
            }
            rows.text("some words of each row");
        }
        next < count
    }
}

pub async fn bulk_load(bed: &Bed) {
    let count = bed.rows_of_a_load();
    let mut loader = bed.session(Role::Loader).await;
    loader.script(&bed.script(CREATE)).await.unwrap();
    loader.begin(Access::Write).await.unwrap();
    let loaded = loader.load(&TABLE, &mut rows(count, |n| n)).await.unwrap();
    assert_eq!(i64::try_from(loaded), Ok(count));
    loader.commit().await.unwrap();
    loader.begin(Access::Write).await.unwrap();
    assert_eq!(loader.load(&TABLE, &mut |_: &mut Rows| false).await.unwrap(), 0);
    loader.commit().await.unwrap();
    let mut user = bed.session(Role::User).await;
    assert_eq!(bed.number(&mut user, "SELECT count(*) FROM t").await, count);
    let nulls = "SELECT count(*) FROM t WHERE amount IS NULL";
    assert_eq!(bed.number(&mut user, nulls).await, count / 10);
    let sum = (1..=count).filter(|n| n % 10 != 0).sum::<i64>() * 1_000_007;
    assert_eq!(bed.number(&mut user, "SELECT sum(amount) FROM t").await, sum);
    // The loader continues while a user is active.
    loader.begin(Access::Write).await.unwrap();
    loader.load(&TABLE, &mut rows(10, |n| count + n)).await.unwrap();
    loader.commit().await.unwrap();
    assert_eq!(bed.number(&mut user, "SELECT count(*) FROM t").await, count + 10);
}

pub async fn load_that_fails_midway(bed: &Bed) {
    let mut session = bed.session(Role::Loader).await;
    session.script(CREATE).await.unwrap();
    session.begin(Access::Write).await.unwrap();
    let mut source = rows(50_000, |n| if n == 40_000 { 7 } else { n });
    let error = session.load(&TABLE, &mut source).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Constraint, "{error:?}");
    session.rollback().await.unwrap();
    assert_eq!(bed.number(&mut session, "SELECT count(*) FROM t").await, 0);
    session.begin(Access::Write).await.unwrap();
    assert_eq!(session.load(&TABLE, &mut rows(5_000, |n| n)).await.unwrap(), 5_000);
    session.commit().await.unwrap();
    assert_eq!(bed.number(&mut session, "SELECT count(*) FROM t").await, 5_000);
}

pub async fn load_with_a_value_that_does_not_fit(bed: &Bed) {
    let mut session = bed.session(Role::Loader).await;
    session.script(CREATE).await.unwrap();
    session.begin(Access::Write).await.unwrap();
    let large = i64::from(i32::MAX) + 1;
    let mut source = rows(2_000, |n| if n == 1_500 { large } else { n });
    let error = session.load(&TABLE, &mut source).await.unwrap_err();
    assert_eq!(error.class(), ErrorClass::Other, "{error:?}");
    assert!(error.to_string().contains(&large.to_string()), "{error}");
    session.rollback().await.unwrap();
    assert_eq!(bed.number(&mut session, "SELECT count(*) FROM t").await, 0);
}
