//! Goals: a figure, a limit, and the circumstance in which it holds, as in `read p99 <= 500us under failed`.

use std::fmt;
use std::str::FromStr;

use super::prices::sum_of;
use flashraid_workload::units::{Duration, Quantity, Size};

/// Requests that a response time is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Reads and writes together.
    All,
    /// Reads without the writes.
    Read,
    /// Writes without the reads.
    Write,
}

/// Statistic of response times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Statistic {
    /// Mean of the response times.
    Mean,
    /// Median of the response times.
    P50,
    /// The 90th percentile of response times.
    P90,
    /// The 95th percentile of response times.
    P95,
    /// The 99th percentile of response times.
    P99,
    /// The 99.9th percentile of response times.
    P99_9,
}

impl Statistic {
    /// All statistics, from the one that needs fewest requests to the one that needs most.
    pub const ALL: [Statistic; 6] = [Self::Mean, Self::P50, Self::P90, Self::P95, Self::P99, Self::P99_9];

    /// Returns the name in goals.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::P99_9 => "p99.9",
        }
    }

    /// Returns the share of requests that lie beyond a percentile; `None` for the mean.
    pub fn share_beyond(self) -> Option<f64> {
        match self {
            Self::Mean => None,
            Self::P50 => Some(0.5),
            Self::P90 => Some(0.1),
            Self::P95 => Some(0.05),
            Self::P99 => Some(0.01),
            Self::P99_9 => Some(0.001),
        }
    }
}

/// Figure that a goal is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Figure {
    /// A response time, in microseconds.
    Response(Direction, Statistic),
    /// Write amplification within the drives.
    WriteAmplification,
    /// Requests per second that are served.
    Iops,
    /// Years until the first drive is worn out.
    Life,
    /// Hours until a failed member is rebuilt, under the load.
    RebuildHours,
    /// Capacity of the array, in bytes.
    Capacity,
    /// Money or, without prices, raw capacity of all drives in bytes, which stands for it.
    Cost,
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Response(Direction::All, statistic) => f.write_str(statistic.name()),
            Self::Response(Direction::Read, statistic) => write!(f, "read {}", statistic.name()),
            Self::Response(Direction::Write, statistic) => write!(f, "write {}", statistic.name()),
            Self::WriteAmplification => f.write_str("waf"),
            Self::Iops => f.write_str("iops"),
            Self::Life => f.write_str("life"),
            Self::RebuildHours => f.write_str("rebuild hours"),
            Self::Capacity => f.write_str("capacity"),
            Self::Cost => f.write_str("cost"),
        }
    }
}

/// Names of all figures, for messages.
const FIGURES: &str = "read mean, read p50, read p90, read p95, read p99, read p99.9, the same with write or without either, waf, iops, life, \
                       rebuild hours, capacity or cost";

impl FromStr for Figure {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let statistic = |name: &str| Statistic::ALL.into_iter().find(|statistic| statistic.name() == name);
        let response = |direction, name| statistic(name).map(|statistic| Self::Response(direction, statistic));
        let found = match words[..] {
            ["read", name] => response(Direction::Read, name),
            ["write", name] => response(Direction::Write, name),
            ["rebuild", "hours"] => Some(Self::RebuildHours),
            ["waf"] => Some(Self::WriteAmplification),
            ["iops"] => Some(Self::Iops),
            ["life"] => Some(Self::Life),
            ["capacity"] => Some(Self::Capacity),
            ["cost"] => Some(Self::Cost),
            [name] => response(Direction::All, name),
            _ => None,
        };
        found.ok_or_else(|| format!("{text:?} is no figure of a goal; write {FIGURES}"))
    }
}

/// Circumstance in which a goal holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Circumstance {
    /// All members work as usual.
    Healthy,
    /// One member has failed.
    Failed,
    /// One member has failed and is rebuilt.
    Rebuild,
    /// One member takes ten times as long for five per cent of its operations.
    Slow,
}

