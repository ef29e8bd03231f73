//! Statements as sessions keep them, and how they are called.

use triphammer_core::sql::BoundStatement;
use triphammer_core::{ColumnType, DbError, ErrorClass, Value};

use super::connection::{Connection, Procedure};
use super::param::{
    ParamType, put_argument, put_handle, put_handle_output, put_named, put_no_sql, put_sql,
};
use super::reader::put_utf16;

/// A statement of a session.
pub(super) struct Prepared {
    pub(super) sql: Box<str>,
    /// Types of its parameters as declared on the server.
    pub(super) types: Box<[ParamType]>,
    pub(super) form: Form,
}

/// How a statement is called.
pub(super) enum Form {
    /// It is kept on the server from its first execution on, because the types of its parameters
    /// depend on their values.
    New,
    /// It is kept on the server under this number.
    OnServer(i32),
    /// Its text is sent each time.
    Text,
    /// A call of a procedure, made without SQL.
    Call(Call),
}

/// A call of a procedure: `EXEC [@status =] name [[@name =] @p1 [OUTPUT], …]`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// Name of the procedure in UTF-16.
    name: Vec<u8>,
    arguments: Vec<CallArgument>,
    /// Whether its row consists of the return status and the output parameters.
    pub(super) has_outputs: bool,
}

/// An argument of a call.
#[derive(Debug, PartialEq, Eq)]
struct CallArgument {
    /// Name of the parameter in UTF-16; empty if it goes by its place.
    name: Vec<u8>,
    /// Index of the statement's argument.
    place: usize,
    returns: bool,
}

/// Longest name of a procedure with its schema and database, and of a parameter, in characters.
const NAME_MAX: usize = 512;
const PARAMETER_MAX: usize = 128;

impl Call {
    /// Reads a statement that does nothing but call a procedure with its own parameters.
    pub(super) fn read(sql: &str, params: usize) -> Option<Self> {
        let sql = sql.trim().trim_end_matches(';').trim_end();
        let (word, rest) = sql.split_once(|c: char| c.is_ascii_whitespace())?;
        if !(word.eq_ignore_ascii_case("EXEC") || word.eq_ignore_ascii_case("EXECUTE")) {
            return None;
        }
        let rest = rest.trim_start();
        let (mut has_outputs, rest) = match rest.strip_prefix('@') {
            Some(_) => (true, rest.split_once('=')?.1.trim_start()),
            None => (false, rest),
        };
        let end = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
        let (name, rest) = rest.split_at(end);
        let is_part = |c: char| c.is_alphanumeric() || "_.[]#$".contains(c);
        if name.is_empty() || name.len() > NAME_MAX || !name.chars().all(is_part) {
            return None;
        }
        let mut arguments = Vec::new();
        if !rest.trim().is_empty() {
            for argument in rest.split(',') {
                let argument = CallArgument::read(argument.trim())?;
                if argument.place >= params {
                    return None;
                }
                has_outputs |= argument.returns;
                arguments.push(argument);
            }
        }
        Some(Self { name: utf16(name), arguments, has_outputs })
    }

    /// Writes the call with its arguments.
    ///
    /// # Errors
    /// When a value does not fit its type, or the connection is lost.
    fn put(
        &self,
        connection: &mut Connection,
        types: &[ParamType],
        args: &[Value<'_>],
    ) -> Result<(), DbError> {
        let out = connection.call_name(&self.name)?;
        for CallArgument { name, place, returns } in &self.arguments {
            let declared = types[*place].for_value(&args[*place]);
            put_named(out, name, *returns, declared, &args[*place])?;
        }
        Ok(())
    }
}

impl CallArgument {
    fn read(text: &str) -> Option<Self> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name.trim_end(), value.trim_start()),
            None => ("", text),
        };
        let is_parameter = |name: &str| {
            let is_part = |c: char| c.is_alphanumeric() || "_#$".contains(c);
            let word = name.strip_prefix('@');
            word.is_some_and(|word| word.len() <= PARAMETER_MAX && word.chars().all(is_part))
        };
        if !name.is_empty() && !is_parameter(name) {
            return None;
        }
        let (value, returns) = match value.split_once(|c: char| c.is_ascii_whitespace()) {
            None => (value, false),
            Some((value, word)) => {
                let word = word.trim();
                let is_output =
                    word.eq_ignore_ascii_case("OUTPUT") || word.eq_ignore_ascii_case("OUT");
                if !is_output {
                    return None;
                }
                (value, true)
            }
        };
        let place = value.strip_prefix("@p")?.parse::<usize>().ok()?.checked_sub(1)?;
        Some(Self { name: utf16(name), place, returns })
    }
}

