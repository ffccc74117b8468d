//! A study from a program: is a scheme worth it, and does that depend on the number of members?
//! `cargo run --release -p flashraid --example study`

#![allow(clippy::print_stdout)]

use flashraid::study::Setting;
use flashraid::{Error, Report, Study, StudyResult};

const ARRAY: &str = r#"
ssd.geometry = { dies = 1, blocks = 64 }
workload.preset = "hpc-w"
"#;

fn study(requests: u64) -> Result<StudyResult, Error> {
    Study::from_toml(ARRAY)?
        .set("workload.requests", requests)?
        .vary("array.members", [2, 4, 8])?
        .vary("coordination.scheme", ["local", "reactive-inclusive"])?
        .baseline("local")
        .seeds(3)
        .run(&())
}

fn show(result: &StudyResult) {
    let p99 = |report: &Report| report.response_us.all.p99;
    for (point, settings) in result.points.iter().enumerate() {
        let name = settings.iter().map(Setting::to_string).collect::<Vec<_>>().join(", ");
        if let (Some(own), Some(ratio)) = (result.estimate(point, p99), result.ratio_to_baseline(point, p99)) {
            println!("{name}: p99 {:.0} µs, {:.2} × local", own.mean, ratio.mean);
        }
    }
}

fn main() -> Result<(), Error> {
    show(&study(2_000)?);
    Ok(())
}

#[test]
fn points_are_compared_with_those_of_as_many_members() {
    let result = study(50).unwrap();
    assert_eq!((result.points.len(), result.rows.len()), (6, 18));
    assert_eq!(result.baseline_index_by_point, [0, 0, 2, 2, 4, 4]);
    show(&result);
}
