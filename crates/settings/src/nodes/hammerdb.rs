//! Connect pools of HammerDB: `config/connectpool/*cpool.xml`. They list connections `c1`, `c2`, … with
//! the keys of the database's own settings, and for each stored procedure its connections and a
//! policy.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::Event;
use triphammer_core::SpecError;
use triphammer_drivers::target::{Secret, TargetUrl, UrlHost};

use super::{NodeDeclaration, Read};

/// The databases whose pools are read: the prefix of their keys, and their scheme.
const DATABASES: [(&str, &str); 3] =
    [("pg_", "postgres"), ("maria", "mariadb"), ("mysql", "mysql")];
/// The procedures, with the transaction types that they are.
const PROCEDURES: [(&str, &str); 5] = [
    ("neworder", "new_order"),
    ("payment", "payment"),
    ("delivery", "delivery"),
    ("stocklevel", "stock_level"),
    ("orderstatus", "order_status"),
];
/// The policies, with ours.
const POLICIES: [(&str, &str); 4] = [
    ("round_robin", "round-robin"),
    ("first_named", "first"),
    ("last_named", "last"),
    ("random", "random"),
];

/// How Tcl writes what is on.
const ON: [&str; 4] = ["true", "yes", "on", "1"];
/// The authority in HammerDB's own files, whether it exists or not.
const USUAL_CA: &str = "/etc/mysql/certs/ca-cert.pem";
/// What stands where a user has no password.
const NO_PASSWORD: &str = "null";

/// The texts of a file by their path: `connections/c1/pg_host`.
type Texts = Vec<(String, String)>;

/// Reads a connect pool.
///
/// # Errors
/// When it is not one, or of a database whose pools are not read.
pub(super) fn parse(text: &str) -> Result<Read, SpecError> {
    let texts = texts(text)
        .map_err(|error| SpecError::new(format!("invalid connect pool of HammerDB: {error}")))?;
    let mut connections: Vec<(&str, BTreeMap<&str, &str>)> = Vec::new();
    let mut procedures: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
    for (path, value) in &texts {
        match path.split('/').collect::<Vec<_>>()[..] {
            ["connpool", "connections", name, key] => {
                if connections.last().is_none_or(|(last, _)| *last != name) {
                    connections.push((name, BTreeMap::new()));
                }
                let (_, keys) = connections.last_mut().expect("just pushed");
                keys.insert(key, value);
            }
            ["connpool", "sprocs", procedure, key] => {
                procedures.entry(procedure).or_default().insert(key, value);
            }
            _ => {}
        }
    }
    let nodes = connections.into_iter().map(|(name, keys)| node(name, &keys));
    let rules = procedures.into_iter().map(|(procedure, keys)| rule(procedure, &keys));
    Ok((nodes.collect::<Result<_, _>>()?, rules.collect::<Result<_, _>>()?))
}

/// The texts of all elements, in order.
fn texts(xml: &str) -> Result<Texts, String> {
    let mut reader = Reader::from_str(xml);
    let (mut path, mut texts): (Vec<String>, Texts) = (Vec::new(), Vec::new());
    let mut text = String::new();
    loop {
        match reader.read_event().map_err(|error| error.to_string())? {
            Event::Start(start) => {
                path.push(start.name().as_ref().to_owned());
                text.clear();
            }
            Event::Text(part) => text.push_str(&part.xml10_content()),
            Event::CData(part) => text.push_str(&part.xml10_content()),
            Event::GeneralRef(part) => {
                let name = part.xml10_content();
                match part.resolve_char_ref().map_err(|error| error.to_string())? {
                    Some(char) => text.push(char),
                    None => text.push_str(
                        resolve_predefined_entity(&name)
                            .ok_or_else(|| format!("unknown entity &{name};"))?,
                    ),
                }
            }
            Event::End(_) => {
                if !text.trim().is_empty() {
                    texts.push((path.join("/"), text.trim().to_owned()));
                }
                text.clear();
                path.pop();
            }
            Event::Eof if path.is_empty() => return Ok(texts),
            Event::Eof => return Err(format!("<{}> is not closed", path.join("><"))),
            _ => {}
        }
    }
}

