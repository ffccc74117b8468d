//! `flashraid bench`: the speed of the simulator on this machine.

use indicatif::{ProgressBar, ProgressDrawTarget};

use crate::args::BenchArgs;
use crate::bench::{self, BenchReport, BenchSize};
use crate::failure::Outcome;
use crate::files;
use crate::output::json;
use crate::progress;
use flashraid_report::sheet::Sheet;
use flashraid_report::{number, text};

/// Runs `flashraid bench` with its arguments.
pub fn run(arguments: &BenchArgs) -> Outcome {
    let size = if arguments.quick { BenchSize::SMOKE } else { BenchSize::FULL };
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    progress::keep_moving(&bar);
    let report = bench::run(size, |step| bar.set_message(step.to_owned()));
    bar.finish_and_clear();
    let report = report.map_err(flashraid::Error::from)?;
    match arguments.json {
        true => json::print(&json::document(&report)?),
        false => files::print(&text::render(&[sheet(&report, arguments.quick)])),
    }
}

fn sheet(report: &BenchReport, quick: bool) -> Sheet {
    let rate = |per_second: f64| format!("{}/s", number::rounded(per_second));
    let rows = [
        ("array", "requests", rate(report.array.requests_per_s)),
        ("", "host page operations", rate(report.array.host_page_ops_per_s)),
        ("", "flash page operations", rate(report.array.flash_page_ops_per_s)),
        ("array, two threads", "host page operations", rate(report.array_threads.host_page_ops_per_s)),
        ("", "over one thread", number::three_digits(report.array_threads.over_one_thread)),
        ("coordinated", "host page operations", rate(report.coordinated.host_page_ops_per_s)),
        ("", "over the array", number::three_digits(report.coordinated.over_array)),
        ("lawc", "requests", rate(report.lawc.requests_per_s)),
        ("", "flash page operations", rate(report.lawc.flash_page_ops_per_s)),
        ("device", "requests", rate(report.device.requests_per_s)),
        ("", "flash page operations", rate(report.device.flash_page_ops_per_s)),
        ("", "time over that of the floor", number::three_digits(report.device.time_over_floor)),
        ("device, semi", "requests", rate(report.device_semi.requests_per_s)),
        ("", "time over that of the device", number::three_digits(report.device_semi.time_over_device)),
        ("nvme", "requests", rate(report.nvme.requests_per_s)),
        ("", "over the device", number::three_digits(report.nvme.over_device)),
        ("nvme, of today", "requests", rate(report.nvme_full.requests_per_s)),
        ("", "over the device", number::three_digits(report.nvme_full.over_device)),
        ("study", "points on two workers", rate(report.study.points_per_s)),
        ("", "over one worker", number::three_digits(report.study.over_one_worker)),
        ("floor", "requests", rate(report.floor.requests_per_s)),
        ("warm-up", "physical pages", number::grouped(report.warm_up.pages)),
        ("", "time", number::duration_us(report.warm_up.seconds * 1e6)),
        ("", "on two threads", number::duration_us(report.warm_up.two_threads_seconds * 1e6)),
        ("memory", "bytes per physical page", number::three_digits(report.bytes_per_physical_page)),
    ];
    let title = match quick {
        false => "Speed at full size, on one core unless it says otherwise",
        true => "Quick look (a sixteenth of the blocks, little work: shows that it works, not how fast it is)",
    };
    let mut sheet = Sheet { label_columns: 2, ..Sheet::new(title, &["", "", ""]) };
    sheet.rows = rows.into_iter().map(|(part, name, value)| vec![part.into(), name.into(), value.into()]).collect();
    sheet
}
