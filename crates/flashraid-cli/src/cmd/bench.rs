//! `flashraid bench`: the speed of the simulator on this machine.

use indicatif::{ProgressBar, ProgressDrawTarget};

use crate::args::BenchArgs;
use crate::failure::Outcome;
use crate::files;
use crate::output::json;
use crate::progress;
use flashraid_bench::{BenchReport, BenchSize, Time};
use flashraid_report::sheet::Sheet;
use flashraid_report::{number, text};

/// Runs `flashraid bench` with its arguments.
pub fn run(arguments: &BenchArgs) -> Outcome {
    let size = if arguments.quick { BenchSize::SMOKE } else { BenchSize::FULL };
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    progress::keep_moving(&bar);
    let report = flashraid_bench::run(size, &arguments.only, &mut |step| bar.set_message(step.to_owned()));
    bar.finish_and_clear();
    let report = report.map_err(flashraid::Error::from)?;
    match arguments.json {
        true => json::print(&json::document(&report)?),
        false => files::print(&text::render(&[sheet(&report, arguments.quick)])),
    }
}

/// A row: what was measured, a figure of it, and the least time that can be believed.
struct Row {
    part: &'static str,
    figure: &'static str,
    measured: String,
    floor: Option<f64>,
}

/// The rows of a table, of which those without a figure are left out.
#[derive(Default)]
struct Rows(Vec<Row>);

impl Rows {
    fn add(&mut self, part: &'static str, figure: &'static str, measured: Option<String>) {
        self.0.extend(measured.map(|measured| Row { part, figure, measured, floor: None }));
    }

    fn rate(&mut self, part: &'static str, figure: &'static str, per_second: Option<f64>) {
        self.add(part, figure, per_second.map(|per_second| format!("{}/s", number::rounded(per_second))));
    }

    fn ratio(&mut self, figure: &'static str, ratio: Option<f64>) {
        self.add("", figure, ratio.map(number::three_digits));
    }

    fn time(&mut self, figure: &'static str, time: Option<Time>) {
        let row = |time: Time| Row { part: "", figure, measured: nanoseconds(time.time_ns), floor: Some(time.believable_floor_ns) };
        self.0.extend(time.map(row));
    }
}

fn nanoseconds(ns: f64) -> String {
    format!("{} ns", number::three_digits(ns))
}

