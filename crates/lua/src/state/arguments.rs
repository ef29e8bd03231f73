//! The arguments of a statement, as they lie on the stack of a script.

use std::ffi::c_int;

use mlua::ffi;
use triphammer_core::Value;

use crate::error::{ScriptError, malformed};

/// Number of arguments for which nothing is allocated.
const FEW: usize = 16;
/// Most arguments of a statement: those of the protocols.
const ARGUMENTS_MAX: usize = 65_535;

/// The arguments of a statement, on the script's stack.
#[derive(Clone, Copy, Debug)]
pub struct Arguments<'a> {
    pub(super) state: *mut ffi::lua_State,
    pub(super) count: usize,
    pub(super) of: std::marker::PhantomData<&'a ()>,
}

impl<'a> Arguments<'a> {
    /// Number of arguments.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Reads the arguments into a buffer.
    ///
    /// # Errors
    /// When one has a type that no database knows, or is not UTF-8.
    #[inline]
    pub fn read<'b>(
        &self,
        few: &'b mut [Value<'a>; FEW],
        many: &'b mut Vec<Value<'a>>,
    ) -> Result<&'b [Value<'a>], ScriptError> {
        if self.count > ARGUMENTS_MAX {
            return Err(malformed());
        }
        if self.count > FEW {
            for place in 0..self.count {
                many.push(self.value(place)?);
            }
            return Ok(many);
        }
        for (place, value) in few.iter_mut().enumerate().take(self.count) {
            *value = self.value(place)?;
        }
        Ok(&few[..self.count])
    }

    #[inline]
    fn value(&self, place: usize) -> Result<Value<'a>, ScriptError> {
        let at = c_int::try_from(place + 3).expect("ARGUMENTS_MAX is small");
        // SAFETY: the coroutine is suspended while `'a` lasts, and has this many values on its stack.
        unsafe {
            match ffi::lua_type(self.state, at) {
                ffi::LUA_TNUMBER => Ok(number(ffi::lua_tonumber(self.state, at))),
                ffi::LUA_TSTRING => text_at(self.state, at)
                    .map(Value::Text)
                    .ok_or_else(|| ScriptError::new("an argument is not UTF-8 text")),
                ffi::LUA_TBOOLEAN => Ok(Value::Int(ffi::lua_toboolean(self.state, at).into())),
                ffi::LUA_TNIL | ffi::LUA_TNONE => Ok(Value::Null),
                _ => Err(ScriptError::new(format!(
                    "argument {} of a statement must be a number, a text, true, false or nil",
                    place + 1
                ))),
            }
        }
    }
}

/// A number of Lua: whole ones are integers.
#[inline]
pub(super) fn number(value: f64) -> Value<'static> {
    #[expect(clippy::cast_possible_truncation, reason = "compared with the original")]
    let whole = value as i64;
    #[expect(clippy::cast_precision_loss, reason = "that is what is compared")]
    let is_whole = whole as f64 == value && whole != i64::MAX;
    if is_whole { Value::Int(whole) } else { Value::Float(value) }
}

/// The text at a place of a stack, if it is UTF-8.
///
/// # Safety
/// The value must stay on the stack for `'a`.
pub(super) unsafe fn text_at<'a>(state: *mut ffi::lua_State, at: c_int) -> Option<&'a str> {
    // SAFETY: the type is checked first, because a number would be converted in place. LuaJIT's texts do not move.
    unsafe {
        if ffi::lua_type(state, at) != ffi::LUA_TSTRING {
            return None;
        }
        let mut length = 0;
        let start = ffi::lua_tolstring(state, at, &raw mut length);
        std::str::from_utf8(std::slice::from_raw_parts(start.cast(), length)).ok()
    }
}
