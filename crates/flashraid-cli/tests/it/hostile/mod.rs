//! Attacks of users, disks and machines on the program. They are the findings of a search with nineteen thousand hostile cases, and
//! generators that continue the search.

mod bounds;
mod clock;
mod draw;
mod files;
mod grids;
mod inputs;
mod kill;
mod machine;
mod relations;
mod second;
mod signals;
mod soak;
mod writers;

use crate::program::{Ended, Place};

/// Runs with settings over `small.toml`.
fn run_with(place: &Place, command: &str, sets: &[&str]) -> Ended {
    let mut arguments = vec![command, "small.toml"];
    for set in sets {
        arguments.extend(["--set", set]);
    }
    place.run(&arguments)
}

/// The message of a command that ends with `status`, once, without a panic, and says all of `parts`.
fn ends(ended: &Ended, status: i32, parts: &[&str]) {
    let Ended { stderr, .. } = ended;
    assert_eq!(ended.status, status, "{stderr}{}", ended.stdout);
    assert!(!stderr.contains("has a bug") && !stderr.contains("panicked"), "{stderr}");
    for part in parts {
        assert!(stderr.contains(part), "{part} is not in: {stderr}");
    }
}

/// An SPC trace of `requests` writes, one each millisecond.
fn trace(requests: u32) -> String {
    (0..requests).map(|index| format!("0,{},4096,w,{}.{:03}\n", 8 * (index % 97), index / 1000, index % 1000)).collect()
}
