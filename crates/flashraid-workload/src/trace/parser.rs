//! One parser out of all formats, chosen once for a file.

use super::blkparse::Blkparse;
use super::blkreplay::Blkreplay;
use super::detect::Sample;
use super::fields::FieldResult;
use super::fio::Fio;
use super::format::Format;
use super::libcachesim::Libcachesim;
use super::msr::Msr;
use super::record::TraceRecord;
use super::vscsi::Vscsi;
use super::{alibaba, diskmon, disksim, fiu, flashsim, mqsim, msr_window, spc, srt, tencent};

/// What numbers of a trace count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Units {
    /// Nanoseconds in a unit of time; 0 makes every time 0.
    pub time_ns: u64,
    /// Bytes of a sector.
    pub sector_bytes: u64,
}

/// A parser with what it remembers between lines.
#[derive(Debug, Clone)]
pub(crate) enum Parser {
    Spc,
    Msr(Msr),
    MsrWindow,
    Fiu,
    Disksim,
    Mqsim,
    Flashsim,
    Blkparse(Blkparse),
    Fio2(Fio),
    Fio3(Fio),
    Vscsi(Vscsi),
    Libcachesim(Libcachesim),
    Srt,
    Diskmon,
    Blkreplay(Blkreplay),
    Alibaba,
    Tencent,
}

impl Parser {
    /// The parser of `format`, set up by how the trace begins; an error tells what is wrong with the beginning.
    pub fn new(format: Format, sample: &Sample<'_>) -> Result<Self, String> {
        Ok(match format {
            Format::Spc => Self::Spc,
            Format::Msr => Self::Msr(Msr::default()),
            Format::MsrWindow => Self::MsrWindow,
            Format::Fiu => Self::Fiu,
            Format::Disksim => Self::Disksim,
            Format::Mqsim => Self::Mqsim,
            Format::Flashsim => Self::Flashsim,
            Format::Blkparse => Self::Blkparse(Blkparse::from_sample(sample.lines())),
            Format::Fio2 => Self::Fio2(Fio::default()),
            Format::Fio3 => Self::Fio3(Fio::default()),
            Format::Vscsi => Self::Vscsi(Vscsi::of_sample(sample.bytes).ok_or(
                "found no version (256 at byte 15 of records of 32 bytes, or 512 at byte 3 of records of 40) throughout the first records, \
                 expected vSCSI records",
            )?),
            Format::Libcachesim => {
                Self::Libcachesim(sample.lines().next().and_then(Libcachesim::from_first_line).ok_or(
                    "line 1: expected time,obj_id,size[,op], or a header that names the columns time, obj_id, size and perhaps op",
                )?)
            }
            Format::Srt => {
                if !sample.bytes.strip_prefix(srt::MAGIC).is_some_and(|rest| rest.starts_with(srt::VERSION)) {
                    return Err("byte 1: expected the header of SRT version 1.3, which begins \"$$TR_IOREC-1.3\"".to_owned());
                }
                Self::Srt
            }
            Format::Diskmon => Self::Diskmon,
            Format::Blkreplay => Self::Blkreplay(Blkreplay::from_sample(sample.lines())),
            Format::Alibaba => Self::Alibaba,
            Format::Tencent => Self::Tencent,
        })
    }

    /// Parses a line of text, or one binary record. `None` for what is neither bad nor a request.
    #[inline]
    pub fn parse(&mut self, line: &[u8], units: Units) -> FieldResult<Option<TraceRecord>> {
        match self {
            Self::Spc => spc::parse(line, units).map(Some),
            Self::Msr(msr) => msr.parse(line, units).map(Some),
            Self::MsrWindow => msr_window::parse(line, units).map(Some),
            Self::Fiu => fiu::parse(line, units).map(Some),
            Self::Disksim => disksim::parse(line, units).map(Some),
            Self::Mqsim => mqsim::parse(line, units).map(Some),
            Self::Flashsim => flashsim::parse(line, units).map(Some),
            Self::Blkparse(blkparse) => blkparse.parse(line, units),
            Self::Fio2(fio) => fio.parse_2(line, units),
            Self::Fio3(fio) => fio.parse_3(line, units),
            Self::Vscsi(vscsi) => vscsi.parse(line, units),
            Self::Libcachesim(libcachesim) => libcachesim.parse(line, units),
            Self::Srt => srt::parse(line, units),
            Self::Diskmon => diskmon::parse(line, units).map(Some),
            Self::Blkreplay(blkreplay) => blkreplay.parse(line, units),
            Self::Alibaba => alibaba::parse(line, units).map(Some),
            Self::Tencent => tencent::parse(line, units).map(Some),
        }
    }

    /// What is worth telling when the trace has been read.
    pub fn closing_remark(&self) -> Option<String> {
        match self {
            Self::Blkreplay(blkreplay) => blkreplay.remark(),
            _ => None,
        }
    }

    /// How the trace calls a device.
    pub fn device_label(&self, device: u32) -> String {
        match self {
            Self::Msr(msr) => msr.label(device),
            Self::Fiu | Self::Blkparse(_) => fiu::label(device),
            Self::Fio2(fio) | Self::Fio3(fio) => fio.label(device),
            _ => device.to_string(),
        }
    }
}
