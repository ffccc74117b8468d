//! Import of fio job files: the requests of a job, with their addresses, their sizes and the queue depth.

use super::{ImportError, Stream, quoted};

/// Options that change how fio works but not which requests it sends.
const WITHOUT_EFFECT: &[&str] = &[
    "allrandrepeat",
    "clat_percentiles",
    "clocksource",
    "cpus_allowed",
    "cpus_allowed_policy",
    "create_on_open",
    "direct",
    "disk_util",
    "description",
    "end_fsync",
    "eta",
    "eta-newline",
    "exec_prerun",
    "fallocate",
    "file_service_type",
    "fixedbufs",
    "group_reporting",
    "gtod_reduce",
    "hipri",
    "invalidate",
    "ioengine",
    "iodepth_batch",
    "iodepth_batch_complete",
    "iodepth_batch_submit",
    "iodepth_low",
    "lat_percentiles",
    "log_avg_msec",
    "log_hist_msec",
    "log_unix_epoch",
    "mem",
    "name",
    "new_group",
    "nice",
    "norandommap",
    "numa_cpu_nodes",
    "percentile_list",
    "prio",
    "ramp_time",
    "randrepeat",
    "randseed",
    "refill_buffers",
    "registerfiles",
    "scramble_buffers",
    "sqthread_poll",
    "stonewall",
    "sync",
    "thread",
    "time_based",
    "unified_rw_reporting",
    "verify",
    "wait_for_previous",
    "write_bw_log",
    "write_hist_log",
    "write_iops_log",
    "write_lat_log",
    "zero_buffers",
    "buffer_compress_percentage",
    "openfiles",
    "overwrite",
    "per_job_logs",
    "slat_percentiles",
    "nonvectored",
    "buffered",
    "random_generator",
];

/// The options of a job: line number, key and value.
type Options = Vec<(usize, String, String)>;

/// Returns the streams of the job file, and notes for the user.
pub(super) fn streams(text: &str, part: Option<&str>) -> Result<(Vec<Stream>, Vec<String>), ImportError> {
    let jobs = sections(text)?;
    let jobs: Vec<(String, Options)> = match part {
        None => jobs,
        Some(part) => {
            let names = jobs.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
            let chosen: Vec<_> = jobs.into_iter().filter(|(name, _)| name == part).collect();
            if chosen.is_empty() {
                return Err(ImportError::WholeFile(format!("--part {part}: there is no such job; there are {names}")));
            }
            chosen
        }
    };
    if jobs.is_empty() {
        return Err(ImportError::WholeFile("there is no job in it: fio job files have sections such as [job]".to_owned()));
    }
    let mut notes = Vec::new();
    let streams = jobs.into_iter().map(|(name, own)| stream(&name, &own, &mut notes)).collect::<Result<_, _>>()?;
    Ok((streams, notes))
}

/// Returns the jobs with their options. Options of the section [global] come before those of each job.
fn sections(text: &str) -> Result<Vec<(String, Options)>, ImportError> {
    let (mut global, mut jobs): (Options, Vec<(String, Options)>) = (Vec::new(), Vec::new());
    let mut in_global = false;
    for (index, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let (number, line) = (index + 1, line.trim());
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[') {
            let name = name.strip_suffix(']').ok_or_else(|| refused(number, "a section ends with ]"))?.trim();
            in_global = name == "global";
            if !in_global {
                // Options in [global] hold for the jobs after it.
                jobs.push((name.to_owned(), global.clone()));
            }
            continue;
        }
        let (key, value) = line.split_once('=').map_or((line, "1"), |(key, value)| (key.trim(), value.trim()));
        let option = (number, key.to_ascii_lowercase(), value.to_owned());
        match jobs.last_mut() {
            _ if in_global => global.push(option),
            Some((_, options)) => options.push(option),
            None => return Err(refused(number, "options stand in a section such as [global] or [job]")),
        }
    }
    Ok(jobs)
}

fn refused(line: usize, reason: impl Into<String>) -> ImportError {
    ImportError::AtLine { line, reason: reason.into() }
}

/// Returns a size in bytes as fio reads it, or `None` if the text is no size. Without a unit it counts bytes, and k, m, g and t are powers
/// of 1024. The option `kb_base` is ignored.
pub fn parse_size_bytes(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let factor: u64 = match &text[digits..] {
        "" | "b" => 1,
        "k" | "kb" | "kib" => 1 << 10,
        "m" | "mb" | "mib" => 1 << 20,
        "g" | "gb" | "gib" => 1 << 30,
        "t" | "tb" | "tib" => 1 << 40,
        _ => return None,
    };
    number.checked_mul(factor)
}

