//! Random configurations of small arrays, sensible and wild, and random damage.

use std::fmt::Display;

/// Random choices that follow from a number.
pub struct Draw {
    state: u64,
}

impl Draw {
    pub fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x6a09_e667_f3bc_c908 }
    }

    /// Returns the next number of SplitMix64.
    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.state;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// Returns a number from `low` to `high`, each equally likely.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + ((u128::from(self.next()) * u128::from(high - low + 1)) >> 64) as u64
    }

    pub fn chance(&mut self, percent: u64) -> bool {
        self.between(0, 99) < percent
    }

    pub fn one_of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.between(0, choices.len() as u64 - 1) as usize]
    }

    /// A configuration: every fourth one with a value or two that nobody would write.
    pub fn configuration(&mut self) -> String {
        let mut keys = self.sensible_keys();
        if self.chance(25) {
            for _ in 0..self.between(1, 2) {
                let key = self.one_of(&WILD_KEYS);
                let value = self.one_of(&WILD_VALUES);
                keys.retain(|line| !line.starts_with(&format!("{key} =")));
                keys.push(format!("{key} = {value}\n"));
            }
        }
        keys.concat()
    }

    /// The lines of a configuration with usual values.
    pub fn sensible_keys(&mut self) -> Vec<String> {
        let mut keys = Vec::new();
        let mut put = |key: &str, value: &dyn Display| keys.push(format!("{key} = {value}\n"));
        let level = self.one_of(&["single", "raid0", "raid0", "raid1", "raid10", "raid4", "raid5", "raid5", "raid6"]);
        let members = match level {
            "single" => 1,
            "raid10" => 2 * self.between(1, 3),
            "raid0" => self.between(1, 6),
            "raid1" => self.between(2, 4),
            _ => self.between(4, 6),
        };
        put("seed", &self.between(1, 1 << 40));
        put("array.level", &format!("\"{level}\""));
        put("array.members", &members);
        put("array.stripe_unit", &format!("\"{}KiB\"", 4 << self.between(0, 3)));
        put("ssd.geometry.dies", &self.between(1, 4));
        let planes = self.between(1, 3);
        put("ssd.geometry.planes", &planes);
        put("ssd.geometry.blocks", &self.between(32, 96));
        put("ssd.geometry.pages", &self.between(4, 24));
        put("ssd.geometry.reserved", &format!("0.{}", self.between(15, 45)));
        put("ssd.gc.start", &format!("0.0{}", self.between(3, 9)));
        let pool = self.one_of(&["plane", "die"]);
        put("ssd.gc.pool", &format!("\"{pool}\""));
        put(
            "ssd.gc.victim",
            &format!("\"{}\"", self.one_of(&["greedy", "greedy-wear-aware", "cost-benefit", "d-choices", "fifo", "random"])),
        );
        put("ssd.gc.preemption", &format!("\"{}\"", self.one_of(&["none", "none", "semi", "suspend"])));
        put("ssd.gc.pipeline", &self.one_of(&["false", "false", "true", "\"in-flight\""]));
        put("ssd.gc.merge", &self.chance(30));
        put("ssd.gc.separate_open_block", &self.chance(30));
        put("ssd.gc.copy_back", &self.chance(60));
        put("ssd.gc.trigger", &format!("\"{}\"", self.one_of(&["request", "write"])));
        if pool == "plane" && self.chance(25) {
            put("ssd.gc.blocking", &"\"plane\"");
        }
        if self.chance(20) {
            put("ssd.allocation", &"\"dynamic\"");
        }
        if self.chance(20) {
            put("ssd.link", &"\"300MB/s\"");
        }
        let schemes = [
            "local",
            "local",
            "reactive-inclusive",
            "reactive-selective",
            "proactive-idle",
            "proactive-soft-limit",
            "stagger",
            "windows",
            "rotate",
            "ideal",
        ];
        put("coordination.scheme", &format!("\"{}\"", self.one_of(&schemes)));
        put("cache.policy", &format!("\"{}\"", self.one_of(&["none", "none", "none", "wow", "stow", "iwc", "iwc-sync", "lawc"])));
        put("ssd.warm_up.overwrites", &format!("{}.5", self.between(0, 2)));
        put("workload.kind", &"\"synthetic\"");
        put("workload.requests", &self.between(1, 1500));
        put("workload.read_fraction", &format!("0.{}", self.between(0, 9)));
        put("workload.size", &format!("\"{}KiB\"", 4 * self.between(1, 8)));
        let gap = self.between(50, 5000);
        let arrivals = match self.between(0, 3) {
            0 => format!("{{ process = \"closed\", depth = {} }}", self.between(1, 40)),
            1 => format!("{{ process = \"fixed\", gap = \"{gap}us\" }}"),
            2 => format!("{{ process = \"bursts\", mean_gap = \"{gap}us\", factor = 4.0, burst_requests = 16 }}"),
            _ => format!("{{ process = \"poisson\", mean_gap = \"{gap}us\" }}"),
        };
        put("workload.arrivals", &arrivals);
        if self.chance(30) {
            put("report.skip_requests", &self.between(0, 2000));
        }
        if members > 2 && matches!(level, "raid1" | "raid10" | "raid5" | "raid6") && self.chance(25) {
            put("array.failure", &format!("{{ member = {}, at = \"{}ms\" }}", self.between(0, members - 1), self.between(0, 500)));
            if self.chance(60) {
                put("array.rebuild", &format!("{{ rate = \"{}MB/s\", in_flight = {} }}", self.between(1, 200), self.between(1, 4)));
            }
        }
        if self.chance(15) {
            let what = ["factor = 10.0, share = 0.1", "add = \"1ms\"", "stall = \"5ms\", every = \"50ms\""][self.between(0, 2) as usize];
            put("array.slow", &format!("{{ member = {}, {what} }}", self.between(0, members - 1)));
        }
        keys
    }

    /// A fio job file: some options have values that nobody would write.
    pub fn job(&mut self) -> String {
        let mut text = format!("[job{}]\n", self.between(0, 9));
        for _ in 0..self.between(1, 9) {
            let option = self.one_of(&JOB_OPTIONS);
            let value = if self.chance(60) { self.one_of(&JOB_VALUES) } else { self.one_of(&WILD_JOB_VALUES) };
            text += &format!("{option}={value}\n");
        }
        text
    }

    /// Changes some bytes, takes some out, doubles some, or cuts the end off.
    pub fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..self.between(1, 6) {
            if bytes.is_empty() {
                return;
            }
            let at = self.between(0, bytes.len() as u64 - 1) as usize;
            let end = (at + self.between(1, 20) as usize).min(bytes.len());
            match self.between(0, 5) {
                0 => bytes[at] = self.next() as u8,
                1 => bytes[at] ^= 1 << self.between(0, 7),
                2 => drop(bytes.drain(at..end)),
                3 => bytes.truncate(at),
                4 => {
                    let part = bytes[at..end].to_vec();
                    bytes.splice(at..at, part);
                }
                _ => {
                    let number = self.one_of(&["-1", "18446744073709551615", "1e300", "0", "nan", ",", "\n", "\0", "99999999999999999999"]);
                    bytes.splice(at..end, number.bytes());
                }
            }
        }
    }
}

