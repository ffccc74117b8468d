//! Detection of writes that continue an earlier one (rule 73).

/// Number of streams whose ends are remembered.
const STREAMS: usize = 16;

/// The ends of the last streams of writes.
#[derive(Debug, Clone)]
pub(super) struct Streams {
    /// Number of the page after the last one of each stream; the most recent stream comes first. It is `u64::MAX` if there is no stream
    /// yet.
    ends: [u64; STREAMS],
}

impl Streams {
    pub(super) fn new() -> Self {
        Self { ends: [u64::MAX; STREAMS] }
    }

    /// Returns true if a write of the pages `first_page..end_page` continues one of the streams. The write becomes the end of a stream in
    /// any case.
    #[inline]
    pub(super) fn continues(&mut self, first_page: u64, end_page: u64) -> bool {
        let known = self.ends.iter().position(|&end| end == first_page);
        let index = known.unwrap_or(STREAMS - 1);
        self.ends.copy_within(..index, 1);
        self.ends[0] = end_page;
        known.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_interleaved_streams_and_forgets_the_one_set_longest_ago() {
        let mut streams = Streams::new();
        assert!(!streams.continues(0, 4));
        assert!(!streams.continues(100, 104));
        assert!(streams.continues(4, 8));
        assert!(streams.continues(104, 105));
        assert!(!streams.continues(4, 8), "that end has moved on");
        (0..16).for_each(|k| assert!(!streams.continues(1000 * (k + 1), 1000 * (k + 1) + 1)));
        assert!(!streams.continues(105, 106), "16 others have come since");
        assert!(streams.continues(16_001, 16_002));
    }
}