impl Circumstance {
    /// All circumstances of goals.
    pub const ALL: [Circumstance; 4] = [Self::Healthy, Self::Failed, Self::Rebuild, Self::Slow];

    /// Returns the name in goals.
    pub fn name(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Failed => "failed",
            Self::Rebuild => "rebuild",
            Self::Slow => "slow",
        }
    }
}

impl FromStr for Circumstance {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|circumstance| circumstance.name() == text.trim());
        found.ok_or_else(|| format!("{text:?} is no circumstance; write healthy, failed, rebuild or slow"))
    }
}

/// A goal that an array has to meet.
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    /// The goal as the user wrote it.
    pub text: String,
    /// Figure that is limited.
    pub figure: Figure,
    /// True if the limit is the most that is allowed, false if it is the least.
    pub is_at_most: bool,
    /// The limit, in the unit of the figure.
    pub limit: f64,
    /// Currency of a limit of cost; `None` if it is raw capacity, or another figure.
    pub currency: Option<String>,
    /// Circumstance in which the goal holds.
    pub under: Circumstance,
}

const FORM: &str =
    "write FIGURE <= LIMIT or FIGURE >= LIMIT, such as \"read p99 <= 500us\", \"life >= 5y\" or \"read p99 <= 1ms under failed\"";

impl FromStr for Goal {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (bound, under) = match text.split_once(" under ") {
            Some((bound, under)) => (bound, under.parse()?),
            None => (text, Circumstance::Healthy),
        };
        let at_most = bound.split_once("<=").map(|parts| (parts, true));
        let Some(((figure, limit), is_at_most)) = at_most.or_else(|| bound.split_once(">=").map(|parts| (parts, false))) else {
            return Err(format!("the goal {text:?} has neither <= nor >=; {FORM}"));
        };
        let (figure, limit) = (figure.trim().parse::<Figure>()?, limit.trim());
        let wanted = match figure {
            Figure::Response(..) | Figure::WriteAmplification | Figure::RebuildHours | Figure::Cost => true,
            Figure::Iops | Figure::Life | Figure::Capacity => false,
        };
        if is_at_most != wanted {
            let sign = if wanted { "<=" } else { ">=" };
            return Err(format!("the goal {text:?} bounds {figure} from the wrong side; write {figure} {sign} {limit}"));
        }
        let is_of_rebuild = figure == Figure::RebuildHours;
        let under = if is_of_rebuild && under == Circumstance::Healthy { Circumstance::Rebuild } else { under };
        if under != Circumstance::Healthy
            && !(is_of_rebuild && under == Circumstance::Rebuild)
            && !matches!(figure, Figure::Response(..) | Figure::Iops)
        {
            return Err(format!("the goal {text:?}: {figure} has no circumstance; leave out \"under {}\"", under.name()));
        }
        if let (Figure::Cost, Some((sum, currency))) = (figure, sum_of(limit)) {
            return Ok(Self { text: text.trim().to_owned(), figure, is_at_most, limit: sum, currency: Some(currency), under });
        }
        let value = parse_limit(figure, limit).map_err(|problem| format!("the goal {text:?}: {problem}"))?;
        Ok(Self { text: text.trim().to_owned(), figure, is_at_most, limit: value, currency: None, under })
    }
}

fn parse_limit(figure: Figure, text: &str) -> Result<f64, String> {
    let positive = |number: f64| Some(number).filter(|number| number.is_finite() && *number > 0.0);
    let number = |text: &str| text.trim().parse::<f64>().ok().and_then(positive);
    match figure {
        Figure::Response(..) => {
            let duration = Duration::parse(text).ok().filter(|duration| duration.ns > 0);
            duration.map(|duration| duration.ns as f64 / 1000.0).ok_or_else(|| format!("{text:?} is no time; write 500us or 2ms"))
        }
        Figure::Life => {
            let years = text.trim_end_matches("years").trim_end_matches("year").trim_end_matches('y');
            let has_unit = years.len() < text.len();
            number(years).filter(|_| has_unit).ok_or_else(|| format!("{text:?} is no life; write 5y or 5 years"))
        }
        Figure::Capacity | Figure::Cost => {
            let size = Size::parse(text).ok().filter(|size| size.bytes > 0);
            size.map(|size| size.bytes as f64).ok_or_else(|| {
                let sum = if figure == Figure::Cost { " or, with --prices, a sum such as 9000 EUR" } else { "" };
                format!("{text:?} is no capacity; write 60TB{sum}")
            })
        }
        Figure::WriteAmplification | Figure::Iops | Figure::RebuildHours => {
            number(text).ok_or_else(|| format!("{text:?} is no number above 0; write {figure} with a number, such as 3"))
        }
    }
}

