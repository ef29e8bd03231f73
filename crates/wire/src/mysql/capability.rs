//! Capabilities of MySQL's protocol ("Capabilities Flags"), as far as they matter for what passes.

/// `CLIENT_LONG_PASSWORD`; a server without it is MariaDB, and has capabilities of its own.
pub const LONG_PASSWORD: u32 = 1;
/// `CLIENT_FOUND_ROWS`: rows that were found count as changed.
pub const FOUND_ROWS: u32 = 1 << 1;
/// `CLIENT_CONNECT_WITH_DB`.
pub const CONNECT_WITH_DB: u32 = 1 << 3;
/// `CLIENT_COMPRESS`.
pub const COMPRESS: u32 = 1 << 5;
/// `CLIENT_PROTOCOL_41`.
pub const PROTOCOL_41: u32 = 1 << 9;
/// `CLIENT_SSL`.
pub const TLS: u32 = 1 << 11;
/// `CLIENT_SECURE_CONNECTION`.
pub const SECURE_CONNECTION: u32 = 1 << 15;
/// `CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA`.
pub const LENGTH_ENCODED: u32 = 1 << 21;
/// `CLIENT_DEPRECATE_EOF`.
pub const DEPRECATE_EOF: u32 = 1 << 24;
/// `CLIENT_OPTIONAL_RESULTSET_METADATA`.
pub const OPTIONAL_METADATA: u32 = 1 << 25;
/// `CLIENT_ZSTD_COMPRESSION_ALGORITHM`.
pub const ZSTD: u32 = 1 << 26;
/// `CLIENT_QUERY_ATTRIBUTES`.
pub const QUERY_ATTRIBUTES: u32 = 1 << 27;
/// `MARIADB_CLIENT_EXTENDED_METADATA`, of MariaDB's own.
pub const MARIADB_EXTENDED_METADATA: u32 = 1 << 3;
