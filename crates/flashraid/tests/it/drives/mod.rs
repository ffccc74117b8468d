//! Drives with superblocks (section 24 of the rules): a second, plain implementation, and the model held against it on random cases.

mod agreement;
mod arrays;
mod reference;

/// Drives small enough that a short load fills them several times.
pub const DRIVES: &str = r#"
[array]
members = 4
[ssd]
preset = "nvme-gen5"
scale = 1
[ssd.channel]
dies_per_channel = 2
[ssd.geometry]
dies = 2
planes = 2
blocks = 40
pages = 72
reserved = 0.5
[coordination]
check_interval = "200us"
idle_threshold = "100us"
[cache]
size = "96KiB"
[workload]
requests = 1500
read_fraction = 0.3
arrivals = { process = "poisson", mean_gap = "400us" }
size = { distribution = "exponential", mean = "32KiB", grain = "page" }
"#;
