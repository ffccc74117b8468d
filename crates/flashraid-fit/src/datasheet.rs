//! Makes a device from the figures of a data sheet.
//!
//! Manufacturers print six figures: bandwidth of sequential reads and writes, random reads and writes per second, and the response times of
//! single requests. Each is taken as the measurement of one closed loop. [`fit`] looks for the property of the drive that decides it. All
//! other properties come from a preset of the same kind of flash.

use std::fmt;
use std::path::Path;

use flashraid::Simulation;
use flashraid::files::read_file_with_size_limit;
use flashraid::model::units::{ByteRate, Duration, Size};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use crate::base::Base;
use crate::error::{FitError, Outcome, refused};
use crate::fit::{Fit, FitOptions, fit};
use crate::job::Job;
use crate::measured::{Figures, Measured, Results, Times};
use crate::parameter::{Parameter, superblock};
use crate::simulator::Simulator;
use crate::start::amplification;

/// Share by which a simulated figure may differ from the printed one.
pub const TOLERANCE: f64 = 0.1;

/// Number of requests in long runs, as a multiple of those in the fit.
const LONG_TIMES: u32 = 4;

/// Most bytes of a data sheet's file.
const BYTES_MAX: u64 = 1 << 20;

/// Days of the five years for which manufacturers promise writes.
const DAYS_OF_WARRANTY: f64 = 5.0 * 365.0;

/// The kind of flash that a data sheet names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Flash {
    /// Three bits per cell.
    Tlc,
    /// Four bits per cell.
    Qlc,
}

impl Flash {
    /// All kinds of flash.
    pub const ALL: [Flash; 2] = [Flash::Tlc, Flash::Qlc];

    /// Returns the name that users write.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Flash::Tlc => "tlc",
            Flash::Qlc => "qlc",
        }
    }

    fn pages_per_cell(self) -> u32 {
        match self {
            Flash::Tlc => 3,
            Flash::Qlc => 4,
        }
    }
}

/// Figures that a data sheet prints of a drive.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DataSheet {
    /// Name of the drive; it stands in the device file.
    pub name: Option<String>,
    /// Bytes that a host sees. No drive can be made without it.
    pub capacity: Option<Size>,
    /// Bytes of flash. Without it the least power of two that leaves 7 % or more beside the capacity.
    pub raw: Option<Size>,
    /// Sequential reads, in bytes per second.
    #[serde(deserialize_with = "quoted_byte_rate")]
    pub seq_read: Option<ByteRate>,
    /// Sequential writes, in bytes per second.
    #[serde(deserialize_with = "quoted_byte_rate")]
    pub seq_write: Option<ByteRate>,
    /// Random reads of 4 KiB, per second.
    #[serde(deserialize_with = "quoted_request_rate")]
    pub rand_read: Option<u64>,
    /// Random writes of 4 KiB in the steady state, per second.
    #[serde(deserialize_with = "quoted_request_rate")]
    pub rand_write: Option<u64>,
    /// Response time of a single read of 4 KiB.
    pub read_latency: Option<Duration>,
    /// Response time of a single write of 4 KiB.
    pub write_latency: Option<Duration>,
    /// Times that the drive may be written whole each day, for five years.
    pub dwpd: Option<f64>,
    /// Kind of flash; without it that of the base.
    pub flash: Option<Flash>,
    /// The preset or device file from which everything comes that the data sheet does not print. Without it one of the same flash and link.
    pub like: Option<String>,
}

