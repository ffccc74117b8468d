//! Simulated time has an end, and nothing wraps around it.

use super::{ends, run_with, trace};
use crate::program::Place;

/// Earlier, a closed loop ended with status 0 and means of 10^16 µs above the 99th percentile. In an open loop, requests piled up at 584
/// years. There was also a run without end (poll), and there were times of 0.
#[test]
fn durations_beyond_simulated_time_are_refused_with_their_key() {
    let place = Place::new();
    for (set, part) in [
        ("workload.arrivals={process=\"closed\", depth=4, think=\"500000h\"}", "workload.arrivals"),
        ("workload.arrivals={process=\"poisson\", mean_gap=\"100000h\"}", "workload.arrivals"),
        ("workload.arrivals={process=\"fixed\", gap=\"2000000h\"}", "simulated time"),
        ("workload.duration=\"2000000h\"", "workload.duration"),
        ("report.skip_time=\"5000000h\"", "report.skip_time"),
        ("ssd.gc.idle=\"3000000h\"", "ssd.gc.idle"),
        ("ssd.gc.poll=\"10000h\"", "ssd.gc.poll"),
        ("ssd.gc.suspend_ns=9223372036854775807", "ssd.gc.suspend_ns"),
        ("ssd.gc.resume_ns=9000000000000000000", "ssd.gc.resume_ns"),
        ("ssd.timing.page_read=\"2h\"", "ssd.timing.page_read"),
        ("ssd.timing.transfer_per_byte=\"100s\"", "ssd.timing.transfer_per_byte"),
        ("ssd.link=\"1B/s\"", "ssd.link"),
    ] {
        ends(&run_with(&place, "run", &["ssd.gc.preemption=semi", set]), 2, &[part]);
    }
    let slow =
        ["ssd.timing.page_read=\"1h\"", "ssd.timing.page_program=\"1h\"", "ssd.timing.block_erase=\"1h\"", "ssd.geometry.blocks=16384"];
    ends(&run_with(&place, "run", &slow), 2, &["ssd.timing", "years"]);
}

/// Once: status 0 and a minimum of 0.0 µs, less than any flash takes.
#[test]
fn a_run_that_reaches_the_end_of_time_stops_and_says_so() {
    let place = Place::new();
    // A thousand hours for a clean each: what is behind them waits longer than time lasts, though every key is within its bounds.
    let slow = [
        "ssd.timing.page_read=\"1h\"",
        "ssd.timing.page_program=\"1h\"",
        "ssd.timing.block_erase=\"1h\"",
        "workload.requests=2000000",
        "workload.size=\"256KiB\"",
    ];
    ends(&run_with(&place, "run", &slow), 1, &["simulated time", "2^62 ns"]);
    let closed = [&slow[..], &["workload.arrivals={process=\"closed\", depth=4}"]].concat();
    ends(&run_with(&place, "run", &closed), 1, &["simulated time"]);
}

/// Once: such a run went on for ever. A write cache that holds everything answers at once if its memory takes no time.
#[test]
fn a_closed_loop_whose_answers_take_no_time_ends() {
    let place = Place::new();
    let run = |more: &str| {
        let workload = format!("{{ kind = \"synthetic\", read_fraction = 0.0, address = {{ footprint = \"16KiB\" }}, {more} }}");
        let geometry = "dies = 2, planes = 1, blocks = 64, pages = 16";
        let cache = "policy = \"wow\", size = \"4MiB\", nvm_read = \"0ns\", nvm_write = \"0ns\"";
        place.write("t.toml", format!("ssd.geometry = {{ {geometry} }}\ncache = {{ {cache} }}\nworkload = {workload}\n"));
        place.run(&["run", "t.toml"])
    };
    let closed = "arrivals = { process = \"closed\", depth = 4 }";
    ends(&run(&format!("duration = \"1s\", {closed}")), 1, &["within one nanosecond", "workload.requests"]);
    // A bounded number of requests is allowed, and so is a host that takes time.
    ends(&run(&format!("requests = 1000, {closed}")), 0, &[]);
    ends(&run("duration = \"1s\", arrivals = { process = \"closed\", depth = 4, think = \"1ms\" }"), 0, &[]);
}

/// Once: one line with such a time gave status 0, a minimum of 0.0 µs and 0.3 ms of simulated time.
#[test]
fn times_of_traces_are_bounded_and_refused_with_their_line() {
    let place = Place::new();
    let good = trace(20);
    for (name, line, part) in [
        ("a.spc", "0,8,4096,w,18446744073.7095\n", "line 21"),
        ("b.spc", "0,8,4096,w,18446744073.7090\n", "line 21"),
        ("c.spc", "0,8,4096,w,9446744073.0\n", "line 21"),
        ("d.spc", "0,8,4096,w,99999999999999999999\n", "line 21"),
    ] {
        place.write(name, format!("{good}{line}"));
        place.write("t.toml", format!("ssd.geometry = {{ dies = 2, planes = 1, blocks = 64, pages = 16 }}\nworkload.path = \"{name}\""));
        ends(&place.run(&["run", "t.toml"]), 2, &[part, name]);
        ends(&place.run(&["check", "t.toml"]), 2, &[part]);
    }
    let unsigned = "18446744073709551615 0 80 8 1\n";
    place.write("e.trace", format!("{}{unsigned}", (0..20).map(|at| format!("{} 0 80 8 1\n", at * 1000)).collect::<String>()));
    ends(&place.run(&["trace", "info", "e.trace", "--format", "mqsim"]), 2, &["line 21"]);
}

/// Once: a real trace with `rate_scale = 0.00001` gave a mean of 21 µs, a minimum of 0.0 and collection that was busy 3.27 of the time.
#[test]
fn arrivals_after_their_transformation_are_bounded_too() {
    let place = Place::new();
    let days: String = (0..200).map(|index| format!("0,{},4096,w,{}\n", 8 * (index % 97), index * 86_400)).collect();
    place.write("days.spc", days);
    place.write(
        "t.toml",
        "ssd.geometry = { dies = 2, planes = 1, blocks = 64, pages = 16 }\n\
         workload = { path = \"days.spc\", time_unit = \"s\", rate_scale = 0.00001 }",
    );
    ends(&place.run(&["run", "t.toml"]), 2, &["rate_scale", "line 2", "days.spc"]);
    let limited = place.run(&["run", "t.toml", "--json", "--set", "workload.limit=\"100000h\""]);
    ends(&limited, 0, &[]);
}
