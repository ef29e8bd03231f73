//! The functions of ODBC that are used, with the types and numbers of its headers (ODBC 3.5, whose
//! names they have without `SQL_`). Text is UTF-16, as unixODBC and Windows have it.

use std::ffi::c_void;

/// An environment, a connection or a statement.
pub(crate) type Handle = *mut c_void;
/// `SQLRETURN`.
pub(crate) type Return = i16;

pub(crate) const HANDLE_ENV: i16 = 1;
pub(crate) const HANDLE_DBC: i16 = 2;
pub(crate) const HANDLE_STMT: i16 = 3;

pub(crate) const SUCCESS: Return = 0;
pub(crate) const SUCCESS_WITH_INFO: Return = 1;
pub(crate) const NO_DATA: Return = 100;

pub(crate) const NULL_DATA: isize = -1;

pub(crate) const ATTR_ODBC_VERSION: i32 = 200;
pub(crate) const OV_ODBC3: usize = 3;
pub(crate) const ATTR_AUTOCOMMIT: i32 = 102;
pub(crate) const ATTR_LOGIN_TIMEOUT: i32 = 103;
pub(crate) const ATTR_TXN_ISOLATION: i32 = 108;
pub(crate) const ATTR_CONNECTION_DEAD: i32 = 1209;
pub(crate) const CD_TRUE: u32 = 1;
pub(crate) const ATTR_PARAM_BIND_TYPE: i32 = 18;
pub(crate) const ATTR_PARAM_STATUS_PTR: i32 = 20;
pub(crate) const ATTR_PARAMS_PROCESSED_PTR: i32 = 21;
pub(crate) const ATTR_PARAMSET_SIZE: i32 = 22;
pub(crate) const PARAM_ERROR: u16 = 5;

pub(crate) const CLOSE: u16 = 0;
pub(crate) const UNBIND: u16 = 2;
pub(crate) const PARAM_INPUT: i16 = 1;
pub(crate) const DRIVER_NOPROMPT: u16 = 0;

pub(crate) const CHAR: i16 = 1;
pub(crate) const DECIMAL: i16 = 3;
pub(crate) const INTEGER: i16 = 4;
pub(crate) const SMALLINT: i16 = 5;
pub(crate) const FLOAT: i16 = 6;
pub(crate) const REAL: i16 = 7;
pub(crate) const DOUBLE: i16 = 8;
pub(crate) const VARCHAR: i16 = 12;
pub(crate) const TYPE_DATE: i16 = 91;
pub(crate) const TYPE_TIMESTAMP: i16 = 93;
pub(crate) const LONGVARCHAR: i16 = -1;
pub(crate) const WVARCHAR: i16 = -9;
pub(crate) const WLONGVARCHAR: i16 = -10;
pub(crate) const BINARY: i16 = -2;
pub(crate) const VARBINARY: i16 = -3;
pub(crate) const LONGVARBINARY: i16 = -4;
pub(crate) const BIGINT: i16 = -5;
pub(crate) const TINYINT: i16 = -6;
pub(crate) const BIT: i16 = -7;

pub(crate) const C_CHAR: i16 = 1;
pub(crate) const C_SLONG: i16 = -16;
pub(crate) const C_SBIGINT: i16 = -25;
pub(crate) const C_DOUBLE: i16 = 8;
pub(crate) const C_DATE: i16 = 91;
pub(crate) const C_TIMESTAMP: i16 = 93;

/// `SQL_DATE_STRUCT`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RawDate {
    pub(crate) year: i16,
    pub(crate) month: u16,
    pub(crate) day: u16,
}

/// `SQL_TIMESTAMP_STRUCT`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RawTimestamp {
    pub(crate) year: i16,
    pub(crate) month: u16,
    pub(crate) day: u16,
    pub(crate) hour: u16,
    pub(crate) minute: u16,
    pub(crate) second: u16,
    /// Nanoseconds.
    pub(crate) fraction: u32,
}

