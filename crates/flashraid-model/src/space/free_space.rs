//! Free space of a mapping, and the moves that would win back what a run has used up of it.
//!
//! A run that ends with less free space than it began with has put collection off. It has lived on credit: sooner or later, as many pages
//! must be moved as the lost space costs. The price is that of the victims with the fewest valid units.

/// Returns the number of units that must be moved to gain `missing` units of free space. It collects the blocks with the fewest valid
/// units first. A block holds `block_units` units, and `valid_units` has the number of valid ones of each block.
///
/// Of the last block, only the share counts that is needed. If all blocks together gain too little, all that they hold must be moved.
pub(super) fn moves_to_gain(missing: u64, block_units: u32, valid_units: impl Iterator<Item = u32>) -> u64 {
    if missing == 0 {
        return 0;
    }
    let mut blocks: Vec<u32> = valid_units.filter(|valid| *valid < block_units).collect();
    blocks.sort_unstable();
    let (mut missing, mut moves) = (missing, 0);
    for valid in blocks.into_iter().map(u64::from) {
        let gained = u64::from(block_units) - valid;
        if gained >= missing {
            return moves + (valid * missing).div_ceil(gained);
        }
        (missing, moves) = (missing - gained, moves + valid);
    }
    moves
}

#[cfg(test)]
mod tests {
    use super::moves_to_gain;

    #[test]
    fn the_emptiest_blocks_are_collected_first() {
        let blocks = || [10, 4, 7, 4].into_iter();
        // Blocks of ten units with 4, 4 and 7 valid ones gain 6, 6 and 3. The full one gains nothing.
        let moves = [0, 1, 3, 6, 7, 12, 13, 15, 16, 1000].map(|missing| moves_to_gain(missing, 10, blocks()));
        assert_eq!(moves, [0, 1, 2, 4, 5, 8, 11, 15, 15, 15]);
        assert_eq!(moves_to_gain(5, 10, std::iter::empty()), 0);
    }

    #[test]
    fn more_missing_space_never_takes_fewer_moves() {
        for blocks in [vec![0, 0, 9], vec![5; 7], vec![1, 2, 3, 4, 5, 6, 7, 8, 9]] {
            let moves: Vec<u64> = (0..60).map(|missing| moves_to_gain(missing, 10, blocks.iter().copied())).collect();
            assert!(moves.is_sorted(), "{blocks:?}: {moves:?}");
        }
    }
}
