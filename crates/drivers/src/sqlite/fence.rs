//! The fence around SQL that is run for somebody else: it opens no file besides the database and
//! SQLite's own temporary ones, and changes nothing that other connections of the process share.
//!
//! SQLite asks the authorizer when a statement is prepared, so a running statement pays nothing.
//! VACUUM attaches a temporary file, whose name is empty; VACUUM INTO attaches the file that it
//! writes.

use rusqlite::Connection;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};

/// PRAGMAs that concern only this connection, or only this database as a whole. Not here: those
/// that name files or folders (`temp_store_directory`), that limit the memory of the whole process
/// (`hard_heap_limit`), and with which SQL can damage the schema (`writable_schema`).
const PRAGMAS: [&str; 61] = [
    "analysis_limit",
    "application_id",
    "auto_vacuum",
    "automatic_index",
    "busy_timeout",
    "cache_size",
    "cache_spill",
    "case_sensitive_like",
    "cell_size_check",
    "checkpoint_fullfsync",
    "collation_list",
    "compile_options",
    "count_changes",
    "data_version",
    "database_list",
    "default_cache_size",
    "defer_foreign_keys",
    "empty_result_callbacks",
    "encoding",
    "foreign_key_check",
    "foreign_key_list",
    "foreign_keys",
    "freelist_count",
    "full_column_names",
    "fullfsync",
    "function_list",
    "ignore_check_constraints",
    "incremental_vacuum",
    "index_info",
    "index_list",
    "index_xinfo",
    "integrity_check",
    "journal_mode",
    "journal_size_limit",
    "legacy_alter_table",
    "locking_mode",
    "max_page_count",
    "mmap_size",
    "module_list",
    "optimize",
    "page_count",
    "page_size",
    "pragma_list",
    "query_only",
    "quick_check",
    "read_uncommitted",
    "recursive_triggers",
    "reverse_unordered_selects",
    "secure_delete",
    "short_column_names",
    "shrink_memory",
    "synchronous",
    "table_info",
    "table_list",
    "table_xinfo",
    "temp_store",
    "threads",
    "trusted_schema",
    "user_version",
    "wal_autocheckpoint",
    "wal_checkpoint",
];

/// Builds the fence around a connection.
pub(super) fn enclose(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.authorizer(Some(|context: AuthContext<'_>| match is_inside(context.action) {
        true => Authorization::Allow,
        false => Authorization::Deny,
    }))
}

fn is_inside(action: AuthAction<'_>) -> bool {
    match action {
        AuthAction::Attach { filename } => filename.is_empty(),
        AuthAction::Pragma { pragma_name, .. } => {
            PRAGMAS.iter().any(|known| pragma_name.eq_ignore_ascii_case(known))
        }
        AuthAction::Function { function_name } => {
            !function_name.eq_ignore_ascii_case("load_extension")
        }
        // An ATTACH whose file is an expression has no name here.
        AuthAction::Detach { .. } | AuthAction::Unknown { .. } => false,
        _ => true,
    }
}
