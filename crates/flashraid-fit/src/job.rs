//! A job of fio as far as it is simulated: a closed loop of reads and writes.

use flashraid::workload::import::fio_size_bytes;
use serde_json::{Map, Value};

/// A closed loop of requests of one size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Name of the job, unique among the results.
    pub name: String,
    /// Share of reads, in percent.
    pub read_percent: u8,
    /// True if each request starts where the one before ended, false if requests start anywhere.
    pub is_sequential: bool,
    /// Number of bytes in a request, at least 512.
    pub size_bytes: u64,
    /// Number of outstanding requests, over all processes of the job; at least 1.
    pub depth: u64,
}

/// Engines of fio that know one request at a time, whatever `iodepth` says.
const SYNCHRONOUS: &[&str] = &["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"];

/// Options that make a job something else than a closed loop over all addresses, each with the value that has no effect.
const UNKNOWN_TO_US: &[(&str, &str)] = &[
    ("rate", "0"),
    ("rate_iops", "0"),
    ("rate_min", "0"),
    ("thinktime", "0"),
    ("bsrange", ""),
    ("bssplit", ""),
    ("random_distribution", "random"),
    ("percentage_random", "100"),
    ("zonemode", "none"),
    ("zonesize", "0"),
    ("iodepth_batch_complete_min", "1"),
];

impl Job {
    /// Returns the job with these options of fio.
    ///
    /// # Errors
    /// Why it can't be simulated.
    pub fn from_options(name: &str, options: &Map<String, Value>) -> Result<Job, String> {
        let text = |key: &str| options.get(key).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        for (key, harmless) in UNKNOWN_TO_US {
            if let Some(value) = text(key).filter(|value| value != harmless) {
                return Err(format!("{key}={value} can't be simulated: closed loops of one size over all addresses are expected"));
            }
        }
        let rw = text("rw").or_else(|| text("readwrite")).unwrap_or_else(|| "read".to_owned());
        let mix = match text("rwmixwrite") {
            Some(percent) => 100 - percentage("rwmixwrite", &percent)?,
            None => text("rwmixread").map_or(Ok(50), |percent| percentage("rwmixread", &percent))?,
        };
        let (read_percent, is_sequential) = match rw.as_str() {
            "read" => (100, true),
            "write" => (0, true),
            "randread" => (100, false),
            "randwrite" => (0, false),
            "randrw" => (mix, false),
            "rw" | "readwrite" => (mix, true),
            _ => return Err(format!("rw={rw} can't be simulated; read, write, randread, randwrite, rw and randrw can")),
        };
        let size = text("bs").or_else(|| text("blocksize")).unwrap_or_else(|| "4k".to_owned());
        let mut sizes = size.split(',').filter(|part| !part.is_empty()).map(fio_size_bytes);
        let size_bytes = sizes.next().flatten().filter(|size| (512..=1 << 30).contains(size));
        let Some(size_bytes) = size_bytes.filter(|first| sizes.all(|other| other == Some(*first))) else {
            return Err(format!("bs={size} can't be simulated: one size from 512 bytes to 1 GiB is expected"));
        };
        let count = |key: &str| match text(key) {
            None => Ok(1),
            Some(number) => number
                .parse::<u64>()
                .ok()
                .filter(|count| (1..=1 << 20).contains(count))
                .ok_or_else(|| format!("{key}={number}: a number from 1 to 1048576 is expected")),
        };
        let own = if text("ioengine").is_some_and(|engine| SYNCHRONOUS.contains(&engine.as_str())) { 1 } else { count("iodepth")? };
        let depth = own * count("numjobs")?;
        Ok(Job { name: name.to_owned(), read_percent, is_sequential, size_bytes, depth })
    }

    /// Returns true if there are reads among its requests.
    pub fn reads(&self) -> bool {
        self.read_percent > 0
    }

    /// Returns true if there are writes among its requests.
    pub fn writes(&self) -> bool {
        self.read_percent < 100
    }

    /// Returns true if the job begins on a drive that random writes have worn in. Other jobs begin on a drive that was filled in order.
    pub fn begins_worn_in(&self) -> bool {
        self.writes() && !self.is_sequential
    }
}

fn percentage(key: &str, text: &str) -> Result<u8, String> {
    text.parse().ok().filter(|percent| *percent <= 100).ok_or_else(|| format!("{key}={text}: a percentage from 0 to 100 is expected"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn job(options: Value) -> Result<Job, String> {
        Job::from_options("j", options.as_object().unwrap())
    }

    #[test]
    fn options_are_a_closed_loop() {
        let made = job(json!({"rw": "randrw", "rwmixread": "70", "bs": "4k", "iodepth": "32", "numjobs": "8"})).unwrap();
        assert_eq!(made, Job { name: "j".to_owned(), read_percent: 70, is_sequential: false, size_bytes: 4096, depth: 256 });
        assert!(made.reads() && made.writes() && made.begins_worn_in());
        let made = job(json!({"rw": "write", "bs": "128KiB,128k", "rwmixwrite": "20"})).unwrap();
        assert_eq!((made.read_percent, made.is_sequential, made.size_bytes, made.depth), (0, true, 131_072, 1));
        assert!(!made.begins_worn_in());
        assert_eq!(job(json!({"rw": "randrw", "rwmixwrite": "20"})).unwrap().read_percent, 80);
        let synchronous = json!({"rw": "randread", "ioengine": "psync", "iodepth": "32", "numjobs": "2"});
        assert_eq!(job(synchronous).unwrap().depth, 2, "one request at a time in each process");
    }

    #[test]
    fn what_is_no_closed_loop_of_one_size_is_refused() {
        for (options, named) in [
            (json!({"rw": "randtrim"}), "rw=randtrim"),
            (json!({"bs": "4k,8k"}), "bs=4k,8k"),
            (json!({"bs": "x"}), "bs=x"),
            (json!({"rate_iops": "100"}), "rate_iops=100"),
            (json!({"iodepth": "0"}), "iodepth=0"),
            (json!({"rw": "randrw", "rwmixread": "101"}), "rwmixread=101"),
        ] {
            let reason = job(options).unwrap_err();
            assert!(reason.contains(named), "{reason}");
        }
    }
}
