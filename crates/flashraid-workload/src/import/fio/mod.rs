//! Import of fio job files: the requests of a job, with their addresses, their sizes and the queue depth.
//!
//! An option that changes the requests and cannot be expressed is refused by name. One that does not is listed as left out.

mod job_file;
mod options;
#[cfg(test)]
mod tests;
mod values;

use super::{ImportError, JobFileSurroundings, Stream, quoted};
use job_file::{Job, JobOption};
use options::{HARMLESS, HARMLESS_PREFIXES, OTHER_ENGINES, REFUSED, SYNCHRONOUS_ENGINES};
pub use values::parse_size_bytes;
use values::{ByDirection, Sizes, by_direction, percent, sequential_requests, size_bytes, time_us, whole, written_time};

/// Size of requests if a job does not say it.
const DEFAULT_BYTES: u64 = 4096;

/// Returns the streams of the job file, and notes for the user.
pub(super) fn streams(
    text: &str,
    part: Option<&str>,
    surroundings: &JobFileSurroundings<'_>,
) -> Result<(Vec<Stream>, Vec<String>), ImportError> {
    let mut jobs = job_file::jobs(text, surroundings)?;
    if let Some(part) = part {
        let names = jobs.iter().map(|job| job.name.as_str()).collect::<Vec<_>>().join(", ");
        jobs.retain(|job| job.name == part);
        if jobs.is_empty() {
            return Err(ImportError::WholeFile(format!("--part {part}: there is no such job; there are {names}")));
        }
    }
    if jobs.is_empty() {
        return Err(ImportError::WholeFile("there is no job in it: fio job files have sections such as [job]".to_owned()));
    }
    refuse_phases(&jobs)?;
    let (mut notes, mut streams) = (Notes::default(), Vec::new());
    for job in &jobs {
        let settings = Settings::read(job, jobs.len() > 1, &mut notes)?;
        streams.extend(settings.streams(job, &mut notes)?);
    }
    Ok((streams, notes.all()))
}

/// Refuses jobs that do not run at the same time.
fn refuse_phases(jobs: &[Job]) -> Result<(), ImportError> {
    let mut phases: Vec<Vec<&str>> = Vec::new();
    let mut reason = None;
    for job in jobs {
        let waits = job
            .last(&["stonewall", "wait_for_previous"])
            .into_iter()
            .chain(job.last(&["wait_for"]))
            .chain(job.last(&["startdelay"]))
            .find(|option| option.is_on());
        match phases.last_mut() {
            Some(phase) if waits.is_none() => phase.push(&job.name),
            _ => {
                if !phases.is_empty() {
                    reason = waits.or(reason);
                }
                phases.push(vec![&job.name]);
            }
        }
    }
    match reason {
        None => Ok(()),
        Some(option) => {
            let phases: Vec<String> = phases.iter().map(|names| names.join(" with ")).collect();
            let name = &jobs[jobs.len() - 1].name;
            Err(option.refuse(format!(
                "{}: the jobs begin one after another, not together ({}); choose one, such as --part {name:?}",
                option.key,
                phases.join(", then ")
            )))
        }
    }
}

fn refused(line: usize, reason: impl Into<String>) -> ImportError {
    ImportError::AtLine { line, reason: reason.into() }
}

/// Notes for the user, and the names of options that were left out.
#[derive(Default)]
struct Notes {
    list: Vec<String>,
    harmless: Vec<String>,
}

impl Notes {
    fn add(&mut self, note: String) {
        if !self.list.contains(&note) {
            self.list.push(note);
        }
    }

    fn leave_out(&mut self, key: &str) {
        if !self.harmless.iter().any(|name| name == key) {
            self.harmless.push(key.to_owned());
        }
    }

    fn all(mut self) -> Vec<String> {
        if !self.harmless.is_empty() {
            self.list.push(format!("left out, because the requests do not depend on it: {}", self.harmless.join(", ")));
        }
        self.list
    }
}

