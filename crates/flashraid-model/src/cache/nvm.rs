//! The memory that all caches share: one page at a time, in order of asking (rule 74).

use crate::TimeNs;

/// When the memory is done with what it was asked for.
#[derive(Debug, Clone)]
pub(super) struct Nvm {
    read_ns: u64,
    write_ns: u64,
    busy_until: TimeNs,
}

impl Nvm {
    pub fn new(read_ns: u64, write_ns: u64) -> Self {
        Self { read_ns, write_ns, busy_until: 0 }
    }

    /// When `pages` pages that are asked for now have been read.
    #[inline]
    pub fn read(&mut self, now: TimeNs, pages: u32) -> TimeNs {
        self.use_for(now, u64::from(pages) * self.read_ns)
    }

    /// When a page that is handed over now has been written.
    #[inline]
    pub fn write_page(&mut self, now: TimeNs) -> TimeNs {
        self.use_for(now, self.write_ns)
    }

    #[inline]
    fn use_for(&mut self, now: TimeNs, duration_ns: u64) -> TimeNs {
        self.busy_until = self.busy_until.max(now) + duration_ns;
        self.busy_until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serves_one_page_at_a_time_in_order_of_asking() {
        let mut nvm = Nvm::new(125, 1000);
        assert_eq!(nvm.write_page(10), 1010);
        assert_eq!(nvm.write_page(10), 2010);
        assert_eq!(nvm.read(500, 4), 2510);
        assert_eq!(nvm.read(9000, 1), 9125);
    }
}
