//! Units of time stamps.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum TimeUnit {
    /// Time stamps count nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// Time stamps count Windows ticks of 100 ns.
    #[serde(rename = "100ns")]
    Ticks,
    /// Time stamps count microseconds.
    #[serde(rename = "us")]
    Microseconds,
    /// Time stamps count milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
    /// Time stamps count seconds.
    #[serde(rename = "s")]
    Seconds,
}

impl TimeUnit {
    /// All units, the finest first.
    pub const ALL: [Self; 5] = [Self::Nanoseconds, Self::Ticks, Self::Microseconds, Self::Milliseconds, Self::Seconds];

    /// Returns the number of nanoseconds in the unit.
    #[must_use]
    pub const fn ns(self) -> u64 {
        match self {
            Self::Nanoseconds => 1,
            Self::Ticks => 100,
            Self::Microseconds => 1_000,
            Self::Milliseconds => 1_000_000,
            Self::Seconds => 1_000_000_000,
        }
    }

    /// Returns the name that users write.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Ticks => "100ns",
            Self::Microseconds => "us",
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
        }
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for TimeUnit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = if text == "µs" { "us" } else { text };
        Self::ALL
            .into_iter()
            .find(|unit| unit.name() == wanted)
            .ok_or_else(|| format!("unknown unit of time \"{text}\"; allowed are ns, 100ns, us, ms, s"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_are_those_of_serde() {
        for unit in TimeUnit::ALL {
            assert_eq!(unit.name().parse::<TimeUnit>(), Ok(unit));
            assert_eq!(serde_json::to_value(unit).unwrap(), unit.name());
        }
        assert!("minutes".parse::<TimeUnit>().unwrap_err().contains("us"));
    }
}
