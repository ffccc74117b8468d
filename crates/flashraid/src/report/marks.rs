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
    /// Collection happened too seldom in the measured time, or the run lived on credit.
    #[serde(rename = "not judged")]
    NotJudged,
    /// A percentile has fewer than ten requests beyond it.
    #[serde(rename = "few samples")]
    FewSamples,
    /// A closed loop had fewer than ten requests for each place of its queue depth. Its rates are mostly those of its begin and end.
    #[serde(rename = "short loop")]
    ShortLoop,
    /// Too few blocks were erased in the measured time to project a lifetime.
    #[serde(rename = "little wear")]
    LittleWear,
}

/// Answer to the question if a point with a mark may be called the best of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MayWin {
    /// The mark does not matter.
    Yes,
    /// The point may win if no point without such a mark does.
    IfNoOther,
    /// The point is named, and never wins.
    No,
}

impl MayWin {
    /// Returns the words for this answer in the documentation.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::IfNoOther => "if no other does",
            Self::No => "no",
        }
    }
}

/// Effect of a mark: the figures that it makes doubtful, and what it bars a point of a comparison from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct MarkEffect {
    /// The figures that the mark makes doubtful.
    pub figures: &'static str,
    /// Answer to the question if the point may be called the best.
    pub may_win: MayWin,
    /// True if other points may be compared with the point.
    pub may_be_baseline: bool,
}

impl WarningMark {
    /// Returns the effect of this mark. Comparisons and the table in docs/figures.md both follow it.
    #[must_use]
    pub const fn effect(self) -> MarkEffect {
        let (figures, may_win, may_be_baseline) = match self {
            Self::NothingMeasured => ("all", MayWin::No, false),
            Self::DataLost => ("all", MayWin::No, false),
            Self::NotSteady => ("all", MayWin::IfNoOther, true),
            Self::NotJudged => ("response times, write amplification, life", MayWin::No, false),
            Self::FewSamples => ("the percentile", MayWin::Yes, true),
            Self::ShortLoop => ("requests per second, bandwidth", MayWin::Yes, true),
            Self::LittleWear => ("life", MayWin::Yes, true),
        };
        MarkEffect { figures, may_win, may_be_baseline }
    }

    /// All marks (warning signs beside doubtful results of a report), the most serious first.
    pub const ALL: [Self; 7] =
        [Self::NothingMeasured, Self::DataLost, Self::NotSteady, Self::NotJudged, Self::FewSamples, Self::ShortLoop, Self::LittleWear];

    /// Returns the character of this mark, such as `!`. It stands beside a doubtful result of a report as a warning sign.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::NothingMeasured => "∅",
            Self::DataLost => "✗",
            Self::NotSteady => "!",
            Self::NotJudged => "‡",
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
            Self::NotJudged => "not judged",
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
                "The run was not steady for all of the measured time: a longer run, a longer warm-up, or a warm-up by the workload itself \
                 (ssd.warm_up.pattern = \"workload\") may give another figure."
            }
            Self::NotJudged => {
                "Collection happened too seldom in this run, or was put off: another length of the run may give quite another figure."
            }
            Self::FewSamples => "Fewer than ten requests took longer than this percentile: it is a guess.",
            Self::ShortLoop => {
                "The closed loop had fewer than ten requests for each place of its depth: its rates are mostly those of its begin \
                 and end, and may be too low."
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

    #[test]
    fn the_book_lists_what_each_mark_bars() {
        let page = include_str!("../../../../docs/figures.md");
        for mark in WarningMark::ALL {
            let row = page.lines().find(|line| line.starts_with(&format!("| `{}` | {} |", mark.json_name(), mark.symbol())));
            let effect = mark.effect();
            let baseline = if effect.may_be_baseline { "yes" } else { "no" };
            let end = format!("| {} | {} | {baseline} |", effect.figures, effect.may_win.words());
            assert!(row.is_some_and(|row| row.ends_with(&end)), "{}: {row:?} does not end with {end}", mark.json_name());
        }
    }
}
