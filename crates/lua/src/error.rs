//! Errors of scripts.

use mlua::Value as LuaValue;

use crate::MEMORY_LIMIT;

/// Why a script failed.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ScriptError {
    /// What and where, without the call stack.
    pub message: String,
    /// The error with which an event is restarted, for its hook.
    pub(crate) restart: Option<LuaValue>,
}

impl ScriptError {
    /// Whether the event is to be restarted.
    #[must_use]
    pub const fn restarts(&self) -> bool {
        self.restart.is_some()
    }

    /// An error with this message, after which nothing is restarted.
    #[must_use]
    pub const fn plain(message: String) -> Self {
        Self { message, restart: None }
    }

    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), restart: None }
    }
}

/// The error of a request that the API does not make.
pub fn malformed() -> ScriptError {
    ScriptError::new("the script sent an invalid request to triphammer")
}

/// The message of a state without memory.
pub fn out_of_memory() -> String {
    format!("not enough memory: a script may use {} MiB", MEMORY_LIMIT / 1024 / 1024)
}

/// The message of an error, without the call stack.
pub fn message_of(error: &mlua::Error) -> String {
    let message = match error {
        mlua::Error::SyntaxError { message, .. } => message.clone(),
        mlua::Error::RuntimeError(message) => message.clone(),
        mlua::Error::MemoryError(_) => out_of_memory(),
        mlua::Error::CallbackError { cause, .. } => return message_of(cause),
        other => other.to_string(),
    };
    let end = message.find("\nstack traceback:").unwrap_or(message.len());
    message[..end].to_owned()
}
