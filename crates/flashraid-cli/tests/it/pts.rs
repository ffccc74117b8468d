//! `flashraid pts`: tests of a drive's steady state.

use crate::program::Place;

/// A drive that is full after a fraction of a second.
const SMALL: [&str; 12] = [
    "--ssd",
    "nvme-gen5",
    "--set",
    "ssd.scale=400",
    "--set",
    "ssd.geometry.dies=4",
    "--set",
    "ssd.channel.dies_per_channel=2",
    "--set",
    "ssd.geometry.blocks=80",
    "--set",
    "ssd.geometry.reserved=0.4",
];

fn of<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["pts", "wsat"], &SMALL[..], more].concat()
}

#[test]
fn a_drive_is_tested_round_by_round() {
    let place = Place::new();
    let document = place.run_json(&of(&["--json"]));
    assert_eq!((document["schema"].as_str(), document["test"].as_str()), (Some("flashraid.pts/1"), Some("wsat")));
    assert_eq!((document["steady"]["is_steady"].as_bool(), document["partial"].as_bool()), (Some(true), Some(false)));
    let rounds = document["rounds"].as_array().unwrap();
    assert_eq!(document["steady"]["round"], rounds.len());
    let last = rounds.last().unwrap();
    assert!(last["write_amplification"].as_f64().unwrap() > 1.3 && last["patterns"][0]["iops"].as_f64().unwrap() > 0.0, "{last}");

    let tables = place.run(&of(&[]));
    assert_eq!(tables.status, 0, "{}", tables.stderr);
    let said = format!("Steady from round {} on", rounds.len());
    assert!(tables.stdout.contains(&said) && tables.stdout.contains("drive fills"), "{}", tables.stdout);

    let few = place.run(&of(&["--rounds", "5"]));
    assert!(few.status == 0 && few.stdout.contains("Not steady: rounds 1 to 5"), "{}", few.stdout);
}

#[test]
fn what_cannot_be_tested_is_refused() {
    let place = Place::new();
    for (arguments, said) in [
        (&["pts", "wsat"][..], "--ssd"),
        (&["pts", "tp", "--ssd", "nvme-gen5"], "iops, wsat, latency"),
        (&["pts", "wsat", "--ssd", "nvme-gen6"], "nvme-gen6"),
        (&["pts", "wsat", "--ssd", "ggc2014"], "ggc2014 is a device with pools of blocks, which can't begin empty"),
        (&["pts", "iops", "--fio", "--ssd", "nvme-gen5"], "--fio"),
        (&["pts", "iops", "--ssd", "nvme-gen5", "--rounds", "4"], "5.."),
    ] {
        let ended = place.run(arguments);
        assert!(ended.status == 2 && ended.stderr.contains(said), "{arguments:?}: {} {}", ended.status, ended.stderr);
        // Not of a key that the user has not set.
        assert!(!ended.stderr.contains("warm_up"), "{arguments:?}: {}", ended.stderr);
    }
}

#[test]
fn fio_gets_a_job_file() {
    let place = Place::new();
    let file = place.run(&["pts", "latency", "--fio"]);
    assert_eq!((file.status, file.stdout.matches("stonewall").count()), (0, 5 * 9), "{}", file.stdout);
    let longer = place.run(&["pts", "latency", "--fio", "--rounds", "7"]);
    assert_eq!(longer.stdout.matches("stonewall").count(), 7 * 9);
}