/// Reads a number of requests per second as data sheets, reviews and shops print it: `180000`, `1,000,000`, `190K`, `1.4M IOPS`.
///
/// # Errors
/// Returns an error that names the forms which are understood.
pub fn parse_quoted_request_rate(text: &str) -> Result<u64, String> {
    let refuse = || format!("\"{text}\" is no number of requests per second; write it as 180000, 1,000,000, 190K or 1.4M");
    let plain = text.trim().to_ascii_lowercase();
    let plain = ["iops", "/s"].into_iter().find_map(|unit| plain.strip_suffix(unit)).unwrap_or(&plain).trim_end();
    let (number, factor) = match plain.strip_suffix(['k', 'm']) {
        Some(number) => (number.trim_end(), if plain.ends_with('k') { 1e3 } else { 1e6 }),
        None => (plain, 1.0),
    };
    let rate = without_thousands_separators(number).and_then(|number| number.parse::<f64>().ok()).ok_or_else(refuse)? * factor;
    if rate.is_finite() && (0.0..=1e12).contains(&rate) && (rate - rate.round()).abs() < 1e-6 * rate.max(1.0) {
        Ok(rate.round() as u64)
    } else {
        Err(refuse())
    }
}

/// Reads a bandwidth as data sheets print it: with a unit, or as a plain number of MB/s (`6800`, `6,800`).
///
/// # Errors
/// Returns the error of a bandwidth with a unit.
pub fn parse_quoted_byte_rate(text: &str) -> Result<ByteRate, String> {
    match without_thousands_separators(text.trim()).and_then(|number| number.parse::<f64>().ok()) {
        Some(mb_per_s) if (1e-6..=1e12).contains(&mb_per_s) => Ok(ByteRate { bytes_per_s: (mb_per_s * 1e6).round() as u64 }),
        _ => text.replace(',', "").parse::<ByteRate>().map_err(|error| error.to_string()),
    }
}

/// Returns a number without the commas between groups of three digits, or `None` if the text is no such number.
fn without_thousands_separators(text: &str) -> Option<String> {
    let whole = text.split('.').next().unwrap_or_default();
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let groups: Vec<&str> = whole.split(',').collect();
    let is_grouped = groups.len() == 1 || (groups[0].len() <= 3 && groups[1..].iter().all(|group| group.len() == 3));
    (is_grouped && groups.iter().all(|group| is_digits(group))).then(|| text.replace(',', ""))
}

/// A figure in a file: a number, or a text as it is quoted.
#[derive(Deserialize)]
#[serde(untagged)]
enum Quoted {
    Whole(u64),
    Decimal(f64),
    Text(String),
}

impl Quoted {
    fn text(self) -> String {
        match self {
            Self::Whole(number) => number.to_string(),
            Self::Decimal(number) => number.to_string(),
            Self::Text(text) => text,
        }
    }
}

fn quoted_request_rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    parse_quoted_request_rate(&Quoted::deserialize(deserializer)?.text()).map(Some).map_err(D::Error::custom)
}

fn quoted_byte_rate<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ByteRate>, D::Error> {
    parse_quoted_byte_rate(&Quoted::deserialize(deserializer)?.text()).map(Some).map_err(D::Error::custom)
}

/// A printed figure of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Figure {
    SeqWrite,
    SeqRead,
    RandRead,
    RandWrite,
    ReadLatency,
    WriteLatency,
}

impl Figure {
    const ALL: [Figure; 6] =
        [Figure::SeqWrite, Figure::SeqRead, Figure::RandRead, Figure::RandWrite, Figure::ReadLatency, Figure::WriteLatency];

