//! The simulations for report cards: their loads, the state that they begin with, and their lengths.
//!
//! The lengths follow from the simulated drive by one rule for all drives. E is the number of exported bytes, and S the number of reserved
//! bytes.
//!
//! - *Random writes, and 70/30* begin after two overwrites at random, which take no simulated time. They are measured while the host writes
//!   E/8, after a quarter of that which does not count.
//! - *Random writes for endurance* (8 KiB, 16 KiB, and 16 KiB mixed with 4 KiB) begin like random writes. They are measured while units
//!   for E/2 are written, after units for E/4 that do not count. In the first eighth, write amplification still is a tenth too high, and
//!   from eighth to eighth it differs by some percent. Their figures are ratios of two such values, with tolerances of 5 %.
//! - *Sequential writes* begin on a drive that was filled in order. First the host writes S + E/4, which does not count. By then, all free
//!   superblocks have been used and erased once, and some drives are up to a seventh slower than before. Then E/4 is measured.
//! - *Reads* begin on a filled drive. At depth, 400,000 commands are measured after 20,000 that do not count; one at a time, 20,000.
//! - *Single writes* begin in the state that random writes leave. 1,000,000 are measured, because they are slower once the credit of this
//!   state has been used up.
//! - *Percentiles* of random requests come from 2,000,000 commands after 50,000 that do not count, so that twenty are beyond p99.999.
//! - *Seconds* are 200, after 20 that do not count.
//!
//! For all other writes, between 100,000 and 8,000,000 requests are measured. These suffice for tails, and a card still takes only
//! minutes. With fewer requests, the largest drives would write some thirty superblocks. Write amplification would then depend on the
//! number of free superblocks at the begin.

use flashraid::config::Scenario;

use super::window::Window;

/// A simulation that figures of a card are taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Job {
    /// 4 KiB at random, 256 at a time.
    RandomWrite,
    /// 4 KiB, one at a time, on the drive that random writes have left.
    SingleWrite,
    /// 8 KiB at random, 256 at a time.
    RandomWrite8k,
    /// 16 KiB at random, 256 at a time.
    RandomWrite16k,
    /// 16 KiB and 4 KiB at random, 256 at a time. The number is the percentage of commands with 16 KiB.
    RandomWrite16kAnd4k(u8),
    /// 4 KiB at random, 70 % of them reads, 64 at a time.
    Mixed,
    /// 4 KiB at random, 512 at a time.
    RandomRead,
    /// 4 KiB at random, one at a time.
    SingleRead,
    /// 128 KiB, 32 at a time.
    SequentialRead,
    /// 128 KiB, 32 at a time.
    SequentialWrite,
    /// 4 KiB at random, so many at a time, for percentiles.
    ReadPercentiles(u16),
    /// 4 KiB at random, so many at a time, for percentiles.
    WritePercentiles(u16),
    /// 4 KiB at random, 32 at a time, for requests by the second.
    ReadSeconds,
    /// 4 KiB at random, 32 at a time, for requests by the second.
    WriteSeconds,
}

/// Bytes of the simulated drive, exported and in reserve.
#[derive(Debug, Clone, Copy)]
pub(super) struct Space {
    exported_bytes: u64,
    reserved_bytes: u64,
    unit_bytes: u64,
}

impl Space {
    pub fn of(scenario: &Scenario) -> Self {
        let ssd = &scenario.array.ssd;
        let page_bytes = u64::from(ssd.geometry.page_bytes);
        let exported_bytes = ssd.exported_pages() * page_bytes;
        let unit_pages = ssd.superblock.as_ref().map_or(1, |superblock| superblock.pages_per_mapping_unit);
        let reserved_bytes = ssd.geometry.physical_pages() * page_bytes - exported_bytes;
        Self { exported_bytes, reserved_bytes, unit_bytes: u64::from(unit_pages) * page_bytes }
    }
}