/// Generates [`Api`]: the functions by their names without `SQL`.
macro_rules! api {
    ($(fn $name:ident = $symbol:literal ($($type:ty),*);)*) => {
        /// The functions of a loaded driver manager.
        pub(crate) struct Api {
            $(pub(crate) $name: unsafe extern "C" fn($($type),*) -> Return,)*
        }

        impl Api {
            /// Looks the functions up in a library; fails with the name of one that it lacks.
            ///
            /// # Safety
            /// The library must be a driver manager, and must stay loaded for as long as the
            /// functions are called.
            pub(crate) unsafe fn of(library: &libloading::Library) -> Result<Self, &'static str> {
                Ok(Self {
                    $($name: {
                        // SAFETY: ODBC's function of that name has the type of the field.
                        let found = unsafe { library.get($symbol.as_bytes()) };
                        *found.map_err(|_| $symbol)?
                    },)*
                })
            }
        }
    };
}

api! {
    fn alloc_handle = "SQLAllocHandle" (i16, Handle, *mut Handle);
    fn free_handle = "SQLFreeHandle" (i16, Handle);
    fn set_env_attr = "SQLSetEnvAttr" (Handle, i32, *mut c_void, i32);
    fn get_diag_rec = "SQLGetDiagRecW"
        (i16, Handle, i16, *mut u16, *mut i32, *mut u16, i16, *mut i16);

    fn driver_connect = "SQLDriverConnectW"
        (Handle, *mut c_void, *const u16, i16, *mut u16, i16, *mut i16, u16);
    fn disconnect = "SQLDisconnect" (Handle);
    fn set_connect_attr = "SQLSetConnectAttrW" (Handle, i32, *mut c_void, i32);
    fn get_connect_attr = "SQLGetConnectAttrW" (Handle, i32, *mut c_void, i32, *mut i32);
    fn get_info = "SQLGetInfoW" (Handle, u16, *mut c_void, i16, *mut i16);
    fn end_tran = "SQLEndTran" (i16, Handle, i16);

    fn set_stmt_attr = "SQLSetStmtAttrW" (Handle, i32, *mut c_void, i32);
    fn prepare = "SQLPrepareW" (Handle, *const u16, i32);
    fn exec_direct = "SQLExecDirectW" (Handle, *const u16, i32);
    fn execute = "SQLExecute" (Handle);
    fn num_params = "SQLNumParams" (Handle, *mut i16);
    fn bind_parameter = "SQLBindParameter"
        (Handle, u16, i16, i16, i16, usize, i16, *mut c_void, isize, *mut isize);
    fn row_count = "SQLRowCount" (Handle, *mut isize);
    fn num_result_cols = "SQLNumResultCols" (Handle, *mut i16);
    fn describe_col = "SQLDescribeColW"
        (Handle, u16, *mut u16, i16, *mut i16, *mut i16, *mut usize, *mut i16, *mut i16);
    fn bind_col = "SQLBindCol" (Handle, u16, i16, *mut c_void, isize, *mut isize);
    fn fetch = "SQLFetch" (Handle);
    fn get_data = "SQLGetData" (Handle, u16, i16, *mut c_void, isize, *mut isize);
    fn more_results = "SQLMoreResults" (Handle);
    fn free_stmt = "SQLFreeStmt" (Handle, u16);
    fn cancel = "SQLCancel" (Handle);
    fn tables = "SQLTablesW"
        (Handle, *const u16, i16, *const u16, i16, *const u16, i16, *const u16, i16);
}

/// Whether a call worked.
pub(crate) const fn worked(code: Return) -> bool {
    matches!(code, SUCCESS | SUCCESS_WITH_INFO)
}

/// Text for a function that takes its length: UTF-16, and a zero for drivers that ignore lengths.
pub(crate) fn wide(text: &str) -> Vec<u16> {
    text.encode_utf16().chain([0]).collect()
}

/// A number that an attribute takes in the place of a pointer.
pub(crate) fn as_pointer(number: usize) -> *mut c_void {
    std::ptr::without_provenance_mut(number)
}
