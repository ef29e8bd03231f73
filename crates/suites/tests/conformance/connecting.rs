//! Opening sessions, and losing them.

use std::net::TcpListener;
use std::time::Duration;

use tokio::time::{Instant, timeout};
use triphammer_core::ErrorClass;
use triphammer_core::error::DbError;
use triphammer_core::session::{Admin, Database, Role, Session};
use triphammer_drivers::{AnyDatabase, ConnectSettings, Secret};

use crate::bed::{Bed, OwnServer, open};
use crate::threaded::ThreadedSession;

async fn refusal(database: &AnyDatabase) -> DbError {
    database.connect(Role::User, 0).await.err().expect("no session")
}

pub async fn connect(bed: &Bed) {
    for role in [Role::Loader, Role::User, Role::Monitor] {
        let mut session = bed.session(role).await;
        bed.assert_usable(&mut session).await;
        session.close().await;
    }
    assert!(bed.database().notes().iter().all(|note| !note.is_empty()));
}

pub async fn server_and_settings(bed: &Bed) {
    let mut session = bed.session(Role::Monitor).await;
    let server = session.server().await.unwrap();
    assert!(!server.product.is_empty() && !server.version.is_empty(), "{server:?}");
    assert!(!server.transport.is_empty(), "{server:?}");
    assert_eq!(server.same_host, Some(true), "{server:?}");
    let settings = session.settings().await.unwrap();
    assert!(!settings.is_empty());
    let mut names: Vec<_> = settings.iter().map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), settings.len(), "every setting is there once");
    session.transaction_count().await.unwrap();
}

pub async fn wrong_password(bed: &Bed) {
    let settings = ConnectSettings { password: Some(Secret::new("hunter2")), ..Default::default() };
    let database = bed.database_with(&settings);
    let error = refusal(&database).await;
    assert_eq!(error.class(), ErrorClass::Refused, "{error:?}");
    assert!(!format!("{error:?} {error} {}", database.target()).contains("hunter2"));
}

pub async fn password_with_quotes_and_unicode(bed: &Bed) {
    let mut session = bed.session(Role::User).await;
    for (number, password) in ["it's \"so\" \\ $1", "p@:/#%?&=", "pä€ß🦀"].iter().enumerate()
    {
        let user = format!("conformance_{}_{number}", std::process::id());
        let quoted = format!("'{}'", password.replace('\'', "''"));
        let create = bed.words.create_user.replace("{user}", &user).replace("{password}", &quoted);
        session.script(&create).await.unwrap();
        let settings =
            ConnectSettings { password: Some(Secret::new(*password)), ..Default::default() };
        for database in [
            open(&bed.url_as(&user, password), &ConnectSettings::default()),
            open(&bed.url_as(&user, "wrong"), &settings),
        ] {
            database.connect(Role::User, 0).await.unwrap().close().await;
            assert!(!database.target().contains(password));
        }
        session.script(&bed.words.drop_user.replace("{user}", &user)).await.unwrap();
    }
}

pub async fn unknown_host(bed: &Bed) {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for host in ["no-such-host.invalid:1234".to_owned(), nobody.to_string()] {
        let error = refusal(&open(&bed.url_at(&host), &ConnectSettings::default())).await;
        assert_eq!(error.class(), ErrorClass::Disconnected, "{error:?}");
        let name = host.split(':').next().unwrap();
        assert!(error.to_string().contains(name), "{error}");
    }
}

pub async fn server_that_never_answers(bed: &Bed) {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = bed.url_at(&silent.local_addr().unwrap().to_string());
    // The caller's limit is kept …
    let database = open(&url, &ConnectSettings::default());
    assert!(timeout(Duration::from_millis(300), database.connect(Role::User, 0)).await.is_err());
    // … and so is the driver's own.
    let settings =
        ConnectSettings { connect_limit: Duration::from_millis(500), ..Default::default() };
    let began = Instant::now();
    let error = refusal(&open(&url, &settings)).await;
    assert_eq!(error.class(), ErrorClass::Disconnected, "{error:?}");
    // Sooner than the default.
    assert!(began.elapsed() < ConnectSettings::default().connect_limit, "{:?}", began.elapsed());
}

pub async fn missing_database(bed: &Bed) {
    let url = bed.url_of_missing();
    let database = open(&url, &ConnectSettings::default());
    let error = refusal(&database).await;
    assert_eq!(error.class(), ErrorClass::Refused, "{error:?}");
    let name = bed.name_of(&url);
    assert!(error.to_string().contains(&name), "{error}");
    if let Some(file) = bed.file_of(&url) {
        assert!(!file.exists(), "looking for a database does not make it");
    }
    assert!(database.create_database().await.unwrap());
    assert!(!database.create_database().await.unwrap());
    let mut session = database.connect(Role::User, 0).await.unwrap();
    bed.assert_usable(&mut session).await;
}

pub async fn server_killed(bed: &Bed) {
    let mut server = OwnServer::start(bed);
    let database = server.database();
    let long = bed.statement(bed.words.long, &[]);
    let member = ThreadedSession::connect(&database);
    let id = member.run(async move |session| session.prepare(&long).await.unwrap());
    let pending = member.start(async move |session| {
        let mut rows = triphammer_core::Rows::new();
        (session.query(id, &[], &mut rows).await, session.is_closed())
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    server.kill();
    let (result, closed) = pending.wait();
    let error = result.unwrap_err();
    assert!(error.class().loses_session(), "{error:?}");
    assert!(!error.is_indeterminate(), "nothing was being committed");
    assert!(closed, "the driver knows that the session is gone");
    let error = refusal(&database).await;
    let class = error.class();
    assert!(matches!(class, ErrorClass::Disconnected | ErrorClass::Unavailable), "{error:?}");
    server.restart();
    let mut session = database.connect(Role::User, 0).await.unwrap();
    bed.assert_usable(&mut session).await;
}
