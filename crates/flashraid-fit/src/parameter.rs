//! Properties of a drive that can be fitted.

use std::fmt;
use std::str::FromStr;

use flashraid::model::ssd::{SsdParams, SuperblockDriveParams};

use crate::job::Job;

/// A property of a drive that measurements can determine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Parameter {
    /// Time to program a superpage, in nanoseconds.
    PageProgram,
    /// Number of dies that program at a time.
    ProgramsAtOnce,
    /// Time of an array read, in nanoseconds.
    PageRead,
    /// Rate of the host link, in bytes per second.
    Link,
    /// Delay of every command, in nanoseconds.
    Latency,
    /// Time from a write's entry into the buffer to its end, in nanoseconds.
    Ack,
    /// Cost of a read command on a core, in nanoseconds.
    Read,
    /// Cost of a write command, and of a moved unit, on a core, in nanoseconds.
    Move,
}

impl Parameter {
    /// All parameters, in order.
    pub const ALL: [Parameter; 8] = [
        Parameter::PageProgram,
        Parameter::ProgramsAtOnce,
        Parameter::PageRead,
        Parameter::Link,
        Parameter::Latency,
        Parameter::Ack,
        Parameter::Read,
        Parameter::Move,
    ];

    /// Parameters that are fitted by default. No two of them have the same effect on every job.
    pub const USUAL: [Parameter; 6] =
        [Parameter::PageProgram, Parameter::Link, Parameter::Latency, Parameter::Ack, Parameter::Read, Parameter::Move];

    /// Most parameters that can be fitted at a time.
    pub const MAX: usize = 7;

    /// Returns the name that users write.
    pub fn name(self) -> &'static str {
        match self {
            Parameter::PageProgram => "page_program",
            Parameter::ProgramsAtOnce => "programs_at_once",
            Parameter::PageRead => "page_read",
            Parameter::Link => "link",
            Parameter::Latency => "latency",
            Parameter::Ack => "ack",
            Parameter::Read => "read",
            Parameter::Move => "move",
        }
    }

    /// Returns the keys of a configuration that hold the value.
    pub fn keys(self) -> &'static [&'static str] {
        match self {
            Parameter::PageProgram => &["ssd.timing.page_program"],
            Parameter::ProgramsAtOnce => &["ssd.superblock.programs_at_once"],
            Parameter::PageRead => &["ssd.timing.page_read"],
            Parameter::Link => &["ssd.link"],
            Parameter::Latency => &["ssd.firmware.latency"],
            Parameter::Ack => &["ssd.buffer.ack"],
            Parameter::Read => &["ssd.firmware.read"],
            Parameter::Move => &["ssd.firmware.write", "ssd.firmware.move"],
        }
    }

    /// Returns the reason why it cannot be fitted in such a drive.
    pub(crate) fn is_missing(self, ssd: &SsdParams) -> Option<&'static str> {
        match self {
            Parameter::Link if ssd.link.is_none() => Some("the base has no `ssd.link`"),
            Parameter::PageRead if superblock(ssd).read_ns_by_page_type.len() > 1 => {
                Some("the base has a list of reads by type of page, `ssd.superblock.page_reads`")
            }
            _ => None,
        }
    }

    /// Returns the value, which is above 0.
    pub(crate) fn of(self, ssd: &SsdParams) -> f64 {
        let drive = superblock(ssd);
        let value = match self {
            Parameter::PageProgram => ssd.timing.page_program.ns as f64,
            // Without a limit all may.
            Parameter::ProgramsAtOnce => f64::from(drive.dies_programming_max.min(ssd.geometry.dies)),
            Parameter::PageRead => drive.read_ns_by_page_type.iter().sum::<u64>() as f64 / drive.read_ns_by_page_type.len() as f64,
            Parameter::Link => ssd.link.map_or(1.0, |link| f64::from(ssd.geometry.page_bytes) * 1e9 / link.page_transfer_ns as f64),
            Parameter::Latency => drive.firmware.latency.ns as f64,
            Parameter::Ack => drive.buffer.settings.ack.ns as f64,
            Parameter::Read => drive.firmware.read.ns as f64,
            Parameter::Move => drive.firmware.write.ns as f64,
        };
        value.max(1.0)
    }

    /// Sets the value, rounded to whole nanoseconds.
    pub(crate) fn put(self, ssd: &mut SsdParams, value: f64) {
        // Beyond a minute nothing is a drive; it keeps the sums of the model in range.
        let whole = value.round().clamp(1.0, 6e10) as u64;
        let page_bytes = f64::from(ssd.geometry.page_bytes);
        let dies = ssd.geometry.dies;
        if let Parameter::Link = self {
            if let Some(link) = &mut ssd.link {
                link.page_transfer_ns = (page_bytes * 1e9 / value).round().clamp(1.0, 6e10) as u64;
            }
            return;
        }
        let drive = ssd.superblock.as_mut().expect("the base is a drive with superblocks");
        match self {
            Parameter::PageProgram => ssd.timing.page_program.ns = whole,
            Parameter::ProgramsAtOnce => drive.dies_programming_max = whole.min(u64::from(dies)) as u32,
            Parameter::PageRead => {
                ssd.timing.page_read.ns = whole;
                drive.read_ns_by_page_type = vec![whole];
            }
            Parameter::Link => {}
            Parameter::Latency => drive.firmware.latency.ns = whole,
            Parameter::Ack => drive.buffer.settings.ack.ns = whole,
            Parameter::Read => drive.firmware.read.ns = whole,
            Parameter::Move => (drive.firmware.write.ns, drive.firmware.move_.ns) = (whole, whole),
        }
    }

    /// Returns true if the result of a job can depend on the parameter. Without writes, nothing is programmed or moved.
    pub(crate) fn matters_to(self, job: &Job) -> bool {
        match self {
            Parameter::PageProgram | Parameter::ProgramsAtOnce | Parameter::Ack | Parameter::Move => job.writes(),
            Parameter::Read => job.reads(),
            Parameter::PageRead | Parameter::Link | Parameter::Latency => true,
        }
    }

    /// Returns the value as a configuration has it.
    pub fn written(self, value: f64) -> String {
        match self {
            Parameter::ProgramsAtOnce => format!("{value:.0}"),
            // A page takes whole nanoseconds, rounded up.
            Parameter::Link => format!("{:.0}B/s", value.ceil()),
            _ => format!("{value:.0}ns"),
        }
    }

    /// Returns the value for people to read.
    pub fn shown(self, value: f64) -> String {
        match self {
            Parameter::ProgramsAtOnce => format!("{value:.0}"),
            Parameter::Link => format!("{:.3} GB/s", value / 1e9),
            _ => flashraid_report::number::duration_us(value / 1e3),
        }
    }
}

pub(crate) fn superblock(ssd: &SsdParams) -> &SuperblockDriveParams {
    ssd.superblock.as_ref().expect("the base is a drive with superblocks")
}

impl fmt::Display for Parameter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Parameter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Parameter::ALL.into_iter().find(|parameter| parameter.name() == text).ok_or_else(|| {
            let names: Vec<&str> = Parameter::ALL.iter().map(|parameter| parameter.name()).collect();
            format!("{text} is none of {}", names.join(", "))
        })
    }
}
