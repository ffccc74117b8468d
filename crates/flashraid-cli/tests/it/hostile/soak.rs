//! Random cases: each is run twice with the whole state verified, and its figures must make sense.

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use flashraid::workload::import;
use flashraid::workload::trace::{self, Format, TraceSpec};
use flashraid::{Error, Observer, Progress, Simulation, Stop, memory};
use serde_json::Value;

use super::draw::Draw;
use super::{kill, second};
use crate::program::without_wall_clock;

/// Longer than any of these cases takes on a machine that is busy.
const LONGEST: Duration = Duration::from_secs(120);

/// Longest time that a case may simulate. Some cases ask for millions of years of requests, which is allowed and can be stopped.
const PATIENCE: Duration = Duration::from_secs(3);

/// Stops what goes on for too long, as Ctrl-C does.
struct Impatient(Instant);

impl Observer for Impatient {
    fn progress(&mut self, _: &Progress) -> bool {
        self.0.elapsed() <= PATIENCE
    }

    fn stop_signal(&self) -> Stop {
        let begin = self.0;
        Stop::stop_when(move || begin.elapsed() > PATIENCE)
    }
}

/// Outcome of a case.
#[derive(Debug, PartialEq)]
enum Result {
    Report(String),
    /// The case was stopped by [`Impatient`], at a point that depends on the machine.
    Stopped,
    Refused(String),
    Failed(String),
}

fn run(text: &str) -> Result {
    let simulation = match Simulation::from_toml(text) {
        Ok(simulation) => simulation,
        Err(error) => return Result::Refused(error.to_string()),
    };
    match simulation.scenario() {
        Err(error) => return Result::Refused(error.to_string()),
        Ok(scenario) if memory::memory_needed_bytes(&scenario) > 256 << 20 => return Result::Refused("too large for a test".to_owned()),
        Ok(_) => {}
    }
    match simulation.verify().observe(&mut Impatient(Instant::now())).run() {
        Err(Error::StoppedBeforeFirstRequest) => Result::Stopped,
        Ok(report) if report.partial => Result::Stopped,
        Ok(report) => Result::Report(without_wall_clock(serde_json::from_str(&report.to_json()).unwrap()).to_string()),
        Err(error @ Error::InconsistentMemberState(_)) => panic!("{error}"),
        Err(error) => Result::Failed(error.to_string()),
    }
}

/// Figures that no run can have.
fn nonsense(report: &Value) -> Option<String> {
    let number = |value: &Value| value.as_f64();
    for kind in ["all", "read", "write"] {
        let response = &report["response_us"][kind];
        if response["count"].as_u64() == Some(0) {
            continue;
        }
        let names = ["min", "p50", "p90", "p99", "p99_9", "max"];
        let values: Vec<f64> = names.iter().filter_map(|name| number(&response[*name])).collect();
        let mean = number(&response["mean"])?;
        if !values.is_sorted() || mean < values[0] * 0.999_999 || mean > values[values.len() - 1] * 1.000_001 {
            return Some(format!("response_us.{kind}: mean {mean}, {names:?} {values:?}"));
        }
    }
    let of = |path: &str| number(report.pointer(path).unwrap_or(&Value::Null));
    let shares = ["/gc/busy_fraction"];
    if let Some(share) = shares.iter().find(|path| of(path).is_some_and(|share| !(0.0..=1.000_001).contains(&share))) {
        return Some(format!("{share} is {:?}", of(share)));
    }
    let counts = ["all", "read", "write"].map(|kind| report["requests"][kind].as_u64().unwrap_or(0));
    if counts[0] != counts[1] + counts[2] {
        return Some(format!("requests {counts:?}"));
    }
    // Writes that are merged in a cache may cost less than one page each.
    let merges = report["config"]["cache"]["policy"] != "none";
    if of("/flash/write_amplification").is_some_and(|wa| wa < 0.999 && !merges) && report["flash"]["host_pages_written"] != 0 {
        return Some(format!("write amplification {:?}", of("/flash/write_amplification")));
    }
    None
}

/// Runs the configuration of a seed twice; what is wrong with it.
fn configuration(seed: u64) -> Option<String> {
    let text = Draw::new(seed).configuration();
    let begin = Instant::now();
    let twice = catch_unwind(|| (run(&text), run(&text)));
    let wrong = match twice {
        Err(_) => "it panics".to_owned(),
        Ok((Result::Stopped, _) | (_, Result::Stopped)) if begin.elapsed() <= LONGEST => return None,
        Ok((first, second)) if first != second => format!("it differs from itself: {first:?} {second:?}"),
        Ok(_) if begin.elapsed() > LONGEST => format!("it takes {:?}", begin.elapsed()),
        Ok((Result::Report(report), _)) => nonsense(&serde_json::from_str(&report).unwrap())?,
        Ok(_) => return None,
    };
    Some(format!("configuration {seed}: {wrong}\n{text}"))
}

