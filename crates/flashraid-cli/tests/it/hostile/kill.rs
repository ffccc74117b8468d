//! Comparisons that are killed at random moments go on where they stopped, and give what an uninterrupted one gives.

use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use super::draw::Draw;
use crate::program::{Place, without_wall_clock};

fn start(place: &Place, arguments: &[&str]) -> Child {
    place.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn signal(child: &Child, name: &str) {
    // It may have ended.
    let _ = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).stderr(Stdio::null()).status();
}

/// Kills a grid at three random moments, sometimes with a second process on the same folder. Compares the results at the end.
pub fn killed_and_resumed(seed: u64) {
    let mut draw = Draw::new(seed);
    let place = Place::new();
    let requests = format!("workload.requests={}", draw.between(500, 6000));
    let jobs = draw.between(1, 3).to_string();
    let grid = [
        "compare",
        "small.toml",
        "--set",
        &requests,
        "--vary",
        "array.members=2,4",
        "--vary",
        "coordination.scheme=local,ideal,proactive-idle",
        "--jobs",
        &jobs,
        "--json",
        "--out",
    ];
    let arguments = |folder: &'static str| [&grid[..], &[folder]].concat();
    for _ in 0..3 {
        let mut children = vec![start(&place, &arguments("killed"))];
        if draw.chance(40) {
            children.push(start(&place, &arguments("killed")));
        }
        sleep(Duration::from_millis(draw.between(5, 400)));
        for child in &mut children {
            signal(child, draw.one_of(&["INT", "TERM", "KILL"]));
            if draw.chance(20) {
                signal(child, "INT");
            }
        }
        for mut child in children {
            child.wait().unwrap();
        }
    }
    let resumed = without_wall_clock(place.run_json(&arguments("killed"))).to_string();
    let whole = without_wall_clock(place.run_json(&arguments("whole"))).to_string();
    assert_eq!(resumed, whole, "seed {seed}");
}

/// Once: as now, 30 of 30. The states that were saved besides were not (see `grids`).
#[test]
fn killed_grids_come_out_as_if_nobody_had_killed_them() {
    (1..=6).for_each(killed_and_resumed);
}
