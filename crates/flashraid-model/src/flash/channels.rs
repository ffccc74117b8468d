//! The channels of one SSD, each of which some dies share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Order in which dies are numbered over the channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum DieNumbering {
    /// Consecutive dies share a channel: all dies of one channel come before those of the next.
    #[serde(rename = "consecutive")]
    #[default]
    ConsecutiveWithinChannel,
    /// Consecutive dies are on different channels: the first die of every channel comes before the second of any.
    #[serde(rename = "interleaved")]
    InterleavedDies,
}

impl DieNumbering {
    fn is_default(&self) -> bool {
        *self == Self::ConsecutiveWithinChannel
    }
}

/// Channels of an SSD. The dies of a channel share it for their transfers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DieToChannelAssignment {
    /// Number of dies on one channel.
    #[schemars(range(min = 1, max = 65_536))]
    pub dies_per_channel: u32,
    /// Order in which dies are numbered over the channels.
    #[serde(rename = "order", default, skip_serializing_if = "DieNumbering::is_default")]
    pub die_numbering: DieNumbering,
}

impl DieToChannelAssignment {
    /// Returns channels with this number of consecutive dies each.
    pub fn consecutive(dies_per_channel: u32) -> Self {
        Self { dies_per_channel, die_numbering: DieNumbering::ConsecutiveWithinChannel }
    }

    /// Returns the number of channels if there are `dies` dies.
    pub fn channel_count(&self, dies: u32) -> u32 {
        dies.div_ceil(self.dies_per_channel)
    }

    /// Returns the channel of a die, if there are `dies` dies.
    #[inline]
    pub fn channel_of_die(&self, die: u32, dies: u32) -> u32 {
        match self.die_numbering {
            DieNumbering::ConsecutiveWithinChannel => die / self.dies_per_channel,
            DieNumbering::InterleavedDies => die % self.channel_count(dies),
        }
    }

    /// Returns all dies in an order that goes round the channels: the first die of each channel, then the second of each, and so on.
    pub(crate) fn dies_channels_first(&self, dies: u32) -> Vec<u32> {
        match self.die_numbering {
            DieNumbering::ConsecutiveWithinChannel => {
                let channels = self.channel_count(dies);
                let all = (0..self.dies_per_channel).flat_map(|of| (0..channels).map(move |channel| channel * self.dies_per_channel + of));
                all.filter(|&die| die < dies).collect()
            }
            DieNumbering::InterleavedDies => (0..dies).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_orders_put_every_die_on_a_channel_that_has_room() {
        for order in [DieNumbering::ConsecutiveWithinChannel, DieNumbering::InterleavedDies] {
            for (dies, dies_per_channel) in [(8, 2), (7, 3), (5, 5), (1, 1)] {
                let channels = DieToChannelAssignment { dies_per_channel, die_numbering: order };
                let mut on = vec![0; channels.channel_count(dies) as usize];
                (0..dies).for_each(|die| on[channels.channel_of_die(die, dies) as usize] += 1);
                assert!(on.iter().all(|&dies| (1..=dies_per_channel).contains(&dies)), "{order:?} {on:?}");
                let taken = channels.dies_channels_first(dies);
                let first: Vec<u32> = taken.iter().take(on.len()).map(|&die| channels.channel_of_die(die, dies)).collect();
                assert_eq!(first, (0..on.len() as u32).collect::<Vec<_>>());
                assert_eq!(taken.len(), dies as usize);
            }
        }
        assert_eq!(DieToChannelAssignment { dies_per_channel: 2, die_numbering: DieNumbering::InterleavedDies }.channel_of_die(5, 8), 1);
        assert_eq!(DieToChannelAssignment::consecutive(2).channel_of_die(5, 8), 2);
    }
}
