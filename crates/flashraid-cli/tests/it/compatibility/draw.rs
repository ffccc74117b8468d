//! Random configurations of small arrays, in the keys of the first version.

use std::fmt::{Display, Write};

/// The text of configuration `number`. It depends on nothing but that number: results of former programs are kept for these texts.
pub fn configuration(number: u64) -> String {
    let mut draw = Draw { state: number.wrapping_mul(0x2545_f491_4f6c_dd1d), keys: Vec::new() };
    draw.all(number);
    if draw.chance(50) { tables(&draw.keys) } else { dotted_keys(&draw.keys) }
}

/// `[ssd.geometry]`, then `elements = 2`.
fn tables(keys: &[(String, String)]) -> String {
    let mut tables: Vec<&str> = keys.iter().map(|(key, _)| table_of(key)).collect();
    tables.sort_unstable();
    tables.dedup();
    let mut text = String::new();
    for table in tables {
        if !table.is_empty() {
            writeln!(text, "\n[{table}]").unwrap();
        }
        for (key, value) in keys.iter().filter(|(key, _)| table_of(key) == table) {
            writeln!(text, "{} = {value}", key[table.len()..].trim_start_matches('.')).unwrap();
        }
    }
    text
}

fn table_of(key: &str) -> &str {
    key.rsplit_once('.').map_or("", |(table, _)| table)
}

/// `ssd.geometry.elements = 2`.
fn dotted_keys(keys: &[(String, String)]) -> String {
    keys.iter().map(|(key, value)| format!("{key} = {value}\n")).collect()
}

struct Draw {
    state: u64,
    keys: Vec<(String, String)>,
}

/// What must not meet in the first version.
#[derive(Clone, Copy, PartialEq)]
enum Engine {
    /// Channels, dynamic allocation, collections that hold a plane, the scheme `ideal`.
    Plain,
    /// Preemption, idle collection.
    Interruptible,
    /// Schemes of coordination, preemption.
    Coordinated,
    /// All at once; refused more often than not.
    Any,
}

/// What later keys have to fit in with.
struct Space {
    page_bytes: u64,
    members: u64,
    data_members: u64,
    /// Pages that the array exports, or somewhat fewer.
    pages: u64,
}

