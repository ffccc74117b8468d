//! The sets of fio jobs that measure a drive.

use std::fmt;
use std::str::FromStr;

use crate::filename::{self, Filename};
use crate::job::Job;

/// Part of the names of jobs that only bring the drive into a state.
pub const PREPARING: &str = "prepare";

/// A list of jobs for a purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Set {
    /// The measurements that `fit` needs.
    Fit,
    /// The measurement of GGC, section 3: bandwidth in each second under large random requests.
    Ggc,
    /// Only reads, for drives in use: response times at a few depths, with their percentiles.
    Gentle,
}

impl Set {
    /// All sets of jobs.
    pub const ALL: [Set; 3] = [Set::Fit, Set::Ggc, Set::Gentle];

    /// Sets that overwrite the drive that they measure.
    pub const WRITING: [Set; 2] = [Set::Fit, Set::Ggc];

    /// Returns the name that users write.
    pub fn name(self) -> &'static str {
        match self {
            Set::Fit => "fit",
            Set::Ggc => "ggc",
            Set::Gentle => "gentle",
        }
    }

    /// Returns the default time of a measured job, in seconds.
    pub fn seconds(self) -> u64 {
        match self {
            Set::Fit | Set::Gentle => 60,
            Set::Ggc => 300,
        }
    }
}

impl fmt::Display for Set {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Set {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Set::ALL.into_iter().find(|set| set.name() == text).ok_or_else(|| {
            let names = Set::ALL.map(Set::name).join(", ");
            format!("{text} is none of {names}")
        })
    }
}

/// Settings for which jobs are made.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// Size of the file or device, in bytes.
    pub target_bytes: u64,
    /// Time of each measured job, in seconds; at least 1.
    pub seconds: u64,
    /// Bytes written at random before random writes are measured, as a multiple of the size; 0 or more.
    pub overwrites: f64,
    /// I/O engine of fio (`ioengine`).
    pub engine: String,
    /// True to bypass the cache of the operating system.
    pub is_direct: bool,
    /// True if fio may write to a mounted device.
    pub is_mounted: bool,
    /// True if fio must refuse every write.
    pub reads_only: bool,
}

/// A job for fio.
#[derive(Debug, Clone, PartialEq)]
pub struct ProbeJob {
    /// Name of the job and of its files. It begins with its place in the order.
    pub name: String,
    /// Options of the job.
    pub options: Vec<(&'static str, String)>,
    /// Length of the job.
    pub length: Length,
}

/// Length of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// The job takes this number of seconds, with the ramp.
    Seconds(u64),
    /// The job ends when this number of bytes is written.
    Bytes(u64),
}

/// Returns the options of fio for a closed loop.
fn closed_loop(rw: &str, size: &str, depth: u64) -> Vec<(&'static str, String)> {
    // One process does not keep a fast drive busy; sequential ones would each go their own way.
    let processes = match depth {
        _ if !rw.starts_with("rand") => 1,
        128.. => 8,
        16.. => 4,
        _ => 1,
    };
    vec![("rw", rw.to_owned()), ("bs", size.to_owned()), ("iodepth", (depth / processes).to_string()), ("numjobs", processes.to_string())]
}

/// Returns the jobs of a set, in order.
pub fn jobs(set: Set, setup: &Setup) -> Vec<ProbeJob> {
    match set {
        Set::Fit => fit_jobs(setup),
        Set::Ggc => ggc_jobs(setup),
        Set::Gentle => gentle_jobs(setup),
    }
}

struct List<'a> {
    setup: &'a Setup,
    jobs: Vec<ProbeJob>,
}

