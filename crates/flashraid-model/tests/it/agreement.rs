//! Compares the model with the reference on thousands of small random arrays. Ends of requests, and the parts of their time, agree to the
//! nanosecond.
//!
//! Each case has a seed of its own; a failure prints it. `FLASHRAID_AGREEMENT_SEED=n` runs that one case,
//! `FLASHRAID_AGREEMENT_CASES=n` so many from seed 0.

use flashraid_model::request::Request;
use flashraid_model::ssd::ExactFastPaths;

use crate::adapter;
use crate::cases::PAGE_BYTES;
use crate::draw::{
    draw_cached_case, draw_case, draw_case_of_stripes, draw_coordinated_case, draw_fronted_case, draw_interruptible_case, draw_mixed_case,
};
use crate::draw_drives::{ONCE_STUCK, draw_drive_case};
use crate::outcome::Case;
use crate::reference;
use crate::shrink::shrink;

/// Number of cases of each kind in `make test`. `make test-long` runs 2,500.
const CASES: u64 = 500;

#[test]
fn the_model_agrees_with_the_reference() {
    agree(draw_case);
}

#[test]
fn the_model_agrees_with_the_reference_on_preemption() {
    agree(draw_interruptible_case);
}

#[test]
fn the_model_agrees_with_the_reference_on_parity() {
    agree(draw_case_of_stripes);
}

#[test]
fn the_model_agrees_with_the_reference_on_caches() {
    agree(draw_cached_case);
}

#[test]
fn the_model_agrees_with_the_reference_on_coordination() {
    agree(draw_coordinated_case);
}

#[test]
fn the_model_agrees_with_the_reference_on_everything() {
    agree(draw_mixed_case);
}

#[test]
fn the_model_agrees_with_the_reference_on_what_stands_before_dies() {
    agree(draw_fronted_case);
}

#[test]
fn the_model_agrees_with_the_reference_on_drives_by_themselves() {
    agree(draw_drive_case);
    agree_on(&ONCE_STUCK, draw_drive_case);
}

/// Every case that qualifies for a shortcut, run both ways; so the shortcuts are proved without the reference, too.
#[test]
fn the_shortcuts_change_nothing() {
    let without = [
        ExactFastPaths { computes_operation_ends_on_arrival: false, skips_operation_end_events: true },
        ExactFastPaths { computes_operation_ends_on_arrival: false, skips_operation_end_events: false },
    ];
    let draws = [draw_case, draw_interruptible_case, draw_coordinated_case, draw_case_of_stripes, draw_cached_case, draw_mixed_case];
    for seed in seeds() {
        let case = draws[seed as usize % draws.len()](seed);
        let (expected, expected_usage) = adapter::fast_with(&case, ExactFastPaths::default());
        for shortcuts in without {
            let (found, usage) = adapter::fast_with(&case, shortcuts);
            let differs = || (usage != expected_usage).then(|| format!("usage over time:\n{expected_usage:?}\n{usage:?}"));
            if let Some(difference) = expected.first_difference(&found).or_else(differs) {
                panic!("FLASHRAID_AGREEMENT_SEED={seed}, {shortcuts:?}:\n{}\n{difference}", description(&case));
            }
        }
    }
}

fn agree(draw: fn(u64) -> Case) {
    agree_on(&seeds(), draw);
}

fn agree_on(seeds: &[u64], draw: fn(u64) -> Case) {
    let failing: Vec<u64> = seeds.iter().copied().filter(|&seed| difference(&draw(seed)).is_some()).collect();
    if let Some(&seed) = failing.first() {
        let case = shrink(draw(seed), |case| difference(case).is_some());
        let difference = difference(&case).expect("it still fails");
        panic!("differ: {failing:?}\nFLASHRAID_AGREEMENT_SEED={seed}, made smaller:\n{}\n{difference}", description(&case));
    }
}

fn difference(case: &Case) -> Option<String> {
    let expected = reference::simulate(case);
    match std::panic::catch_unwind(|| adapter::fast(case)) {
        Ok(found) => expected.first_difference(&found),
        Err(_) => Some("the model panicked".to_owned()),
    }
}

pub(crate) fn seeds() -> Vec<u64> {
    variable("FLASHRAID_AGREEMENT_SEED").map_or_else(|| (0..cases()).collect(), |seed| vec![seed])
}

/// Returns the number of cases of each kind.
pub(crate) fn cases() -> u64 {
    variable("FLASHRAID_AGREEMENT_CASES").unwrap_or(CASES)
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

fn description(case: &Case) -> String {
    let Case { params, warm_up, owners, seed, host, requests } = case;
    let mut text = format!("{params:#?}\n{warm_up:?} {owners:?} {host:?} seed {seed}");
    for (index, request) in requests.iter().enumerate() {
        let Request {
            arrival_ns, offset_bytes, length_bytes, kind: direction, high_priority, contiguous_on_one_member: one_member, ..
        } = request;
        let (first_page, last_page) = (offset_bytes / PAGE_BYTES, (offset_bytes + length_bytes - 1) / PAGE_BYTES);
        text += &format!("\nrequest {index}: at {arrival_ns} {direction:?} pages {first_page} to {last_page}");
        text += if request.fua { " to survive a loss of power" } else { "" };
        text += if *high_priority { " of high priority" } else { "" };
        text += if *one_member { " of one member" } else { "" };
    }
    text
}
