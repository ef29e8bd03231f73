//! Statements as text: Trino takes one per request, without a semicolon. Scripts are split, and
//! arguments are put in the place of the `?` of a statement, outside strings, quoted names and
//! comments.

use triphammer_core::error::{DbError, ErrorClass};
use triphammer_core::sql::{BoundStatement, Param};
use triphammer_core::value::Value;

use super::literal;
use crate::arguments::wrong_count;

/// Characters that a server accepts in one statement unless `query.max-length` says otherwise.
pub(super) const STATEMENT_MAX: usize = 1_000_000;

/// A statement prepared by the caller: its text is kept here, and nothing is sent to Trino.
pub(super) struct CallerStatement {
    name: String,
    params: Vec<Param>,
    /// The text before each placeholder and after the last one.
    pieces: Vec<String>,
    /// For each placeholder, the index of its argument.
    order: Vec<usize>,
}

impl CallerStatement {
    /// Splits a statement at its placeholders.
    ///
    /// # Errors
    /// When their number is not that of the arguments.
    pub(super) fn of(bound: &BoundStatement) -> Result<Self, DbError> {
        let sql = bound.sql.trim_end().trim_end_matches(';');
        let marks: Vec<usize> = specials(sql, '?').collect();
        if marks.len() != bound.order.len() {
            let message = format!(
                "`{}` has {} placeholders for {} arguments",
                bound.name,
                marks.len(),
                bound.order.len()
            );
            return Err(DbError::new(ErrorClass::Other, message));
        }
        let ends = marks.iter().copied().chain([sql.len()]);
        let starts = std::iter::once(0).chain(marks.iter().map(|mark| mark + 1));
        Ok(Self {
            name: bound.name.clone(),
            params: bound.params.clone(),
            pieces: starts.zip(ends).map(|(start, end)| sql[start..end].to_owned()).collect(),
            order: bound.order.clone(),
        })
    }

    /// The statement with these arguments.
    ///
    /// # Errors
    /// When the number of arguments is wrong, or one does not fit its type.
    pub(super) fn with(&self, args: &[Value<'_>]) -> Result<String, DbError> {
        let failed =
            |what: String| DbError::new(ErrorClass::Other, format!("`{}`{what}", self.name));
        if args.len() != self.params.len() {
            let error = wrong_count(self.params.len(), args.len());
            return Err(error.context(format_args!("`{}`", self.name)));
        }
        let mut out = self.pieces[0].clone();
        for (place, piece) in self.order.iter().zip(&self.pieces[1..]) {
            let param = &self.params[*place];
            literal::put(&mut out, args[*place], param.param_type).map_err(|error| {
                failed(format!(", parameter {}: {}", param.name, error.message()))
            })?;
            out.push_str(piece);
        }
        Ok(out)
    }
}

/// The statements of a script, without those that only consist of comments.
pub(super) fn split(script: &str) -> impl Iterator<Item = &str> {
    let ends: Vec<usize> = specials(script, ';').chain([script.len()]).collect();
    let starts: Vec<usize> =
        std::iter::once(0).chain(ends.iter().map(|end| end + 1)).take(ends.len()).collect();
    let parts = starts.into_iter().zip(ends).map(|(start, end)| script[start..end].trim());
    parts.filter(|part| has_sql(part))
}

/// Whether a text has anything besides blanks and comments.
fn has_sql(text: &str) -> bool {
    let mut rest = text.trim_start();
    while let Some(after) = after_comment(rest) {
        rest = after.trim_start();
    }
    !rest.is_empty()
}

/// What follows the comment that a text begins with; `None` if it begins with none.
fn after_comment(text: &str) -> Option<&str> {
    if text.starts_with("--") {
        return Some(text.find('\n').map_or("", |end| &text[end..]));
    }
    let inside = text.strip_prefix("/*")?;
    Some(inside.find("*/").map_or("", |end| &inside[end + 2..]))
}

/// Positions of a character outside strings, quoted names and comments.
fn specials(sql: &str, wanted: char) -> impl Iterator<Item = usize> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(c) = sql[at..].chars().next() {
            let here = at;
            let rest = &sql[at..];
            if let Some(after) = after_comment(rest) {
                at = sql.len() - after.len();
                continue;
            }
            at += c.len_utf8();
            match c {
                // A doubled quote ends a string and begins the next.
                '\'' | '"' => at += sql[at..].find(c).map_or(sql.len() - at, |end| end + 1),
                _ if c == wanted => return Some(here),
                _ => {}
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use triphammer_core::ColumnType;
    use triphammer_core::sql::param;

    use super::*;

    fn bound(sql: &str, order: &[usize]) -> BoundStatement {
        let params = vec![param("a", ColumnType::Text), param("b", ColumnType::Int)];
        BoundStatement { name: "x".into(), sql: sql.into(), params, order: order.to_vec() }
    }

    #[test]
    fn arguments_take_the_place_of_their_marks_and_of_nothing_else() {
        let sql = "SELECT '?', \"a?'\" /* ? ' */, ? -- ?\n, ?, ? FROM t WHERE x = 'it''s ?' ;\n";
        let kept = CallerStatement::of(&bound(sql, &[1, 0, 1])).unwrap();
        let text = kept.with(&[Value::Text("o'?"), Value::Int(-7)]).unwrap();
        assert_eq!(
            text,
            "SELECT '?', \"a?'\" /* ? ' */, INTEGER '-7' -- ?\n, 'o''?', INTEGER '-7' FROM t \
             WHERE x = 'it''s ?' "
        );
        let error = kept.with(&[Value::Null]).unwrap_err().to_string();
        assert!(error.contains("expected 2, got 1"), "{error}");
        let error = kept.with(&[Value::Null, Value::Int(1 << 40)]).unwrap_err().to_string();
        assert_eq!(error, "`x`, parameter b: 1099511627776 does not fit Int");
        let error = CallerStatement::of(&bound("SELECT ?", &[0, 1])).err().unwrap().to_string();
        assert!(error.contains("1 placeholders for 2"), "{error}");
    }

    #[test]
    fn scripts_are_split_at_their_semicolons() {
        let script = "CREATE TABLE t (w text); -- it's; a comment\n
            INSERT INTO t VALUES ('a;b'), ('it''s');
            /* and; another */ INSERT INTO t VALUES ('näh');";
        let parts: Vec<_> = split(script).collect();
        assert_eq!(parts.len(), 3, "{parts:?}");
        assert!(parts[1].ends_with("('a;b'), ('it''s')"), "{parts:?}");
        assert!(parts[2].ends_with("('näh')"), "{parts:?}");
        for empty in ["", ";", "-- nothing\n", " ; /* x */ ; -- y", "/* open"] {
            assert_eq!(split(empty).count(), 0, "{empty:?}");
        }
        assert_eq!(split("SELECT 'open ; x").collect::<Vec<_>>(), ["SELECT 'open ; x"]);
    }
}
