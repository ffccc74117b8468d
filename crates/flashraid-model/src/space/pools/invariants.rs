//! Verification of the whole state: everything that must hold between two operations is computed anew and compared.

use super::{FREE_SCORE, OPEN_SCORE, PageMapping, UNMAPPED};
use crate::ids::DieId;

impl PageMapping {
    /// Verifies the whole state, for tests and `--check`. It must be called while no collection of a victim block (moves and erase) is in
    /// progress on any die.
    ///
    /// # Errors
    /// Returns a sentence that names the first invariant that does not hold.
    pub fn verify(&self) -> Result<(), String> {
        self.verify_during_cleans(|_| false)
    }

    /// Verifies the whole state while some dies collect a victim block; `cleans` returns true for these dies. A collection in progress may
    /// use the last free block of its pool of blocks (rule 16).
    ///
    /// # Errors
    /// Returns a sentence that names the first invariant that does not hold.
    pub(crate) fn verify_during_cleans(&self, cleans: impl Fn(DieId) -> bool) -> Result<(), String> {
        let fail = |what: String| -> Result<(), String> { Err(format!("the state of the pools is inconsistent: {what}")) };
        let mut valid_of_block = vec![0u32; self.score.len()];
        for (lpn, &physical) in self.map.iter().enumerate().filter(|&(_, &physical)| physical != UNMAPPED) {
            if self.rmap[physical as usize] != lpn as u32 {
                return fail(format!("lpn {lpn} maps to page {physical}, which belongs to lpn {}", self.rmap[physical as usize]));
            }
            let (block, page) = (physical >> self.page_shift, physical & ((1 << self.page_shift) - 1));
            if !self.dynamic && block / (self.blocks_per_pool * self.pools_per_die) != lpn as u32 / self.exported_per_die {
                return fail(format!("lpn {lpn} lies on another die"));
            }
            if page >= self.data_pages || !self.is_valid(block, page) {
                return fail(format!("lpn {lpn} maps to page {page} of block {block}, which is not a valid data page"));
            }
            valid_of_block[block as usize] += 1;
        }
        for (index, pool) in self.pools.iter().enumerate() {
            let first = index as u32 * self.blocks_per_pool;
            let die = DieId(index as u32 / self.pools_per_die);
            let mut free = 0;
            for block in first..first + self.blocks_per_pool {
                let open =
                    [Some(pool.open), pool.gc_open].into_iter().flatten().find(|o| o.block == block && o.next_page < self.data_pages);
                let score = self.score[block as usize];
                let valid = valid_of_block[block as usize];
                let bits = (0..self.data_pages).filter(|&p| self.is_valid(block, p)).count() as u32;
                let (expected_score, expected_bits) = match open {
                    Some(open) => {
                        let bits = valid + self.data_pages - open.next_page;
                        (OPEN_SCORE + bits as i16, bits)
                    }
                    None if score == FREE_SCORE => {
                        free += 1;
                        (FREE_SCORE, 0)
                    }
                    None if self.unsealed_by_fill(die) == Some(block) => (OPEN_SCORE + valid as i16, valid),
                    None => (valid as i16, valid),
                };
                if score != expected_score || bits != expected_bits || (score == FREE_SCORE && valid != 0) {
                    return fail(format!("block {block}: score {score}, {bits} bits, {valid} mapped pages"));
                }
                if self.sequence(block) > self.dies[die.index()].sequence {
                    return fail(format!("block {block} carries a sequence number that was never given"));
                }
            }
            if self.rooms[index] != self.room_of(index) {
                return fail(format!("pool {index} has another room than {:?}", self.rooms[index]));
            }
            if free != pool.free_blocks || (free == 0 && !cleans(die)) {
                return fail(format!("pool {index} counts {} free blocks and has {free}", pool.free_blocks));
            }
            let need = self.dies[die.index()].need >> (index as u32 % self.pools_per_die) & 1 == 1;
            if (free <= self.start_free_blocks && !need) || (free >= self.stop_free_blocks && need) {
                return fail(format!("pool {index} has {free} free blocks and its need bit is {need}"));
            }
        }
        if !self.score.are_consistent() {
            return fail("a group of blocks has another least score".to_owned());
        }
        let mut valid_of_die = vec![0u32; self.dies.len()];
        for (block, valid) in valid_of_block.iter().enumerate() {
            valid_of_die[block / (self.blocks_per_pool * self.pools_per_die) as usize] += valid;
        }
        match valid_of_die.iter().zip(&self.dies).position(|(&counted, e)| counted != e.valid_pages) {
            Some(die) => fail(format!("die {die} holds {} valid pages", valid_of_die[die])),
            None => Ok(()),
        }
    }

    fn is_valid(&self, block: u32, page: u32) -> bool {
        self.meta[block as usize * (self.words + 1) + (page >> 6) as usize] >> (page & 63) & 1 == 1
    }
}
