//! `flashraid trace`: shows statistics of a trace, or converts it to another format.

use flashraid::report::format_figure;
use flashraid_workload::SourceError;
use flashraid_workload::trace::info::{RequestSizes, TraceInfo};
use flashraid_workload::trace::{self, MeasuredResponseTime, MeasuredResponseTimes, TraceSpec, trace_info, write};

use crate::args::{TraceCommand, TraceConvertArgs, TraceInfoArgs};
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::interrupt;
use crate::output::json;
use flashraid_report::number::{self, bytes, count_with_noun, grouped};
use flashraid_report::sheet::Sheet;
use flashraid_report::text;

/// Runs `flashraid trace info` or `convert`.
pub fn run(command: &TraceCommand) -> Outcome {
    match command {
        TraceCommand::Info(arguments) => show(arguments),
        TraceCommand::Convert(arguments) => convert(arguments),
    }
}

fn show(arguments: &TraceInfoArgs) -> Outcome {
    let info = trace_info(&arguments.input.spec(&arguments.file)).map_err(|error| refuse(&error))?;
    match arguments.json {
        true => json::print(&json::document(&info)?),
        false => {
            let notes: String = info.notes.iter().map(|note| format!("note: {}\n", in_options(note))).collect();
            files::print(&format!("{}{notes}", text::render(&sheets(&info))))
        }
    }
}

fn convert(arguments: &TraceConvertArgs) -> Outcome {
    let spec = TraceSpec { reorder: arguments.reorder, ..arguments.options.spec(&arguments.input) };
    interrupt::stop_at_once()?;
    let written = write::convert_trace(&spec, &arguments.output, arguments.to, arguments.rate).map_err(|error| refuse(&error))?;
    let losses = [
        (written.widened, "widened to whole sectors or pages"),
        (written.flushes_lost, "flushes left out, which the format does not know"),
        (written.discards_lost, "discards left out, which the format does not know"),
        (written.without_times, "without times, as in the trace: replayed, each waits for the one before"),
        (written.times_cut, "with their times cut to the unit of the format"),
        (written.devices_lost, "of other devices moved to the only one that the format knows"),
    ];
    let losses = losses.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("  {} {what}\n", grouped(*count)));
    let all = format!("{}: {} as {}\n", arguments.output.display(), count_with_noun(written.requests, "request"), arguments.to);
    let said = all + &losses.collect::<String>() + &taken_for_another(arguments);
    // With the trace on standard output, messages go to standard error.
    if ["-", "/dev/stdout"].iter().any(|name| arguments.output.as_os_str() == *name) {
        crate::complain(said.trim_end());
        return Ok(());
    }
    files::print(&said)
}

/// Returns a warning if readers would detect another format in the written trace, by its content. This happens with formats that differ
/// only in the units of their numbers.
fn taken_for_another(arguments: &TraceConvertArgs) -> String {
    let path = &arguments.output;
    let found = path
        .is_file()
        .then(|| trace::open_trace(&TraceSpec::new(path.clone())).ok())
        .flatten()
        .map(|reader| reader.format_properties().format);
    match found {
        Some(found) if found != arguments.to => {
            format!("  name the format where it is read (--format {}): by its content it would be taken for {found}\n", arguments.to)
        }
        _ => String::new(),
    }
}

/// Replaces names of keys in an error by the options of this command.
fn in_options(text: &str) -> String {
    let keys = ["skip_bad_lines", "time_unit", "sector_bytes", "columns"];
    keys.iter().fold(text.to_owned(), |text, key| text.replace(&format!(" {key}"), &format!(" --{}", key.replace('_', "-"))))
}

fn refuse(error: &SourceError) -> Failure {
    match error {
        SourceError::InvalidInput(_) => Failure::Input(in_options(&error.to_string())),
        // A closed pipe is no error: its reader has read enough.
        SourceError::Io { source, .. } if source.kind() == std::io::ErrorKind::BrokenPipe => Failure::ReaderGone,
        error => Failure::Run(error.to_string()),
    }
}

