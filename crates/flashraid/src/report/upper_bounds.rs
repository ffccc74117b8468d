//! Upper bounds of what a report may say: the work of its requests must fit into the time of each part of the array.
//!
//! The bounds come from the parameters of the array and from the sizes of requests. They share no code with the rates of the report. Each
//! part below has a least time that the requests of the report take there, and a part does one thing at a time:
//!
//! - the controller's port to the host, and the links and cores of members;
//! - channels, and dies that program or read.
//!
//! A part that requests may avoid is left out. A write cache answers without the members, an unmapped page needs no die, and a failed
//! member loses operations that it never did. Write buffers keep as much as they have room for.

use super::Report;
use flashraid_driver::ArrayCounters;
use flashraid_model::array::ArrayParams;
use flashraid_model::ssd::{CollectionBlockingScope, ControllerCores, Duplex, HostOverlapWithMoves, PlaneReadMode, SsdParams};

/// Relative difference that rounding may cause.
const ROUNDING_MAX: f64 = 1e-6;

/// Facts about a run that its report does not contain.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DoneInRun<'a> {
    /// Counters of the measured time.
    pub(crate) counts: &'a ArrayCounters,
    /// Length of the longest request that was done in the measured time.
    pub(crate) longest_request_bytes: u64,
    /// True if the statistics leave out no beginning of the run.
    pub(crate) is_whole: bool,
    /// Number of requests that a closed loop can have outstanding, or `None` for an open loop and for a short one.
    pub(crate) places: Option<u64>,
}

/// A part of the array that does one thing at a time.
struct Part {
    name: &'static str,
    /// Least time that the part needs for all requests, in nanoseconds.
    busy_ns: f64,
    /// Share of this time that a single request can have, in nanoseconds.
    longest_ns: f64,
}

/// Least work that the requests of the report bring to the array. Bytes are lower bounds, because only their sum is known.
struct Work {
    read_requests: f64,
    write_requests: f64,
    bytes: f64,
    read_bytes: f64,
    write_bytes: f64,
    longest_bytes: f64,
}

/// Verifies that no rate of the report exceeds what a part of the array can do.
///
/// # Errors
/// Returns a sentence that names the part.
pub(crate) fn check_upper_bounds(report: &Report, array: &ArrayParams, done: &DoneInRun) -> Result<(), String> {
    let work = Work::least(report, done);
    let measured_ns = (report.measured_to_ns - report.measured_from_ns) as f64;
    let time_ns = time_of_rates_ns(report, done);
    for part in parts(array, &work, report, done.counts) {
        let least_ns = done.places.map_or(part.busy_ns, |places| part.least_load_ns(places as f64));
        for (what, least_ns, found_ns) in [("the measured time", part.busy_ns, measured_ns), ("the time of the rates", least_ns, time_ns)] {
            // Times are in whole nanoseconds.
            if least_ns * (1.0 - ROUNDING_MAX) > found_ns + 1.0 {
                return Err(format!(
                    "more was done than possible: {} take at least {least_ns:.0} ns for the requests of the report, but {what} is {found_ns:.0} ns",
                    part.name
                ));
            }
        }
    }
    Ok(())
}

/// Returns the shortest time over which a rate of the report says that its requests were done, in nanoseconds. If a beginning was left out,
/// rates count requests that had arrived before, so that only the divisor itself is known.
fn time_of_rates_ns(report: &Report, done: &DoneInRun) -> f64 {
    let (requests, iops) = (&report.requests, &report.iops);
    let of_rates = [(requests.all, iops.all), (requests.read, iops.read), (requests.write, iops.write)];
    let times = of_rates.into_iter().filter(|(count, _)| done.is_whole && *count > 0);
    times.filter_map(|(count, rate)| Some(count as f64 * 1e9 / rate?)).fold(report.load_ns as f64, f64::min)
}

