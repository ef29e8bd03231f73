//! The smallest example of an anomaly as SQL, with its dependencies in words.

use triphammer_core::sql::StatementCatalogue;
use triphammer_document::isolation::{
    AnomalyExample, ExampleEdge, ExampleStatement, ExampleTransaction,
};
use triphammer_isolation::{Edge, EdgeKind, Example, Fate, Transaction};
use triphammer_workloads::isolation::{describe_key, statements_of};

pub(super) fn of(example: &Example, catalogue: &StatementCatalogue) -> AnomalyExample {
    let zero = example.transactions.iter().map(|one| one.began).min().unwrap_or_default();
    let name = |at: usize| format!("T{}", at + 1);
    let transaction =
        |(at, one): (usize, &Transaction)| transaction(name(at), one, zero, catalogue);
    let edge = |edge: &Edge| ExampleEdge {
        from: name(edge.from),
        to: name(edge.to),
        kind: edge.kind.name().to_owned(),
        why: why(edge, &name(edge.from), &name(edge.to)),
    };
    AnomalyExample {
        transactions: example.transactions.iter().enumerate().map(transaction).collect(),
        edges: example.edges.iter().map(edge).collect(),
    }
}

fn transaction(
    name: String,
    one: &Transaction,
    zero: u64,
    catalogue: &StatementCatalogue,
) -> ExampleTransaction {
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of a few transactions")]
    let ms = |at: u64| (at.saturating_sub(zero) as f64 / 1e3).round() / 1e3;
    let statements = statements_of(one, catalogue).into_iter().zip(&one.operations);
    let statement =
        |((sql, result), operation): ((String, String), &triphammer_isolation::Operation)| {
            ExampleStatement {
                at_ms: ms(operation.at),
                sql,
                result,
                key: describe_key(operation.key),
            }
        };
    ExampleTransaction {
        name,
        user: one.session,
        began_ms: ms(one.began),
        ended_ms: ms(one.ended),
        fate: match one.fate {
            Fate::Committed => "committed",
            Fate::Aborted => "aborted",
            Fate::InDoubt => "in doubt",
        }
        .to_owned(),
        statements: statements.map(statement).collect(),
    }
}

/// What the second transaction of a dependency has to do with the first.
fn why(edge: &Edge, from: &str, to: &str) -> String {
    let on = edge.key.map_or(String::new(), |key| format!(" of {}", describe_key(key)));
    match edge.kind {
        EdgeKind::Ww => format!("{to} overwrote the version{on} that {from} had written"),
        EdgeKind::Wr => format!("{to} saw the version{on} that {from} had written"),
        EdgeKind::Rw => format!("{from} did not see the version{on} that {to} wrote"),
        EdgeKind::PredicateRw => format!("{from} did not see the member{on} that {to} inserted"),
        EdgeKind::Session => format!("{to} came after {from} in the same session"),
        EdgeKind::RealTime => format!("{to} began after {from} had been acknowledged"),
    }
}