const JOB_OPTIONS: [&str; 17] = [
    "rw",
    "bs",
    "bsrange",
    "bssplit",
    "iodepth",
    "numjobs",
    "ioengine",
    "rate_iops",
    "thinktime",
    "size",
    "io_size",
    "number_ios",
    "runtime",
    "percentage_random",
    "random_distribution",
    "rwmixread",
    "no_such_option",
];

const JOB_VALUES: [&str; 14] =
    ["randread", "randrw", "write", "4k", "4k,64k", "4k-64k", "4k/60:64k/40", "16", "libaio", "500", "100us", "1g", "30s", "zipf:1.2"];

const WILD_JOB_VALUES: [&str; 16] = [
    "0",
    "-1",
    "0-4k",
    "64k-4k",
    "9999999999999999999",
    "99999999999999999999999999",
    "zipf:99",
    "zipf:-1",
    "zipf:nan",
    "\u{1b}[31m",
    "a\tb",
    "\"",
    "\\",
    "4k/0:64k/0",
    "1t",
    "",
];

/// Keys whose values may be anything without much memory or time.
const WILD_KEYS: [&str; 22] = [
    "ssd.timing.page_read",
    "ssd.timing.page_program",
    "ssd.timing.block_erase",
    "ssd.timing.command_overhead",
    "ssd.timing.transfer_per_byte",
    "ssd.timing.spare_bytes_per_sector",
    "ssd.gc.poll",
    "ssd.gc.t_hard",
    "ssd.gc.suspend_ns",
    "ssd.gc.resume_ns",
    "ssd.gc.suspensions_max",
    "ssd.gc.stop",
    "ssd.endurance",
    "ssd.die_stride",
    "report.skip_time",
    "report.gc_slice",
    "report.bandwidth_interval",
    "workload.rate_scale",
    "workload.size_scale",
    "workload.start",
    "workload.limit",
    "cache.sync_timeout",
];

const WILD_VALUES: [&str; 24] = [
    "0",
    "1",
    "-1",
    "1.0",
    "1e3",
    "1e99",
    "-0.0",
    "9223372036854775807",
    "4294967296",
    "true",
    "[]",
    "{}",
    "\"\"",
    "\"0ns\"",
    "\"1ns\"",
    "\"1h\"",
    "\"3600s\"",
    "\"40000d\"",
    "\"1000000h\"",
    "\"99999999999999999999h\"",
    "\"1B/s\"",
    "\"start+1000000\"",
    "0.000001",
    "\"\\u001b[31m\"",
];
