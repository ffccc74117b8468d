//! One Ctrl-C, or one SIGTERM, is enough.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::program::{Place, is_long};

/// Time within which the program must end after a signal. It needs at most half a second; the rest is for a busy machine.
const PATIENCE: Duration = Duration::from_secs(4);

fn start(place: &Place, arguments: &[&str]) -> Child {
    place.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap().success());
}

/// Returns the exit status if the process ends in time.
fn ends_soon(child: &mut Child) -> Option<i32> {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status.code().unwrap_or(-1));
        }
        sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

/// Earlier versions ignored a signal until the end of the member's warm-up (more than 25 s), of the skip, or of the sort (5.7 s). With a
/// long poll, they ignored it forever.
#[test]
fn the_first_signal_stops_every_phase() {
    let place = Place::new();
    let lines = |count: u64| (0..count).map(|at| format!("0,{},4096,w,{}.0\n", 8 * (at % 97), (at * 7919) % count)).collect::<String>();
    place.write("backwards.spc", lines(400_000));
    let trace = "array = { level = \"single\", members = 1 }\nssd.geometry = { dies = 2, planes = 1, blocks = 64, pages = 16 }\nworkload.path = \"backwards.spc\"\nworkload.reorder = \"sort\"";
    place.write("sorted.toml", trace);
    place.write("extent.toml", format!("{trace}\nworkload.address_fit = \"scale\""));
    let cases: [(&str, &[&str]); 6] = [
        (
            "warm-up of one member",
            &[
                "run",
                "small.toml",
                "--set",
                "ssd.geometry.blocks=4096",
                "--set",
                "ssd.geometry.pages=128",
                "--set",
                "ssd.warm_up.overwrites=200",
                "--set",
                "array.level=single",
                "--set",
                "array.members=1",
            ],
        ),
        ("skipping", &["run", "small.toml", "--set", "workload.start=\"1000000h\""]),
        ("long run", &["run", "small.toml", "--set", "workload.requests=900000000"]),
        (
            "waiting for nothing",
            &[
                "run",
                "small.toml",
                "--set",
                "workload.requests=900000000",
                "--set",
                "ssd.gc.preemption=semi",
                "--set",
                "ssd.gc.poll=\"1h\"",
            ],
        ),
        ("sorting", &["run", "sorted.toml"]),
        ("grid", &["compare", "small.toml", "--set", "workload.requests=900000000", "--vary", "seed=1,2,3", "--out", "grid"]),
    ];
    for (index, (what, arguments)) in cases.into_iter().enumerate() {
        let names: &[&str] = if is_long() { &["TERM", "INT"] } else { &[["TERM", "INT"][index % 2]] };
        for name in names {
            let mut child = start(&place, arguments);
            sleep(Duration::from_millis(700));
            signal(&child, name);
            let status = ends_soon(&mut child);
            // The short ones may have been done before; then with success.
            assert!(status == Some(130) || (what == "sorting" && status == Some(0)), "{what}, {name}: {status:?}");
        }
    }
    drop(start(&place, &["check", "extent.toml"]).wait());
}

/// Once: a file of 48 MB under a temporary name stayed.
#[test]
fn a_second_signal_while_a_state_is_written_leaves_nothing() {
    let place = Place::new();
    let arguments = [
        "run",
        "small.toml",
        "--set",
        "ssd.geometry.blocks=16384",
        "--set",
        "ssd.geometry.pages=128",
        "--set",
        "ssd.warm_up.overwrites=0",
        "--set",
        "ssd.warm_up.save=\"state\"",
    ];
    let mut child = start(&place, &arguments);
    let begin = Instant::now();
    let parts = || {
        let names = fs::read_dir(place.path(".")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.ends_with(".part") || name.contains(".partial")).collect::<Vec<_>>()
    };
    while parts().is_empty() && child.try_wait().unwrap().is_none() && begin.elapsed() < Duration::from_secs(30) {
        sleep(Duration::from_millis(1));
    }
    signal(&child, "INT");
    sleep(Duration::from_millis(5));
    signal(&child, "INT");
    child.wait().unwrap();
    assert_eq!(parts(), Vec::<String>::new());
}

