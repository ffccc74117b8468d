//! An array that is driven from outside: the same answers as a run of the same requests, and every wrong call refused.

use flashraid::workload::{self, ArrayProperties};
use flashraid::{Answer, CompletedRequest, Device, DeviceError, Observer, OpKind, Report, Request, RequestSource, Simulation};
use serde_json::Value;

/// Arrays whose requests take every way through the simulator: before their turn, timely, with parity, failures, a cache, a drive with
/// superblocks.
const ARRAYS: &[(&str, &str)] = &[
    ("pools", ""),
    ("semi-preemptive", "ssd.gc.preemption = \"semi\"\n"),
    ("coordinated", "coordination.scheme = \"reactive-inclusive\"\n"),
    ("skipping", "report.skip_requests = 300\n"),
    ("parity", "array.level = \"raid5\"\n"),
    ("failing", "array.level = \"raid5\"\narray.failure = { member = 1, at = \"200ms\" }\n"),
    ("cached", "cache.policy = \"lawc\"\ncache.size = \"256KiB\"\n"),
    ("drive", DRIVE),
];

const REQUESTS: usize = 800;

/// Drives with superblocks, small enough for many runs.
const DRIVE: &str = r#"
array.stripe_unit = "64KiB"
ssd.preset = "nvme-tlc-read"
ssd.scale = 1
ssd.channel.dies_per_channel = 2
ssd.geometry = { dies = 4, planes = 2, blocks = 40, pages = 144, reserved = 0.4 }
ssd.warm_up = { pattern = "random", overwrites = 1 }
"#;

fn config(extra: &str) -> String {
    let geometry = if extra.contains("nvme") { "" } else { "ssd.geometry = { dies = 2, blocks = 64, pages = 16 }\n" };
    format!("array.members = 4\nworkload = {{ preset = \"hpc-w\", requests = {REQUESTS}, rate_scale = 0.2 }}\n{geometry}{extra}")
}

#[derive(Default)]
struct Ends(Vec<CompletedRequest>);

impl Observer for Ends {
    fn request_completed(&mut self, done: &CompletedRequest) {
        self.0.push(*done);
    }
}

fn run(text: &str) -> (Report, Vec<CompletedRequest>) {
    let mut ends = Ends::default();
    let report = Simulation::from_toml(text).unwrap().observe(&mut ends).run().unwrap();
    (report, ends.0)
}

/// The requests that a run of this configuration sends.
fn requests(text: &str) -> Vec<Request> {
    let scenario = Simulation::from_toml(text).unwrap().scenario().unwrap();
    let space: ArrayProperties = flashraid::config::workload_address_space(&scenario.array);
    let mut source = workload::open_workload(&scenario.workload, scenario.seed, &space).unwrap();
    let mut requests = Vec::new();
    while requests.len() < REQUESTS
        && let Some(request) = source.next_request().unwrap()
    {
        requests.push(request);
    }
    requests
}

/// The way in which a caller goes through the requests.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// All of them first, then time.
    AllFirst,
    /// Time up to just before each, in as many calls as answers need.
    OneByOne,
    /// One moment after the other, with room for two answers.
    Moments,
}

fn drive(device: &mut Device, requests: &[Request], way: Way) -> Vec<Answer> {
    let mut answers = Vec::new();
    let until = |device: &mut Device, until_ns: u64, room: usize, answers: &mut Vec<Answer>| {
        while device.advance(until_ns, room, |answer| answers.push(*answer)).unwrap() == room {}
    };
    for (tag, request) in requests.iter().enumerate() {
        match way {
            Way::AllFirst => {}
            Way::OneByOne if request.arrival_ns > device.now_ns() => until(device, request.arrival_ns - 1, 1, &mut answers),
            Way::OneByOne => {}
            Way::Moments => {
                while let Some(next) = device.next_time().filter(|&next| next < request.arrival_ns) {
                    until(device, next, 2, &mut answers);
                }
            }
        }
        device.submit(request, tag as u64).unwrap();
    }
    until(device, u64::MAX, 64, &mut answers);
    assert_eq!(device.requests_under_way(), 0);
    answers
}

/// A report without what only a run has: the workload's note, warnings about it, and the time after the last answer.
fn comparable(report: Report) -> Value {
    let mut document: Value = serde_json::from_str(&report.without_wall_clock().to_json()).unwrap();
    for key in ["workload_note", "warnings", "simulated_ns"] {
        document.as_object_mut().unwrap().remove(key);
    }
    document
}

#[test]
fn a_device_answers_as_a_run_does() {
    for (name, extra) in ARRAYS {
        let text = config(extra);
        let (report, ends) = run(&text);
        let requests = requests(&text);
        for way in [Way::AllFirst, Way::OneByOne, Way::Moments] {
            let mut device = Simulation::from_toml(&text).unwrap().open().unwrap();
            let answers = drive(&mut device, &requests, way);
            let of_run: Vec<_> =
                ends.iter().map(|end| (end.arrival_index, end.arrival_ns, end.done_ns, end.gc_members_met, end.time)).collect();
            let of_device: Vec<_> = answers
                .iter()
                .filter(|answer| answer.pages_lost == 0)
                .map(|answer| (answer.tag, answer.arrival_ns, answer.done_ns, answer.gc_members_met, answer.time_parts))
                .collect();
            assert!(of_device == of_run, "{name}, {way:?}: other answers than those of the run");
            assert_eq!(answers.len(), REQUESTS, "{name}: every request is answered");
            let of_device = comparable(device.report().unwrap());
            let of_run = comparable(report.clone());
            let other: Vec<&String> = of_run.as_object().unwrap().keys().filter(|key| of_device[*key] != of_run[*key]).collect();
            assert!(other.is_empty(), "{name}, {way:?}: {other:?}\n{}\n{}", of_device[other[0]], of_run[other[0]]);
        }
    }
}