/// Returns the reason why goals cannot all hold, whatever the array.
pub fn contradiction(goals: &[Goal], capacity_bytes: f64) -> Option<String> {
    for (index, goal) in goals.iter().enumerate() {
        if goal.figure == Figure::Cost && goal.currency.is_none() && goal.limit < capacity_bytes {
            return Some(format!("{:?} allows less raw capacity than the capacity that is wanted", goal.text));
        }
        // Of a percentile and a deeper one, the deeper one is never less.
        for other in &goals[..index] {
            if goal.figure == other.figure && goal.under == other.under {
                return Some(format!("{:?} and {:?} limit the same figure; leave one out", other.text, goal.text));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_read() {
        let goal = |text: &str| text.parse::<Goal>().unwrap();
        let read = goal("read p99 <= 500us");
        assert_eq!(
            (read.figure, read.limit, read.under),
            (Figure::Response(Direction::Read, Statistic::P99), 500.0, Circumstance::Healthy)
        );
        assert_eq!(goal("p99.9<=2ms under rebuild").under, Circumstance::Rebuild);
        assert_eq!([goal("life >= 5y").limit, goal("life >= 2.5 years").limit], [5.0, 2.5]);
        assert_eq!(goal("capacity >= 60TB").limit, 60e12);
        let cost = goal("cost <= 9000 EUR");
        assert_eq!((cost.limit, cost.currency.as_deref()), (9000.0, Some("EUR")));
        assert_eq!(goal("iops >= 1e5").limit, 1e5);
        assert_eq!(goal("waf <= 3").figure.to_string(), "waf");
        let rebuild = goal("rebuild hours <= 24");
        assert_eq!((rebuild.figure, rebuild.limit, rebuild.under), (Figure::RebuildHours, 24.0, Circumstance::Rebuild));
    }

    #[test]
    fn what_is_no_goal_is_refused_with_what_is_allowed() {
        for (text, part) in [
            ("read p99", "neither <= nor >="),
            ("read p98 <= 1ms", "is no figure"),
            ("read speed <= 1ms", "life, rebuild hours, capacity or cost"),
            ("read p99 >= 1ms", "write read p99 <= 1ms"),
            ("life <= 5y", "wrong side"),
            ("read p99 <= 5", "is no time; write 500us"),
            ("read p99 <= 0us", "is no time"),
            ("life >= 5", "write 5y"),
            ("capacity >= 60", "is no capacity"),
            ("cost <= 9000", "a sum such as 9000 EUR"),
            ("iops >= -3", "number above 0"),
            ("waf <= nan", "number above 0"),
            ("read p99 <= 1ms under water", "is no circumstance"),
            ("life >= 5y under failed", "has no circumstance"),
            ("rebuild hours <= 24 under slow", "has no circumstance"),
        ] {
            let error = text.parse::<Goal>().unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn goals_that_contradict_are_found() {
        let goals = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<Goal>>();
        assert!(contradiction(&goals(&["cost <= 50TB"]), 60e12).unwrap().contains("less raw capacity"));
        assert!(contradiction(&goals(&["read p99 <= 1ms", "read p99 <= 2ms"]), 1e12).unwrap().contains("same figure"));
        assert_eq!(contradiction(&goals(&["read p99 <= 1ms", "read p99 <= 2ms under failed", "cost <= 90TB"]), 60e12), None);
    }
}