/// Commands that simulate drives heed the first signal, too, and leave nothing unfinished.
#[test]
fn commands_on_drives_stop_at_the_first_signal() {
    let place = Place::new();
    place.write("drive.toml", crate::fit::DRIVE);
    let ended = place.run(&["probe", "--simulate", "drive.toml", "--scale", "1", "--out", "known"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let before = place.files();
    let cases: [&[&str]; 3] = [
        &["probe", "--simulate", "nvme-gen5", "--out", "other"],
        &["pts", "wsat", "--ssd", "nvme-gen5"],
        &["fit", "known", "--base", "drive.toml", "--scale", "1", "--simplex", "10000", "--out", "device.toml", "--force"],
    ];
    for arguments in cases {
        for name in ["TERM", "INT"] {
            let mut child = start(&place, arguments);
            sleep(Duration::from_millis(700));
            signal(&child, name);
            assert_eq!(ends_soon(&mut child), Some(130), "{arguments:?}, {name}");
        }
    }
    // A fit that has found values before it is stopped writes the best of them, as a device and its page.
    let mut after = place.files();
    after.retain(|file| !file.starts_with("cache/") && file != "device.html");
    assert_eq!(after, before);
    assert_eq!(place.path("device.toml").exists(), place.path("device.html").exists());
}

/// A comparison of drives of today ends soon after a signal at any moment, and says what is kept. With `FLASHRAID_LONG`, at twenty moments.
#[test]
fn a_comparison_of_drives_of_today_stops_at_any_moment() {
    let moments = if is_long() { 20 } else { 3 };
    let place = Place::new();
    let today = "array = { level = \"raid5\", members = 8 }\nssd.preset = \"nvme-tlc-read\"\nworkload.requests = 900000000\n";
    place.write("today.toml", today);
    let compare = ["compare", "today.toml"];
    let mut longest = Duration::ZERO;
    for moment in 0..moments {
        let out = format!("grid-{moment}");
        let more = ["--vary", "coordination.scheme=local,reactive-inclusive,ideal", "--out", &out];
        let mut child = place.command(&[&compare[..], &more].concat()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        sleep(Duration::from_millis(20 + (moment * 7919) % 1500));
        let begin = Instant::now();
        // SIGINT may be ignored until the program listens to it: shells do that to what they start in the background.
        signal(&child, "TERM");
        let status = ends_soon(&mut child);
        longest = longest.max(begin.elapsed());
        let stderr = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
        // Before the handler is installed, the signal ends the program by itself.
        assert!(status == Some(130) || status == Some(-1), "moment {moment}: {status:?} {stderr}");
        assert!(
            status == Some(-1) || stderr.contains("finished simulations are in") || stderr.contains("stopped"),
            "moment {moment}: {stderr}"
        );
    }
    eprintln!("{longest:?} at most");
}

/// A search for an array ends soon after a signal, and answers with the best so far. With `FLASHRAID_LONG`, at twenty moments.
#[test]
fn advice_stops_at_any_moment_with_the_answer_so_far() {
    let moments = if is_long() { 20 } else { 2 };
    let place = Place::new();
    let load = "[workload]\nread_fraction = 0.7\nsize = \"16KiB\"\narrivals = { process = \"poisson\", mean_gap = \"12us\" }\n";
    place.write("today.toml", load);
    place.write("space.toml", "[space]\nmembers = \"2..5\"\nchunk = [\"4KiB\", \"8KiB\", \"16KiB\", \"32KiB\"]\n");
    let goal = ["--goal", "read p99.9 <= 1s"];
    let today = [&["advise", "today.toml", "--capacity", "20TB", "--bays", "4..8", "--requests", "900M"][..], &goal].concat();
    let small =
        [&["advise", "small.toml", "--capacity", "1MB", "--space", "space.toml", "--prefer", "tail", "--requests", "90M"][..], &goal]
            .concat();
    let mut longest = Duration::ZERO;
    for moment in 0..moments {
        // Drives of today are still looked at by arithmetic and the first run, and small ones are compared.
        let arguments = if moment % 2 == 0 { &today } else { &small };
        let mut child = place.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        sleep(Duration::from_millis(200 + if is_long() { 5000 } else { 3000 } * moment / moments));
        let begin = Instant::now();
        signal(&child, "TERM");
        let status = ends_soon(&mut child);
        longest = longest.max(begin.elapsed());
        let stdout = std::io::read_to_string(child.stdout.take().unwrap()).unwrap();
        let stderr = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
        // Before the handler is installed, the signal ends the program by itself.
        assert!(status == Some(130) || (status == Some(-1) && moment == 0), "moment {moment}: {status:?} {stdout}{stderr}");
        let is_answered = stdout.contains("Can't tell: stopped") || stderr.contains("stopped before the first request");
        assert!(status == Some(-1) || is_answered, "moment {moment}: {stdout}{stderr}");
    }
    eprintln!("{longest:?} at most");
}