/// Reads a trace that was damaged; what is wrong.
fn damaged_trace(seed: u64) -> Option<String> {
    let mut draw = Draw::new(seed);
    let formats =
        [Format::Spc, Format::Msr, Format::Mqsim, Format::Disksim, Format::Fio2, Format::Fio3, Format::Libcachesim, Format::Blkreplay];
    let format = formats[draw.between(0, formats.len() as u64 - 1) as usize];
    let mut writer = trace::write::TraceWriter::new(Vec::new(), format, &[0, 1]).unwrap();
    for at in 0..draw.between(1, 60) {
        let kind = if draw.chance(50) { flashraid::workload::OpKind::Read } else { flashraid::workload::OpKind::Write };
        let device = draw.between(0, 1) as u32;
        let (offset_bytes, length_bytes) = (4096 * draw.between(0, 999), 512 * draw.between(1, 99));
        writer
            .write(&trace::TraceRecord {
                time_ns: at * 1_000_000,
                device,
                offset_bytes,
                length_bytes,
                kind,
                fua: false,
                zeroes: false,
                response_ns: None,
            })
            .unwrap();
    }
    let (mut bytes, _) = writer.finish().unwrap();
    draw.damage(&mut bytes);
    let spec = TraceSpec {
        format: draw.chance(60).then_some(format),
        skip_bad_lines: draw.chance(30),
        reorder: if draw.chance(30) { trace::TraceSortMethod::Sort } else { trace::TraceSortMethod::Window(0) },
        ..TraceSpec::new("damaged")
    };
    let read = catch_unwind(AssertUnwindSafe(|| {
        let mut last_ns = 0;
        let mut reader = trace::open_trace_bytes(bytes.clone(), &spec)?;
        while let Some(request) = flashraid::workload::RequestSource::next_request(&mut reader)? {
            assert!(
                request.arrival_ns >= last_ns && request.arrival_ns <= flashraid::model::events::TIME_MAX_NS && request.length_bytes > 0
            );
            last_ns = request.arrival_ns;
        }
        Ok::<(), flashraid::workload::SourceError>(())
    }));
    read.err().map(|_| format!("damaged trace {seed} ({format}): it panics\n{}", String::from_utf8_lossy(&bytes)))
}

/// Judges a configuration that was damaged as a text.
fn damaged_configuration(seed: u64) -> Option<String> {
    let mut draw = Draw::new(seed);
    let mut bytes = draw.configuration().into_bytes();
    draw.damage(&mut bytes);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let judged = catch_unwind(|| drop(Simulation::from_toml(&text).and_then(|simulation| simulation.validate())));
    judged.err().map(|_| format!("damaged configuration {seed}: it panics\n{text}"))
}

/// Takes over a job file; what comes out must be a configuration, whatever the job asks for.
fn imported_job(seed: u64) -> Option<String> {
    let text = Draw::new(seed).job();
    let imported = catch_unwind(|| import::import_fio_or_mqsim(&text, None));
    let wrong = match imported {
        Err(_) => "it panics".to_owned(),
        Ok(Err(_)) => return None,
        Ok(Ok(imported)) => match Simulation::from_toml(&imported.toml) {
            Ok(_) => return None,
            Err(error) => format!("{error}\n{}", imported.toml),
        },
    };
    Some(format!("imported job {seed}: {wrong}\n{text}"))
}

/// Reads blkreplay files that were joined, of which the later ones have lost some of their first lines: no request may be lost for it.
fn joined_trace(seed: u64) -> Option<String> {
    let mut draw = Draw::new(seed);
    let licence = ["Copyright somebody", "it may be copied", "without any warranty", "####"];
    let (mut text, mut expected) = (String::new(), 0);
    for part in 0..draw.between(1, 5) {
        let lost = if part == 0 { 0 } else { draw.between(0, licence.len() as u64) as usize };
        licence[lost..].iter().for_each(|line| text += &format!("{line}\n"));
        text += "start ; sector; length ; op\n";
        for request in 0..draw.between(1, 9) {
            text += &format!("{request}.0 ; {} ; 8 ; W ; 0.0 ; 0.0\n", 8 * draw.between(0, 99));
            expected += 1;
        }
    }
    let spec = TraceSpec { format: Some(Format::Blkreplay), ..TraceSpec::new("joined") };
    let read = catch_unwind(AssertUnwindSafe(|| trace::info::trace_info_of_bytes(text.clone().into_bytes(), &spec)));
    match read {
        Ok(Ok(info)) if info.requests == expected => None,
        Ok(Ok(info)) => Some(format!("joined trace {seed}: {} of {expected} requests\n{text}", info.requests)),
        Ok(Err(error)) => Some(format!("joined trace {seed}: {error}\n{text}")),
        Err(_) => Some(format!("joined trace {seed}: it panics\n{text}")),
    }
}