impl Draw {
    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.state;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// Uniform over `low..=high`.
    fn between(&mut self, low: u64, high: u64) -> u64 {
        let range = high - low + 1;
        low + ((u128::from(self.next()) * u128::from(range)) >> 64) as u64
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.between(0, 99) < percent
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.between(0, choices.len() as u64 - 1) as usize]
    }

    /// `low` times a power of two, up to `low << doublings`, and something added.
    fn log(&mut self, low: u64, doublings: u64) -> u64 {
        let base = low << self.between(0, doublings);
        self.between(base, 2 * base)
    }

    /// A share in thousandths, such as 0.25.
    fn share(&mut self, low: u64, high: u64) -> String {
        thousandths(self.between(low, high))
    }

    fn bool(&mut self) -> bool {
        self.chance(50)
    }

    fn put(&mut self, key: &str, value: impl Display) {
        self.keys.push((key.to_string(), value.to_string()));
    }

    fn text(&mut self, key: &str, value: impl Display) {
        self.put(key, format!("\"{value}\""));
    }

    fn text_of(&mut self, key: &str, choices: &[&str]) {
        let value = self.one_of(choices);
        self.text(key, value);
    }

    fn all(&mut self, number: u64) {
        self.put("seed", number + 1);
        let engine = match self.between(0, 99) {
            0..=31 => Engine::Plain,
            32..=61 => Engine::Interruptible,
            62..=95 => Engine::Coordinated,
            _ => Engine::Any,
        };
        let mut drawn = std::mem::take(&mut self.keys);
        let space = loop {
            self.keys.clear();
            let space = self.array_and_ssd(engine);
            if (64..=12_000).contains(&space.pages) {
                break space;
            }
        };
        drawn.append(&mut self.keys);
        self.keys = drawn;
        self.coordination(engine, space.members);
        if self.chance(30) {
            self.cache(&space);
        }
        self.workload(&space);
        self.report();
    }

    fn array_and_ssd(&mut self, engine: Engine) -> Space {
        let level = self.one_of(&["single", "raid0", "raid0", "raid0", "raid1", "raid10", "raid4", "raid5", "raid5", "raid6"]);
        let members = match level {
            "single" => 1,
            "raid0" => self.between(1, 6),
            "raid1" => self.between(2, 4),
            "raid10" => 2 * self.between(1, 3),
            "raid6" => self.between(4, 7),
            _ => self.between(3, 6),
        };
        let data_members = match level {
            "raid1" => 1,
            "raid10" => members / 2,
            "raid4" | "raid5" => members - 1,
            "raid6" => members - 2,
            _ => members,
        };
        self.text("array.level", level);
        self.put("array.members", members);
        let preset = self.one_of(&["ggc2014", "pgc2011", "lawc2017", "mlc-sata2", "slc-sata2", "nvme-tlc"]);
        self.text("ssd.preset", preset);
        let page_bytes = self.one_of(&[4096, 4096, 4096, 512, 2048, 8192, 16384]);
        if self.chance(80) {
            let strip = page_bytes * self.between(1, 8);
            self.text("array.stripe_unit", format!("{strip}B"));
        }
        let member_pages = self.ssd(engine, page_bytes);
        if matches!(level, "raid1" | "raid10" | "raid4" | "raid5" | "raid6") && self.chance(35) {
            self.failure(members);
        }
        Space { page_bytes, members, data_members, pages: data_members * member_pages }
    }

    /// Returns the pages that a member exports, or somewhat fewer.
    fn ssd(&mut self, engine: Engine, page_bytes: u64) -> u64 {
        let (elements, planes, pages) = (self.between(1, 4), self.between(1, 4), self.between(4, 24));
        let by_plane = self.chance(60);
        let dynamic = matches!(engine, Engine::Plain | Engine::Any) && self.chance(40);
        let channel = matches!(engine, Engine::Plain | Engine::Any) && self.chance(35);
        let hold_plane = matches!(engine, Engine::Plain | Engine::Any) && by_plane && !channel && self.chance(35);
        let (separate, seals, summary) = (self.chance(30), self.chance(70), self.chance(40));

        let planes_per_pool = if by_plane { 1 } else { planes };
        let start = self.between(1, 3 * planes_per_pool);
        let above = self.between(1, 3);
        let working = 2 + u64::from(separate) + u64::from(dynamic) + u64::from(!seals);
        let reserved = (start + working).max(start + above).div_ceil(planes_per_pool) + self.between(0, 2);
        let blocks = self.between((reserved + 2).max(6), reserved + 20);
        let pool_blocks = blocks * planes_per_pool;

        self.put("ssd.geometry.elements", elements);
        self.put("ssd.geometry.planes", planes);
        self.put("ssd.geometry.blocks", blocks);
        self.put("ssd.geometry.pages", pages);
        self.text("ssd.geometry.page_size", format!("{page_bytes}B"));
        self.put("ssd.geometry.reserved", share_of(reserved, blocks));
        self.timing();
        if channel {
            let per_channel = self.between(1, elements);
            self.text("ssd.transfer", "channel");
            self.put("ssd.channel.elements_per_channel", per_channel);
        } else {
            self.text_of("ssd.transfer", &["pins", "pins", "none"]);
        }
        match self.between(0, 9) {
            0..=5 => self.text("ssd.link", "off"),
            6 | 7 => {
                let rate = self.log(20, 4);
                self.text("ssd.link", format!("{rate}MB/s"));
            }
            _ => {
                let (rate, duplex) = (self.log(20, 4), self.one_of(&["half", "full"]));
                self.put("ssd.link", format!("{{ rate = \"{rate}MB/s\", duplex = \"{duplex}\" }}"));
            }
        }
        self.text("ssd.allocation", if dynamic { "dynamic" } else { "static" });
        let stride = if self.bool() { 1 } else { self.between(1, 6) };
        self.put("ssd.element_stride", stride);
        self.text_of("ssd.plane_choice", &["most-free", "most-free", "rotate"]);
        self.put("ssd.summary_page", summary);
        self.put("ssd.fill_seals_last_block", seals);
        if self.chance(30) {
            let erases = self.between(2, 200);
            self.put("ssd.endurance", erases);
        }
        self.victim();
        let start_text = if self.chance(25) { share_of(start, pool_blocks) } else { format!("\"{start} blocks\"") };
        self.put("ssd.gc.start", start_text);
        let stop = match self.between(0, 2) {
            0 => format!("{} blocks", start + above),
            _ => format!("start+{above}"),
        };
        self.text("ssd.gc.stop", stop);
        self.text_of("ssd.gc.trigger", &["request", "request", "write"]);
        self.text("ssd.gc.pool", if by_plane { "plane" } else { "element" });
        self.text("ssd.gc.hold", if hold_plane { "plane" } else { "element" });
        self.put("ssd.gc.separate_open_block", separate);
        let copy_back = self.bool();
        self.put("ssd.gc.copy_back", copy_back);
        self.interruptions(engine);
        let overwrites = if self.chance(20) { "0.0".to_string() } else { self.share(0, 1999) };
        self.put("ssd.warm_up.overwrites", overwrites);
        if self.chance(20) {
            self.text("ssd.warm_up.pattern", "workload");
        }
        elements * planes * (blocks - reserved) * (pages - u64::from(summary))
    }

    fn timing(&mut self) {
        if self.chance(70) {
            let (read, program, erase) = (self.between(20_011, 90_000), self.between(150_001, 900_000), self.between(1_000_001, 4_000_000));
            self.text("ssd.timing.page_read", format!("{read}ns"));
            self.text("ssd.timing.page_program", format!("{program}ns"));
            self.text("ssd.timing.block_erase", format!("{erase}ns"));
        }
        if self.chance(70) {
            let time = self.between(1_001, 30_000);
            self.text("ssd.timing.transfer_per_byte", format!("{time}ps"));
        }
        if self.chance(30) {
            let bytes = self.between(0, 32);
            self.put("ssd.timing.spare_bytes_per_sector", bytes);
        }
        if self.chance(40) {
            let time = self.between(501, 9_000);
            self.text("ssd.timing.command_overhead", format!("{time}ns"));
        }
    }

    fn victim(&mut self) {
        match self.between(0, 11) {
            0 => self.text("ssd.gc.victim", "greedy-wear-aware"),
            1 => {
                let threshold = self.share(500, 990);
                self.put("ssd.gc.victim", format!("{{ policy = \"greedy-wear-aware\", threshold = {threshold} }}"));
            }
            2 | 3 => self.text("ssd.gc.victim", "cost-benefit"),
            4 => self.text("ssd.gc.victim", "d-choices"),
            5 => {
                let d = self.between(1, 6);
                self.put("ssd.gc.victim", format!("{{ policy = \"d-choices\", d = {d} }}"));
            }
            6 => self.text("ssd.gc.victim", "fifo"),
            7 => self.text("ssd.gc.victim", "random"),
            _ => self.text("ssd.gc.victim", "greedy"),
        }
    }

    /// Preemption, suspension, collection in idle time.
    fn interruptions(&mut self, engine: Engine) {
        let preemption = match engine {
            Engine::Plain => false,
            Engine::Interruptible => self.chance(85),
            Engine::Coordinated | Engine::Any => self.chance(45),
        };
        if preemption {
            let suspends = self.chance(35);
            self.text("ssd.gc.preemption", if suspends { "suspend" } else { "semi" });
            if self.chance(80) {
                let t_hard = self.share(0, 1000);
                self.put("ssd.gc.t_hard", t_hard);
            }
            let (pipeline, merge) = (self.bool(), self.bool());
            self.put("ssd.gc.pipeline", pipeline);
            self.put("ssd.gc.merge", merge);
            let reorder = merge && self.bool();
            self.put("ssd.gc.reorder", reorder);
            if self.chance(70) {
                let poll = if self.chance(20) { 0 } else { self.between(101, 5_000) };
                self.text("ssd.gc.poll", format!("{poll}ns"));
            }
            if suspends && self.chance(70) {
                let (suspend, resume, most) = (self.between(0, 30_000), self.between(0, 30_000), self.between(0, 5));
                self.put("ssd.gc.suspend_ns", suspend);
                self.put("ssd.gc.resume_ns", resume);
                self.put("ssd.gc.suspensions_max", most);
            }
        }
        let idles = match engine {
            Engine::Interruptible => !preemption || self.chance(35),
            Engine::Any => self.chance(20),
            Engine::Plain | Engine::Coordinated => false,
        };
        if idles {
            let time = self.log(50, 8);
            self.text("ssd.gc.idle", format!("{time}us"));
        }
    }

    fn failure(&mut self, members: u64) {
        let (member, at) = (self.between(0, members - 1), self.log(1, 17));
        self.put("array.failure.member", member);
        self.text("array.failure.at", format!("{at}us"));
        if self.chance(75) {
            let (rate, delay, in_flight) = (self.log(1, 7), self.between(0, 20_000), self.between(1, 8));
            self.text("array.rebuild.rate", format!("{rate}MB/s"));
            if self.bool() {
                self.text("array.rebuild.delay", format!("{delay}us"));
            }
            self.put("array.rebuild.in_flight", in_flight);
            self.text_of("array.rebuild.spare", &["warm", "fresh"]);
            let finish = self.chance(40);
            self.put("array.rebuild.finish", finish);
        }
    }

    fn coordination(&mut self, engine: Engine, members: u64) {
        let schemes = ["reactive-inclusive", "reactive-selective", "proactive-idle", "proactive-soft-limit"];
        let scheme = match engine {
            Engine::Plain if self.chance(12) => "ideal",
            Engine::Coordinated => self.one_of(&schemes),
            Engine::Any if self.bool() => self.one_of(&schemes),
            _ => return,
        };
        self.text("coordination.scheme", scheme);
        if scheme == "ideal" {
            return;
        }
        self.text_of("coordination.force_until", &["one-victim", "watermark"]);
        if self.chance(40) {
            let above = self.between(1, 2);
            self.text("coordination.t_soft", format!("start+{above}"));
        }
        if self.chance(40) {
            let above = self.between(1, 2);
            self.text("coordination.soft_limit", format!("start+{above}"));
        }
        if self.chance(70) {
            let (interval, idle) = (self.log(200, 6), self.log(100, 6));
            self.text("coordination.check_interval", format!("{interval}us"));
            self.text("coordination.idle_threshold", format!("{idle}us"));
        }
        if self.chance(50) {
            let depth = self.between(0, 4);
            self.put("coordination.shallow_depth", depth);
        }
        if self.chance(30) {
            let delay = self.between(1_009, 3_000_000);
            self.text("coordination.delay", format!("{delay}ns"));
        }
        if self.chance(10) {
            self.text("coordination.answer", "never");
        }
        if self.chance(30) {
            let all: Vec<u64> = (0..members).collect();
            let some: Vec<String> = all.into_iter().filter(|_| self.chance(70)).map(|member| member.to_string()).collect();
            self.put("coordination.capable", format!("[{}]", some.join(", ")));
        }
        if self.chance(50) {
            for kind in ["gc_request", "participate", "force_gc", "gc_state", "gc_done"] {
                if self.chance(70) {
                    let time = self.between(1_003, 900_000);
                    self.text(&format!("coordination.latency.{kind}"), format!("{time}ns"));
                }
            }
        }
    }

    fn cache(&mut self, space: &Space) {
        let policy = self.one_of(&["wow", "stow", "iwc", "iwc-sync", "lawc", "lawc"]);
        self.text("cache.policy", policy);
        if self.chance(85) {
            let pages = self.between(3, 24) * space.members;
            self.text("cache.size", format!("{}B", pages * space.page_bytes));
        }
        if policy == "lawc" && self.chance(60) {
            let share = self.share(200, 600);
            self.put("cache.front_fraction", share);
        }
        if self.chance(40) {
            let low = self.between(0, 900);
            let high = self.between(low, 1000);
            self.put("cache.low", thousandths(low));
            self.put("cache.high", thousandths(high));
        }
        if self.chance(40) {
            let in_flight = self.between(1, 6);
            self.put("cache.in_flight", in_flight);
        }
        if self.chance(50) {
            let time = self.log(10, 10);
            self.text("cache.sync_timeout", format!("{time}us"));
        }
        if self.chance(40) {
            let (read, write) = (self.between(0, 5_000), self.between(0, 60_000));
            self.text("cache.nvm_read", format!("{read}ns"));
            self.text("cache.nvm_write", format!("{write}ns"));
        }
    }

    fn workload(&mut self, space: &Space) {
        if self.chance(15) {
            let streams = self.between(1, 3);
            let mut texts = Vec::new();
            for _ in 0..streams {
                let above = std::mem::take(&mut self.keys);
                self.stream(space, false);
                let pairs: Vec<String> = self.keys.iter().map(|(key, value)| format!("{key} = {value}")).collect();
                texts.push(format!("{{ {} }}", pairs.join(", ")));
                self.keys = above;
            }
            self.text("workload.kind", "mix");
            self.put("workload.streams", format!("[{}]", texts.join(", ")));
        } else {
            let above = std::mem::take(&mut self.keys);
            self.stream(space, true);
            let keys = std::mem::replace(&mut self.keys, above);
            self.keys.extend(keys.into_iter().map(|(key, value)| (format!("workload.{key}"), value)));
        }
        let requests = self.between(60, 500);
        self.put("workload.requests", requests);
        if self.chance(15) {
            let time = self.log(20, 6);
            self.text("workload.duration", format!("{time}ms"));
        }
    }

    /// The keys of a generator, relative to its table.
    fn stream(&mut self, space: &Space, may_be_closed: bool) {
        self.text("kind", "synthetic");
        let arrivals = self.arrivals(may_be_closed);
        let is_closed = arrivals.contains("closed");
        self.put("arrivals", arrivals);
        let reads = self.one_of(&[0, 200, 500, 800, 300]);
        self.put("read_fraction", thousandths(reads));
        if self.chance(20) {
            let (read, write) = (self.size(space), self.size(space));
            self.put("read_size", read);
            self.put("write_size", write);
        } else {
            let size = self.size(space);
            self.put("size", size);
        }
        if self.chance(40) {
            let share = self.share(0, 900);
            self.put("sequential_fraction", share);
        }
        if self.chance(70) {
            let address = self.address(space);
            self.put("address", address);
        }
        if self.chance(25) {
            let share = self.share(0, 600);
            self.put("high_priority_fraction", share);
        }
        if !is_closed && self.chance(10) {
            let scale = self.share(300, 3000);
            self.put("rate_scale", scale);
        }
        if self.chance(10) {
            let scale = self.share(500, 2000);
            self.put("size_scale", scale);
            self.text("address_fit", "wrap");
        }
        if self.chance(10) {
            let start = self.between(1, 40);
            self.put("start", start);
        }
        if self.chance(10) {
            let limit = self.between(60, 300);
            self.put("limit", limit);
        }
    }

    fn arrivals(&mut self, may_be_closed: bool) -> String {
        let gap = self.log(20, 8);
        match self.between(0, 9) {
            0 => format!("{{ process = \"fixed\", gap = \"{gap}us\" }}"),
            1 | 2 => {
                let (factor, requests, scaled) = (self.share(1_000, 30_000), self.between(1, 60), self.bool());
                format!(
                    "{{ process = \"bursts\", mean_gap = \"{gap}us\", factor = {factor}, burst_requests = {requests}, mean_rate_scaled = {scaled} }}"
                )
            }
            3 | 4 => {
                let (ratio, share, burst) = (self.share(1_000, 30_000), self.share(50, 900), gap * self.between(2, 30));
                format!(
                    "{{ process = \"markov-modulated\", mean_gap = \"{gap}us\", rate_ratio = {ratio}, busy_share = {share}, mean_burst = \"{burst}us\" }}"
                )
            }
            5 | 6 if may_be_closed => {
                let (depth, think) = (self.between(1, 48), if self.bool() { 0 } else { self.between(1, 900) });
                format!("{{ process = \"closed\", depth = {depth}, think = \"{think}us\" }}")
            }
            _ => format!("{{ process = \"poisson\", mean_gap = \"{gap}us\" }}"),
        }
    }

    fn size(&mut self, space: &Space) -> String {
        let longest = (space.pages / 8).clamp(1, 24);
        let page = space.page_bytes;
        let (mean, grain) = (self.between(page / 2, longest * page), self.one_of(&["page", "page", "sector"]));
        match self.between(0, 7) {
            0 => format!("{{ distribution = \"neighbours\", mean = \"{}B\", grain = \"page\" }}", mean.max(page)),
            1 => {
                let is = self.one_of(&["before-rounding", "after-rounding"]);
                format!("{{ distribution = \"exponential\", mean = \"{}B\", grain = \"{grain}\", mean_is = \"{is}\" }}", mean + page)
            }
            2 => {
                let low = self.between(1, longest);
                let high = self.between(low, longest);
                format!("{{ distribution = \"uniform\", min = \"{}B\", max = \"{}B\", grain = \"{grain}\" }}", low * page, high * page)
            }
            3 => {
                let (large, share) = (self.between(1, longest) * page, self.share(0, 1000));
                format!("{{ distribution = \"bimodal\", small = \"{page}B\", large = \"{large}B\", small_share = {share} }}")
            }
            4 => {
                let (large, one, other) = (self.between(1, longest) * page, self.between(1, 9), self.between(1, 9));
                format!("{{ distribution = \"weighted\", sizes = [[\"{page}B\", {one}], [\"{large}B\", {other}]] }}")
            }
            5 => {
                let sigma = self.share(100, 1_500);
                format!("{{ distribution = \"log-normal\", mean = \"{mean}B\", sigma = {sigma}, grain = \"{grain}\" }}")
            }
            6 => format!("\"{}B\"", mean / 512 * 512 + 512),
            _ => {
                let pages = self.between(1, longest);
                format!("\"{}B\"", pages * page)
            }
        }
    }

    fn address(&mut self, space: &Space) -> String {
        let mut pairs = Vec::new();
        match self.between(0, 3) {
            0 | 1 => pairs.push("pattern = \"uniform\"".to_string()),
            2 => {
                let exponent = self.share(300, 1_500);
                pairs.push(format!("pattern = \"zipf\", exponent = {exponent}"));
            }
            _ => {
                let (requests, pages) = (self.share(500, 990), self.share(10, 500));
                pairs.push(format!("pattern = \"hot-cold\", request_share = {requests}, space_share = {pages}"));
            }
        }
        if pairs[0] != "pattern = \"uniform\"" {
            let (pages, scatter) = (self.between(1, 4), self.bool());
            pairs.push(format!("chunk = \"{}B\", scatter = {scatter}", pages * space.page_bytes));
        }
        if self.chance(15) {
            let (member, share) = (self.between(0, space.data_members - 1), self.share(100, 900));
            pairs.push(format!("member_skew = {{ member = {member}, request_share = {share} }}"));
        }
        match self.between(0, 5) {
            0 => {
                let share = self.share(300, 1000);
                pairs.push(format!("footprint = {share}"));
            }
            1 => {
                let pages = self.between(space.pages / 3, space.pages);
                pairs.push(format!("footprint = \"at most {}B\"", pages * space.page_bytes));
            }
            _ => {}
        }
        if self.chance(40) {
            let align = self.one_of(&["page", "sector"]);
            pairs.push(format!("align = \"{align}\""));
        }
        format!("{{ {} }}", pairs.join(", "))
    }

    fn report(&mut self) {
        if self.chance(60) {
            let time = self.log(1, 6);
            self.text("report.bandwidth_interval", format!("{time}ms"));
        }
        if self.chance(40) {
            let time = self.log(50, 5);
            self.text("report.gc_slice", format!("{time}us"));
        }
        if self.chance(25) {
            let (from, length) = (self.between(0, 20_000), self.log(500, 6));
            self.put("report.timeline", format!("{{ from = \"{from}us\", to = \"{}us\" }}", from + length));
        }
        match self.between(0, 9) {
            0 | 1 => {
                let requests = self.between(1, 50);
                self.put("report.skip_requests", requests);
            }
            2 => {
                let time = self.between(1, 10_000);
                self.text("report.skip_time", format!("{time}us"));
            }
            _ => {}
        }
    }
}

/// 250 as 0.25.
fn thousandths(number: u64) -> String {
    format!("{}.{:03}", number / 1000, number % 1000)
}

/// A share of `whole` that rounds down to `part`.
fn share_of(part: u64, whole: u64) -> String {
    format!("0.{:06}", (part * 1_000_000).div_ceil(whole))
}
