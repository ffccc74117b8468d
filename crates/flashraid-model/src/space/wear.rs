//! Wear: the number of times that blocks have been erased.

/// Erase counts of the blocks of one member, including those of the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct EraseCountSummary {
    /// Least number of erases of a block.
    pub min: u32,
    /// Mean number of erases of a block.
    pub mean: f64,
    /// Greatest number of erases of a block.
    pub max: u32,
    /// Standard deviation of the erases over the blocks.
    pub stddev: f64,
}

impl EraseCountSummary {
    /// Returns the wear of blocks with these erase counts. All values are zero without blocks.
    #[must_use]
    pub(crate) fn from_erase_counts(counts: impl Iterator<Item = u32> + Clone) -> Self {
        let blocks = counts.clone().count();
        if blocks == 0 {
            return Self::default();
        }
        let mean = counts.clone().map(f64::from).sum::<f64>() / blocks as f64;
        let variance = counts.clone().map(|n| (f64::from(n) - mean) * (f64::from(n) - mean)).sum::<f64>() / blocks as f64;
        Self { min: counts.clone().min().unwrap_or(0), mean, max: counts.max().unwrap_or(0), stddev: variance.sqrt() }
    }

    /// Returns the wear over the blocks of several members with equally many blocks. All values are zero without members.
    #[must_use]
    pub fn over_members(members: &[Self]) -> Self {
        if members.is_empty() {
            return Self::default();
        }
        let count = members.len() as f64;
        let mean = members.iter().map(|wear| wear.mean).sum::<f64>() / count;
        let squares = members.iter().map(|wear| wear.stddev * wear.stddev + (wear.mean - mean) * (wear.mean - mean)).sum::<f64>() / count;
        Self {
            min: members.iter().map(|wear| wear.min).min().unwrap_or(0),
            mean,
            max: members.iter().map(|wear| wear.max).max().unwrap_or(0),
            stddev: squares.sqrt(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wear_of_two_members_is_that_of_all_their_blocks() {
        // The blocks have 0, 4 and 4, 8 erases: the mean is 4, the deviation √8.
        let members =
            [EraseCountSummary { min: 0, mean: 2.0, max: 4, stddev: 2.0 }, EraseCountSummary { min: 4, mean: 6.0, max: 8, stddev: 2.0 }];
        assert_eq!(EraseCountSummary::over_members(&members), EraseCountSummary { min: 0, mean: 4.0, max: 8, stddev: f64::sqrt(8.0) });
        assert_eq!(EraseCountSummary::over_members(&[]), EraseCountSummary::default());
    }
}
