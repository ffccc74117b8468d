//! The formats by name: what each is, its units, and which options apply to it.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A format of traces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Storage Performance Council: `ASU,sector,bytes,r/w,seconds`.
    Spc,
    /// MSR Cambridge CSV: `ticks,host,disk,Read/Write,offset,bytes,response`, ticks of 100 ns.
    Msr,
    /// Cuts of MSR Cambridge for machine learning: `ms device offset bytes op`, op 0 = write.
    MsrWindow,
    /// FIU (IODedup, SRCMap): `ns pid process sector sectors W/R major minor hash`.
    Fiu,
    /// DiskSim ASCII: `ms device sector sectors flags`, flag bit 0 = read.
    Disksim,
    /// MQSim and SSDSim: `ns device sector sectors op`, op 0 = write; some files count µs.
    Mqsim,
    /// FlashSim: `ms device page pages op`, pages of 4 KiB, op 0 = write.
    Flashsim,
    /// What `blkparse` prints by default; actions Q, or D where there is no Q.
    Blkparse,
    /// fio iolog version 2: `file action offset bytes`, times by `wait` (µs).
    Fio2,
    /// fio iolog version 3: `µs file action offset bytes`.
    Fio3,
    /// VMware vSCSI binary records, versions 1 and 2.
    Vscsi,
    /// libCacheSim CSV: `time,obj_id,size[,op]`, or columns named by a header.
    Libcachesim,
    /// HP Labs SRT 1.3, binary.
    Srt,
    /// Windows DiskMon log: `number seconds duration disk Read/Write sector sectors`.
    Diskmon,
    /// blkreplay load: `seconds ; sector ; sectors ; R/W ; delay ; duration`.
    Blkreplay,
    /// Alibaba block traces: `device,R/W,offset,bytes,µs`.
    Alibaba,
    /// Tencent block storage: `seconds,sector,sectors,op,volume`, op 0 = read.
    Tencent,
}

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum TimeUnit {
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// Windows ticks of 100 ns.
    #[serde(rename = "100ns")]
    Ticks,
    /// Microseconds.
    #[serde(rename = "us")]
    Microseconds,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
}

impl TimeUnit {
    /// Every unit, finest first.
    pub const ALL: [Self; 5] = [Self::Nanoseconds, Self::Ticks, Self::Microseconds, Self::Milliseconds, Self::Seconds];

    /// Nanoseconds in one.
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

    /// How a user writes it.
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

impl Format {
    /// Every format, in the order in which they are documented.
    pub const ALL: [Self; 17] = [
        Self::Spc,
        Self::Msr,
        Self::MsrWindow,
        Self::Fiu,
        Self::Disksim,
        Self::Mqsim,
        Self::Flashsim,
        Self::Blkparse,
        Self::Fio2,
        Self::Fio3,
        Self::Vscsi,
        Self::Libcachesim,
        Self::Srt,
        Self::Diskmon,
        Self::Blkreplay,
        Self::Alibaba,
        Self::Tencent,
    ];