/// Returns a time as fio reads it. Without a unit, it counts seconds.
fn duration(text: &str) -> Option<String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    number.parse::<u64>().ok()?;
    match unit {
        "" | "s" => Some(format!("{number}s")),
        "us" | "ms" | "h" | "d" => Some(text.to_owned()),
        "m" => Some(format!("{number}min")),
        _ => None,
    }
}

#[derive(Default)]
struct Job {
    direction: String,
    read_percent: u64,
    sizes: [Option<String>; 2],
    depth: u64,
    jobs: u64,
    asynchronous: bool,
    rate_iops: Option<u64>,
    think: Option<String>,
    span: Option<u64>,
    amount: Option<u64>,
    requests: Option<u64>,
    runtime: Option<String>,
    sequential_percent: Option<u64>,
    distribution: Option<(usize, String)>,
    trace: Option<String>,
}

fn stream(name: &str, options: &[(usize, String, String)], notes: &mut Vec<String>) -> Result<Stream, ImportError> {
    let mut job = Job { direction: "read".to_owned(), read_percent: 50, depth: 1, jobs: 1, ..Job::default() };
    for (line, key, value) in options {
        let number = |what: &str| value.parse::<u64>().map_err(|_| refused(*line, format!("{key}={value}: {what} is expected")));
        let size = || parse_size_bytes(value).ok_or_else(|| refused(*line, format!("{key}={value}: a size such as 4k is expected")));
        let time = || duration(value).ok_or_else(|| refused(*line, format!("{key}={value}: a time such as 30s is expected")));
        match key.as_str() {
            "rw" | "readwrite" => job.direction.clone_from(value),
            "rwmixread" => job.read_percent = number("a share in percent")?.min(100),
            "rwmixwrite" => job.read_percent = 100 - number("a share in percent")?.min(100),
            "bs" | "blocksize" => {
                job.sizes = directions(value, |text| parse_size_bytes(text).map(|bytes| bytes.to_string()))
                    .ok_or_else(|| refused(*line, format!("{key}={value}: sizes such as 4k or 4k,64k are expected")))?
            }
            "bsrange" | "blocksize_range" => {
                let range = |text: &str| {
                    let (min, max) = text.split_once('-')?;
                    let (min, max) = (parse_size_bytes(min)?, parse_size_bytes(max)?);
                    if min == 0 || max < min {
                        return None;
                    }
                    Some(format!(
                        "{{ distribution = \"uniform\", min = {min}, max = {max}, grain = {} }}",
                        quoted(&format!("{}B", min.max(512)))
                    ))
                };
                job.sizes =
                    directions(value, range).ok_or_else(|| refused(*line, format!("{key}={value}: a range such as 4k-64k is expected")))?;
            }
            "bssplit" => {
                job.sizes = directions(value, split_sizes)
                    .ok_or_else(|| refused(*line, format!("{key}={value}: sizes and percent such as 4k/60:64k/40 are expected")))?
            }
            "iodepth" => job.depth = number("a whole number")?.max(1),
            "numjobs" => job.jobs = number("a whole number")?.max(1),
            "ioengine" => {
                job.asynchronous = matches!(
                    value.as_str(),
                    "libaio" | "io_uring" | "io_uring_cmd" | "posixaio" | "windowsaio" | "solarisaio" | "nvme" | "spdk" | "xnvme"
                )
            }
            "rate_iops" => job.rate_iops = Some(number("requests per second")?.max(1)),
            "rate" | "rate_min" | "rate_iops_min" => return Err(refused(*line, format!("{key}: only rate_iops can be taken over"))),
            // A number without a unit counts microseconds.
            "thinktime" => job.think = Some(if value.bytes().all(|c| c.is_ascii_digit()) { format!("{value}us") } else { time()? }),
            "size" | "filesize" if value.ends_with('%') => {
                notes.push(format!("{key}={value} of job {name} is a share of a file: the whole array is used"))
            }
            // To fio a size of 0 is the whole file.
            "size" | "filesize" => job.span = Some(size()?).filter(|bytes| *bytes > 0),
            "io_size" | "io_limit" => job.amount = Some(size()?),
            "number_ios" => job.requests = Some(number("a whole number")?),
            "runtime" | "timeout" => job.runtime = Some(time()?),
            "percentage_random" => job.sequential_percent = Some(100 - number("a share in percent")?.min(100)),
            "random_distribution" => job.distribution = Some((*line, value.clone())),
            "read_iolog" => job.trace = Some(value.clone()),
            "filename" | "directory" => {
                notes.push(format!("{key}={value} of job {name} is left out: requests go to the array, from its beginning"))
            }
            "offset" | "offset_increment" => {
                notes.push(format!("{key}={value} of job {name} is left out: requests go to the array from its beginning"))
            }
            "fsync" | "fdatasync" => notes.push(format!("{key}={value} of job {name} is left out: data are durable when a write is done")),
            key if WITHOUT_EFFECT.contains(&key) => {
                if matches!(key, "stonewall" | "wait_for_previous") {
                    notes.push(format!("{key} of job {name} is left out: its stream begins with all others"));
                }
            }
            key => notes.push(format!("{key}={value} of job {name} is not known here and left out")),
        }
    }
    written(name, job, notes)
}