#[test]
fn a_report_on_the_way_changes_nothing() {
    for (name, extra) in ARRAYS {
        let text = config(extra);
        let requests = requests(&text);
        let ends = |reports: bool| {
            let mut device = Simulation::from_toml(&text).unwrap().open().unwrap();
            let mut answers = Vec::new();
            for (tag, request) in requests.iter().enumerate() {
                device.submit(request, tag as u64).unwrap();
                if reports && tag % 500 == 77 {
                    let report = device.report().unwrap();
                    let under_way = device.requests_under_way() as u64;
                    assert_eq!(report.partial, under_way > 0, "{name}");
                    assert!(
                        extra.contains("skip") || extra.contains("failures") || report.requests.all + under_way <= tag as u64 + 1,
                        "{name}"
                    );
                }
            }
            device.advance(u64::MAX, 5000, |answer| answers.push(*answer)).unwrap();
            (answers, comparable(device.report().unwrap()))
        };
        assert!(ends(true) == ends(false), "{name}: a report on the way changed what came after");
    }
}

#[test]
fn a_host_that_thinks_is_the_closed_loop_of_a_run() {
    let text = config("").replace("rate_scale = 0.2", "arrivals = { process = \"closed\", depth = 1, think = \"30us\" }");
    let (report, ends) = run(&text);
    let requests = requests(&text);
    let mut device = Simulation::from_toml(&text).unwrap().open().unwrap();
    let (mut now_ns, mut done) = (0, Vec::new());
    for request in &requests {
        device.submit(&Request { arrival_ns: now_ns, ..*request }, 0).unwrap();
        assert_eq!(device.advance(u64::MAX, 1, |answer| done.push(answer.done_ns)).unwrap(), 1);
        assert_eq!(device.now_ns(), done[done.len() - 1], "time stands still at the answer");
        now_ns = device.now_ns() + 30_000;
    }
    assert_eq!(done, ends.iter().map(|end| end.done_ns).collect::<Vec<_>>());
    assert_eq!(device.report().unwrap().response_us.all.mean, report.response_us.all.mean);
}

#[test]
fn wrong_calls_are_refused_and_change_nothing() {
    let mut device = Simulation::from_toml(&config("")).unwrap().open().unwrap();
    let capacity_bytes = device.capacity_bytes();
    let request = |kind, at, offset, bytes| Request::new(kind, at, offset, bytes);
    device.submit(&request(OpKind::Read, 1000, 0, 4096), 7).unwrap();
    let back = device.submit(&request(OpKind::Read, 999, 0, 4096), 8).unwrap_err();
    assert_eq!(back, DeviceError::TimeGoesBack { at_ns: 999, now_ns: 1000 });
    assert!(back.to_string().contains("time goes back"), "{back}");
    for (offset, bytes) in [(capacity_bytes, 1), (capacity_bytes - 4096, 4097), (u64::MAX, 1), (0, u64::MAX), (u64::MAX, u64::MAX)] {
        for kind in [OpKind::Read, OpKind::Write, OpKind::Trim] {
            let beyond = device.submit(&request(kind, 1000, offset, bytes), 9).unwrap_err();
            assert!(matches!(beyond, DeviceError::BeyondTheArray { .. }), "{offset} {bytes}: {beyond}");
        }
    }
    assert!(matches!(device.submit(&request(OpKind::Write, 1000, 0, 0), 9), Err(DeviceError::EmptyRequest { kind: OpKind::Write })));
    assert!(matches!(device.submit(&request(OpKind::Read, u64::MAX, 0, 1), 9), Err(DeviceError::SimulatedTimeOverflow { .. })));
    assert!(matches!(device.advance(1 << 63, 1, |_| {}), Err(DeviceError::SimulatedTimeOverflow { .. })));
    assert!(matches!(device.advance(5, 1, |_| {}), Err(DeviceError::TimeGoesBack { .. })));
    assert_eq!(device.requests_under_way(), 1);
    let mut tags = Vec::new();
    assert_eq!(device.advance(u64::MAX, 10, |answer| tags.push(answer.tag)).unwrap(), 1);
    assert_eq!(tags, [7]);
    device.submit(&request(OpKind::Flush, device.now_ns(), 0, 0), 1).unwrap();
    assert_eq!(device.advance(u64::MAX, 10, |_| {}).unwrap(), 1);
}

#[test]
fn a_device_says_what_it_can_not_begin_with() {
    let refused = |text: &str| Simulation::from_toml(text).unwrap().open().unwrap_err().to_string();
    assert!(refused("array.members = 0").contains("array.members"));
    let large = refused("array.members = 64\nssd.geometry = { dies = 512, planes = 8, blocks = 16384, pages = 32 }");
    assert!(large.contains("of memory"), "{large}");
    let mut empty = Simulation::from_toml(&config("")).unwrap().open().unwrap();
    assert!(empty.report().unwrap().warnings.iter().any(|warning| warning.contains("nothing was measured")));
}
