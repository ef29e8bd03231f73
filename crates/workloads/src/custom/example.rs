//! The example that `triphammer new workload DIR` writes: it runs as it is on PostgreSQL, MariaDB and SQLite.

/// Name of the workload file, and of each file that it needs, with its text.
pub const FILES: [(&str, &str); 3] = [
    ("workload.toml", include_str!("example/workload.toml")),
    ("setup.sql", include_str!("example/setup.sql")),
    ("cities.csv", include_str!("example/cities.csv")),
];