/// Splits a value `READ[,WRITE[,TRIM]]` into its parts, converted to TOML texts by `read`.
fn directions(value: &str, read: impl Fn(&str) -> Option<String>) -> Option<[Option<String>; 2]> {
    let mut parts = value.split(',').map(str::trim);
    let first = read(parts.next()?)?;
    let second = match parts.next() {
        Some("") | None => None,
        Some(text) => Some(read(text)?),
    };
    Some([Some(first), second])
}

/// Reads sizes with shares, written as `SIZE/PERCENT:SIZE/PERCENT`.
fn split_sizes(value: &str) -> Option<String> {
    let parts: Option<Vec<(u64, Option<u64>)>> = value
        .split(':')
        .map(|part| match part.split_once('/') {
            Some((size, "")) => Some((parse_size_bytes(size)?, None)),
            Some((size, percent)) => Some((parse_size_bytes(size)?, Some(percent.trim_end_matches('%').parse().ok()?))),
            None => Some((parse_size_bytes(part)?, None)),
        })
        .collect();
    let parts = parts?;
    // Sizes without a share divide the rest equally.
    let (given, open) = (parts.iter().filter_map(|part| part.1).sum::<u64>(), parts.iter().filter(|part| part.1.is_none()).count() as f64);
    let weight = |share: Option<u64>| share.map_or_else(|| 100u64.saturating_sub(given) as f64 / open, |share| share as f64);
    let sizes: Vec<String> =
        parts.iter().filter(|part| weight(part.1) > 0.0).map(|(size, share)| format!("[{size}, {}]", weight(*share))).collect();
    (!sizes.is_empty()).then(|| format!("{{ distribution = \"weighted\", sizes = [{}] }}", sizes.join(", ")))
}

fn written(name: &str, job: Job, notes: &mut Vec<String>) -> Result<Stream, ImportError> {
    let mut stream = Stream { name: name.to_owned(), ..Stream::default() };
    if let Some(trace) = &job.trace {
        stream.set("kind", quoted("trace"));
        stream.set("path", quoted(trace));
        return Ok(stream);
    }
    stream.set("kind", quoted("synthetic"));
    let (kind, after) = job.direction.split_once(':').unwrap_or((job.direction.as_str(), ""));
    let (reads, sequential) = match kind {
        "read" => ("1.0".to_owned(), true),
        "write" => ("0.0".to_owned(), true),
        "randread" => ("1.0".to_owned(), false),
        "randwrite" => ("0.0".to_owned(), false),
        "rw" | "readwrite" => (percent(job.read_percent), true),
        "randrw" => (percent(job.read_percent), false),
        other => {
            return Err(ImportError::WholeFile(format!(
                "job {name}: rw={other}: read, write, rw, randread, randwrite, randrw can be taken over"
            )));
        }
    };
    if !after.is_empty() {
        notes.push(format!("rw={} of job {name}: the part after the colon is left out", job.direction));
    }
    stream.set("read_fraction", reads.clone());
    match &job.sizes {
        [None, _] => stream.set("size", "4096"),
        [Some(size), None] => stream.set("size", size.clone()),
        [Some(read), Some(write)] => {
            stream.set("read_size", read.clone());
            stream.set("write_size", write.clone());
        }
    }
    stream.set("sequential_fraction", if sequential { "1.0".to_owned() } else { percent(job.sequential_percent.unwrap_or(0)) });
    if sequential && job.jobs > 1 {
        notes.push(format!("the {} jobs of {name} share one sequential stream: each had its own", job.jobs));
    }
    if !job.asynchronous && job.depth > 1 {
        notes.push(format!("iodepth={} of job {name} has no effect with a synchronous ioengine: 1 at a time", job.depth));
    }
    let depth = if job.asynchronous { job.depth } else { 1 };
    stream.is_closed = job.rate_iops.is_none();
    match job.rate_iops {
        Some(rate) => {
            if job.think.is_some() {
                notes.push(format!("thinktime of job {name} is left out: rate_iops says when requests come"));
            }
            stream.set("arrivals", format!("{{ process = \"fixed\", gap = \"{}/s\" }}", rate.saturating_mul(job.jobs)));
        }
        None => {
            let think = job.think.map_or(String::new(), |think| format!(", think = {}", quoted(&think)));
            stream.set("arrivals", format!("{{ process = \"closed\", depth = {}{think} }}", depth.saturating_mul(job.jobs)));
        }
    }
    let mut address: Vec<String> = Vec::new();
    if let Some((line, distribution)) = &job.distribution {
        let mut parts = distribution.split(':');
        match (parts.next().unwrap_or(""), parts.next()) {
            ("random", _) => {}
            ("zipf", theta) => {
                address.push(format!("pattern = \"zipf\", exponent = {}, scatter = true", number(theta.unwrap_or("1.2"), *line)?))
            }
            (other, _) => return Err(refused(*line, format!("random_distribution={other}: random and zipf can be taken over"))),
        }
    }
    if let Some(span) = job.span {
        address.push(format!("footprint = \"at most {span}B\""));
    }
    if !address.is_empty() {
        stream.set("address", format!("{{ {} }}", address.join(", ")));
    }
    let first_size = job.sizes[0].as_deref().and_then(|size| size.parse::<u64>().ok()).unwrap_or(4096).max(1);
    // A job ends when it has moved as many bytes as its size, unless an option says otherwise.
    let by_amount = job.requests.or_else(|| job.amount.or(job.span.filter(|_| job.runtime.is_none())).map(|amount| amount / first_size));
    if let Some(requests) = by_amount.filter(|requests| *requests > 0) {
        stream.set("limit", requests.saturating_mul(job.jobs).to_string());
    }
    if let Some(runtime) = job.runtime {
        match by_amount {
            // A stream can have only one limit.
            Some(_) => notes.push(format!("runtime={runtime} of job {name} is left out: it ends after its requests")),
            None => stream.set("limit", quoted(&runtime)),
        }
    }
    Ok(stream)
}