    /// Returns the key in a file, which is also the option with underscores for hyphens.
    fn key(self) -> &'static str {
        match self {
            Figure::SeqWrite => "seq_write",
            Figure::SeqRead => "seq_read",
            Figure::RandRead => "rand_read",
            Figure::RandWrite => "rand_write",
            Figure::ReadLatency => "read_latency",
            Figure::WriteLatency => "write_latency",
        }
    }

    /// Returns the property of a drive that decides the figure.
    fn parameter(self) -> Parameter {
        match self {
            Figure::SeqWrite => Parameter::PageProgram,
            Figure::SeqRead => Parameter::Link,
            Figure::RandRead => Parameter::Read,
            Figure::RandWrite => Parameter::Move,
            Figure::ReadLatency => Parameter::Latency,
            Figure::WriteLatency => Parameter::Ack,
        }
    }

    /// Returns the closed loop in which manufacturers measure the figure. Depths are the usual ones, because data sheets seldom print them.
    fn job(self) -> Job {
        let job = |name: &str, read_percent, is_sequential, size_bytes, depth| Job {
            name: name.to_owned(),
            read_percent,
            is_sequential,
            size_bytes,
            depth,
        };
        match self {
            Figure::SeqWrite => job("write-128k-q64", 0, true, 128 << 10, 64),
            Figure::SeqRead => job("read-128k-q64", 100, true, 128 << 10, 64),
            Figure::RandRead => job("randread-4k-q512", 100, false, 4096, 512),
            Figure::RandWrite => job("randwrite-4k-q256", 0, false, 4096, 256),
            Figure::ReadLatency => job("randread-4k-q1", 100, false, 4096, 1),
            Figure::WriteLatency => job("randwrite-4k-q1", 0, false, 4096, 1),
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Figure::SeqWrite | Figure::SeqRead => "MB/s",
            Figure::RandRead | Figure::RandWrite => "IOPS",
            Figure::ReadLatency | Figure::WriteLatency => "µs",
        }
    }

    /// Returns the figure in its unit, from the results of a job.
    fn of(self, figures: &Figures) -> f64 {
        let job = self.job();
        match self {
            Figure::SeqWrite | Figure::SeqRead => figures.iops * job.size_bytes as f64 / 1e6,
            Figure::RandRead | Figure::RandWrite => figures.iops,
            Figure::ReadLatency => figures.read.map_or(0.0, |times| times.mean_us),
            Figure::WriteLatency => figures.write.map_or(0.0, |times| times.mean_us),
        }
    }

    /// Returns the figure in its unit, as the data sheet prints it.
    fn printed(self, sheet: &DataSheet) -> Option<f64> {
        let rate = |rate: Option<ByteRate>| rate.map(|rate| rate.bytes_per_s as f64 / 1e6);
        let time = |time: Option<Duration>| time.map(|time| time.ns as f64 / 1e3);
        match self {
            Figure::SeqWrite => rate(sheet.seq_write),
            Figure::SeqRead => rate(sheet.seq_read),
            Figure::RandRead => sheet.rand_read.map(|rate| rate as f64),
            Figure::RandWrite => sheet.rand_write.map(|rate| rate as f64),
            Figure::ReadLatency => time(sheet.read_latency),
            Figure::WriteLatency => time(sheet.write_latency),
        }
    }

    /// Returns the printed figure as a measurement of its job.
    fn measured(self, printed: f64) -> Measured {
        let job = self.job();
        let alone = |mean_us: f64| (1e6 / mean_us, Some(Times { mean_us, p99_us: None }));
        let figures = match self {
            Figure::SeqWrite | Figure::SeqRead => Figures { iops: printed * 1e6 / job.size_bytes as f64, ..Figures::default() },
            Figure::RandRead | Figure::RandWrite => Figures { iops: printed, ..Figures::default() },
            Figure::ReadLatency => {
                let (iops, read) = alone(printed);
                Figures { iops, read, write: None }
            }
            Figure::WriteLatency => {
                let (iops, write) = alone(printed);
                Figures { iops, read: None, write }
            }
        };
        Measured { job, figures }
    }
}

/// A device made from a data sheet.
#[derive(Debug, Clone, Serialize)]
pub struct Made {
    /// Fitted values, the jobs, and the device file.
    #[serde(flatten)]
    pub fit: Fit,
    /// Printed figures beside long runs of the device. The list is empty if the device was made from measurements.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub card: Vec<Held>,
    /// Printed figures that contradict each other or the flash, each as a sentence.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contradictions: Vec<String>,
}

/// A printed figure beside that of a long run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Held {
    /// Key of the figure.
    pub name: &'static str,
    /// Unit of both values.
    pub unit: &'static str,
    /// The figure that the data sheet prints.
    pub data_sheet: f64,
    /// Value of a run that is several times as long as those of the fit.
    pub simulated: f64,
    /// The share by which they may differ.
    pub tolerance: f64,
    /// Property of the device that was fitted to the figure.
    pub decides: &'static str,
    /// True if both values differ by at most the tolerance.
    pub holds: bool,
}

