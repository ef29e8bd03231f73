//! The functions of `duckdb.h` that are used, by the signatures that are the same in 1.5 and 2.0.

use std::ffi::{c_char, c_void};
use std::ptr;

/// An object of DuckDB's.
pub(crate) type Handle = *mut c_void;

/// `duckdb_state` of a call that worked.
pub(crate) const SUCCESS: u32 = 0;

/// `duckdb_result`: its fields are read through functions only.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct RawResult {
    deprecated_column_count: u64,
    deprecated_row_count: u64,
    deprecated_rows_changed: u64,
    deprecated_columns: *mut c_void,
    deprecated_error_message: *mut c_char,
    internal_data: *mut c_void,
}

impl RawResult {
    /// A result that DuckDB has not filled yet.
    pub(crate) const fn empty() -> Self {
        Self {
            deprecated_column_count: 0,
            deprecated_row_count: 0,
            deprecated_rows_changed: 0,
            deprecated_columns: ptr::null_mut(),
            deprecated_error_message: ptr::null_mut(),
            internal_data: ptr::null_mut(),
        }
    }
}

/// `duckdb_hugeint`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct RawHuge {
    lower: u64,
    upper: i64,
}

impl From<i128> for RawHuge {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the two halves of 128 bits"
    )]
    fn from(value: i128) -> Self {
        Self { lower: value as u64, upper: (value >> 64) as i64 }
    }
}

/// `duckdb_decimal`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct RawDecimal {
    pub(crate) width: u8,
    pub(crate) scale: u8,
    pub(crate) value: RawHuge,
}

/// Generates [`Api`]: the functions by their names without `duckdb_`.
macro_rules! api {
    ($(fn $name:ident($($type:ty),*) $(-> $out:ty)?;)*) => {
        /// The functions of a loaded library.
        pub(crate) struct Api {
            $(pub(crate) $name: unsafe extern "C" fn($($type),*) $(-> $out)?,)*
        }

        impl Api {
            /// Looks the functions up in a library; fails with the name of one that it lacks.
            ///
            /// # Safety
            /// The library must be DuckDB's, and must stay loaded for as long as the functions are
            /// called.
            pub(crate) unsafe fn of(library: &libloading::Library) -> Result<Self, &'static str> {
                Ok(Self {
                    $($name: {
                        let symbol = concat!("duckdb_", stringify!($name));
                        // SAFETY: DuckDB's function of that name has the type of the field.
                        let found = unsafe { library.get(symbol.as_bytes()) };
                        *found.map_err(|_| symbol)?
                    },)*
                })
            }
        }
    };
}

api! {
    fn library_version() -> *const c_char;
    fn free(*mut c_void);

    fn create_config(*mut Handle) -> u32;
    fn set_config(Handle, *const c_char, *const c_char) -> u32;
    fn destroy_config(*mut Handle);
    fn create_instance_cache() -> Handle;
    fn get_or_create_from_cache(
        Handle, *const c_char, *mut Handle, Handle, *mut *mut c_char
    ) -> u32;
    fn close(*mut Handle);
    fn connect(Handle, *mut Handle) -> u32;
    fn disconnect(*mut Handle);
    fn interrupt(Handle);

    fn query(Handle, *const c_char, *mut RawResult) -> u32;
    fn destroy_result(*mut RawResult);
    fn result_error(*mut RawResult) -> *const c_char;
    fn result_error_type(*mut RawResult) -> u32;
    fn rows_changed(*mut RawResult) -> u64;
    fn column_count(*mut RawResult) -> u64;
    fn column_name(*mut RawResult, u64) -> *const c_char;
    fn fetch_chunk(RawResult) -> Handle;

    fn prepare(Handle, *const c_char, *mut Handle) -> u32;
    fn prepare_error(Handle) -> *const c_char;
    fn destroy_prepare(*mut Handle);
    fn nparams(Handle) -> u64;
    fn bind_null(Handle, u64) -> u32;
    fn bind_int16(Handle, u64, i16) -> u32;
    fn bind_int32(Handle, u64, i32) -> u32;
    fn bind_int64(Handle, u64, i64) -> u32;
    fn bind_double(Handle, u64, f64) -> u32;
    fn bind_decimal(Handle, u64, RawDecimal) -> u32;
    fn bind_varchar_length(Handle, u64, *const c_char, u64) -> u32;
    fn bind_date(Handle, u64, i32) -> u32;
    fn bind_timestamp(Handle, u64, i64) -> u32;
    fn bind_value(Handle, u64, Handle) -> u32;
    fn execute_prepared(Handle, *mut RawResult) -> u32;
    fn pending_prepared_streaming(Handle, *mut Handle) -> u32;
    fn pending_error(Handle) -> *const c_char;
    fn execute_pending(Handle, *mut RawResult) -> u32;
    fn destroy_pending(*mut Handle);
    fn create_int32(i32) -> Handle;
    fn create_list_value(Handle, *mut Handle, u64) -> Handle;
    fn destroy_value(*mut Handle);

    fn create_logical_type(u32) -> Handle;
    fn get_type_id(Handle) -> u32;
    fn decimal_width(Handle) -> u8;
    fn decimal_scale(Handle) -> u8;
    fn destroy_logical_type(*mut Handle);

    fn create_data_chunk(*mut Handle, u64) -> Handle;
    fn destroy_data_chunk(*mut Handle);
    fn data_chunk_reset(Handle);
    fn data_chunk_get_column_count(Handle) -> u64;
    fn data_chunk_get_vector(Handle, u64) -> Handle;
    fn data_chunk_get_size(Handle) -> u64;
    fn data_chunk_set_size(Handle, u64);
    fn vector_size() -> u64;
    fn vector_get_column_type(Handle) -> Handle;
    fn vector_get_data(Handle) -> *mut c_void;
    fn vector_get_validity(Handle) -> *mut u64;
    fn vector_ensure_validity_writable(Handle);
    fn vector_assign_string_element_len(Handle, u64, *const c_char, u64);

    fn appender_create(Handle, *const c_char, *const c_char, *mut Handle) -> u32;
    fn appender_add_column(Handle, *const c_char) -> u32;
    fn appender_column_count(Handle) -> u64;
    fn appender_column_type(Handle, u64) -> Handle;
    fn append_data_chunk(Handle, Handle) -> u32;
    fn appender_flush(Handle) -> u32;
    fn appender_clear(Handle) -> u32;
    fn appender_error_data(Handle) -> Handle;
    fn appender_destroy(*mut Handle) -> u32;
    fn error_data_error_type(Handle) -> u32;
    fn error_data_message(Handle) -> *const c_char;
    fn destroy_error_data(*mut Handle);
}
