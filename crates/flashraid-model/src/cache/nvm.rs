//! The memory that all caches share. It serves one page at a time, in the order of requests (rule 74).

use crate::TimeNs;

/// State of the memory: the durations of its operations, and the time until which it is busy.
#[derive(Debug, Clone)]
pub(super) struct Nvm {
    read_ns: u64,
    write_ns: u64,
    busy_until: TimeNs,
}

impl Nvm {
    pub(super) fn new(read_ns: u64, write_ns: u64) -> Self {
        Self { read_ns, write_ns, busy_until: 0 }
    }

    /// Reads `pages` pages, and returns the time at which the last one has been read.
    #[inline]
    pub(super) fn read(&mut self, now: TimeNs, pages: u32) -> TimeNs {
        self.occupy(now, u64::from(pages) * self.read_ns)
    }

    /// Writes a page, and returns the time at which it has been written.
    #[inline]
    pub(crate) fn write_page(&mut self, now: TimeNs) -> TimeNs {
        self.occupy(now, self.write_ns)
    }

    #[inline]
    fn occupy(&mut self, now: TimeNs, duration_ns: u64) -> TimeNs {
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