impl List<'_> {
    fn prepare(&mut self, name: &str, mut options: Vec<(&'static str, String)>, bytes: u64) {
        let processes = options.iter().find(|(key, _)| *key == "numjobs").and_then(|(_, number)| number.parse().ok()).unwrap_or(1_u64);
        options.push(("io_size", (bytes / processes).max(1 << 20).to_string()));
        self.push(format!("{PREPARING}-{name}"), options, Length::Bytes(bytes));
    }

    fn measure(&mut self, name: String, mut options: Vec<(&'static str, String)>) {
        let (run, ramp) = (self.setup.seconds, self.setup.seconds / 6);
        let timed = [("time_based", "1".to_owned()), ("runtime", run.to_string()), ("ramp_time", ramp.to_string())];
        options.extend(timed);
        self.push(name, options, Length::Seconds(run + ramp));
    }

    fn push(&mut self, name: String, options: Vec<(&'static str, String)>, length: Length) {
        self.jobs.push(ProbeJob { name: format!("{:02}-{name}", self.jobs.len()), options, length });
    }
}

fn fit_jobs(setup: &Setup) -> Vec<ProbeJob> {
    let mut list = List { setup, jobs: Vec::new() };
    list.prepare("fill", closed_loop("write", "128k", 32), setup.target_bytes);
    for rw in ["write", "read"] {
        list.measure(format!("{rw}-128k-q32"), closed_loop(rw, "128k", 32));
    }
    for depth in [1, 2, 4, 8, 16, 24, 32, 64, 128, 256] {
        list.measure(format!("randread-4k-q{depth}"), closed_loop("randread", "4k", depth));
    }
    let overwritten = (setup.overwrites * setup.target_bytes as f64) as u64;
    if overwritten > 0 {
        list.prepare("overwrite", closed_loop("randwrite", "4k", 128), overwritten);
    }
    for depth in [128, 1] {
        list.measure(format!("randwrite-4k-q{depth}"), closed_loop("randwrite", "4k", depth));
    }
    for (percent, depth) in [(70, 32), (70, 256), (50, 64)] {
        let mut options = closed_loop("randrw", "4k", depth);
        options.push(("rwmixread", percent.to_string()));
        list.measure(format!("randrw{percent}-4k-q{depth}"), options);
    }
    list.jobs
}

/// Percentiles that fio must print: those in which drives are published, and enough others to draw the curve.
const PERCENTILES: &str = "1:10:30:50:60:90:95:99:99.9:99.95:99.99:99.999";

fn gentle_jobs(setup: &Setup) -> Vec<ProbeJob> {
    let mut list = List { setup, jobs: Vec::new() };
    let loops = [("randread", "4k", 1), ("randread", "4k", 16), ("randread", "4k", 32), ("read", "128k", 32)];
    for (rw, size, depth) in loops {
        let mut options = closed_loop(rw, size, depth);
        let name = format!("{rw}-{size}-q{depth}");
        let log = format!("{:02}-{name}", list.jobs.len());
        options.extend([
            ("percentile_list", PERCENTILES.to_owned()),
            // The mean response time of each second, of all processes together.
            ("log_avg_msec", "1000".to_owned()),
            ("per_job_logs", "0".to_owned()),
            ("write_lat_log", log),
        ]);
        list.measure(name, options);
    }
    list.jobs
}

/// Workloads of GGC Table 2, with their request sizes in KiB. They are 313 KB, 1.25 MB and 1.87 MB, rounded to 4 KiB, because some drives
/// have sectors of that size.
const GGC_WORKLOADS: [(&str, u64); 3] = [("w1", 312), ("w2", 1280), ("w3", 1916)];

fn ggc_jobs(setup: &Setup) -> Vec<ProbeJob> {
    let mut list = List { setup, jobs: Vec::new() };
    list.prepare("fill", closed_loop("write", "128k", 32), setup.target_bytes);
    for (workload, kib) in GGC_WORKLOADS {
        for writes in [80, 60, 40, 20] {
            let name = format!("{workload}-writes{writes}");
            // One process keeps the queue of 64, as the paper's program did.
            let options = vec![
                ("rw", "randrw".to_owned()),
                ("bs", format!("{kib}k")),
                ("rwmixwrite", writes.to_string()),
                ("iodepth", "64".to_owned()),
                ("numjobs", "1".to_owned()),
                ("sync", "1".to_owned()),
                ("log_avg_msec", "1000".to_owned()),
                ("write_bw_log", format!("{:02}-{name}", list.jobs.len())),
            ];
            list.measure(name, options);
        }
    }
    list.jobs
}

impl ProbeJob {
    /// Returns the text of the job file for a file or device.
    pub fn file(&self, setup: &Setup, target: &Filename) -> String {
        let mut global = vec![
            (filename::KEY, target.in_job_file()),
            ("ioengine", setup.engine.clone()),
            ("direct", u8::from(setup.is_direct).to_string()),
            // So that one process is all of fio.
            ("thread", "1".to_owned()),
            ("norandommap", "1".to_owned()),
            // Otherwise each job asks for the addresses of the one before, which the drive may still hold.
            ("randrepeat", "0".to_owned()),
            ("refill_buffers", "1".to_owned()),
            ("group_reporting", "1".to_owned()),
        ];
        if setup.is_mounted && !setup.reads_only {
            global.push(("allow_mounted_write", "1".to_owned()));
        }
        let lines = |options: &[(&str, String)]| options.iter().map(|(key, value)| format!("{key}={value}\n")).collect::<String>();
        format!("[global]\n{}\n[{}]\n{}", lines(&global), self.name, lines(&self.options))
    }

    /// Returns the job to simulate; `None` if it only prepares the drive.
    pub fn simulated(&self) -> Option<Job> {
        let options = self.options.iter().map(|(key, value)| ((*key).to_owned(), value.clone().into())).collect();
        Job::from_options(&self.name, &options).ok().filter(|_| !self.name.contains(PREPARING))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target() -> Filename {
        Filename::of(std::path::Path::new("/mnt/a:b")).unwrap()
    }

    fn setup() -> Setup {
        Setup {
            target_bytes: 1 << 30,
            seconds: 60,
            overwrites: 2.0,
            engine: "libaio".to_owned(),
            is_direct: true,
            is_mounted: false,
            reads_only: false,
        }
    }

    #[test]
    fn gentle_jobs_read_and_take_less_than_five_minutes() {
        let setup = Setup { seconds: Set::Gentle.seconds(), reads_only: true, is_mounted: true, ..setup() };
        let jobs = jobs(Set::Gentle, &setup);
        assert!(jobs.iter().all(|job| job.simulated().is_some_and(|job| !job.writes())), "{jobs:?}");
        let seconds: u64 = jobs.iter().map(|job| if let Length::Seconds(seconds) = job.length { seconds } else { u64::MAX }).sum();
        assert!(seconds <= 300, "{seconds}");
        let target = target();
        assert!(jobs.iter().all(|job| !job.file(&setup, &target).contains("allow_mounted_write")));
        assert!(!Set::WRITING.contains(&Set::Gentle));
    }

    #[test]
    fn jobs_are_what_their_names_say() {
        for set in Set::ALL {
            assert_eq!(set.name().parse(), Ok(set));
            let jobs = jobs(set, &setup());
            let measured: Vec<Job> = jobs.iter().filter_map(ProbeJob::simulated).collect();
            assert_eq!(measured.len() + jobs.iter().filter(|job| job.name.contains(PREPARING)).count(), jobs.len(), "{set}");
            for job in &measured {
                if let Some((_, depth)) = job.name.rsplit_once("-q") {
                    assert_eq!(job.depth.to_string(), depth, "{}: processes times depth", job.name);
                }
            }
        }
        let jobs = jobs(Set::Ggc, &setup());
        assert_eq!(jobs.len(), 13);
        assert_eq!(jobs[1].simulated().map(|job| (job.size_bytes, job.read_percent, job.depth)), Some((312 << 10, 20, 64)));
    }

    #[test]
    fn a_job_file_is_what_fio_reads() {
        let setup = setup();
        let jobs = jobs(Set::Fit, &setup);
        let target = target();
        let text = jobs[0].file(&setup, &target);
        assert!(text.starts_with("[global]\nfilename=/mnt/a\\:b\nioengine=libaio\ndirect=1\n"), "{text}");
        assert!(text.contains("\n[00-prepare-fill]\nrw=write\nbs=128k\niodepth=32\nnumjobs=1\nio_size=1073741824\n"), "{text}");
        let overwrite = jobs.iter().find(|job| job.name.ends_with("prepare-overwrite")).unwrap();
        assert!(overwrite.file(&setup, &target).contains("numjobs=8\nio_size=268435456\n"), "eight processes share the bytes");
        assert!(
            jobs.iter().all(|job| job.file(&setup, &target).contains("\nrandrepeat=0\n")),
            "jobs that repeat addresses measure a cache"
        );
        assert!(jobs[1].file(&setup, &target).contains("time_based=1\nruntime=60\nramp_time=10\n"));
        assert!(
            !text.contains("mounted") && jobs[0].file(&Setup { is_mounted: true, ..setup }, &target).contains("allow_mounted_write=1\n")
        );
    }
}