/// A connection as a node.
fn node(name: &str, keys: &BTreeMap<&str, &str>) -> Result<NodeDeclaration, SpecError> {
    let scheme = DATABASES.iter().find(|(prefix, _)| keys.keys().any(|k| k.starts_with(prefix)));
    let Some((_, scheme)) = scheme else {
        return Err(SpecError::new(format!(
            "connection {name}: connect pools of PostgreSQL, MySQL and MariaDB are read; for other \
             databases, write a file of nodes in TOML"
        )));
    };
    // Keys are `pg_host`, `mysql_host`, `maria_host`; sockets `mysql_socket` and `mariadb.socket`.
    let of = |wanted: &str| {
        let is_it = |key: &&str| key.rsplit(['_', '.']).next() == Some(wanted);
        keys.iter().find(|(key, _)| is_it(key)).map(|(_, value)| *value)
    };
    let missing = |what: &str| SpecError::new(format!("connection {name}: it has no {what}"));
    let host = of("host").ok_or_else(|| missing("host"))?;
    let port = of("port").map(|text| {
        text.parse()
            .map_err(|_| SpecError::new(format!("connection {name}: invalid port `{text}`")))
    });
    let mut url = TargetUrl {
        scheme: (*scheme).to_owned(),
        has_authority: true,
        user: of("user").map(str::to_owned),
        password: of("pass").filter(|text| *text != NO_PASSWORD).map(Secret::new),
        hosts: vec![UrlHost { name: host.to_owned(), port: port.transpose()? }],
        path: format!("/{}", of("dbase").ok_or_else(|| missing("database"))?),
        params: Vec::new(),
    };
    if let Some(mode) = of("sslmode") {
        url.params.push(("sslmode".to_owned(), mode.to_owned()));
    }
    url.params.extend(tls(of));
    let is_here = matches!(host, "localhost" | "127.0.0.1");
    if let Some(socket) = of("socket").filter(|file| is_here && Path::new(file).exists()) {
        url.hosts = vec![UrlHost { name: socket.to_owned(), port: None }];
    }
    Ok(NodeDeclaration { name: name.to_owned(), url, weight: 1, partitions: None })
}

/// TLS as a connection of MariaDB or MySQL asks for it. HammerDB connects without TLS if it cannot read a file; here
/// that is an error.
fn tls<'a>(of: impl Fn(&str) -> Option<&'a str>) -> Vec<(String, String)> {
    // Keys are `maria_ssl`, `maria_ssl_two_way`, `maria_ssl_linux_capath`, `maria_ssl_ca` and so on.
    let is_on = |key: &str| of(key).is_some_and(|text| ON.contains(&&*text.to_lowercase()));
    if !is_on("ssl") {
        return Vec::new();
    }
    let folder = of("capath").unwrap_or_default();
    let path = |key: &str| of(key).map(|name| Path::new(folder).join(name));
    let file = |name: &str, path: PathBuf| (name.to_owned(), path.display().to_string());
    let mut params =
        vec![match path("ca").filter(|ca| ca.exists() || *ca != Path::new(USUAL_CA)) {
            Some(ca) => file("ssl-ca", ca),
            None => ("ssl-mode".to_owned(), "REQUIRED".to_owned()),
        }];
    if is_on("way") {
        params.extend(path("cert").map(|cert| file("ssl-cert", cert)));
        params.extend(path("key").map(|key| file("ssl-key", key)));
    }
    params
}

