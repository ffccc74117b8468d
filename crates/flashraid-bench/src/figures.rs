//! The figures of a bench, with the least time beside it that a simulator with these results can be believed to need.

use flashraid_model::ssd::MemberCounters;
use serde::Serialize;

/// Least times that can be believed, in nanoseconds of one core of the machine of docs/performance.md.
///
/// They count the work that every implementation with the same results has to do, with its waits for memory. They come from a profile and
/// from prototypes of each part.
pub(super) mod believable {
    /// Least time of a page of the host in the array.
    pub const ARRAY_NS: f64 = 90.0;
    /// Least time of a page of the host in the coordinated array.
    pub const COORDINATED_NS: f64 = 230.0;
    /// Least time of a request to the device.
    pub const DEVICE_NS: f64 = 270.0;
    /// Least time of a request to the device with semi-preemptive collection.
    pub const DEVICE_SEMI_NS: f64 = 430.0;
    /// Least time of a request to the simple NVMe drive.
    pub const NVME_NS: f64 = 1100.0;
    /// Least time of a request to the drive of today.
    pub const NVME_FULL_NS: f64 = 800.0;
}

/// The figures of `flashraid bench`; those of lines that were not asked for are left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct BenchReport {
    /// Large requests to eight SSDs in RAID-0, each of which collects on its own (GGC Table 8, write-dominated).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array: Option<ArraySpeed>,
    /// The work of `array` on two threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub array_threads: Option<ThreadsSpeed>,
    /// The work of `array` under reactive-inclusive coordination.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coordinated: Option<CoordinatedSpeed>,
    /// Random requests of a page to one simple NVMe drive, 70 % reads, closed loop of 64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvme: Option<NvmeSpeed>,
    /// The same load on a drive of today: a write buffer, superpages, incremental collection, a controller with cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nvme_full: Option<NvmeSpeed>,
    /// Requests of a page to eight small SSDs in RAID-5, half of them reads, at times of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parity: Option<Speed>,
    /// Random requests of a page to eight drives of today in RAID-5, 70 % reads, closed loop of 256.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parity_nvme: Option<RequestSpeed>,
    /// The work of `lawc` on a RAID-5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached: Option<Speed>,
    /// A comparison of six schemes on eight drives of today in RAID-5, from its start to its last report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerSpeed>,
    /// A grid of 64 small arrays on two workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub study: Option<StudySpeed>,
    /// Uniform random writes of a page to one SSD (PGC Table II), closed loop of 32.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceSpeed>,
    /// The work of `device` with semi-preemptive collection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_semi: Option<SemiSpeed>,
    /// Uniform random writes of a page to the SSD of `device`, at times of their own, out of a trace of text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceSpeed>,
    /// A mail server's requests to eight SSDs behind the write cache `lawc` (LAWC Tables 1 and 3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lawc: Option<Speed>,
    /// Filling the array and overwriting it twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<WarmUpSpeed>,
    /// The mapping and the collection of `device` without time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<FloorSpeed>,
    /// Resident memory of the array per physical page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_physical_page: Option<f64>,
    /// The most memory that the process has had resident, where the system tells.
    pub peak_rss_bytes: Option<u64>,
}

impl BenchReport {
    /// Sets the ratios between lines, where both were measured.
    pub(super) fn compare(&mut self) {
        let array = self.array.map(|array| array.speed.host_page_ops_per_s);
        let device = self.device.map(|device| device.requests_per_s);
        let over = |rate: f64, base: Option<f64>| base.map(|base| rate / base);
        if let Some(threads) = &mut self.array_threads {
            threads.over_one_thread = over(threads.host_page_ops_per_s, array);
        }
        if let Some(coordinated) = &mut self.coordinated {
            coordinated.over_array = over(coordinated.host_page_ops_per_s, array);
        }
        for nvme in [&mut self.nvme, &mut self.nvme_full].into_iter().flatten() {
            nvme.over_device = over(nvme.requests_per_s, device);
        }
        if let Some(semi) = &mut self.device_semi {
            semi.time_over_device = device.map(|device| device / semi.requests_per_s);
        }
        if let (Some(device), Some(floor)) = (&mut self.device, &self.floor) {
            device.time_over_floor = Some(floor.requests_per_s / device.requests_per_s);
        }
    }
}

/// A measured time beside the least that can be believed, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Time {
    /// Time that was measured, in nanoseconds.
    pub time_ns: f64,
    /// Least time that can be believed, on the machine of docs/performance.md.
    pub believable_floor_ns: f64,
}

/// Speed of an array with a write cache.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Speed {
    /// Pages read and programmed for the host, per second.
    pub host_page_ops_per_s: f64,
    /// All pages read and programmed, per second.
    pub flash_page_ops_per_s: f64,
    /// Number of requests per second.
    pub requests_per_s: f64,
}

impl Speed {
    pub(super) fn of(seconds: f64, totals: &MemberCounters, requests: u64) -> Self {
        Self {
            host_page_ops_per_s: totals.host_page_ops() as f64 / seconds,
            flash_page_ops_per_s: totals.flash_page_ops() as f64 / seconds,
            requests_per_s: requests as f64 / seconds,
        }
    }
}

