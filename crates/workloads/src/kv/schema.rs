//! The table, and its rows before any run.

use std::sync::{Arc, LazyLock};

use triphammer_core::random::Rng;
use triphammer_core::rows::Rows;
use triphammer_core::session::RowSource;
use triphammer_core::value::ColumnType::{BigInt, Text};
use triphammer_core::workload::{Chunk, TableDef, column, table};

use super::settings::Settings;
use crate::BATCH_BYTES;
use crate::script::random::fnv1a;

/// Thousands of rows in a chunk of a build.
const CHUNK_THOUSANDS: u32 = 100;
/// Purpose of the random streams of the payloads of a build.
const PAYLOADS: u64 = 0x6B76;

static TABLES: LazyLock<Arc<[TableDef]>> = LazyLock::new(|| {
    let columns = [
        column("id", BigInt),
        column("version", BigInt),
        column("checksum", BigInt),
        column("payload", Text),
    ];
    [table("kv_store", columns)].into()
});

/// The table of the workload.
pub fn tables() -> Arc<[TableDef]> {
    Arc::clone(&TABLES)
}

/// The checksum of a payload: FNV-1a of 64 bits, as a signed number.
#[must_use]
pub fn checksum(payload: &[u8]) -> i64 {
    fnv1a(payload, 0)
}

/// Appends a payload of `size` random letters and digits.
pub fn payload(size: usize, rng: &mut Rng, out: &mut Vec<u8>) {
    rng.alphanumeric(size, out);
}

/// The chunks of a build: [`Chunk::key`] is the first thousand of keys, from 1.
pub fn chunks(settings: &Settings) -> Vec<Chunk> {
    let firsts = (0..settings.thousands).step_by(CHUNK_THOUSANDS as usize);
    let chunk = |first: u32| {
        let last = (first + CHUNK_THOUSANDS).min(settings.thousands);
        Chunk {
            name: format!("keys {} to {}", i64::from(first) * 1_000 + 1, i64::from(last) * 1_000),
            key: i64::from(first) + 1,
            tables: tables(),
            rows: u64::from(last - first) * 1_000,
        }
    };
    firsts.map(chunk).collect()
}

/// The rows of a chunk.
pub fn rows(settings: &Settings, data_seed: u64, chunk: &Chunk) -> impl RowSource + use<> {
    let mut next = (chunk.key - 1) * 1_000 + 1;
    let last = next - 1 + chunk.rows.cast_signed();
    let mut rng = Rng::of(data_seed, &[PAYLOADS, chunk.key.unsigned_abs()]);
    let size = settings.payload_size;
    let mut text = Vec::with_capacity(size);
    move |rows: &mut Rows| {
        while next <= last && rows.bytes() < BATCH_BYTES {
            text.clear();
            payload(size, &mut rng, &mut text);
            rows.int(next);
            rows.int(1);
            rows.int(checksum(&text));
            rows.text_with(|out| out.extend_from_slice(&text));
            next += 1;
        }
        next <= last
    }
}