impl Work {
    fn least(report: &Report, done: &DoneInRun) -> Self {
        let seconds = report.load_ns as f64 / 1e9;
        let longest_bytes = done.longest_request_bytes as f64;
        let of_rate = |rate: Option<f64>| rate.map_or(0.0, |rate| rate * seconds);
        let (read_count, write_count) = (report.requests.read as f64, report.requests.write as f64);
        // Requests that arrived before the measured time may have done their work before it.
        let earlier = (of_rate(report.iops.all) - read_count - write_count).max(0.0);
        let bytes = (of_rate(report.bandwidth_mb_s.overall) * 1e6 - earlier * longest_bytes).max(0.0);
        Self {
            read_requests: read_count,
            write_requests: write_count,
            bytes,
            read_bytes: (bytes - write_count * longest_bytes).max(0.0),
            write_bytes: (bytes - read_count * longest_bytes).max(0.0),
            longest_bytes,
        }
    }
}

impl Part {
    /// Returns a part that exists `number` times, and works in all places at once.
    fn new(name: &'static str, number: u32, busy_ns: f64, longest_ns: f64) -> Self {
        let number = f64::from(number.max(1));
        Self { name, busy_ns: busy_ns / number, longest_ns: longest_ns / number }
    }

    /// Returns the least mean time for which a place of a closed loop is in use, in nanoseconds.
    ///
    /// When all but j places have ended, at most j requests are not done. The part has then done everything but their work.
    fn least_load_ns(&self, places: f64) -> f64 {
        if self.busy_ns <= 0.0 {
            return 0.0;
        }
        let terms = places.min((self.busy_ns / self.longest_ns).floor() + 1.0);
        let missing_ns = if terms > 1.0 { self.longest_ns * (terms - 1.0) / 2.0 } else { 0.0 };
        terms * (self.busy_ns - missing_ns) / places.max(1.0)
    }
}

/// Returns all parts that requests cannot avoid.
fn parts(array: &ArrayParams, work: &Work, report: &Report, counts: &ArrayCounters) -> Vec<Part> {
    let mut parts = Vec::new();
    if let Some(rate) = array.host_port.and_then(|port| port.bandwidth) {
        let ns = 1e9 / rate.bytes_per_s as f64;
        parts.push(Part::new("the data in the array's controller", 1, work.bytes * ns, work.longest_bytes * ns));
    }
    if let Some(processor) = array.host_port.and_then(|port| port.processor) {
        let requests = work.read_requests + work.write_requests;
        let (shared_ns, ns) = (processor.shared.ns as f64, (processor.shared.ns + processor.request.ns) as f64);
        parts.push(Part::new("the processor of the array", processor.cores, requests * ns, ns));
        parts.push(Part::new("what requests share on the processor", 1, requests * shared_ns, shared_ns));
    }
    if array.failures.is_empty() {
        if array.cache.is_none() {
            parts.extend(fronts(array, work));
            parts.extend(writes_of_dies(array, work, counts));
            // Trims leave pages that are read without a die. Those before the measured time do, too, and are not counted.
            if report.requests.trim == 0 && report.measured_from_ns == 0 {
                parts.extend(reads_of_pools(array, work));
            }
        }
        parts.extend(reads_of_superblocks(array, counts));
    }
    parts
}

/// Returns the links and cores of the members.
fn fronts(array: &ArrayParams, work: &Work) -> Vec<Part> {
    let (ssd, members) = (&array.ssd, array.members);
    let copies = f64::from(array.layout().copies_of_each_page());
    let mut parts = Vec::new();
    if let Some(link) = ssd.link {
        let ns = link.page_transfer_ns as f64 / f64::from(ssd.geometry.page_bytes);
        let (reads_ns, writes_ns) = (work.read_bytes * ns, work.write_bytes * copies * ns);
        let longest_ns = work.longest_bytes * ns;
        if link.duplex == Duplex::Full {
            parts.push(Part::new("reads over the links of members", members, reads_ns, longest_ns));
            parts.push(Part::new("writes over the links of members", members, writes_ns, longest_ns * copies));
        } else {
            let more_copies_ns = work.write_bytes * (copies - 1.0) * ns;
            parts.push(Part::new("data over the links of members", members, work.bytes * ns + more_copies_ns, longest_ns * copies));
        }
    }
    if let Some(ControllerCores { cores, read, write, .. }) = cores(ssd) {
        let (read_ns, write_ns) = (read.ns as f64, write.ns as f64 * copies);
        let busy_ns = work.read_requests * read_ns + work.write_requests * write_ns;
        parts.push(Part::new("commands in the cores of members", members * cores, busy_ns, read_ns.max(write_ns)));
    }
    parts
}