/// Requests that a job sends to the drive.
struct Load {
    read_fraction: f64,
    /// Value of the key `workload.size`.
    size: String,
    /// Bytes that the mapping writes for a command.
    written_bytes: u64,
    depth: u32,
    sequential: bool,
}

const KIB: u64 = 1024;
/// Limits of the number of measured requests, if it depends on the drive.
const MEASURED: std::ops::RangeInclusive<u64> = 100_000..=8_000_000;
/// Number of overwrites of the whole drive before random writes.
const OVERWRITES: &str = "2";
/// Number of commands for percentiles that do not count, and of those that do.
const PERCENTILES: (u64, u64) = (50_000, 2_000_000);
/// Number of seconds that do not count, and of those that do.
const SECONDS: (u64, u64) = (20, 200);

/// Length of a job: a part that does not count, and a part that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    /// Both are numbers of requests.
    Requests(u64, u64),
    /// Both are numbers of seconds.
    Seconds(u64, u64),
}

impl Job {
    /// Returns a short description of the job.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Job::RandomWrite => "random writes of 4 KiB".to_owned(),
            Job::SingleWrite => "single writes of 4 KiB".to_owned(),
            Job::RandomWrite8k => "random writes of 8 KiB".to_owned(),
            Job::RandomWrite16k => "random writes of 16 KiB".to_owned(),
            Job::RandomWrite16kAnd4k(percent) => format!("random writes, {percent} % of 16 KiB, the others of 4 KiB"),
            Job::Mixed => "random, 70 % reads".to_owned(),
            Job::RandomRead => "random reads".to_owned(),
            Job::SingleRead => "single reads".to_owned(),
            Job::SequentialRead => "sequential reads".to_owned(),
            Job::SequentialWrite => "sequential writes".to_owned(),
            Job::ReadPercentiles(depth) => format!("random reads, depth {depth}"),
            Job::WritePercentiles(depth) => format!("random writes, depth {depth}"),
            Job::ReadSeconds => "random reads, by the second".to_owned(),
            Job::WriteSeconds => "random writes, by the second".to_owned(),
        }
    }

    /// Returns the job with a name of `cards.toml`: for instance `random-read-16`, which ends in its depth.
    pub(super) fn named(name: &str) -> Option<Self> {
        let depth = |prefix: &str| name.strip_prefix(prefix)?.parse().ok().filter(|depth| *depth > 0);
        match name {
            "sequential-read" => Some(Job::SequentialRead),
            "sequential-write" => Some(Job::SequentialWrite),
            "read-seconds" => Some(Job::ReadSeconds),
            "write-seconds" => Some(Job::WriteSeconds),
            _ => depth("random-read-").map(Job::ReadPercentiles).or_else(|| depth("random-write-").map(Job::WritePercentiles)),
        }
    }

    fn load(self, unit_bytes: u64) -> Load {
        let random = |kib: u64, read_fraction: f64, depth: u32| Load {
            read_fraction,
            size: format!("\"{kib}KiB\""),
            written_bytes: (kib * KIB).next_multiple_of(unit_bytes),
            depth,
            sequential: false,
        };
        match self {
            Job::RandomWrite => random(4, 0.0, 256),
            Job::SingleWrite => random(4, 0.0, 1),
            Job::RandomWrite8k => random(8, 0.0, 256),
            Job::RandomWrite16k => random(16, 0.0, 256),
            Job::RandomWrite16kAnd4k(percent) => {
                let sizes = format!("{{ distribution = \"weighted\", sizes = [[\"16KiB\", {percent}], [\"4KiB\", {}]] }}", 100 - percent);
                Load { size: sizes, ..random(16, 0.0, 256) }
            }
            Job::Mixed => random(4, 0.7, 64),
            Job::RandomRead => random(4, 1.0, 512),
            Job::SingleRead => random(4, 1.0, 1),
            Job::SequentialRead => Load { sequential: true, ..random(128, 1.0, 32) },
            Job::SequentialWrite => Load { sequential: true, ..random(128, 0.0, 32) },
            Job::ReadPercentiles(depth) => random(4, 1.0, u32::from(depth)),
            Job::WritePercentiles(depth) => random(4, 0.0, u32::from(depth)),
            Job::ReadSeconds => random(4, 1.0, 32),
            Job::WriteSeconds => random(4, 0.0, 32),
        }
    }

    /// Returns the length of the part that does not count, and of the part that does.
    fn length(self, space: &Space, load: &Load, window: Window) -> Length {
        let writes = |bytes: u64| (bytes as f64 / load.written_bytes as f64 / (1.0 - load.read_fraction)) as u64;
        let at_least_and_most = |requests: u64| requests.clamp(*MEASURED.start(), *MEASURED.end());
        let (skipped, measured) = match self {
            Job::RandomRead => (20_000, 400_000),
            Job::SingleRead => (0, 20_000),
            Job::SequentialRead => (2_000, 40_000),
            Job::SingleWrite => (0, 1_000_000),
            Job::ReadPercentiles(_) | Job::WritePercentiles(_) => PERCENTILES,
            Job::ReadSeconds | Job::WriteSeconds if window == Window::Usual => return Length::Seconds(SECONDS.0, SECONDS.1),
            Job::ReadSeconds | Job::WriteSeconds if window == Window::Double => return Length::Seconds(SECONDS.0, 2 * SECONDS.1),
            Job::RandomWrite8k | Job::RandomWrite16k | Job::RandomWrite16kAnd4k(_) => {
                let half = writes(space.exported_bytes / 2).max(*MEASURED.start());
                (half / 2, half)
            }
            Job::SequentialWrite => {
                let quarter = space.exported_bytes / 4;
                (writes(space.reserved_bytes + quarter), writes(quarter).clamp(5_000, *MEASURED.end()))
            }
            _ => {
                let measured = at_least_and_most(writes(space.exported_bytes / 8));
                (measured / 4, measured)
            }
        };
        match window {
            Window::Quick => Length::Requests(0, measured.min(2_000)),
            Window::Usual => Length::Requests(skipped, measured),
            Window::Double => Length::Requests(skipped, 2 * measured),
        }
    }

    /// Returns true if the job begins on a drive that was overwritten at random.
    fn is_worn_in(self) -> bool {
        let begins_filled = matches!(self, Job::RandomRead | Job::SingleRead | Job::SequentialRead | Job::SequentialWrite);
        !begins_filled && !matches!(self, Job::ReadPercentiles(_) | Job::ReadSeconds)
    }

    /// Returns keys and values of the job's configuration, except for those of the drive.
    pub(super) fn settings(self, space: &Space, window: Window) -> Vec<(String, String)> {
        let load = self.load(space.unit_bytes);
        let (length, skipped) = match self.length(space, &load, window) {
            Length::Requests(skipped, measured) => {
                (("workload.requests", (skipped + measured).to_string()), ("report.skip_requests", skipped.to_string()))
            }
            Length::Seconds(skipped, measured) => {
                (("workload.duration", format!("\"{}s\"", skipped + measured)), ("report.skip_time", format!("\"{skipped}s\"")))
            }
        };
        let overwrites = if self.is_worn_in() && window != Window::Quick { OVERWRITES } else { "0" };
        // Requests of 8 and 16 KiB are aligned to their size, as fio does. They then cover whole mapping units if possible.
        let align = match self {
            Job::RandomWrite8k => "8KiB",
            Job::RandomWrite16k | Job::RandomWrite16kAnd4k(_) => "16KiB",
            _ => "page",
        };
        let settings = [
            ("ssd.warm_up.overwrites", overwrites.to_owned()),
            ("workload.read_fraction", load.read_fraction.to_string()),
            ("workload.size", load.size),
            ("workload.sequential_fraction", if load.sequential { "1" } else { "0" }.to_owned()),
            ("workload.arrivals", format!("{{ process = \"closed\", depth = {} }}", load.depth)),
            ("workload.address", format!("{{ pattern = \"uniform\", align = {align:?} }}")),
            length,
            skipped,
        ];
        settings.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}