impl Made {
    /// Returns a device that was made from measurements and has no data sheet.
    #[must_use]
    pub fn measured(fit: Fit) -> Made {
        Made { fit, card: Vec::new(), contradictions: Vec::new() }
    }
}

impl fmt::Display for Held {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = 100.0 * (self.simulated / self.data_sheet - 1.0);
        write!(formatter, "{}: {:.0} {}, simulated {:.0} ({error:+.1} %)", self.name, self.data_sheet, self.unit, self.simulated)
    }
}

/// Returns bytes as data sheets print capacities, in decimal units.
fn in_gb(bytes: u64) -> String {
    match bytes as f64 / 1e9 {
        gb if gb < 10.0 => format!("{gb:.3} GB"),
        gb => format!("{gb:.0} GB"),
    }
}

impl DataSheet {
    /// Reads a data sheet from a TOML file with these keys.
    ///
    /// # Errors
    /// The file can't be read or is no TOML, or a key is unknown or has a value that is not allowed.
    pub fn read(path: &Path) -> Outcome<DataSheet> {
        let refuse = |reason: &dyn fmt::Display| refused(format!("{}: {reason}", path.display()));
        match read_file_with_size_limit(path, BYTES_MAX).map(String::from_utf8) {
            Ok(Ok(text)) => toml::from_str(&text).or_else(|error| refuse(&error.to_string().trim_end())),
            Ok(Err(_)) => refuse(&"is no text in UTF-8; a data sheet in TOML is expected"),
            Err(error) => refuse(&format!("can't be read: {error}")),
        }
    }

    /// Fills in all missing figures from `other`.
    #[must_use]
    pub fn or(self, other: DataSheet) -> DataSheet {
        DataSheet {
            name: self.name.or(other.name),
            capacity: self.capacity.or(other.capacity),
            raw: self.raw.or(other.raw),
            seq_read: self.seq_read.or(other.seq_read),
            seq_write: self.seq_write.or(other.seq_write),
            rand_read: self.rand_read.or(other.rand_read),
            rand_write: self.rand_write.or(other.rand_write),
            read_latency: self.read_latency.or(other.read_latency),
            write_latency: self.write_latency.or(other.write_latency),
            dwpd: self.dwpd.or(other.dwpd),
            flash: self.flash.or(other.flash),
            like: self.like.or(other.like),
        }
    }

