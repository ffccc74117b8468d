//! Marks: conditions that make a result doubtful.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A condition that makes a result doubtful. Its symbol stands beside the result, and its explanation below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum WarningMark {
    /// No request was measured.
    #[serde(rename = "nothing measured")]
    NothingMeasured,
    /// Data were lost. Failed members left no way to read or write a page of a measured request, or more members failed than the RAID
    /// level survives.
    #[serde(rename = "data lost")]
    DataLost,
    /// There was no steady state, or the measured time began before it.
    #[serde(rename = "not steady")]
    NotSteady,
    /// A percentile has fewer than ten requests beyond it.
    #[serde(rename = "few samples")]
    FewSamples,
    /// A closed loop had fewer than ten requests for each place of its queue depth, so that its rates are those of its begin and end.
    #[serde(rename = "short loop")]
    ShortLoop,
    /// Too few blocks were erased in the measured time to project a lifetime.
    #[serde(rename = "little wear")]
    LittleWear,
}

impl WarningMark {
    /// All marks (warning signs beside doubtful results of a report), the most serious first.
    pub const ALL: [Self; 6] =
        [Self::NothingMeasured, Self::DataLost, Self::NotSteady, Self::FewSamples, Self::ShortLoop, Self::LittleWear];

    /// Returns the character of this mark, such as `!`. It stands beside a doubtful result of a report as a warning sign.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::NothingMeasured => "∅",
            Self::DataLost => "✗",
            Self::NotSteady => "!",
            Self::FewSamples => "?",
            Self::ShortLoop => "§",
            Self::LittleWear => "≈",
        }
    }

    /// Returns the name of this mark in JSON reports, such as `not steady`.
    #[must_use]
    pub const fn json_name(self) -> &'static str {
        match self {
            Self::NothingMeasured => "nothing measured",
            Self::DataLost => "data lost",
            Self::NotSteady => "not steady",
            Self::FewSamples => "few samples",
            Self::ShortLoop => "short loop",
            Self::LittleWear => "little wear",
        }
    }

    /// Returns a sentence that explains why a result of a report with this mark (a warning sign) is doubtful.
    #[must_use]
    pub const fn explanation(self) -> &'static str {
        match self {
            Self::NothingMeasured => "No read or write was measured, so that there are no figures.",
            Self::DataLost => "Data were lost: the figures are those of an array that does not do its work.",
            Self::NotSteady => {
                "The run was not steady for all of the measured time: a longer run, or a longer warm-up, may give another figure."
            }
            Self::FewSamples => "Fewer than ten requests took longer than this percentile: it is a guess.",
            Self::ShortLoop => {
                "The closed loop had fewer than ten requests for each place of its depth: its rates are those of its begin and end, and may \
                 be too high."
            }
            Self::LittleWear => {
                "Even wear at this write amplification would give this life: the run erased too little (below 20 times a block) to tell."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_have_the_names() {
        for mark in WarningMark::ALL {
            assert_eq!(serde_json::to_value(mark).unwrap(), mark.json_name());
        }
    }
}
