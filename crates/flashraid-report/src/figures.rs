//! The figures of a report that comparisons show, by their place in the JSON document.

/// One figure of a report.
#[derive(Debug)]
pub struct Figure {
    /// Heading.
    pub name: &'static str,
    /// JSON pointer into the report.
    pub pointer: &'static str,
    /// How it is written.
    pub unit: Unit,
    /// Which way is better.
    pub better: Better,
}

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A duration in microseconds.
    Microseconds,
    /// A number with a fixed unit, or none.
    Plain(&'static str),
    /// A share, shown in percent.
    Share,
    /// A size in bytes.
    Bytes,
}

/// Which way a figure gets better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Less is better.
    Less,
    /// More is better.
    More,
    /// Neither.
    Neutral,
}

/// The bytes that the array offers.
pub const CAPACITY: &str = "/capacity_bytes";

const fn figure(name: &'static str, pointer: &'static str, unit: Unit, better: Better) -> Figure {
    Figure { name, pointer, unit, better }
}

/// The figures by tables, each of which fits the width of a common terminal.
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

/// The figure at this place; all that are asked for are in the tables.
pub(crate) fn at(pointer: &str) -> &'static Figure {
    all().find(|figure| figure.pointer == pointer).expect("a figure of the tables")
}

/// All of them.
pub fn all() -> impl Iterator<Item = &'static Figure> {
    TABLES.iter().flat_map(|(_, figures)| *figures)
}

/// The figure of this key.
///
/// # Errors
/// There is none; the text lists them.
pub fn of_key(key: &str) -> Result<&'static Figure, String> {
    all()
        .find(|figure| figure.key() == key)
        .ok_or_else(|| format!("choose one of {}", all().map(Figure::key).collect::<Vec<_>>().join(", ")))
}

impl Figure {
    /// Its key in documents: the pointer with dots.
    pub fn key(&self) -> String {
        self.pointer[1..].replace('/', ".")
    }
}