fn cores(ssd: &SsdParams) -> Option<ControllerCores> {
    let of_superblocks = ssd.superblock.as_ref().map(|superblock| superblock.firmware);
    of_superblocks.or(ssd.front_end.map(|front| front.firmware))
}

/// Returns the channels and dies of the members, as far as writes occupy them. Data that buffers still hold, or have dropped, is never
/// programmed.
fn writes_of_dies(array: &ArrayParams, work: &Work, counts: &ArrayCounters) -> Vec<Part> {
    let (ssd, members) = (&array.ssd, array.members);
    let (geometry, timing) = (&ssd.geometry, &ssd.timing);
    let copies = f64::from(array.layout().copies_of_each_page());
    let pages = |bytes: f64| bytes * copies / f64::from(geometry.page_bytes);
    let dropped: u64 =
        counts.drive_front_end_counters.iter().map(|front| front.units_overwritten_in_buffer + front.units_trimmed_in_buffer).sum();
    let kept = |room: u32| f64::from(room) * f64::from(members) + dropped as f64;
    let channels = members * ssd.channel.map_or(geometry.dies, |channel| channel.channel_count(geometry.dies));
    if let Some(superblock) = &ssd.superblock {
        let units = |bytes: f64| pages(bytes) / f64::from(superblock.pages_per_mapping_unit);
        let programmed = units(work.write_bytes) - kept(superblock.buffer.capacity_mapping_units);
        let units_of_row = f64::from(geometry.planes * superblock.mapping_units_per_flash_page);
        let full_ns = timing.page_program.ns as f64 / f64::from(superblock.bits_per_cell);
        let unit_ns = superblock.slc.map_or(full_ns, |slc| full_ns.min(slc.times.program.ns as f64)) / units_of_row;
        let dies = members * geometry.dies.min(superblock.dies_programming_max);
        let transfer_ns = superblock.mapping_unit_transfer_ns as f64;
        let longest = units(work.longest_bytes);
        return vec![
            Part::new("programs of dies", dies, programmed * unit_ns, longest * unit_ns),
            Part::new("programs over channels", channels, programmed * transfer_ns, longest * transfer_ns),
        ];
    }
    if overlaps_collection(ssd) {
        return Vec::new();
    }
    let programmed = pages(work.write_bytes) - kept(buffer_of_pools(ssd));
    let transfer_ns = timing.page_transfer_ns as f64;
    let page_ns = timing.command_overhead.ns as f64 + transfer_ns + timing.page_program.ns as f64;
    let longest = pages(work.longest_bytes);
    vec![
        Part::new("programs of dies", members * commands_at_once(ssd), programmed * page_ns, longest * page_ns),
        Part::new("programs over channels", channels, programmed * transfer_ns, longest * transfer_ns),
    ]
}

/// Returns the dies of members with pools of blocks, as far as reads occupy them. A buffer may hold the pages of any read.
fn reads_of_pools(array: &ArrayParams, work: &Work) -> Option<Part> {
    let (ssd, timing) = (&array.ssd, &array.ssd.timing);
    if ssd.superblock.is_some() || overlaps_collection(ssd) || buffer_of_pools(ssd) > 0 {
        return None;
    }
    let page_ns = (timing.command_overhead.ns + timing.page_read.ns + timing.page_transfer_ns) as f64;
    let byte_ns = page_ns / f64::from(ssd.geometry.page_bytes);
    let dies = array.members * commands_at_once(ssd);
    Some(Part::new("reads of dies", dies, work.read_bytes * byte_ns, work.longest_bytes * byte_ns))
}