/// Speed of an array.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ArraySpeed {
    /// Rates of pages and requests.
    #[serde(flatten)]
    pub speed: Speed,
    /// Time of a page of the host.
    #[serde(flatten)]
    pub time: Time,
}

impl ArraySpeed {
    pub(super) fn of(seconds: f64, totals: &MemberCounters, requests: u64) -> Self {
        let speed = Speed::of(seconds, totals, requests);
        Self { speed, time: Time { time_ns: 1e9 / speed.host_page_ops_per_s, believable_floor_ns: believable::ARRAY_NS } }
    }
}

/// Speed of an array on several threads.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ThreadsSpeed {
    /// Number of threads used.
    pub threads: usize,
    /// Pages read and programmed for the host, per second.
    pub host_page_ops_per_s: f64,
    /// The same as a multiple of that on one thread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_one_thread: Option<f64>,
}

/// Speed of a coordinated array.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CoordinatedSpeed {
    /// Pages read and programmed for the host, per second.
    pub host_page_ops_per_s: f64,
    /// Time of a page of the host.
    #[serde(flatten)]
    pub time: Time,
    /// The rate as a multiple of that of the array without coordination.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_array: Option<f64>,
}

impl CoordinatedSpeed {
    pub(super) fn of(seconds: f64, totals: &MemberCounters) -> Self {
        let host_page_ops_per_s = totals.host_page_ops() as f64 / seconds;
        let time = Time { time_ns: 1e9 / host_page_ops_per_s, believable_floor_ns: believable::COORDINATED_NS };
        Self { host_page_ops_per_s, time, over_array: None }
    }
}

/// Speed of an NVMe drive.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NvmeSpeed {
    /// Number of requests per second.
    pub requests_per_s: f64,
    /// Time of a request.
    #[serde(flatten)]
    pub time: Time,
    /// The rate as a multiple of that of the device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_device: Option<f64>,
}

impl NvmeSpeed {
    pub(super) fn of(seconds: f64, requests: u64, believable_floor_ns: f64) -> Self {
        let requests_per_s = requests as f64 / seconds;
        Self { requests_per_s, time: Time { time_ns: 1e9 / requests_per_s, believable_floor_ns }, over_device: None }
    }
}

/// Speed of a run from its start to its report.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RequestSpeed {
    /// Number of requests per second.
    pub requests_per_s: f64,
}

/// Time to an answer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AnswerSpeed {
    /// Seconds of processor time.
    pub seconds: f64,
}

/// Speed of a study.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StudySpeed {
    /// Points on two workers, per second.
    pub points_per_s: f64,
    /// The same as a multiple of that on one worker.
    pub over_one_worker: f64,
}

/// Speed of a device.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DeviceSpeed {
    /// Number of requests per second.
    pub requests_per_s: f64,
    /// All pages read and programmed, per second.
    pub flash_page_ops_per_s: f64,
    /// Time of a request.
    #[serde(flatten)]
    pub time: Time,
    /// The same as a multiple of the floor's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_over_floor: Option<f64>,
}

impl DeviceSpeed {
    pub(super) fn of(seconds: f64, totals: &MemberCounters, requests: u64) -> Self {
        let Speed { flash_page_ops_per_s, requests_per_s, .. } = Speed::of(seconds, totals, requests);
        let time = Time { time_ns: 1e9 / requests_per_s, believable_floor_ns: believable::DEVICE_NS };
        Self { requests_per_s, flash_page_ops_per_s, time, time_over_floor: None }
    }
}

/// Speed of a device with semi-preemptive collection.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SemiSpeed {
    /// Number of requests per second.
    pub requests_per_s: f64,
    /// Time of a request.
    #[serde(flatten)]
    pub time: Time,
    /// The same as a multiple of the device's without preemption.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_over_device: Option<f64>,
}

impl SemiSpeed {
    pub(super) fn of(seconds: f64, requests: u64) -> Self {
        let requests_per_s = requests as f64 / seconds;
        let time = Time { time_ns: 1e9 / requests_per_s, believable_floor_ns: believable::DEVICE_SEMI_NS };
        Self { requests_per_s, time, time_over_device: None }
    }
}

/// Speed of a run from a trace of text.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TraceSpeed {
    /// Requests per second, of reading and simulating together.
    pub requests_per_s: f64,
    /// Time of a request, as a multiple of that of the same requests out of the generator.
    pub time_over_generator: f64,
    /// Number of bytes of the text.
    pub bytes: u64,
}

/// Speed of the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WarmUpSpeed {
    /// Physical pages of the array.
    pub pages: u64,
    /// Time to fill it and to overwrite twice its capacity, on one thread.
    pub seconds: f64,
    /// The same on two threads.
    pub two_threads_seconds: f64,
}

/// Speed of the floor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct FloorSpeed {
    /// Number of requests per second.
    pub requests_per_s: f64,
}