    /// Returns the name of the drive for people.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or("a drive")
    }

    /// Returns the preset or file for all other properties.
    fn base_name(&self) -> String {
        if let Some(like) = &self.like {
            return like.clone();
        }
        // The rates of links of the third, fourth and fifth generation of PCIe with four lanes lie between these.
        const GEN3_MAX: u64 = 3_700_000_000;
        const GEN4_MAX: u64 = 7_500_000_000;
        let rate = self.seq_read.map_or(GEN4_MAX, |rate| rate.bytes_per_s);
        let name = match (self.flash.unwrap_or(Flash::Tlc), rate) {
            (Flash::Qlc, ..=GEN3_MAX) => "nvme-qlc-gen3",
            (Flash::Qlc, _) => "nvme-qlc",
            (Flash::Tlc, ..=GEN3_MAX) => "nvme-tlc-gen3",
            (Flash::Tlc, ..=GEN4_MAX) => "nvme-tlc-read",
            (Flash::Tlc, _) => "nvme-gen5",
        };
        name.to_owned()
    }

    /// Returns the number of bytes of flash: as printed, or the least power of two that leaves 7 % or more.
    fn raw_bytes(&self, capacity: Size) -> u64 {
        let wanted = (capacity.bytes as f64 * 1.07).min((1_u64 << 60) as f64);
        self.raw.map_or_else(|| (wanted as u64).next_power_of_two(), |raw| raw.bytes)
    }

    /// Returns the drive from which a search starts: the base with the size of the data sheet.
    fn base(&self, capacity: Size) -> Outcome<Base> {
        let name = self.base_name();
        let base = Base::read(&name)?;
        let geometry = base.params.geometry;
        let drive = superblock(&base.params);
        if let Some(flash) = self.flash.filter(|flash| flash.pages_per_cell() != drive.bits_per_cell) {
            return refused(format!(
                "flash = {}: {name} has {} bits per cell; leave `like` out, or name a device with {}",
                flash.name(),
                drive.bits_per_cell,
                flash.name()
            ));
        }
        let raw = self.raw_bytes(capacity);
        if capacity.bytes >= raw {
            return refused(format!(
                "capacity = {}: the drive has no more than {} of flash (raw), and needs some beside the capacity",
                capacity,
                Size { bytes: raw }
            ));
        }
        let superpage_rows = f64::from(geometry.pages_per_block) * f64::from(geometry.page_bytes);
        let block_row_bytes = f64::from(geometry.planes) * superpage_rows;
        // The drive's own scale leaves rows of superblocks out, and capacities are those of the whole drive.
        let scale = base.ssd["scale"].as_u64().unwrap_or(1) as f64;
        let die_bytes = block_row_bytes * scale * f64::from(geometry.blocks_per_plane);
        let dies = (raw as f64 / die_bytes).round().clamp(1.0, 65_535.0);
        let blocks = (raw as f64 / (dies * block_row_bytes * scale)).round().max(1.0);
        let channels = base.params.channel.map_or(1, |channel| geometry.dies.div_ceil(channel.dies_per_channel));
        let per_channel = (dies / f64::from(channels)).ceil().max(1.0);
        let reserved = 1.0 - capacity.bytes as f64 / (dies * blocks * block_row_bytes * scale);

        let mut ssd = base.ssd.clone();
        let mut set = |pointer: &str, value: Value| {
            if let Some(place) = ssd.pointer_mut(pointer) {
                *place = value;
            }
        };
        set("/geometry/dies", json!(dies as u64));
        set("/geometry/blocks", json!(blocks as u64));
        set("/geometry/reserved", json!((reserved * 1e6).round() / 1e6));
        set("/channel/dies_per_channel", json!(per_channel as u64));
        set("/superblock/programs_at_once", json!(self.programs_at_once(&base, dies)));
        if let Some(cycles) = self.cycles(reserved)? {
            match ssd.as_object_mut() {
                Some(keys) => keys.insert("endurance".to_owned(), json!(cycles)),
                None => None,
            };
        }
        let whole = json!({ "array": { "level": "single", "members": 1 }, "ssd": ssd });
        let scenario =
            Simulation::from_value(&whole).map_err(FitError::from).and_then(|simulation| Ok(simulation.scenario()?)).map_err(|error| {
                FitError::Input(format!("a drive of {capacity} out of {} of flash, like {name}: {error}", Size { bytes: raw }))
            })?;
        Base::of(&name, &scenario)
    }

    /// Returns the number of dies that program at a time. It follows from the rate of sequential writes and the flash's own program time,
    /// so that the fit has little to change.
    fn programs_at_once(&self, base: &Base, dies: f64) -> u64 {
        let (geometry, drive) = (&base.params.geometry, superblock(&base.params));
        let units = f64::from(geometry.planes * drive.bits_per_cell * drive.mapping_units_per_flash_page);
        let superpage_bytes = units * f64::from(drive.pages_per_mapping_unit) * f64::from(geometry.page_bytes);
        let program_ns = base.params.timing.page_program.ns as f64 + units * drive.mapping_unit_transfer_ns as f64;
        let of_base = f64::from(drive.dies_programming_max.min(geometry.dies)) * dies / f64::from(geometry.dies);
        let needed = self.seq_write.map_or(of_base, |rate| rate.bytes_per_s as f64 * program_ns / (superpage_bytes * 1e9));
        needed.ceil().clamp(1.0, dies) as u64
    }

    /// Returns the program and erase cycles that the promised writes need under uniform random writes.
    fn cycles(&self, reserved: f64) -> Outcome<Option<u64>> {
        match self.dwpd {
            None => Ok(None),
            Some(dwpd) if dwpd.is_finite() && dwpd > 0.0 && dwpd <= 1000.0 => {
                let amplification = amplification(1.0 - reserved);
                Ok(Some((dwpd * DAYS_OF_WARRANTY * amplification * (1.0 - reserved)).ceil().max(1.0) as u64))
            }
            Some(dwpd) => refused(format!("dwpd = {dwpd}: a number above 0, up to 1000, is expected")),
        }
    }

    fn figures(&self) -> Vec<(Figure, f64)> {
        Figure::ALL.into_iter().filter_map(|figure| Some((figure, figure.printed(self)?))).collect()
    }

    /// Returns contradictions between printed figures, which no drive with this flash can meet together. They follow from the arithmetic of
    /// one bottleneck at a time.
    fn contradictions(&self, base: &Base, capacity: Size) -> Vec<String> {
        let mut found = Vec::new();
        let (geometry, drive) = (&base.params.geometry, superblock(&base.params));
        let spare = capacity.bytes as f64 / self.raw_bytes(capacity) as f64;
        if let (Some(random), Some(sequential)) = (self.rand_write, self.seq_write) {
            let amplification = amplification(spare);
            let needed = random as f64 * 4096.0 * amplification;
            if needed > sequential.bytes_per_s as f64 * 1.05 {
                found.push(format!(
                    "rand_write {random}/s and seq_write {:.0} MB/s: with {:.1} % of the flash to spare uniform random writes are amplified {amplification:.1} times, \
                     so that {:.0} MB/s would have to be programmed",
                    sequential.bytes_per_s as f64 / 1e6,
                    100.0 * (1.0 - spare),
                    needed / 1e6
                ));
            }
        }
        if let (Some(random), Some(sequential)) = (self.rand_read, self.seq_read) {
            let needed = random as f64 * 4096.0;
            if needed > sequential.bytes_per_s as f64 * 1.05 {
                found.push(format!(
                    "rand_read {random}/s and seq_read {:.0} MB/s: random reads alone are {:.0} MB/s",
                    sequential.bytes_per_s as f64 / 1e6,
                    needed / 1e6
                ));
            }
        }
        let read_ns = Parameter::PageRead.of(&base.params);
        if let Some(random) = self.rand_read {
            let planes = f64::from(geometry.dies * geometry.planes);
            let most = planes * 1e9 / read_ns;
            if random as f64 > most {
                found.push(format!(
                    "rand_read {random}/s: {planes:.0} planes with array reads of {:.0} µs give {most:.0}/s at most; the flash is faster, or the drive has more dies",
                    read_ns / 1e3
                ));
            }
        }
        if let Some(latency) = self.read_latency {
            let least_ns =
                read_ns + drive.mapping_unit_transfer_ns as f64 + base.params.link.map_or(0.0, |link| link.page_transfer_ns as f64);
            if (latency.ns as f64) < least_ns {
                found.push(format!(
                    "read_latency {latency}: an array read and the way of its data take {:.1} µs with the flash of {}; name a device with faster flash (like)",
                    least_ns / 1e3,
                    base.name
                ));
            }
        }
        found
    }

    /// Makes a device with which the simulator gives the printed figures, and runs it for long to see whether it does.
    ///
    /// # Errors
    /// The figures are no drive's, there are fewer than two, a simulation failed, or the user stopped it.
    pub fn make(&self, options: &FitOptions<'_>) -> Outcome<Made> {
        let figures = self.figures();
        if figures.len() < 2 {
            let keys: Vec<&str> = Figure::ALL.iter().map(|figure| figure.key()).collect();
            return refused(format!("a data sheet with two figures or more is expected; there are {}", keys.join(", ")));
        }
        if let Some((figure, value)) = figures.iter().find(|(_, value)| *value <= 0.0) {
            return refused(format!("{} = {value}: a figure above 0 is expected", figure.key()));
        }
        let Some(capacity) = self.capacity else {
            return refused("capacity is missing: bytes that a host sees, for instance --capacity 3.84TB");
        };
        let base = self.base(capacity)?;
        let contradictions = self.contradictions(&base, capacity);
        let missing: Vec<&str> = Figure::ALL.iter().filter(|figure| figure.printed(self).is_none()).map(|figure| figure.key()).collect();
        let jobs = figures.iter().map(|(figure, value)| figure.measured(*value)).collect();
        let mut notes: Vec<String> = contradictions.iter().map(|text| format!("contradiction: {text}")).collect();
        if !missing.is_empty() {
            let values: Vec<&str> =
                Figure::ALL.iter().filter(|figure| figure.printed(self).is_none()).map(|figure| figure.parameter().name()).collect();
            notes.push(format!("without {} nothing determines {}: as in {}", missing.join(", "), values.join(", "), base.name));
        }
        if self.raw.is_none() {
            notes.push(format!("raw is not given: {} of flash are assumed", in_gb(self.raw_bytes(capacity))));
        }
        let parameters: Vec<Parameter> = figures.iter().map(|(figure, _)| figure.parameter()).collect();
        let options = FitOptions { parameters, hold_out: Some("none".to_owned()), ..options.clone() };
        let mut fit = fit(&base, Results { jobs, notes }, &options)?;
        // Values that were found are kept, even if there is no time for long runs.
        let card = if fit.stopped { Err(FitError::Interrupted) } else { self.card(&base, &fit, &options) };
        let card = match card {
            Err(FitError::Interrupted) => {
                fit.stopped = true;
                Vec::new()
            }
            made => made?,
        };
        fit.device = self.device(&fit, &card, capacity);
        Ok(Made { fit, card, contradictions })
    }

    /// Returns the printed figures beside runs of the device that are several times as long as those of the fit.
    fn card(&self, base: &Base, fit: &Fit, options: &FitOptions<'_>) -> Outcome<Vec<Held>> {
        let figures = self.figures();
        let jobs = figures.iter().map(|(figure, _)| figure.job());
        let parameters: Vec<Parameter> = fit.parameters.iter().map(|found| found.parameter).collect();
        let place = (options.scale, options.seed);
        let simulator = Simulator::with_length(base, jobs, &parameters, LONG_TIMES, place, options.threads, options.stopped)?;
        let values: Vec<f64> = fit.parameters.iter().map(|found| found.value).collect();
        let simulated = simulator.figures(&[values])?.swap_remove(0);
        let held = figures.iter().zip(simulated).map(|((figure, printed), figures)| {
            let simulated = figure.of(&figures);
            Held {
                name: figure.key(),
                unit: figure.unit(),
                data_sheet: *printed,
                simulated,
                tolerance: TOLERANCE,
                decides: figure.parameter().name(),
                holds: (simulated / printed - 1.0).abs() <= TOLERANCE,
            }
        });
        Ok(held.collect())
    }

    /// Returns the device file, with the origin of each number at the top.
    fn device(&self, fit: &Fit, card: &[Held], capacity: Size) -> String {
        let held: String =
            card.iter().map(|held| format!("#   {held}{}\n", if held.holds { "" } else { ", off by more than 10 %" })).collect();
        let notes: String = fit.notes.iter().map(|note| format!("# Note: {note}\n")).collect();
        // The fit's own head speaks of measurements.
        let body = fit.device.split_once("\n\n").map_or(fit.device.as_str(), |(_, body)| body);
        format!(
            "# {}: a drive made of its data sheet by flashraid {}. To use it: inherits = \"this file\" in a configuration.\n\
             # Capacity {} of {} of flash. {}\n{held}{notes}\
             # `fitted`: decided by one of these figures. `assumed`: as in {}, with dies and channels for this capacity.\n\n{body}",
            self.name(),
            env!("CARGO_PKG_VERSION"),
            in_gb(capacity.bytes),
            in_gb(self.raw_bytes(capacity)),
            if card.is_empty() {
                "It was stopped before long runs were made."
            } else {
                "Figures of the data sheet, beside long runs of this device:"
            },
            fit.base,
        )
    }
}