fn sheets(info: &TraceInfo) -> Vec<Sheet> {
    let unknown = || "–".to_owned();
    let percent = |share: f64| format!("{:.2} %", share * 100.0);
    let unit = info.time_unit.map_or(String::new(), |unit| format!(", times in {}", unit.name()));
    let backwards = match (info.backwards.stamps, info.backwards.reorder_window) {
        (0, _) => "none".to_owned(),
        (stamps, window) => {
            let mended_by = window.map_or("\"sort\"".to_owned(), |window| window.to_string());
            format!("{}, up to {} (try reorder = {mended_by})", grouped(stamps), ns(info.backwards.farthest_ns))
        }
    };
    let skipped = [
        (info.skipped.bad_lines, "bad lines"),
        (info.skipped.zero_length, "of length 0"),
        (info.skipped.other_devices, "of other devices"),
        (info.skipped.discards, "discards"),
        (info.skipped.repeats, "repeats"),
        (info.skipped.flushes, "flushes"),
        (info.skipped.without_data, "commands without data"),
    ];
    let skipped: Vec<String> =
        skipped.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{} {what}", grouped(*count))).collect();
    let facts = vec![
        ("format", format!("{}{unit}, compression {}", info.format, info.compression.name())),
        ("requests", grouped(info.requests)),
        ("flushes", if info.flushes == 0 { "none".to_owned() } else { grouped(info.flushes) }),
        ("duration", info.duration_s.map_or_else(|| "no times".to_owned(), |seconds| format!("{seconds:.4} s"))),
        ("requests/s", format_figure(info.requests_per_s)),
        ("requests in the busiest second", info.peak_requests_per_s.map_or_else(unknown, grouped)),
        ("reads", percent(info.read_fraction)),
        ("sequential", percent(info.sequential_fraction)),
        ("footprint", both_units(info.footprint_bytes)),
        ("written footprint", both_units(info.written_footprint_bytes)),
        ("writes per page written", format_figure(info.rewritten)),
        ("addresses", format!("{} to {}", bytes(info.first_byte as f64), bytes(info.end_byte as f64))),
        ("times that go backwards", backwards),
        ("repeats within 2 ms", info.repeats.map_or_else(unknown, grouped)),
        ("left out", if skipped.is_empty() { "nothing".to_owned() } else { skipped.join(", ") }),
    ];
    let mut sizes = Sheet::new("Sizes", &["", "requests", "bytes", "mean", "min", "max"]);
    for (name, RequestSizes { requests, bytes: all, mean_bytes, min_bytes, max_bytes }) in
        [("all", info.all), ("reads", info.read), ("writes", info.write), ("discards", info.trim)]
    {
        if name == "discards" && requests == 0 {
            continue;
        }
        let row =
            [name.to_owned(), grouped(requests), bytes(all as f64), bytes(mean_bytes), bytes(min_bytes as f64), bytes(max_bytes as f64)];
        sizes.rows.push(row.map(Into::into).into());
    }
    let mut sheets = vec![Sheet::facts(info.path.clone(), facts), sizes];
    sheets.extend(info.measured_response_us.map(measured_sheet));
    if info.devices.len() > 1 {
        let mut devices = Sheet::new("Devices", &["device", "called", "requests", "reads", "from", "to"]);
        devices.label_columns = 2;
        for device in &info.devices {
            let (from, to) = (bytes(device.first_byte as f64), bytes(device.end_byte as f64));
            let row = [device.device.to_string(), device.label.clone(), grouped(device.requests), grouped(device.reads), from, to];
            devices.rows.push(row.map(Into::into).into());
        }
        sheets.push(devices);
    }
    sheets
}

/// Returns the table of response times that the trace tells.
fn measured_sheet(times: MeasuredResponseTimes) -> Sheet {
    let mut sheet = Sheet::new("Measured response times", &["", "requests", "mean", "50 %", "99 %", "99.9 %", "max"]);
    for (name, times) in [("all", times.total), ("reads", times.read), ("writes", times.write), ("flushes", times.flush)] {
        let Some(MeasuredResponseTime { count, mean, p50, p99, p99_9, max }) = times else { continue };
        let us = number::duration_us;
        let row = [name.to_owned(), grouped(count), us(mean), us(p50), us(p99), us(p99_9), us(max)];
        sheet.rows.push(row.map(Into::into).into());
    }
    sheet
}

/// Formats a footprint in units of 2^20 and of 10^6, because publications use both.
fn both_units(footprint_bytes: u64) -> String {
    format!("{} ({} MB)", bytes(footprint_bytes as f64), format_figure(Some(footprint_bytes as f64 / 1e6)))
}

fn ns(nanoseconds: u64) -> String {
    number::duration_us(nanoseconds as f64 / 1e3)
}
