//! Tests of flushes that a host sends by itself (`workload.flush_every`), of forced writes, and of flushes in traces.

use flashraid::{CompletedRequest, Observer, OpKind, Report, Simulation};

/// A small drive whose buffer forgets its data, under one write after another.
const DRIVE: &str = r#"
[array]
level = "single"
members = 1
[ssd]
preset = "nvme-client-xg6"
scale = 1
[ssd.geometry]
dies = 4
planes = 2
blocks = 64
pages = 72
reserved = 0.4
[workload]
kind = "synthetic"
read_fraction = 0
arrivals = { process = "closed", depth = 1 }
requests = 400
"#;

fn with(settings: &[(&str, &str)]) -> Simulation<'static> {
    let simulation = Simulation::from_toml(DRIVE).unwrap();
    settings.iter().fold(simulation, |simulation, (key, value)| simulation.set(key, value).unwrap()).verify()
}

fn run(settings: &[(&str, &str)]) -> Report {
    with(settings).run().unwrap()
}

/// Shortest program of the drive, in microseconds.
fn program_us(simulation: &Simulation<'_>) -> f64 {
    simulation.scenario().unwrap().array.ssd.timing.page_program.ns as f64 / 1e3
}

#[test]
fn a_flush_waits_for_a_program_unless_the_buffer_is_protected() {
    let program_us = program_us(&with(&[]));
    let volatile = run(&[("workload.flush_every", "1")]);
    let sync = volatile.response_us.sync.as_ref().unwrap();
    assert_eq!((sync.count, volatile.requests.all, volatile.requests.flush), (400, 400, 400));
    assert!(sync.min.unwrap() > program_us, "{sync:?} beside {program_us}");
    let protected = run(&[("workload.flush_every", "1"), ("ssd.buffer.protected", "true")]);
    let safe = protected.response_us.sync.as_ref().unwrap();
    assert!(safe.p50.unwrap() < program_us / 4.0, "{safe:?}");
    // A write alone is as fast as without flushes.
    let alone = run(&[]);
    assert!(alone.response_us.sync.is_none());
    assert!(volatile.response_us.write.p50.unwrap() <= alone.response_us.write.p50.unwrap() * 1.01);
    // A forced write waits for the program, too, and no flush is sent.
    let forced = run(&[("workload.fua", "true")]);
    assert_eq!((forced.requests.flush, forced.response_us.sync.as_ref().unwrap().count), (0, 400));
    assert_eq!(forced.response_us.sync.as_ref().unwrap().p99, forced.response_us.write.p99);
    assert!(forced.response_us.write.min.unwrap() > program_us);
}

#[test]
fn a_flush_follows_so_many_writes() {
    let fourth = run(&[("workload.flush_every", "4"), ("workload.read_fraction", "0.5")]);
    let sync = fourth.response_us.sync.as_ref().unwrap();
    assert_eq!((sync.count, fourth.requests.flush), (fourth.requests.write / 4, fourth.requests.write / 4));
    assert_eq!(fourth.requests.all, 400);
    // The requests are those of a run without flushes.
    let without = run(&[("workload.read_fraction", "0.5")]);
    assert_eq!((fourth.requests.read, fourth.requests.write), (without.requests.read, without.requests.write));
}

/// Ends of writes and flushes, in order.
#[derive(Default)]
struct Ends(Vec<(OpKind, u64, u64)>);

impl Observer for Ends {
    fn request_completed(&mut self, done: &CompletedRequest) {
        self.0.push((done.request.kind, done.arrival_ns, done.done_ns));
    }
}

/// A flush has the place of its write in a closed loop, so that never more requests than the depth are in flight. An open loop sends it in
/// the nanosecond in which the write ends.
#[test]
fn a_flush_begins_when_its_write_ends() {
    let loops = [
        "{ process = \"closed\", depth = 1, think = \"5us\" }",
        "{ process = \"closed\", depth = 3 }",
        "{ process = \"poisson\", mean_gap = \"900us\" }",
    ];
    for arrivals in loops {
        let mut ends = Ends::default();
        let simulation = with(&[("workload.flush_every", "1"), ("workload.arrivals", arrivals)]);
        let report = simulation.observe(&mut ends).run().unwrap();
        let of = |kind: OpKind| ends.0.iter().filter(move |end| end.0 == kind);
        assert_eq!((of(OpKind::Write).count(), of(OpKind::Flush).count()), (400, 400), "{arrivals}");
        let mut write_ends: Vec<u64> = of(OpKind::Write).map(|end| end.2).collect();
        let mut flush_begins: Vec<u64> = of(OpKind::Flush).map(|end| end.1).collect();
        write_ends.sort_unstable();
        flush_begins.sort_unstable();
        assert_eq!(write_ends, flush_begins, "{arrivals}");
        let sync = report.response_us.sync.as_ref().unwrap();
        let mean_of = |kind: OpKind| of(kind).map(|end| (end.2 - end.1) as f64).sum::<f64>() / 400e3;
        let both = mean_of(OpKind::Write) + mean_of(OpKind::Flush);
        assert!((sync.mean.unwrap() / both - 1.0).abs() < 1e-9, "{arrivals}: {sync:?} beside {both}");
    }
}

/// The streams of a mix flush by themselves.
#[test]
fn one_stream_of_a_mix_flushes() {
    let stream = |more: &str| {
        format!("{{ kind = \"synthetic\", read_fraction = 0, arrivals = {{ process = \"fixed\", gap = \"2ms\" }}, limit = 50{more} }}")
    };
    let mix = format!("[{}, {}]", stream(""), stream(", flush_every = 5"));
    let text = DRIVE.split("[workload]").next().unwrap().to_owned() + "[workload]\nkind = \"mix\"\nstreams = " + &mix;
    let report = Simulation::from_toml(&text).unwrap().verify().run().unwrap();
    assert_eq!((report.requests.all, report.requests.flush, report.response_us.sync.unwrap().count), (100, 10, 10));
}

/// A flush of a trace counts with the write before it.
#[test]
fn flushes_of_a_trace_are_sent() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let line = |i: u64| format!("{},W,{},4096\n{},flush,0,0\n", 10_000 * i, 4096 * i, 10_000 * i + 200);
    let text: String = (0..50).map(line).collect();
    std::fs::write(file.path(), format!("time_us,op,offset,size\n{text}")).unwrap();
    let trace = format!("[workload]\nkind = \"trace\"\npath = {:?}\n", file.path());
    let text = DRIVE.split("[workload]").next().unwrap().to_owned() + &trace;
    let simulation = Simulation::from_toml(&text).unwrap();
    let program_us = program_us(&simulation);
    let report = simulation.verify().run().unwrap();
    assert_eq!((report.requests.all, report.requests.flush), (50, 50));
    let sync = report.response_us.sync.unwrap();
    assert!(sync.count == 50 && sync.min.unwrap() > program_us, "{sync:?}");
    let ignored = Simulation::from_toml(&text).unwrap().set("workload.flushes", "ignore").unwrap().run().unwrap();
    assert_eq!((ignored.requests.flush, ignored.response_us.sync), (0, None));
}
