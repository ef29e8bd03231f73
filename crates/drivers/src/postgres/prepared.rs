//! Prepared statements as sessions keep them, and how their arguments are sent.

use std::sync::{Arc, Mutex};

use triphammer_core::{DbError, Value};

use super::codec::{Wire, put_value};
use super::text::Template;
use super::wire::{BindHead, Column, Connection, Texts, Then};
use crate::arguments::wrong_count;

/// A statement as the session's protocol keeps it.
pub enum Prepared {
    /// Kept on the server.
    OnServer(Arc<OnServer>),
    /// Kept here, with the types and formats of its parameters.
    Here { sql: Box<str>, types: Box<[u32]>, wires: Box<[Wire]> },
    /// Kept here, split at its placeholders.
    Text(Template),
}

/// Description of a statement that the server keeps.
#[derive(PartialEq, Eq)]
pub struct OnServer {
    /// Name on the server.
    pub name: Box<str>,
    /// Beginning of the message that binds its arguments.
    pub head: BindHead,
    /// Its text.
    pub sql: Box<str>,
    /// Types of its parameters.
    pub types: Box<[u32]>,
    /// Formats of its parameters.
    pub wires: Box<[Wire]>,
    /// Columns of its result.
    pub columns: Box<[Column]>,
}

/// The name on the server of a session's `number`th statement. Behind a pooler, a server session may
/// have statements of other clients: no two different statements have the same name, so that a
/// session never runs another one's.
pub fn name_of(number: u32, sql: &str, types: &[u32]) -> Box<str> {
    let bytes = sql.bytes().chain(types.iter().flat_map(|of| of.to_be_bytes()));
    // FNV-1a of 64 bits.
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("t{number}_{hash:016x}").into()
}

/// The statements of all sessions of a database. The sessions of a run prepare the same ones: kept
/// once, they stay in the processor's caches, and a thousand sessions do not hold a thousand
/// copies.
#[derive(Default)]
pub struct Statements(Mutex<Vec<Arc<OnServer>>>);

impl Statements {
    /// Returns the known statement equal to `new`, or keeps `new` if there is none.
    pub fn share(&self, new: OnServer) -> Arc<OnServer> {
        let mut known = self.0.lock().expect("no thread panics while holding the list");
        match known.iter().find(|known| ***known == new) {
            Some(known) => Arc::clone(known),
            None => {
                // A statement that only this list holds is used by no session any more.
                known.retain(|known| Arc::strong_count(known) > 1);
                let new = Arc::new(new);
                known.push(Arc::clone(&new));
                new
            }
        }
    }
}

/// How a result is encoded.
pub enum Format<'a> {
    /// In binary, with columns known in advance.
    Known(&'a [Column]),
    /// In binary, with columns that the answer describes.
    Described(Box<[Column]>),
    /// In text format, with columns that are known in advance or described by the answer.
    Text(&'a [Column]),
}

impl Prepared {
    /// Writes a run of the statement to the connection's buffer, and `then` what follows it, with fields of its result as
    /// `texts` or in binary; `text` is where the simple protocol builds its text, which is always a round trip.
    ///
    /// # Errors
    /// When the arguments do not fit the parameters.
    #[inline]
    pub fn send(
        &self,
        connection: &mut Connection,
        args: &[Value<'_>],
        text: &mut String,
        (then, results): (Then, bool),
    ) -> Result<Format<'_>, DbError> {
        match self {
            Self::OnServer(statement) => {
                let OnServer { head, wires, columns, .. } = &**statement;
                check_count(wires.len(), args.len())?;
                connection.execute(head, results, then, |index, out| {
                    put_value(out, wires[index], &args[index])
                })?;
                Ok(if results { Format::Text(columns) } else { Format::Known(columns) })
            }
            Self::Here { sql, types, wires } => {
                check_count(wires.len(), args.len())?;
                let texts = Texts { arguments: are_texts(wires), results };
                connection.execute_text(sql, types, texts, then, |index, out| {
                    put_value(out, wires[index], &args[index])
                })?;
                Ok(if results { Format::Text(&[]) } else { Format::Described(Box::default()) })
            }
            Self::Text(template) => {
                template.fill(args, text)?;
                connection.query(text)?;
                Ok(Format::Text(&[]))
            }
        }
    }
}

impl Format<'_> {
    /// Number of columns, if it is known.
    pub fn width(&self) -> usize {
        self.columns().len()
    }

    /// The columns, if they are known.
    pub fn columns(&self) -> &[Column] {
        match self {
            Self::Known(columns) | Self::Text(columns) => columns,
            Self::Described(columns) => columns,
        }
    }

    /// Sets the columns that the answer described.
    pub fn described(&mut self, columns: Box<[Column]>) {
        if let Self::Described(described) = self {
            *described = columns;
        }
    }
}

/// Whether arguments are sent as text, for the server to infer their types: all of them, or none.
#[inline]
pub fn are_texts(wires: &[Wire]) -> bool {
    wires.first() == Some(&Wire::Any)
}

#[inline]
fn check_count(wanted: usize, given: usize) -> Result<(), DbError> {
    if wanted == given { Ok(()) } else { Err(wrong_count(wanted, given)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(name: &str) -> OnServer {
        let wires = [Wire::Int4].into();
        let (sql, types) = ("SELECT $1".into(), [23].into());
        let Ok(head) = BindHead::new(name, 1, false) else {
            panic!("one argument is not too many")
        };
        OnServer { name: name.into(), head, sql, types, wires, columns: Box::default() }
    }

    #[test]
    fn different_statements_never_have_the_same_name() {
        let name = name_of(1, "SELECT $1", &[23]);
        assert_eq!(name, name_of(1, "SELECT $1", &[23]), "sessions share what they prepare");
        for other in [
            name_of(2, "SELECT $1", &[23]),
            name_of(1, "SELECT $1 ", &[23]),
            name_of(1, "SELECT $1", &[20]),
        ] {
            assert_ne!(name, other);
        }
    }

    #[test]
    fn equal_statements_are_kept_once_and_only_as_long_as_somebody_has_them() {
        let statements = Statements::default();
        let one = statements.share(statement("1"));
        assert!(Arc::ptr_eq(&one, &statements.share(statement("1"))));
        drop(one);
        let two = statements.share(statement("2"));
        assert_eq!(statements.0.lock().unwrap().len(), 1);
        assert!(!Arc::ptr_eq(&two, &statements.share(statement("1"))));
    }
}