/// Case `seed`, in the kinds that need no process.
fn case(seed: u64) -> Vec<String> {
    [configuration(seed), damaged_trace(seed), damaged_configuration(seed), imported_job(seed), joined_trace(seed)]
        .into_iter()
        .flatten()
        .collect()
}

/// Once, in a soak of an hour: it went on for ever, and with it the soak.
#[test]
fn a_case_that_never_ends_is_stopped() {
    let text = "array = { level = \"single\", members = 1 }\nssd.geometry = { dies = 1, planes = 1, blocks = 64, pages = 16 }\n\
                workload = { kind = \"synthetic\", requests = 10, read_fraction = 0.5, size = \"4KiB\", start = \"1000000h\", \
                arrivals = { process = \"poisson\", mean_gap = \"2ms\" } }";
    let begin = Instant::now();
    assert_eq!(run(text), Result::Stopped);
    assert!(begin.elapsed() < LONGEST, "{:?}", begin.elapsed());
}

#[test]
fn random_configurations_and_damaged_inputs() {
    let wrong: Vec<String> = (1..=60).flat_map(case).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The samples of all formats of traces, whole and damaged: what fuzzing does, for a moment and without its tools.
#[test]
fn damaged_samples_of_every_format() {
    for format in Format::ALL {
        let whole = format.sample();
        assert!(trace::info::trace_info_of_bytes(whole, &TraceSpec::new("sample")).is_ok(), "{format}");
        for seed in 0..40 {
            let mut bytes = whole.to_vec();
            Draw::new(seed).damage(&mut bytes);
            let read = catch_unwind(|| drop(trace::info::trace_info_of_bytes(bytes.clone(), &TraceSpec::new("sample"))));
            assert!(read.is_ok(), "{format} damaged by {seed}");
        }
    }
}

/// `make soak SECONDS=3600 SEED=1`, on all processors; says how to repeat what it finds.
#[test]
#[ignore = "runs for as long as wanted: make soak"]
fn soak() {
    let number = |name: &str, default: u64| env::var(name).map_or(default, |text| text.parse().expect("a number"));
    let (seconds, first) = (number("FLASHRAID_SOAK_SECONDS", 60), number("FLASHRAID_SOAK_SEED", 1));
    let begin = Instant::now();
    let [cases, grids, caches, parts] = [const { AtomicU64::new(0) }; 4];
    let wrong = Mutex::new(Vec::new());
    let work = || {
        while begin.elapsed() < Duration::from_secs(seconds) {
            let number = cases.fetch_add(1, Ordering::Relaxed);
            // Each first seed has its own cases.
            let seed = first.wrapping_mul(1 << 32) + number;
            let mut found = case(seed);
            // A killed grid now and then, a hundred in an hour and more.
            if number % 40 == 39 {
                found.extend(catch_unwind(|| kill::killed_and_resumed(seed)).err().map(|_| format!("killed grid {seed}")));
                grids.fetch_add(1, Ordering::Relaxed);
            }
            // Now and then two runs that fill one cache, one of which may be killed.
            if number % 40 == 19 {
                found.extend(catch_unwind(|| second::one_cache(seed)).err().map(|_| format!("one cache {seed}")));
                caches.fetch_add(1, Ordering::Relaxed);
            }
            // Now and then parts of a study as processes on one folder.
            if number % 40 == 29 {
                found.extend(catch_unwind(|| second::killed_parts(seed)).err().map(|_| format!("killed parts {seed}")));
                parts.fetch_add(1, Ordering::Relaxed);
            }
            let mut wrong = wrong.lock().unwrap();
            wrong.extend(found);
            if wrong.len() >= 10 {
                break;
            }
        }
    };
    thread::scope(|scope| (0..thread::available_parallelism().map_or(1, usize::from)).for_each(|_| drop(scope.spawn(work))));
    let wrong = wrong.into_inner().unwrap();
    eprintln!(
        "{:.0} s: {cases:?} configurations, as many damaged traces and configurations, imported jobs and joined traces, {grids:?} killed grids, \
         {caches:?} shared caches, {parts:?} studies in parts, {} wrong",
        begin.elapsed().as_secs_f64(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