fn sheet(report: &BenchReport, quick: bool) -> Sheet {
    let mut rows = Rows::default();
    let array = report.array;
    rows.rate("array", "requests", array.map(|array| array.speed.requests_per_s));
    rows.rate("", "host page operations", array.map(|array| array.speed.host_page_ops_per_s));
    rows.rate("", "flash page operations", array.map(|array| array.speed.flash_page_ops_per_s));
    rows.time("time per page of the host", array.map(|array| array.time));
    let threads = report.array_threads;
    rows.rate("array, two threads", "host page operations", threads.map(|threads| threads.host_page_ops_per_s));
    rows.ratio("over one thread", threads.and_then(|threads| threads.over_one_thread));
    let coordinated = report.coordinated;
    rows.rate("coordinated", "host page operations", coordinated.map(|coordinated| coordinated.host_page_ops_per_s));
    rows.ratio("over the array", coordinated.and_then(|coordinated| coordinated.over_array));
    rows.time("time per page of the host", coordinated.map(|coordinated| coordinated.time));
    rows.rate("lawc", "requests", report.lawc.map(|lawc| lawc.requests_per_s));
    rows.rate("", "flash page operations", report.lawc.map(|lawc| lawc.flash_page_ops_per_s));
    let device = report.device;
    rows.rate("device", "requests", device.map(|device| device.requests_per_s));
    rows.rate("", "flash page operations", device.map(|device| device.flash_page_ops_per_s));
    rows.ratio("time over that of the floor", device.and_then(|device| device.time_over_floor));
    rows.time("time per request", device.map(|device| device.time));
    let semi = report.device_semi;
    rows.rate("device, semi", "requests", semi.map(|semi| semi.requests_per_s));
    rows.ratio("time over that of the device", semi.and_then(|semi| semi.time_over_device));
    rows.time("time per request", semi.map(|semi| semi.time));
    for (part, nvme) in [("nvme", report.nvme), ("nvme, of today", report.nvme_full)] {
        rows.rate(part, "requests", nvme.map(|nvme| nvme.requests_per_s));
        rows.ratio("over the device", nvme.and_then(|nvme| nvme.over_device));
        rows.time("time per request", nvme.map(|nvme| nvme.time));
    }
    for (part, speed) in [("parity", report.parity), ("cached", report.cached)] {
        rows.rate(part, "requests", speed.map(|speed| speed.requests_per_s));
        rows.rate("", "flash page operations", speed.map(|speed| speed.flash_page_ops_per_s));
    }
    rows.rate("parity, of today", "requests", report.parity_nvme.map(|speed| speed.requests_per_s));
    rows.add("answer", "six schemes", report.answer.map(|answer| number::duration_us(answer.seconds * 1e6)));
    rows.rate("trace", "requests", report.trace.map(|trace| trace.requests_per_s));
    rows.ratio("time over that of a generator", report.trace.map(|trace| trace.time_over_generator));
    rows.rate("study", "points on two workers", report.study.map(|study| study.points_per_s));
    rows.ratio("over one worker", report.study.map(|study| study.over_one_worker));
    rows.rate("floor", "requests", report.floor.map(|floor| floor.requests_per_s));
    let warm_up = report.warm_up;
    rows.add("warm-up", "physical pages", warm_up.map(|warm_up| number::grouped(warm_up.pages)));
    rows.add("", "time", warm_up.map(|warm_up| number::duration_us(warm_up.seconds * 1e6)));
    rows.add("", "on two threads", warm_up.map(|warm_up| number::duration_us(warm_up.two_threads_seconds * 1e6)));
    rows.add("memory", "bytes per physical page", report.bytes_per_physical_page.map(number::three_digits));
    let title = match quick {
        false => "Speed at full size, on one core unless it says otherwise",
        true => "Quick look (a sixteenth of the dies, little work: shows that it works, not how fast it is)",
    };
    let mut sheet = Sheet { label_columns: 2, ..Sheet::new(title, &["", "", "measured", "floor"]) };
    let cells =
        |row: Row| vec![row.part.into(), row.figure.into(), row.measured.into(), row.floor.map_or(String::new(), nanoseconds).into()];
    sheet.rows = rows.0.into_iter().map(cells).collect();
    sheet
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;
    use flashraid_bench::*;

    /// A bench of all lines, with figures as long as they can become.
    fn all_lines() -> BenchReport {
        let rate = 123_456_789.0;
        let time = Time { time_ns: 123_456.7, believable_floor_ns: 1100.0 };
        let speed = Some(Speed { host_page_ops_per_s: rate, flash_page_ops_per_s: rate, requests_per_s: rate });
        let nvme = Some(NvmeSpeed { requests_per_s: rate, time, over_device: Some(0.123) });
        BenchReport {
            array: speed.map(|speed| ArraySpeed { speed, time }),
            array_threads: Some(ThreadsSpeed { threads: 2, host_page_ops_per_s: rate, over_one_thread: Some(1.87) }),
            coordinated: Some(CoordinatedSpeed { host_page_ops_per_s: rate, time, over_array: Some(0.789) }),
            nvme,
            nvme_full: nvme,
            parity: speed,
            parity_nvme: Some(RequestSpeed { requests_per_s: rate }),
            cached: speed,
            answer: Some(AnswerSpeed { seconds: 123.4 }),
            study: Some(StudySpeed { points_per_s: rate, over_one_worker: 1.95 }),
            device: Some(DeviceSpeed { requests_per_s: rate, flash_page_ops_per_s: rate, time, time_over_floor: Some(12.3) }),
            device_semi: Some(SemiSpeed { requests_per_s: rate, time, time_over_device: Some(1.23) }),
            trace: Some(TraceSpeed { requests_per_s: rate, time_over_generator: 12.3, bytes: 1 << 40 }),
            lawc: speed,
            warm_up: Some(WarmUpSpeed { pages: 123_456_789, seconds: 123.4, two_threads_seconds: 123.4 }),
            floor: Some(FloorSpeed { requests_per_s: rate }),
            bytes_per_physical_page: Some(8.12),
            peak_rss_bytes: Some(1 << 40),
        }
    }

    #[test]
    fn a_table_of_all_lines_fits_eighty_columns() {
        let report = all_lines();
        let json = serde_json::to_value(&report).unwrap();
        for line in Line::value_variants() {
            assert!(json.get(line.to_possible_value().unwrap().get_name()).is_some(), "{line:?} is not in the table");
        }
        let table = flashraid_report::text::render(&[super::sheet(&report, true)]);
        // The sentence above the table is wrapped by the terminal.
        let lines = || table.lines().skip(1);
        assert!(lines().all(|line| line.chars().count() <= 80), "{table}");
        assert!(lines().filter(|line| line.contains("/s")).count() >= 20 && table.contains("bytes per physical page"), "{table}");
    }
}