fn percent(share: u64) -> String {
    format!("\"{share}%\"")
}

fn number(text: &str, line: usize) -> Result<f64, ImportError> {
    text.parse::<f64>()
        .ok()
        .filter(|number| number.is_finite() && *number >= 0.0)
        .ok_or_else(|| refused(line, format!("{text}: a number is expected")))
}

#[cfg(test)]
mod tests {
    use super::super::import_fio_or_mqsim;

    #[test]
    fn a_job_is_a_closed_loop_unless_it_has_a_rate() {
        let text = "; a comment\n[global]\nioengine=libaio\niodepth=32\ndirect=1\nbs=4k\n[mixed]\nrw=randrw\nrwmixread=70\nnumjobs=2\nsize=1g\nruntime=60\ntime_based\n";
        let imported = import_fio_or_mqsim(text, None).unwrap();
        assert_eq!(
            imported.toml,
            "[workload]\nkind = \"synthetic\"\nread_fraction = \"70%\"\nsize = 4096\nsequential_fraction = \"0%\"\n\
             arrivals = { process = \"closed\", depth = 64 }\naddress = { footprint = \"at most 1073741824B\" }\nlimit = \"60s\"\n"
        );
        assert!(imported.notes.is_empty());
    }

    #[test]
    fn jobs_with_rates_are_a_mix() {
        let text =
            "[global]\nrw=randread\nrate_iops=500\nsize=64m\n[a]\nbssplit=4k/60:64k/40\n[b]\nrw=write\nbs=8k,16k\nfilename=/dev/x\nodd=1\n";
        let imported = import_fio_or_mqsim(text, None).unwrap();
        assert!(imported.toml.contains("kind = \"mix\"") && imported.toml.matches("[[workload.streams]]").count() == 2);
        assert!(
            imported.toml.contains("sizes = [[4096, 60], [65536, 40]]") && imported.toml.contains("write_size = 16384"),
            "{}",
            imported.toml
        );
        assert!(imported.toml.contains("gap = \"500/s\""));
        assert_eq!(imported.notes.len(), 2, "{:?}", imported.notes);
        assert_eq!(import_fio_or_mqsim(text, Some("a")).unwrap().toml.matches("sizes").count(), 1);
    }

    #[test]
    fn what_cannot_be_expressed_is_refused() {
        let reason = |text: &str| import_fio_or_mqsim(text, None).unwrap_err().to_string();
        assert!(reason("[a]\nrw=randtrim\n").contains("rw=randtrim"));
        assert!(reason("[a]\nrw=read\nrate=1m\n").contains("line 3: rate"));
        assert!(reason("[a]\nbs=x\n").contains("line 2"));
        assert!(reason("[a]\nrw=read\n[b]\nrw=write\n").contains("--part"));
        assert!(import_fio_or_mqsim("[a]\n", Some("z")).unwrap_err().to_string().contains("there are a"));
    }
}
