//! The figures of data sheets, and how each is taken from simulations.

use flashraid::Report;

use super::job::Job;

/// A figure of data sheets that can be simulated.
#[derive(Debug)]
pub struct Measure {
    /// Key of the figure, for instance `random_write_4k_steady_iops`.
    pub name: &'static str,
    /// Title for tables and pages.
    pub title: &'static str,
    /// Unit of the value; empty for ratios.
    pub unit: &'static str,
    /// Simulations that the figure is taken from.
    pub jobs: &'static [Job],
    /// Computes the value from the reports of these simulations, in their order.
    pub(super) of: fn(&[&Report]) -> Option<f64>,
}

pub(super) const IOPS: &str = "IOPS";
const US: &str = "µs";
pub(super) const MB_S: &str = "MB/s";

/// Name of the figure of random writes in the steady state.
pub const RANDOM_WRITES: &str = "random_write_4k_steady_iops";

static MEASURES: &[Measure] = &[
    Measure {
        name: RANDOM_WRITES,
        title: "random write, steady",
        unit: IOPS,
        jobs: &[Job::RandomWrite],
        of: |reports| reports[0].iops.write,
    },
    Measure {
        name: "write_amplification_random_4k",
        title: "write amplification, random",
        unit: "",
        jobs: &[Job::RandomWrite],
        of: |reports| write_amplification(reports[0]),
    },
    Measure { name: "random_read_4k_iops", title: "random read", unit: IOPS, jobs: &[Job::RandomRead], of: |reports| reports[0].iops.read },
    Measure {
        name: "random_read_4k_qd1_us",
        title: "read, depth 1",
        unit: US,
        jobs: &[Job::SingleRead],
        of: |reports| reports[0].response_us.read.mean,
    },
    Measure {
        name: "random_write_4k_qd1_us",
        title: "write, depth 1",
        unit: US,
        jobs: &[Job::SingleWrite],
        of: |reports| reports[0].response_us.write.mean,
    },
    Measure {
        name: "sequential_read_mb_s",
        title: "sequential read",
        unit: MB_S,
        jobs: &[Job::SequentialRead],
        of: |reports| reports[0].bandwidth_mb_s.overall,
    },
    Measure {
        name: "sequential_write_mb_s",
        title: "sequential write",
        unit: MB_S,
        jobs: &[Job::SequentialWrite],
        of: |reports| reports[0].bandwidth_mb_s.overall,
    },
    Measure { name: "mixed_70_30_4k_iops", title: "70 % read, random", unit: IOPS, jobs: &[Job::Mixed], of: |reports| reports[0].iops.all },
    Measure {
        name: "endurance_random_8k",
        title: "endurance, 8 KiB over 16 KiB",
        unit: "",
        jobs: &[Job::RandomWrite16k, Job::RandomWrite8k],
        of: endurance,
    },
    Measure {
        name: "endurance_random_4k",
        title: "endurance, 4 KiB over 16 KiB",
        unit: "",
        jobs: &[Job::RandomWrite16k, Job::RandomWrite16kAnd4k(0)],
        of: endurance,
    },
    Measure {
        name: "endurance_random_90_16k_10_4k",
        title: "endurance, 90 % of 16 KiB",
        unit: "",
        jobs: &[Job::RandomWrite16k, Job::RandomWrite16kAnd4k(90)],
        of: endurance,
    },
    Measure {
        name: "endurance_random_70_16k_30_4k",
        title: "endurance, 70 % of 16 KiB",
        unit: "",
        jobs: &[Job::RandomWrite16k, Job::RandomWrite16kAnd4k(70)],
        of: endurance,
    },
    Measure {
        name: "endurance_random_50_16k_50_4k",
        title: "endurance, 50 % of 16 KiB",
        unit: "",
        jobs: &[Job::RandomWrite16k, Job::RandomWrite16kAnd4k(50)],
        of: endurance,
    },
];

fn write_amplification(report: &Report) -> Option<f64> {
    report.drive.as_ref()?.write_amplification
}

/// Returns how many bytes the host may write in the second job for each byte in the first, until the flash is worn out.
fn endurance(reports: &[&Report]) -> Option<f64> {
    Some(write_amplification(reports[0])? / write_amplification(reports[1])?)
}

/// Returns the figure with this name, if there is one.
pub(super) fn find(name: &str) -> Option<&'static Measure> {
    MEASURES.iter().find(|measure| measure.name == name)
}

/// Returns the title of the figure with this name, or the name if it is unknown.
#[must_use]
pub fn title(name: &str) -> &str {
    find(name).map_or(name, |measure| measure.title)
}

#[cfg(test)]
pub(super) fn all() -> &'static [Measure] {
    MEASURES
}