/// The rule of a procedure.
fn rule(procedure: &str, keys: &BTreeMap<&str, &str>) -> Result<(String, String), SpecError> {
    let wrong = |what: String| SpecError::new(format!("procedure {procedure}: {what}"));
    let find = |list: &[(&str, &'static str)], name: &str| {
        list.iter().find(|(theirs, _)| *theirs == name).map(|(_, ours)| *ours)
    };
    let transaction =
        find(&PROCEDURES, procedure).ok_or_else(|| wrong("no such transaction".to_owned()))?;
    let policy = keys.get("policy").copied().unwrap_or("round_robin");
    let policy =
        find(&POLICIES, policy).ok_or_else(|| wrong(format!("unknown policy `{policy}`")))?;
    let connections = keys.get("connections").copied().unwrap_or_default();
    let names: Vec<_> = connections.split_whitespace().collect();
    if names.is_empty() {
        return Err(wrong("it has no connections".to_owned()));
    }
    Ok((transaction.to_owned(), format!("{policy}:{}", names.join("+"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pool of two connections of our own making, in HammerDB's format.
    fn pool(prefix: &str, more: &str) -> String {
        let connection = |number: u8| {
            format!(
                "<c{number}>\n<{prefix}_host>db{number}</{prefix}_host>\n\
                 <{prefix}_port> 543{number} </{prefix}_port>{more}\
                 <{prefix}_user>tpcc</{prefix}_user><{prefix}_pass>a&amp;b&#33;</{prefix}_pass>\
                 <{prefix}_dbase>tpcc</{prefix}_dbase></c{number}>"
            )
        };
        let procedure = |name: &str, policy: &str, connections: &str| {
            format!(
                "<{name}><connections>{connections}</connections><policy>{policy}</policy></{name}>"
            )
        };
        format!(
            "<connpool><connections>{}{}</connections><sprocs>{}{}{}</sprocs></connpool>",
            connection(1),
            connection(2),
            procedure("neworder", "first_named", "c1 c2"),
            procedure("stocklevel", "round_robin", "c2"),
            procedure("orderstatus", "random", "c1  c2"),
        )
    }

    #[test]
    fn a_pool_has_nodes_and_rules() {
        for (prefix, more, url) in [
            (
                "pg",
                "<pg_sslmode>prefer</pg_sslmode>",
                "postgres://tpcc@db1:5431/tpcc?sslmode=prefer",
            ),
            (
                "maria",
                "<mariadb.socket>/tmp/mariadb.sock</mariadb.socket>",
                "mariadb://tpcc@db1:5431/tpcc",
            ),
            ("mysql", "<mysql_socket>/tmp/mysql.sock</mysql_socket>", "mysql://tpcc@db1:5431/tpcc"),
        ] {
            let (nodes, rules) = parse(&pool(prefix, more)).unwrap();
            assert_eq!(nodes.iter().map(|n| n.name.as_str()).collect::<Vec<_>>(), ["c1", "c2"]);
            assert_eq!(nodes[0].url.redacted(), url);
            assert_eq!(nodes[0].url.password.as_ref().unwrap().reveal(), "a&b!");
            let rules: Vec<_> = rules.iter().map(|(k, v)| format!("{k}={v}")).collect();
            assert_eq!(
                rules,
                [
                    "new_order=first:c1+c2",
                    "order_status=random:c1+c2",
                    "stock_level=round-robin:c2"
                ]
            );
        }
    }

    #[test]
    fn a_connection_that_asks_for_tls_has_it() {
        let params = |more: &str| {
            let (nodes, _) = parse(&pool("maria", more)).unwrap();
            nodes[0].url.params.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>()
        };
        let ssl = |on: &str| format!("<maria_ssl>{on}</maria_ssl>");
        let usual = "<maria_ssl_linux_capath>/etc/mysql/certs</maria_ssl_linux_capath>\
                     <maria_ssl_ca>ca-cert.pem</maria_ssl_ca>";
        let own = usual.replace("/etc/mysql", "/srv");
        let two_way = "<maria_ssl_two_way>true</maria_ssl_two_way><maria_ssl_cert>c.pem\
                       </maria_ssl_cert><maria_ssl_key>k.pem</maria_ssl_key>";
        assert!(params(&format!("{}{own}", ssl("false"))).is_empty());
        assert_eq!(params(&ssl("true")), ["ssl-mode=REQUIRED"]);
        assert_eq!(params(&format!("{}{usual}", ssl("1"))), ["ssl-mode=REQUIRED"]);
        assert_eq!(
            params(&format!("{}{own}{two_way}", ssl("True"))),
            [
                "ssl-ca=/srv/certs/ca-cert.pem",
                "ssl-cert=/srv/certs/c.pem",
                "ssl-key=/srv/certs/k.pem"
            ]
        );
    }

    #[test]
    fn a_user_without_a_password_has_none() {
        let (nodes, _) = parse(&pool("maria", "").replace("a&amp;b&#33;", "null")).unwrap();
        assert!(nodes[0].url.password.is_none());
    }

    #[test]
    fn what_is_no_pool_is_rejected() {
        let good = pool("pg", "");
        for (text, message) in [
            (good.replace("first_named", "nearest"), "unknown policy `nearest`"),
            (good.replace("neworder", "oldorder"), "no such transaction"),
            (good.replace("pg_", "mssqls_"), "PostgreSQL, MySQL and MariaDB are read"),
            (good.replace(" 5431 ", "x"), "invalid port `x`"),
            (good.replace("pg_dbase", "pg_base"), "it has no database"),
            (good.replace("</connpool>", ""), "is not closed"),
            (good.replace("&amp;", "&nbsp;"), "unknown entity &nbsp;"),
        ] {
            let error = parse(&text).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
