//! The hash that chains a user's rows.

/// Hash of a row: depends on every bit of every argument. It recognises damage and mistakes, not
/// forgery.
#[must_use]
pub fn hash(seed: u64, user: u32, seq: u64, input: i64, prev: i64) -> i64 {
    let parts = [u64::from(user), seq, input.cast_unsigned(), prev.cast_unsigned()];
    parts.into_iter().fold(mix(seed), |state, part| mix(state ^ mix(part))).cast_signed()
}

/// The finalizer of `SplitMix64` (Steele, Lea and Flood 2014).
const fn mix(bits: u64) -> u64 {
    let bits = bits.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::hash;

    #[test]
    fn every_argument_counts() {
        let same = hash(1, 2, 3, 4, 5);
        assert_eq!(same, hash(1, 2, 3, 4, 5));
        let others = [
            hash(0, 2, 3, 4, 5),
            hash(1, 0, 3, 4, 5),
            hash(1, 2, 0, 4, 5),
            hash(1, 2, 3, 0, 5),
            hash(1, 2, 3, 4, 0),
            hash(1, 3, 2, 4, 5),
        ];
        assert!(others.iter().all(|other| *other != same));
    }
}