/// Settings of one job, as fio reads them.
struct Settings<'a> {
    direction: &'a str,
    read_percent: u64,
    sizes: ByDirection<Sizes>,
    depth: u64,
    jobs: u64,
    asynchronous: bool,
    rates: Option<(&'a JobOption, Rates)>,
    poisson: bool,
    think_us: u64,
    span: Option<Span>,
    /// Bytes that each pass of the job moves, if they differ from the span.
    amount: Option<u64>,
    requests: Option<u64>,
    loops: u64,
    runtime_us: Option<u64>,
    ramp_us: u64,
    is_time_based: bool,
    random_percent: ByDirection<u64>,
    align: Option<u64>,
    has_random_map: bool,
    is_one_file: bool,
    distribution: Option<&'a JobOption>,
    trace: Option<&'a str>,
    /// Option that asks for flushes, and the number of writes before each.
    flush: Option<(&'a JobOption, u64)>,
    /// Option by which each write is done only when it is safe.
    sync: Option<&'a JobOption>,
    verify: Option<&'a JobOption>,
}

/// Part of the array that a job uses.
#[derive(Debug, Clone, Copy)]
enum Span {
    Bytes(u64),
    Percent(u64),
}

/// Rates of a job.
enum Rates {
    /// Numbers of requests per second.
    Requests(ByDirection<u64>),
    /// Numbers of bytes per second.
    Bytes(ByDirection<u64>),
}

impl<'a> Settings<'a> {
    /// Reads the options of a job. `has_others` is true if other jobs run at the same time.
    fn read(job: &'a Job, has_others: bool, notes: &mut Notes) -> Result<Self, ImportError> {
        let mut settings = Self {
            direction: "read",
            read_percent: 50,
            sizes: [None, None],
            depth: 1,
            jobs: 1,
            asynchronous: false,
            rates: None,
            poisson: false,
            think_us: 0,
            span: None,
            amount: None,
            requests: None,
            loops: 1,
            runtime_us: None,
            ramp_us: 0,
            is_time_based: false,
            random_percent: [None, None],
            align: None,
            has_random_map: true,
            is_one_file: false,
            distribution: None,
            trace: None,
            flush: None,
            sync: None,
            verify: None,
        };
        let mut is_direct = false;
        let mut means_requests = false;
        let (mut size, mut file_size) = (None, None);
        let verifies = job.last(&["do_verify"]).is_none_or(JobOption::is_on);
        for option in &job.options {
            let JobOption { key, value, .. } = option;
            let number = || whole(value).ok_or_else(|| option.expect("a whole number"));
            let bytes = || size_bytes(value).ok_or_else(|| option.expect("a size such as 4k"));
            let share = || percent(value).ok_or_else(|| option.expect("a share in percent"));
            let time = |unit_us| time_us(value, unit_us).ok_or_else(|| option.expect("a time such as 30s"));
            let sizes = |read: fn(&str) -> Option<Sizes>, expected| by_direction(value, read).ok_or_else(|| option.expect(expected));
            means_requests |= !HARMLESS.contains(&key.as_str());
            match key.as_str() {
                "rw" | "readwrite" => settings.direction = value,
                "rwmixread" => settings.read_percent = share()?,
                "rwmixwrite" => settings.read_percent = 100 - share()?,
                "bs" | "blocksize" => settings.sizes = sizes(Sizes::one, "a size such as 4k, or one for each direction such as 4k,64k,")?,
                "bsrange" | "blocksize_range" => settings.sizes = sizes(Sizes::range, "a range such as 4k-64k")?,
                "bssplit" => settings.sizes = sizes(Sizes::split, "sizes and percent such as 4k/60:64k/40")?,
                "ba" | "blockalign" => {
                    let aligns = by_direction(value, |text| size_bytes(text).filter(|bytes| *bytes > 0));
                    let aligns = aligns.ok_or_else(|| option.expect("a size such as 4k"))?;
                    settings.align = aligns.into_iter().flatten().min();
                }
                "iodepth" => settings.depth = number()?.max(1),
                "numjobs" => settings.jobs = number()?.max(1),
                "ioengine" => {
                    if OTHER_ENGINES.contains(&value.as_str()) {
                        return Err(option.refuse(format!("ioengine={value}: this engine does not read and write a drive")));
                    }
                    settings.asynchronous = !SYNCHRONOUS_ENGINES.contains(&value.as_str());
                }
                "rate_iops" => {
                    let rates = by_direction(value, |text| whole(text).filter(|rate| *rate > 0));
                    settings.rates = Some((option, Rates::Requests(rates.ok_or_else(|| option.expect("requests per second"))?)));
                }
                "rate" => {
                    let rates = by_direction(value, |text| size_bytes(text).filter(|rate| *rate > 0));
                    settings.rates = Some((option, Rates::Bytes(rates.ok_or_else(|| option.expect("bytes per second, such as 1m,"))?)));
                }
                "rate_process" => match value.as_str() {
                    "linear" => settings.poisson = false,
                    "poisson" => settings.poisson = true,
                    _ => return Err(option.expect("linear or poisson")),
                },
                "thinktime" => settings.think_us = time(1)?,
                "thinktime_blocks" if value != "1" => {
                    return Err(
                        option.refuse(format!("{key}={value}: a pause after every request can be taken over, but not after several"))
                    );
                }
                "thinktime_blocks" | "thinktime_blocks_type" => notes.leave_out(key),
                "size" => size = span(option)?,
                "filesize" => {
                    file_size = span(&JobOption { value: value.split('-').next_back().unwrap_or("").to_owned(), ..option.clone() })?
                }
                "io_size" | "io_limit" if value.ends_with('%') => {
                    return Err(option.refuse(format!("{key}={value}: a share of a file is not known here; write bytes")));
                }
                "io_size" | "io_limit" => settings.amount = Some(bytes()?).filter(|bytes| *bytes > 0),
                "number_ios" => settings.requests = Some(number()?).filter(|requests| *requests > 0),
                "loops" => settings.loops = number()?.max(1),
                "runtime" | "timeout" => settings.runtime_us = Some(time(1_000_000)?).filter(|us| *us > 0),
                "ramp_time" => settings.ramp_us = time(1_000_000)?,
                "time_based" => settings.is_time_based = option.is_on(),
                "percentage_random" => {
                    settings.random_percent = by_direction(value, percent).ok_or_else(|| option.expect("a share in percent"))?;
                }
                "norandommap" | "no_random_map" => settings.has_random_map = !option.is_on(),
                "random_distribution" => settings.distribution = Some(option),
                "rw_sequencer" if value != "sequential" => {
                    return Err(option.refuse(format!("{key}={value}: only sequential can be taken over")));
                }
                "rw_sequencer" => notes.leave_out(key),
                "zonemode" if value == "none" => notes.leave_out(key),
                "sg_write_mode" | "write_mode" if value != "write" => {
                    return Err(option.refuse(format!("{key}={value}: only write can be taken over")));
                }
                "sg_write_mode" | "write_mode" => notes.leave_out(key),
                "kb_base" if value != "1024" => {
                    return Err(option.refuse(format!("{key}={value}: sizes are read with 1024; write them without a unit")));
                }
                "kb_base" => notes.leave_out(key),
                "read_iolog" => settings.trace = Some(value),
                "filename" | "directory" => {
                    settings.is_one_file |= key == "filename";
                    notes.add(format!("{key}={value} is left out: requests go to the array, from its beginning"));
                }
                "offset" | "fileoffset" | "offset_increment" | "offset_align" => {
                    notes.add(format!("{key}={value} of job {} is left out: requests go to the array from its beginning", job.name));
                }
                "nrfiles" | "nr_files" | "opendir" => {
                    notes.add(format!("{key}={value} of job {} is left out: one part of the array stands for all its files", job.name));
                }
                "iodepth_batch"
                | "iodepth_batch_submit"
                | "iodepth_batch_complete"
                | "iodepth_batch_complete_min"
                | "iodepth_batch_complete_max"
                | "iodepth_low" => {
                    notes.add(format!(
                        "{key} of job {} is left out: a request follows as soon as another is done, not in batches",
                        job.name
                    ));
                }
                "end_fsync" | "fsync_on_close" | "end_syncfs" => {
                    if option.is_on() {
                        notes.add(format!("{key} of job {} is left out: the one flush after its last request", job.name));
                    }
                }
                // Each option counts by itself, and the smaller number decides nearly all flushes.
                "fsync" | "fdatasync" => {
                    let writes = number()?;
                    let is_more_often = settings.flush.is_none_or(|(other, before)| other.key == *key || writes < before);
                    if writes > 0 && is_more_often {
                        settings.flush = Some((option, writes));
                    } else if writes == 0 && settings.flush.is_some_and(|(other, _)| other.key == *key) {
                        settings.flush = None;
                    }
                }
                "sync" | "writefua" => settings.sync = Some(option).filter(|option| option.is_on()),
                "verify_only" if option.is_on() => return Err(option.refuse("verify_only: the data of an earlier job are read back")),
                "verify" | "verify_backlog" => {
                    settings.verify =
                        Some(option).filter(|option| option.is_on() && (verifies || key == "verify_backlog")).or(settings.verify);
                }
                "stonewall" | "wait_for_previous" | "wait_for" | "startdelay" => notes.leave_out(key),
                "direct" => {
                    is_direct = option.is_on();
                    notes.leave_out(key);
                }
                "buffered" => {
                    is_direct = !option.is_on();
                    notes.leave_out(key);
                }
                "exitall" if !has_others => notes.leave_out(key),
                key => {
                    let is_harmless = HARMLESS.contains(&key) || HARMLESS_PREFIXES.iter().any(|prefix| key.starts_with(prefix));
                    match REFUSED.iter().find(|(name, _)| *name == key) {
                        Some((_, what)) if option.is_on() => {
                            return Err(option.refuse(format!("{key}={value}: {what}, which cannot be expressed")));
                        }
                        None if !is_harmless => {
                            let question = "whether this option changes the requests is not known here";
                            return Err(
                                option.refuse(format!("{key}: {question}; if it does not, remove the line (is this a fio job file?)"))
                            );
                        }
                        _ => notes.leave_out(key),
                    }
                }
            }
        }
        if !means_requests {
            return Err(ImportError::WholeFile(format!(
                "job {}: nothing in it says which requests it sends, such as rw, bs or size; is this a fio job file?",
                job.name
            )));
        }
        // With both, the file is larger than the part of it that the job uses.
        settings.span = size.or(file_size);
        if !is_direct && settings.trace.is_none() {
            notes.add(format!(
                "job {}: without direct=1, fio's requests go through the page cache; here they all reach the array",
                job.name
            ));
        }
        Ok(settings)
    }

    /// Returns the streams of the job: one, or two if reads and writes have rates of their own.
    fn streams(&self, job: &Job, notes: &mut Notes) -> Result<Vec<Stream>, ImportError> {
        let name = &job.name;
        if let Some(trace) = self.trace {
            let mut stream = Stream { name: name.clone(), ..Stream::default() };
            stream.set("kind", quoted("trace"));
            stream.set("path", quoted(trace));
            return Ok(vec![stream]);
        }
        let (reads, sequential) = self.directions(job, notes)?;
        if reads < 100 {
            if let Some(verify) = self.verify {
                return Err(verify.refuse(format!(
                    "{}={}: what was written is read back, which cannot be expressed; do_verify=0 imports the writes alone",
                    verify.key, verify.value
                )));
            }
        } else {
            let without_writes = [self.flush.map(|(option, _)| option), self.sync, self.verify];
            without_writes.into_iter().flatten().for_each(|option| notes.leave_out(&option.key));
        }
        let sizes = |direction: usize| self.sizes[direction].clone().unwrap_or(Sizes::One(DEFAULT_BYTES));
        let (read_size, write_size) = (sizes(0), sizes(1));
        let mean_bytes = (read_size.mean_bytes() * reads as f64 + write_size.mean_bytes() * (100 - reads) as f64) / 100.0;
        if self.jobs > 1 && sequential == 100 {
            notes.add(format!("the {} jobs of {name} share one sequential stream: each had its own", self.jobs));
        }

        if sequential == 100 {
            self.note_end_of_sequence(name, [&read_size, &write_size], reads, mean_bytes, notes);
        }
        let mut common = Stream { name: name.clone(), ..Stream::default() };
        common.set("kind", quoted("synthetic"));
        let safety = self.safety(reads, name, notes);
        let Some((option, rates)) = &self.rates else {
            common.set("read_fraction", fraction(reads));
            set_sizes(&mut common, &read_size, &write_size, reads);
            common.set("sequential_fraction", fraction(sequential));
            common.set("arrivals", self.closed_loop(name, notes));
            common.keys.extend(safety);
            self.set_address(&mut common, reads, sequential, notes)?;
            common.is_closed = true;
            let requests = self.requests_by_map(job, self.requests_of(mean_bytes), reads, sequential, notes)?;
            if let Some(requests) = requests {
                common.set("limit", requests.to_string());
            } else if self.runtime_us.is_none() {
                notes.add(format!("job {name}: how many requests it sends depends on the device; workload.requests says it here"));
            }
            if let Some(us) = self.runtime_us {
                common.set("duration", quoted(&written_time(us.saturating_add(self.ramp_us))));
            }
            self.note_ramp(name, notes);
            return Ok(vec![common]);
        };
        if self.think_us > 0 {
            notes.add(format!("thinktime of job {name} is left out: {} says when requests come", option.key));
        }
        let (rates, unit) = match rates {
            Rates::Requests(rates) => (rates, None),
            Rates::Bytes(rates) => (rates, Some([&read_size, &write_size])),
        };
        // Requests per second of each direction that the job has.
        let mut per_second = [0.0; 2];
        for (direction, share) in [reads, 100 - reads].into_iter().enumerate() {
            if share == 0 {
                continue;
            }
            let rate = rates[direction].ok_or_else(|| {
                let what = ["reads", "writes"][direction];
                option.refuse(format!("{}={}: {what} have no rate, and cannot wait for each other beside a rate", option.key, option.value))
            })? as f64;
            per_second[direction] = match unit {
                None => rate,
                Some(sizes) => rate / sizes[direction].mean_bytes(),
            } * self.jobs as f64;
        }
        let all_per_second: f64 = per_second.iter().sum();
        let mean_bytes = (read_size.mean_bytes() * per_second[0] + write_size.mean_bytes() * per_second[1]) / all_per_second;
        let requests = self.requests_by_map(job, self.requests_of(mean_bytes), reads, sequential, notes)?.map(|requests| requests as f64);
        let by_time = self.runtime_us.map(|us| us.saturating_add(self.ramp_us) as f64 / 1e6 * all_per_second);
        let is_by_time = by_time.is_some_and(|by_time| requests.is_none_or(|requests| by_time < requests));
        if requests.is_none() && by_time.is_none() {
            notes.add(format!("job {name}: how many requests it sends depends on the device; workload.requests says it here"));
        }
        self.note_ramp(name, notes);
        let mut streams = Vec::new();
        for (direction, size) in [read_size, write_size].into_iter().enumerate() {
            let rate = per_second[direction];
            if rate == 0.0 {
                continue;
            }
            let mut stream = common.clone();
            stream.set("read_fraction", fraction([100, 0][direction]));
            stream.set("size", size.toml());
            stream.set("sequential_fraction", fraction(sequential));
            let (process, gap) = if self.poisson { ("poisson", "mean_gap") } else { ("fixed", "gap") };
            stream.set("arrivals", format!("{{ process = {}, {gap} = \"{rate}/s\" }}", quoted(process)));
            if direction == 1 {
                stream.keys.extend(safety.iter().cloned());
            }
            self.set_address(&mut stream, [100, 0][direction], sequential, notes)?;
            if is_by_time {
                let us = self.runtime_us.unwrap_or(0).saturating_add(self.ramp_us);
                stream.set("limit", quoted(&written_time(us)));
            } else if let Some(requests) = requests {
                stream.set("limit", ((requests * rate / all_per_second).round().max(1.0) as u64).to_string());
            }
            streams.push(stream);
        }
        if streams.len() == 2 {
            notes.add(format!(
                "job {name}: its rates hold for reads and for writes, which become two streams; fio's mix does not decide then"
            ));
        }
        Ok(streams)
    }

    /// Returns the shares of reads and of sequential requests in percent.
    fn directions(&self, job: &Job, notes: &mut Notes) -> Result<(u64, u64), ImportError> {
        let (kind, after) = self.direction.split_once(':').unwrap_or((self.direction, ""));
        let refuse_direction = |reason: String| match job.last(&["rw", "readwrite"]) {
            Some(option) => option.refuse(reason),
            None => ImportError::WholeFile(reason),
        };
        let (reads, is_random) = match kind {
            "read" => (100, false),
            "write" => (0, false),
            "randread" => (100, true),
            "randwrite" => (0, true),
            "rw" | "readwrite" => (self.read_percent, false),
            "randrw" => (self.read_percent, true),
            other => {
                let reason = format!("job {}: rw={other}: read, write, rw, randread, randwrite, randrw can be taken over", job.name);
                return Err(refuse_direction(reason));
            }
        };
        let mut sequential = if is_random { 0 } else { 100 };
        if is_random {
            let shares: Vec<u64> =
                (0..2).filter(|direction| [reads, 100 - reads][*direction] > 0).map(|d| self.random_percent[d].unwrap_or(100)).collect();
            if shares.iter().any(|share| *share != shares[0]) {
                return Err(refuse_direction(format!(
                    "job {}: percentage_random differs for reads and writes; one for both is allowed",
                    job.name
                )));
            }
            sequential = 100 - shares[0];
        }
        match (after, is_random) {
            ("", _) | ("1", true) => {}
            (count, true) if sequential == 0 && whole(count).is_some_and(|count| count > 0 && count <= 100) => {
                let count = whole(count).unwrap_or(1);
                sequential = 100 - 100 / count;
                notes.add(format!("rw={} of job {}: runs of {count} requests on average, not always", self.direction, job.name));
            }
            _ => {
                let reason = format!("rw={}: addresses that go backwards or leave gaps cannot be expressed", self.direction);
                return Err(refuse_direction(reason));
            }
        }
        Ok((reads, sequential))
    }

    /// Returns the keys that make writes safe from a loss of power: flushes after them, or "force unit access".
    fn safety(&self, reads: u64, name: &str, notes: &mut Notes) -> Vec<(&'static str, String)> {
        let mut keys = Vec::new();
        if reads == 100 {
            return keys;
        }
        if self.sync.is_some() {
            keys.push(("fua", "true".to_owned()));
        }
        if let Some((option, writes)) = self.flush {
            keys.push(("flush_every", writes.to_string()));
            if self.asynchronous && self.depth > 1 && self.rates.is_none() {
                notes.add(format!(
                    "{} of job {name}: a flush follows each write that completes a number of {writes}; other writes stay in flight beside it",
                    option.key
                ));
            }
        }
        keys
    }

    /// Returns the value of `arrivals` for a job that waits for its requests.
    fn closed_loop(&self, name: &str, notes: &mut Notes) -> String {
        let mut depth = self.depth;
        if !self.asynchronous && depth > 1 {
            notes.add(format!("iodepth={depth} of job {name} has no effect with a synchronous ioengine: 1 at a time"));
            depth = 1;
        }
        let mut think = String::new();
        if self.think_us > 0 {
            if depth > 1 {
                notes.add(format!("iodepth={depth} of job {name} has no effect beside thinktime, for which fio waits until all are done"));
                depth = 1;
            }
            think = format!(", think = {}", quoted(&written_time(self.think_us)));
        }
        format!("{{ process = \"closed\", depth = {}{think} }}", depth.saturating_mul(self.jobs))
    }

    /// Returns the number of bytes after which a pass of the job ends, unless something else ends it.
    fn bytes_of_pass(&self) -> Option<u64> {
        let span = match self.span {
            Some(Span::Bytes(bytes)) => Some(bytes),
            _ => None,
        };
        self.amount.or(span)
    }

    /// Adds a note if fio fills the end of a sequence with many small requests, where large ones do not fit any more.
    fn note_end_of_sequence(&self, name: &str, sizes: [&Sizes; 2], reads: u64, mean_bytes: f64, notes: &mut Notes) {
        let Some(bytes) = self.bytes_of_pass().filter(|_| self.requests.is_none()) else { return };
        let here = (bytes as f64 / mean_bytes).floor();
        let small = sequential_requests(bytes, sizes, reads) as f64 - here;
        if small > here / 100.0 {
            notes.add(format!(
                "job {name}: fio fills the end of its bytes with some {small:.0} more small requests, which are left out; bytes and sizes are kept"
            ));
        }
    }

    /// Returns the number of requests after which all copies of the job end, unless only a time ends it.
    fn requests_of(&self, mean_bytes: f64) -> Option<u64> {
        if self.is_time_based && self.runtime_us.is_some() {
            return None;
        }
        let by_amount = self.bytes_of_pass().map(|bytes| ((bytes as f64 / mean_bytes) as u64).max(1));
        let once = [self.requests, by_amount].into_iter().flatten().min()?;
        Some(once.saturating_mul(self.loops).saturating_mul(self.jobs))
    }

    /// Returns the number of requests, unless it depends on the random map of fio, which then ends the job early. Refuses sizes that fio
    /// cuts down to the free places of the map.
    fn requests_by_map(
        &self,
        job: &Job,
        requests: Option<u64>,
        reads: u64,
        sequential: u64,
        notes: &mut Notes,
    ) -> Result<Option<u64>, ImportError> {
        let is_mapped = self.distribution.is_none_or(|option| option.value.starts_with("random"));
        if !self.has_random_map || sequential == 100 || !is_mapped {
            return Ok(requests);
        }
        let default = Sizes::One(DEFAULT_BYTES);
        let used: Vec<&Sizes> =
            (0..2).filter(|d| [reads, 100 - reads][*d] > 0).map(|d| self.sizes[d].as_ref().unwrap_or(&default)).collect();
        notes.add(format!("job {}: fio visits every place once (norandommap is not set); here places are drawn independently", job.name));
        let is_by_bytes = requests.is_some() && self.requests.is_none();
        if !is_by_bytes || used.iter().all(|sizes| *sizes == used[0]) && matches!(used[0], Sizes::One(_)) {
            return Ok(requests);
        }
        if used.iter().all(|sizes| matches!(sizes, Sizes::One(_))) {
            notes.add(format!(
                "job {}: with two sizes on a random map, fio ends early; no limit is set, and norandommap=1 would give one",
                job.name
            ));
            return Ok(None);
        }
        let reason = "sizes that differ are cut down where fio has been before, so that their number is not known; \
                      with norandommap=1, or with number_ios, the job can be taken over";
        Err(match job.last(&["bs", "blocksize", "bsrange", "blocksize_range", "bssplit"]) {
            Some(option) => option.refuse(format!("{}={}: {reason}", option.key, option.value)),
            None => ImportError::WholeFile(reason.to_owned()),
        })
    }

    /// Sets the addresses of a stream.
    fn set_address(&self, stream: &mut Stream, reads: u64, sequential: u64, notes: &mut Notes) -> Result<(), ImportError> {
        let mut address: Vec<String> = Vec::new();
        let smallest = |direction: usize| self.sizes[direction].as_ref().map_or(DEFAULT_BYTES, Sizes::min_bytes);
        let align = self.align.unwrap_or(match reads {
            100 => smallest(0),
            0 => smallest(1),
            _ => smallest(0).min(smallest(1)),
        });
        let chunk = if align == DEFAULT_BYTES { String::new() } else { format!(", chunk = \"{align}B\"") };
        if let Some(option) = self.distribution {
            let mut parts = option.value.split(':');
            match (parts.next().unwrap_or(""), parts.next()) {
                ("random", _) => {}
                ("zipf", theta) => {
                    // What stands behind the number, such as a place for the most popular block, does not matter to scattered blocks.
                    let text = theta.unwrap_or("1.1");
                    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
                    let exponent: f64 = text[..digits].parse().map_err(|_| option.expect("zipf with a number, such as zipf:1.1"))?;
                    if digits < text.len() || parts.next().is_some() {
                        notes.add(format!("random_distribution={}: taken for zipf:{exponent}; popular blocks lie anywhere", option.value));
                    }
                    address.push(format!("pattern = \"zipf\", exponent = {exponent}, scatter = true{chunk}"));
                }
                (other, _) => return Err(option.refuse(format!("random_distribution={other}: random and zipf can be taken over"))),
            }
        }
        if sequential < 100 && align != DEFAULT_BYTES {
            address.push(format!("align = \"{align}B\""));
        }
        match self.span {
            // Without a name, each copy of the job has a file of its own.
            Some(Span::Bytes(bytes)) => {
                let files = if self.is_one_file { 1 } else { self.jobs };
                address.push(format!("footprint = \"at most {}B\"", bytes.saturating_mul(files)));
            }
            Some(Span::Percent(share)) if share < 100 => address.push(format!("footprint = \"{share}%\"")),
            _ => {}
        }
        if !address.is_empty() {
            stream.set("address", format!("{{ {} }}", address.join(", ")));
        }
        Ok(())
    }

    fn note_ramp(&self, name: &str, notes: &mut Notes) {
        if self.ramp_us > 0 {
            let time = written_time(self.ramp_us);
            notes.add(format!("ramp_time of job {name} is part of the run: report.skip_time = \"{time}\" keeps it out of the figures"));
        }
    }
}

/// Reads a size of a file. A size of 0 is the whole file.
fn span(option: &JobOption) -> Result<Option<Span>, ImportError> {
    if option.value.ends_with('%') {
        return percent(&option.value).map(|share| Some(Span::Percent(share))).ok_or_else(|| option.expect("a share in percent"));
    }
    let bytes = size_bytes(&option.value).ok_or_else(|| option.expect("a size such as 4k"))?;
    Ok(Some(bytes).filter(|bytes| *bytes > 0).map(Span::Bytes))
}

fn set_sizes(stream: &mut Stream, read: &Sizes, write: &Sizes, reads: u64) {
    match reads {
        100 => stream.set("size", read.toml()),
        0 => stream.set("size", write.toml()),
        _ if read == write => stream.set("size", read.toml()),
        _ => {
            stream.set("read_size", read.toml());
            stream.set("write_size", write.toml());
        }
    }
}

/// Returns a share in percent as a value of TOML.
fn fraction(share: u64) -> String {
    match share {
        0 => "0.0".to_owned(),
        100 => "1.0".to_owned(),
        share => format!("\"{share}%\""),
    }
}