/// Returns the dies of members with superblocks, as far as they are counted to read for the host. One read for each plane may end later.
fn reads_of_superblocks(array: &ArrayParams, counts: &ArrayCounters) -> Option<Part> {
    let superblock = array.ssd.superblock.as_ref()?;
    let geometry = &array.ssd.geometry;
    let planes = if superblock.reads.plane_reads == PlaneReadMode::OnePlaneAtATime { 1 } else { geometry.planes };
    let of_slc = superblock.slc.map(|slc| slc.times.read.ns);
    let read_ns = superblock.read_ns_by_page_type.iter().copied().chain(of_slc).min()? as f64;
    let flash_reads: u64 = counts.superblock_counters_by_member.iter().map(|drive| drive.flash_page_reads_for_host).sum();
    let number = array.members * geometry.dies * planes;
    let ended = flash_reads as f64 - f64::from(number);
    // These reads belong to no request in particular.
    Some(Part::new("reads of dies", number, ended * read_ns, f64::INFINITY))
}

/// Returns the number of commands that the dies of a member serve at once.
fn commands_at_once(ssd: &SsdParams) -> u32 {
    let by_plane = ssd.gc.rules.blocking == CollectionBlockingScope::Plane;
    ssd.geometry.dies * if by_plane { ssd.geometry.planes } else { 1 }
}

/// Returns true if host requests may be served together with a step of collection.
fn overlaps_collection(ssd: &SsdParams) -> bool {
    ssd.gc.preemption.is_some_and(|preemption| preemption.pipeline != HostOverlapWithMoves::NoOverlap || preemption.merge)
}

/// Returns the room of the write buffer of a member with pools of blocks, in pages.
fn buffer_of_pools(ssd: &SsdParams) -> u32 {
    ssd.front_end.and_then(|front| front.write_buffer).map_or(0, |buffer| buffer.capacity_mapping_units)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Simulation;

    /// A drive whose reads of 256 KiB take 1.2 ms on its link of 220 MB/s, and less than 0.2 ms elsewhere.
    const LINK: &str = r#"
        array.level = "single"
        ssd.geometry = { dies = 8, planes = 1, blocks = 64, pages = 16 }
        ssd.timing = { page_read = "1us", transfer_per_byte = "0ns" }
        ssd.link = "220MB/s"
        workload = { kind = "synthetic", requests = 16, read_fraction = 1.0, size = "256KiB", arrivals = { process = "closed", depth = 64 } }
    "#;

    /// Returns the result of the check if the report had been made with another divisor of its rates.
    fn check_with_rates_times(factor: f64) -> Result<(), String> {
        let simulation = Simulation::from_toml(LINK).unwrap();
        let array = simulation.scenario().unwrap().array;
        let mut report = simulation.run().unwrap();
        report.load_ns = (report.load_ns as f64 / factor) as u64;
        for rate in [&mut report.iops.all, &mut report.iops.read, &mut report.iops.write, &mut report.bandwidth_mb_s.overall] {
            *rate = rate.map(|rate| rate * factor);
        }
        let counts = ArrayCounters::with_members_only([], 0);
        let done = DoneInRun { counts: &counts, longest_request_bytes: 256 << 10, is_whole: true, places: None };
        check_upper_bounds(&report, &array, &done)
    }

    #[test]
    fn rates_beyond_the_link_are_found() {
        assert_eq!(check_with_rates_times(1.0), Ok(()));
        // The rates of earlier versions: too high by depth / requests.
        let error = check_with_rates_times(64.0 / 16.0).unwrap_err();
        assert!(error.contains("over the links of members"), "{error}");
        assert!(check_with_rates_times(1.1).is_err(), "the link is busy for all of the run");
    }

    #[test]
    fn places_end_one_after_the_other() {
        let load_ns = |busy_ns: f64, longest_ns: f64, places: f64| Part::new("", 1, busy_ns, longest_ns).least_load_ns(places);
        // Four requests of one place end after 1, 2, 3 and 4 units of time, those of four places at 2.5 in the mean.
        assert_eq!(load_ns(4.0, 1.0, 1.0), 4.0);
        assert_eq!(load_ns(4.0, 1.0, 4.0), 2.5);
        // With one long request among them, three may end at once.
        assert_eq!(load_ns(4.0, 4.0, 4.0), 1.0);
        assert_eq!(load_ns(4.0, f64::INFINITY, 4.0), 1.0);
        assert_eq!(load_ns(0.0, 0.0, 4.0), 0.0);
    }
}