fn utf16(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    put_utf16(&mut out, text);
    out
}

impl Prepared {
    /// A statement that is not on the server.
    pub(super) fn new(statement: &BoundStatement) -> Self {
        let types: Box<[_]> =
            statement.params.iter().map(|param| ParamType::of(param.param_type)).collect();
        let form = match Call::read(&statement.sql, types.len()) {
            Some(call) => Form::Call(call),
            None if statement.params.iter().any(|p| p.param_type == ColumnType::Any) => Form::New,
            None => Form::Text,
        };
        Self { sql: statement.sql.as_str().into(), types, form }
    }

    /// Whether all values fit the types as declared.
    #[inline]
    fn holds(&self, args: &[Value<'_>]) -> bool {
        let pairs = self.types.iter().zip(args);
        pairs.into_iter().all(|(declared, value)| declared.for_value(value) == *declared)
    }

    /// Keeps the statement on the server.
    ///
    /// # Errors
    /// As the server reports.
    pub(super) async fn prepare(&mut self, connection: &mut Connection) -> Result<(), DbError> {
        let out = connection.call_number(Procedure::Prepare)?;
        put_handle_output(out);
        put_declarations(out, &self.types);
        put_sql(out, &self.sql);
        // With a description of the result, for which the statement is compiled now.
        put_handle(out, 1);
        connection.send_call().await?;
        connection.outcome().await?;
        self.keep_handle(connection)
    }

    fn keep_handle(&mut self, connection: &mut Connection) -> Result<(), DbError> {
        let Some(handle) = connection.answer.handle else {
            let message = "the server returned no handle for a prepared statement";
            return Err(DbError::new(ErrorClass::Other, message));
        };
        self.form = Form::OnServer(handle);
        Ok(())
    }

    /// Sends the statement with its arguments; returns whether it was prepared again, for values
    /// that do not fit the types as declared.
    ///
    /// # Errors
    /// When a value does not fit its type, or the connection breaks.
    #[inline]
    pub(super) async fn send(
        &self,
        connection: &mut Connection,
        args: &[Value<'_>],
    ) -> Result<Option<Box<[ParamType]>>, DbError> {
        let mut renewed = None;
        let written = match &self.form {
            Form::OnServer(handle) if self.holds(args) => {
                self.put_execute(connection, *handle, args)
            }
            Form::OnServer(_) | Form::New => {
                let types = self.types_for(args);
                let out = connection.call_number(Procedure::PrepareExecute)?;
                put_handle_output(out);
                let written = self.put_text(out, &types, args);
                renewed = Some(types);
                written
            }
            Form::Text => {
                let types = self.types_for(args);
                let out = connection.call_number(Procedure::ExecuteSql)?;
                put_sql(out, &self.sql);
                if !types.is_empty() {
                    put_declarations(out, &types);
                }
                put_all_named(out, &types, args)
            }
            Form::Call(call) => call.put(connection, &self.types, args),
        };
        if let Err(error) = written {
            connection.wire.take_back();
            return Err(error);
        }
        connection.send_call().await?;
        Ok(renewed)
    }

    fn put_execute(
        &self,
        connection: &mut Connection,
        handle: i32,
        args: &[Value<'_>],
    ) -> Result<(), DbError> {
        let out = connection.call_number(Procedure::Execute)?;
        put_handle(out, handle);
        put_all(out, &self.types, args)
    }

    fn put_text(
        &self,
        out: &mut Vec<u8>,
        types: &[ParamType],
        args: &[Value<'_>],
    ) -> Result<(), DbError> {
        put_declarations(out, types);
        put_sql(out, &self.sql);
        put_all_named(out, types, args)
    }

    #[cold]
    fn types_for(&self, args: &[Value<'_>]) -> Box<[ParamType]> {
        let pairs = self.types.iter().zip(args);
        pairs.map(|(declared, value)| declared.for_value(value)).collect()
    }

    /// Takes over what the server has prepared with other types, and forgets what it had before.
    ///
    /// # Errors
    /// As the server reports.
    #[cold]
    pub(super) async fn renew(
        &mut self,
        connection: &mut Connection,
        types: Box<[ParamType]>,
    ) -> Result<(), DbError> {
        let before = match self.form {
            Form::OnServer(handle) => Some(handle),
            Form::New => None,
            Form::Text | Form::Call(_) => return Ok(()),
        };
        // Without a number the statement failed, and the old one still exists.
        if connection.answer.handle.is_none() {
            return Ok(());
        }
        let touched = connection.answer.touched;
        self.keep_handle(connection)?;
        self.types = types;
        if let Some(before) = before {
            let out = connection.call_number(Procedure::Unprepare)?;
            put_handle(out, before);
            connection.send_call().await?;
            connection.outcome().await?;
            connection.answer.touched = touched;
        }
        Ok(())
    }
}

/// Writes the declarations of parameters, `@p1 int, @p2 nvarchar(4000)`; NULL if there are none.
fn put_declarations(out: &mut Vec<u8>, types: &[ParamType]) {
    if types.is_empty() {
        return put_no_sql(out);
    }
    let one =
        |(place, declared): (usize, &ParamType)| format!("@p{} {}", place + 1, declared.sql());
    put_sql(out, &types.iter().enumerate().map(one).collect::<Vec<_>>().join(","));
}

/// Writes arguments with the names of their declarations, which Babelfish needs where it has just
/// read those.
fn put_all_named(
    out: &mut Vec<u8>,
    types: &[ParamType],
    args: &[Value<'_>],
) -> Result<(), DbError> {
    let one = |(place, (declared, value)): (usize, (&ParamType, &Value<'_>))| {
        put_named(out, &utf16(&format!("@p{}", place + 1)), false, *declared, value)
    };
    types.iter().zip(args).enumerate().try_for_each(one)
}

#[inline]
fn put_all(out: &mut Vec<u8>, types: &[ParamType], args: &[Value<'_>]) -> Result<(), DbError> {
    types.iter().zip(args).try_for_each(|(declared, value)| put_argument(out, *declared, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_procedures_are_recognised() {
        let call = |sql: &str| Call::read(sql, 3);
        let plain = call("EXEC dbo.payment @p1, @p3;").unwrap();
        assert_eq!(plain.name, utf16("dbo.payment"));
        assert_eq!(plain.arguments.iter().map(|a| a.place).collect::<Vec<_>>(), [0, 2]);
        assert!(!plain.has_outputs);
        let named = call("execute @status = [new order] @p1").is_none();
        assert!(named, "a name with a blank goes as text");
        let outputs = call("exec @r = p @a = @p1, @b = @p2 OUTPUT").unwrap();
        assert!(outputs.has_outputs && outputs.arguments[1].returns);
        assert_eq!(outputs.arguments[1].name, utf16("@b"));
        assert!(call("EXEC p").unwrap().arguments.is_empty());
        for text in [
            "SELECT 1",
            "EXEC p 1",
            "EXEC p @p4",
            "EXEC p @p0",
            "EXEC p @p1 + 1",
            "EXEC p @p1; SELECT 1",
            "EXEC (@p1)",
            "EXEC p @p1 WITH RECOMPILE",
        ] {
            assert_eq!(call(text), None, "{text}");
        }
    }
}
