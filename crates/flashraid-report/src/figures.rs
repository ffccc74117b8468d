//! The figures of a report that comparisons show, each with its place in the JSON document.

/// A figure of a report, with its meaning for comparisons.
#[derive(Debug)]
pub struct Figure {
    /// Heading of the figure in tables.
    pub name: &'static str,
    /// JSON pointer into the report.
    pub pointer: &'static str,
    /// Unit of the value in the report.
    pub unit: Unit,
    /// Direction in which the figure gets better.
    pub better: Better,
}

/// Unit of a figure in the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A duration in microseconds.
    Microseconds,
    /// A number with a fixed unit, or with none.
    Plain(&'static str),
    /// A share, shown in percent.
    Share,
    /// A size in bytes.
    Bytes,
}

/// Direction in which a figure gets better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Smaller values are better.
    Less,
    /// Larger values are better.
    More,
    /// Neither direction is better.
    Neutral,
}

/// JSON pointer to the bytes that the array offers.
pub const CAPACITY: &str = "/capacity_bytes";

const fn figure(name: &'static str, pointer: &'static str, unit: Unit, better: Better) -> Figure {
    Figure { name, pointer, unit, better }
}

/// Tables of figures, each with a title. A table fits the width of a common terminal.
pub const TABLES: &[(&str, &[Figure])] = &[
    (
        "Mean response time",
        &[
            figure("all", "/response_us/all/mean", Unit::Microseconds, Better::Less),
            figure("reads", "/response_us/read/mean", Unit::Microseconds, Better::Less),
            figure("writes", "/response_us/write/mean", Unit::Microseconds, Better::Less),
        ],
    ),
    (
        "Distribution of response times",
        &[
            figure("p50", "/response_us/all/p50", Unit::Microseconds, Better::Less),
            figure("p99", "/response_us/all/p99", Unit::Microseconds, Better::Less),
            figure("p99.9", "/response_us/all/p99_9", Unit::Microseconds, Better::Less),
            figure("max", "/response_us/all/max", Unit::Microseconds, Better::Less),
        ],
    ),
    (
        "Bandwidth and flash",
        &[
            figure("IOPS", "/iops/all", Unit::Plain(""), Better::More),
            figure("bandwidth", "/bandwidth_mb_s/mean", Unit::Plain("MB/s"), Better::More),
            figure("its CV", "/bandwidth_mb_s/cv", Unit::Plain(""), Better::Less),
            figure("WA", "/flash/write_amplification", Unit::Plain(""), Better::Less),
            figure("erases", "/flash/erases", Unit::Plain(""), Better::Less),
            figure("capacity", CAPACITY, Unit::Bytes, Better::More),
        ],
    ),
    (
        "Reads and life",
        &[
            figure("reads p99", "/response_us/read/p99", Unit::Microseconds, Better::Less),
            figure("reads p99.9", "/response_us/read/p99_9", Unit::Microseconds, Better::Less),
            figure("life, even wear", "/flash/implied_life/days", Unit::Plain("days"), Better::More),
        ],
    ),
    (
        "Data lost",
        &[
            figure("requests", "/lost/requests", Unit::Plain(""), Better::Less),
            figure("pages", "/lost/pages", Unit::Plain(""), Better::Less),
        ],
    ),
    (
        "Garbage collection",
        &[
            figure("collections", "/gc/runs", Unit::Plain(""), Better::Neutral),
            figure("mean length", "/gc/mean_length_us", Unit::Microseconds, Better::Neutral),
            figure("busy", "/gc/busy_fraction", Unit::Share, Better::Less),
            figure("together", "/gc/synchronised_mean", Unit::Plain("members"), Better::Neutral),
        ],
    ),
];

/// Returns the figure at this place. Panics if no table has it, which is a bug.
pub(crate) fn at(pointer: &str) -> &'static Figure {
    all().find(|figure| figure.pointer == pointer).expect("a figure of the tables")
}

/// Iterates over the figures of all tables.
pub fn all() -> impl Iterator<Item = &'static Figure> {
    TABLES.iter().flat_map(|(_, figures)| *figures)
}

/// Returns the figure with this key, such as `response_us.all.mean`.
///
/// # Errors
///
/// Fails if there is no such figure; the text lists them all.
pub fn of_key(key: &str) -> Result<&'static Figure, String> {
    all()
        .find(|figure| figure.key() == key)
        .ok_or_else(|| format!("choose one of {}", all().map(Figure::key).collect::<Vec<_>>().join(", ")))
}

impl Figure {
    /// Returns the key of the figure in documents, which is the pointer with dots.
    pub fn key(&self) -> String {
        self.pointer[1..].replace('/', ".")
    }
}