    /// How a user writes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spc => "spc",
            Self::Msr => "msr",
            Self::MsrWindow => "msr-window",
            Self::Fiu => "fiu",
            Self::Disksim => "disksim",
            Self::Mqsim => "mqsim",
            Self::Flashsim => "flashsim",
            Self::Blkparse => "blkparse",
            Self::Fio2 => "fio2",
            Self::Fio3 => "fio3",
            Self::Vscsi => "vscsi",
            Self::Libcachesim => "libcachesim",
            Self::Srt => "srt",
            Self::Diskmon => "diskmon",
            Self::Blkreplay => "blkreplay",
            Self::Alibaba => "alibaba",
            Self::Tencent => "tencent",
        }
    }

    /// One line for lists and messages.
    #[must_use]
    pub const fn description(self) -> &'static str {
        match self {
            Self::Spc => "SPC: ASU,sector,bytes,r/w,seconds",
            Self::Msr => "MSR Cambridge CSV: ticks,host,disk,Read/Write,offset,bytes,response",
            Self::MsrWindow => "MSR cut: ms device offset bytes op (0 = write)",
            Self::Fiu => "FIU/SRCMap: ns pid process sector sectors W/R major minor hash",
            Self::Disksim => "DiskSim ASCII: ms device sector sectors flags (bit 0 = read)",
            Self::Mqsim => "MQSim/SSDSim: ns device sector sectors op (0 = write)",
            Self::Flashsim => "FlashSim: ms device page pages op (4 KiB, 0 = write)",
            Self::Blkparse => "blkparse text (Q, else D)",
            Self::Fio2 => "fio iolog version 2",
            Self::Fio3 => "fio iolog version 3",
            Self::Vscsi => "VMware vSCSI binary",
            Self::Libcachesim => "libCacheSim CSV: time,obj_id,size[,op]",
            Self::Srt => "HP Labs SRT 1.3 binary",
            Self::Diskmon => "DiskMon: number seconds duration disk Read/Write sector sectors",
            Self::Blkreplay => "blkreplay load: seconds ; sector ; sectors ; R/W ; delay ; duration",
            Self::Alibaba => "Alibaba CSV: device,R/W,offset,bytes,microseconds",
            Self::Tencent => "Tencent CSV: seconds,sector,sectors,op (0 = read),volume",
        }
    }

    /// The unit of its time stamps; `None` where the format carries seconds and a fraction in fields of their own, so that
    /// there is nothing to choose.
    #[must_use]
    pub const fn time_unit(self) -> Option<TimeUnit> {
        match self {
            Self::Srt => None,
            Self::Fiu | Self::Mqsim => Some(TimeUnit::Nanoseconds),
            Self::Msr => Some(TimeUnit::Ticks),
            Self::Fio2 | Self::Fio3 | Self::Vscsi | Self::Alibaba => Some(TimeUnit::Microseconds),
            Self::MsrWindow | Self::Disksim | Self::Flashsim => Some(TimeUnit::Milliseconds),
            Self::Spc | Self::Blkparse | Self::Libcachesim | Self::Diskmon | Self::Blkreplay | Self::Tencent => Some(TimeUnit::Seconds),
        }
    }

    /// Bytes of the sector (for FlashSim, of the page) in which it counts addresses; `None` where it counts bytes.
    #[must_use]
    pub const fn sector_bytes(self) -> Option<u32> {
        match self {
            Self::Msr | Self::MsrWindow | Self::Fio2 | Self::Fio3 | Self::Alibaba => None,
            Self::Srt => Some(256),
            Self::Flashsim => Some(4096),
            _ => Some(512),
        }
    }

    /// Whether it tells devices apart.
    #[must_use]
    pub const fn has_devices(self) -> bool {
        !matches!(self, Self::Vscsi | Self::Libcachesim | Self::Blkreplay)
    }

    /// Whether a first line that begins with a letter can only be a header of somebody's making: where every line begins with a number.
    #[must_use]
    pub const fn may_have_header(self) -> bool {
        self.is_text() && !matches!(self, Self::Fio2 | Self::Fio3)
    }

    /// Whether it is text, a request to a line.
    #[must_use]
    pub const fn is_text(self) -> bool {
        !matches!(self, Self::Vscsi | Self::Srt)
    }

    /// Every name, for messages.
    #[must_use]
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|format| format.name() == text)
            .ok_or_else(|| format!("unknown trace format \"{text}\"; allowed are {}", Self::names()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_are_those_of_serde() {
        for format in Format::ALL {
            assert_eq!(format.name().parse::<Format>(), Ok(format));
            assert_eq!(serde_json::to_value(format).unwrap(), format.name());
        }
        for unit in TimeUnit::ALL {
            assert_eq!(unit.name().parse::<TimeUnit>(), Ok(unit));
            assert_eq!(serde_json::to_value(unit).unwrap(), unit.name());
        }
        assert!("SPC1".parse::<Format>().unwrap_err().contains("spc, msr"));
        assert!("minutes".parse::<TimeUnit>().unwrap_err().contains("us"));
    }
}
