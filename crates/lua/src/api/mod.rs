//! sysbench's API in Lua, on top of requests.

/// Names and code, in the order of its parts.
pub const API: [(&str, &str); 4] = [
    ("=sysbench", include_str!("start.lua")),
    ("=sysbench.rand", include_str!("rand.lua")),
    ("=sysbench.sql", include_str!("sql.lua")),
    ("=sysbench.report", include_str!("report.lua")),
];

/// Whether code is a part of the API, by the name that Lua has for its source.
pub fn is_api(source: &[u8]) -> bool {
    API.iter().any(|(name, _)| &name.as_bytes()[1..] == source)
}
