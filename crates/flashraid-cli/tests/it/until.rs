//! Runs that go on until their figures can be judged, or until they are certain enough.

use crate::program::{Place, without_wall_clock};

const COMPARE: [&str; 5] = ["compare", "small.toml", "--vary", "coordination.scheme=local,ideal", "--json"];

/// Returns the number of requests of a comparison's points, and its document.
fn compare(place: &Place, more: &[&str]) -> (u64, serde_json::Value) {
    let document = without_wall_clock(place.run_json(&[&COMPARE[..], more].concat()));
    (document["points"][0]["report"]["requests"]["all"].as_u64().unwrap(), document)
}

#[test]
fn a_comparison_goes_on_until_it_is_judged() {
    let place = Place::new();
    let short = ["--set", "workload.requests=30"];
    let (asked, exactly) = compare(&place, &[&short[..], &["--exactly"]].concat());
    assert_eq!((asked, exactly["summary"][0]["judged"].as_bool()), (30, Some(false)));

    let ended = place.run(&[&COMPARE[..4], &short].concat());
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("note: going on to ") && ended.stderr.contains("--exactly keeps to what was asked"), "{}", ended.stderr);
    let text = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("went on to ") && text.contains("so that each collected often enough"), "{text}");
    assert!(!text.contains("not judged"), "{text}");

    // The same folder holds all of it, and the result is that of the longer run.
    let (long, judged) = compare(&place, &[&short[..], &["--out", "grid"]].concat());
    assert!(long > 30 && long <= 600 && judged["summary"][0]["judged"] == true, "{long}");
    let (again, same) = compare(&place, &[&short[..], &["--out", "grid"]].concat());
    assert_eq!((again, &same), (long, &judged));
    let requests = format!("workload.requests={long}");
    assert_eq!(compare(&place, &["--set", &requests, "--exactly"]), (long, judged));
}

#[test]
fn intervals_become_as_narrow_as_asked() {
    let place = Place::new();
    let wide = ["--set", "workload.requests=1000"];
    let (_, before) = compare(&place, &[&wide[..], &["--exactly"]].concat());
    let half_width = |document: &serde_json::Value| {
        document["summary"][1]["figures"]["response_us.all.mean"]["ratio_ci95"]
            .as_f64()
            .unwrap_or_else(|| panic!("{}", document["summary"][1]))
    };
    let goal = half_width(&before) / 2.0;
    let percent = format!("{:.1}%", (goal * 100.0).max(0.1));
    let (requests, after) = compare(&place, &[&wide[..], &["--until", &percent, "--at-most", "200k"]].concat());
    assert!(requests >= 4000 && half_width(&after) <= goal * 1.01, "{requests}: {} {}", half_width(&before), half_width(&after));
    // A bound comes first.
    let (bounded, _) = compare(&place, &[&wide[..], &["--until", &percent, "--at-most", "2k"]].concat());
    assert!(bounded <= 2000, "{bounded}");
}

#[test]
fn a_run_goes_on_too() {
    let place = Place::new();
    let run = ["run", "small.toml", "--set", "workload.requests=30", "--json"];
    assert_eq!(place.run_json(&run)["requests"]["all"], 30);
    let document = place.run_json(&[&run[..], &["--until", "judged", "--out", "out", "--csv"]].concat());
    let requests = document["requests"]["all"].as_u64().unwrap();
    assert!(requests > 30 && document["verdict"]["marks"].as_array().unwrap().iter().all(|mark| mark != "not judged"), "{requests}");
    let rows = place.read("out/requests.csv").lines().filter(|line| !line.starts_with('#')).count() as u64;
    assert_eq!(rows, requests + 1, "the file has the requests of the last run only");
}

#[test]
fn what_cannot_go_on_is_refused() {
    let place = Place::new();
    place.write("two.toml", "[[workload.streams]]\npreset = \"exchange\"\nlimit = 100\n[[workload.streams]]\npreset = \"exchange\"\n");
    place.write("trace.spc", "0,8,4096,w,0.000\n0,24,4096,r,0.001\n");
    let refused = |arguments: &[&str], message: &str| {
        let ended = place.run(arguments);
        assert!(ended.status == 2 && ended.stderr.contains(message), "{arguments:?}: {} {}", ended.status, ended.stderr);
    };
    let local = ["--vary", "coordination.scheme=local,ideal"];
    refused(&[&["compare", "two.toml", "--until", "judged"][..], &local].concat(), "workload.streams[0] ends by itself");
    refused(&["run", "two.toml", "--until", "5%"], "workload.streams[0] ends by itself");
    refused(&["run", "small.toml", "--at-most", "2M"], "it bounds --until judged or --until P%");
    refused(&[&["compare", "small.toml", "--until", "judged", "--exactly"][..], &local].concat(), "cannot be used with");
    refused(&[&["compare", "small.toml", "--until", "judged", "--shard", "1/2"][..], &local].concat(), "a shard keeps to what was asked");
    refused(&["compare", "small.toml", "--until", "judged", "--vary", "workload.requests=100,200"], "workload.requests is varied");
    refused(
        &["compare", "small.toml", "--at-most", "2M", "--vary", "workload.requests=100,200"],
        "--at-most: the runs can't be made longer",
    );
    refused(&["run", "small.toml", "--until", "soon"], "write judged, or a percentage");
    refused(&["run", "small.toml", "--until", "judged", "--at-most", "0"], "write a number of requests");
    refused(&["run", "trace.spc", "--set", "workload.repeat=0"], "repeat");
    refused(&["run", "small.toml", "--set", "workload.repeat=2"], "repeat");
}
