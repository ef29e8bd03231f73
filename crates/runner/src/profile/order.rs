//! The order of the runs.

use std::ops::Range;

use triphammer_core::random::Rng;

/// Orders the runs: every level once per block, each block in a separate random order. The same
/// seed gives the same order of a block, independent of other blocks.
#[must_use]
pub fn sequence(levels: &[u32], blocks: Range<u32>, seed: u64) -> Vec<u32> {
    let mut order = Vec::with_capacity(levels.len() * blocks.len());
    for block in blocks {
        let start = order.len();
        order.extend_from_slice(levels);
        Rng::of(seed, &[u64::from(block)]).shuffle(&mut order[start..]);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_block_holds_every_level_once_in_an_order_of_its_own() {
        let levels = [1, 2, 4, 8, 16, 32, 64];
        let order = sequence(&levels, 0..20, 7);
        let mut blocks: Vec<&[u32]> = order.chunks(levels.len()).collect();
        for block in &blocks {
            let mut sorted = block.to_vec();
            sorted.sort_unstable();
            assert_eq!(sorted, levels);
        }
        blocks.sort_unstable();
        blocks.dedup();
        assert!(blocks.len() > 15, "orders differ");
        assert_eq!(order, sequence(&levels, 0..20, 7));
        assert_ne!(order, sequence(&levels, 0..20, 8));
        assert_eq!(order[7..14], sequence(&levels, 1..2, 7), "a block does not depend on others");
    }

    #[test]
    fn a_level_stands_at_every_place_of_a_block_about_as_often() {
        let order = sequence(&[1, 2, 3, 4], 0..4000, 1);
        for place in 0..4 {
            let ones = order.chunks(4).filter(|block| block[place] == 1).count();
            assert!((850..1150).contains(&ones), "{ones} at {place}");
        }
    }
}
