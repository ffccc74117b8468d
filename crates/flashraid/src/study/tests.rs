//! Tests of shards and of folders.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::Simulation;

const SMALL: &str = "ssd.geometry = { dies = 1, blocks = 64, pages = 16 }\nworkload.requests = 200";

fn study() -> Study {
    let study = Study::from_toml(SMALL).unwrap().workers(2).seeds(2);
    study.vary("array.members", [2, 3, 4]).unwrap().vary("coordination.scheme", ["local", "ideal"]).unwrap()
}

fn documents(result: &StudyResult) -> Vec<String> {
    result.rows.iter().map(|row| format!("{} {}", row.point, row.report.without_wall_clock().to_json())).collect()
}

/// Counts what runs, and stops before the simulation after `limit`.
struct Counter {
    begun: AtomicUsize,
    limit: usize,
}

impl Counter {
    fn new(limit: usize) -> Self {
        Self { begun: AtomicUsize::new(0), limit }
    }
}

impl StudyObserver for Counter {
    fn may_continue(&self) -> bool {
        self.begun.fetch_add(1, Ordering::Relaxed) < self.limit
    }
}

#[test]
fn every_simulation_belongs_to_one_shard_and_warm_ups_stay_together() {
    for count in 1..=14 {
        let plans = (1..=count).map(|index| study().shard(index, count).unwrap().plan().unwrap());
        let shards: Vec<Vec<usize>> = plans.map(|plan| shard::of(&plan.tasks, plan.shard.unwrap())).collect();
        let all: BTreeSet<usize> = shards.iter().flatten().copied().collect();
        assert_eq!((all.len(), shards.iter().map(Vec::len).sum::<usize>()), (12, 12), "{count}");
        // Six warm-ups, of three sizes and two seeds, each for two schemes.
        if count == 3 {
            assert!(shards.iter().all(|shard| shard.len() == 4), "{shards:?}");
            assert!(shards.iter().all(|shard| shard.contains(&(shard[0] + 2))), "the schemes of one size and seed: {shards:?}");
        }
    }
    assert!(study().shard(0, 3).is_err() && study().shard(4, 3).is_err());
}

#[test]
fn merged_shards_are_the_whole_study() {
    let whole = study().run(&()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let folders: Vec<_> = (1..=2).map(|index| folder.path().join(index.to_string())).collect();
    let mut rows = 0;
    for (index, folder) in folders.iter().enumerate() {
        let part = study().shard(index + 1, 2).unwrap().folder(folder).run(&()).unwrap();
        rows += part.rows.len();
    }
    let merged = Study::merge(&folders).unwrap();
    assert_eq!((rows, documents(&merged)), (12, documents(&whole)));
    assert_eq!((merged.axes, merged.points, merged.baseline_index_by_point), (whole.axes, whole.points, whole.baseline_index_by_point));

    let problem = |folders: &[PathBuf]| match Study::merge(folders) {
        Err(Error::Study(problem)) => problem.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(problem(&folders[..1]).contains("6 of 12 simulations are in none of the folders"), "{}", problem(&folders[..1]));
    let other = folder.path().join("other");
    study().seed(5).shard(2, 2).unwrap().folder(&other).run(&()).unwrap();
    assert!(problem(&[folders[0].clone(), other]).contains("of another study"));
    assert!(problem(&[folder.path().to_owned()]).contains("there is no study.json"));
    std::fs::write(folders[0].join("study.json"), "{}").unwrap();
    assert!(problem(&folders).contains("can't be understood"));
}

#[test]
fn shards_that_begin_at_once_are_all_told() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let begun = std::sync::Barrier::new(3);
        std::thread::scope(|scope| {
            for index in 1..=3 {
                let plan = study().shard(index, 4).unwrap().folder(folder.path()).plan().unwrap();
                let begun = &begun;
                scope.spawn(move || {
                    begun.wait();
                    plan.unfinished_simulations_by_warm_up().unwrap();
                });
            }
        });
        let said = Study::merge(&[folder.path()]).unwrap_err().to_string();
        assert!(said.contains("12 of 12 simulations") && said.ends_with("shards that are there: 1/4, 2/4, 3/4"), "{said}");
    }
}

#[test]
fn marks_of_another_study_do_not_count_and_go_where_nothing_was_done() {
    let folder = tempfile::tempdir().unwrap();
    let begin = |study: Study, index: usize| study.shard(index, 3).unwrap().folder(folder.path()).run(&Counter::new(0)).unwrap_err();
    assert!(matches!(begin(study(), 1), Error::StudyInterrupted { .. }));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left of a shard that did nothing");
    std::fs::write(folder.path().join("shard-2-of-3"), "another study").unwrap();
    std::fs::write(folder.path().join("shard-x-of-3"), "").unwrap();
    study().shard(3, 3).unwrap().folder(folder.path()).run(&()).unwrap();
    let said = Study::merge(&[folder.path()]).unwrap_err().to_string();
    assert!(said.ends_with("shards that are there: 3/3"), "{said}");
}

#[test]
fn a_study_that_was_stopped_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let study = study().workers(1).folder(folder.path());
    match study.run(&Counter::new(5)) {
        Err(Error::StudyInterrupted { simulations_done: 5, total_simulations: 12 }) => {}
        other => panic!("{other:?}"),
    }
    let rest = Counter::new(usize::MAX);
    let result = study.run(&rest).unwrap();
    // Asked once more when nothing is left.
    assert_eq!((rest.begun.into_inner(), result.rows.len()), (7 + 1, 12));
}

#[test]
fn a_scheduler_of_ones_own_keeps_reports_and_nothing_is_left_to_run() {
    let whole = study().run(&()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let plan = study().folder(folder.path()).plan().unwrap();
    let groups = plan.unfinished_simulations_by_warm_up().unwrap();
    // Three sizes and two seeds begin apart, two schemes alike.
    assert_eq!((groups.len(), groups.iter().map(Vec::len).collect::<BTreeSet<_>>()), (6, BTreeSet::from([2])));
    for &number in groups.iter().flatten() {
        let (settings, seed) = plan.simulation(number);
        let simulation = Simulation::from_toml(SMALL).unwrap().seed(seed);
        let simulation = settings.iter().try_fold(simulation, |simulation, setting| simulation.set(&setting.key, &setting.value)).unwrap();
        let report = simulation.run().unwrap();
        assert_eq!(report.without_wall_clock(), whole.rows[number].report.without_wall_clock());
        plan.save_report(number, report.clone()).unwrap();
        // The first one stays.
        plan.save_report(number, Report { wall_s: report.wall_s + 1.0, ..report }).unwrap();
    }
    assert_eq!(plan.unfinished_simulations_by_warm_up().unwrap(), Vec::<Vec<usize>>::new());
    let nothing = Counter::new(usize::MAX);
    let result = plan.run(&nothing).unwrap();
    assert_eq!((nothing.begun.into_inner(), documents(&result)), (1, documents(&whole)));
}

#[test]
fn another_simulations_report_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let plan = study().folder(folder.path()).plan().unwrap();
    let reports = study().run(&()).unwrap().rows;
    assert!(matches!(
        plan.save_report(0, reports[1].report.clone()),
        Err(Error::Study(StudyProblem::ReportOfOtherStudy { simulation_index: 0 }))
    ));
    let partial = Report { partial: true, ..reports[0].report.clone() };
    assert!(matches!(plan.save_report(0, partial), Err(Error::Study(StudyProblem::ReportOfOtherStudy { .. }))));
    assert_eq!(plan.unfinished_simulations_by_warm_up().unwrap().iter().map(Vec::len).sum::<usize>(), 12);
}

#[test]
fn without_a_folder_reports_are_kept_by_the_plan() {
    let whole = study().run(&()).unwrap();
    let plan = study().plan().unwrap();
    let groups = plan.unfinished_simulations_by_warm_up().unwrap();
    for &number in groups.iter().flatten().filter(|number| **number != 3) {
        plan.save_report(number, whole.rows[number].report.clone()).unwrap();
    }
    assert_eq!(plan.unfinished_simulations_by_warm_up().unwrap(), [[3]]);
    let rest = Counter::new(usize::MAX);
    let result = plan.run(&rest).unwrap();
    assert_eq!((rest.begun.into_inner(), documents(&result)), (1 + 1, documents(&whole)));

    let plan = study().plan().unwrap();
    plan.save_report(5, whole.rows[5].report.clone()).unwrap();
    let done = plan.take_finished_reports();
    assert_eq!((done.rows.len(), done.points.len(), done.rows[0].point), (1, 6, whole.rows[5].point));
    assert_eq!(plan.take_finished_reports().rows.len(), 0, "they are given away");
}

#[test]
fn what_is_done_of_a_stopped_study_is_a_result() {
    let plan = study().workers(1).plan().unwrap();
    let result = plan.run_until_stopped(&Counter::new(5)).unwrap();
    assert_eq!((result.rows.len(), result.points.len()), (5, 6));
}

#[test]
fn what_does_not_fit_together_is_refused_before_anything_runs() {
    let problem = |study: Result<Study, Error>| match study.and_then(|study| study.plan().map(drop)) {
        Err(Error::Study(problem)) => problem,
        other => panic!("{other:?}"),
    };
    let axis = |key: &str, values: &[&str]| Study::from_toml(SMALL).unwrap().vary(key, values);
    assert!(matches!(problem(axis("array.members", &[])), StudyProblem::AxisWithoutValues { .. }));
    assert!(matches!(problem(axis("array.members", &["2", "2"])), StudyProblem::RepeatedValue { .. }));
    assert!(matches!(problem(study().vary("array.members", [8])), StudyProblem::RepeatedKey { .. }));
    assert!(matches!(problem(axis("seed", &["1", "2"]).map(|study| study.seeds(2))), StudyProblem::SeedBothVariedAndSet));
    assert!(matches!(problem(Ok(study().seed(u64::MAX))), StudyProblem::SeedTooLarge { .. }));
    assert!(matches!(problem(Ok(study().baseline("lokal"))), StudyProblem::UnusableBaseline { .. }));
    let error = study().vary("ssd.gc.victim", ["greedy", "gredy"]).unwrap().plan().unwrap_err();
    assert!(matches!(error, Error::Config(_)));
}

#[test]
fn figures_are_estimated_over_seeds() {
    let result = study().run(&()).unwrap();
    let mean = |report: &Report| report.response_us.all.mean;
    let values: Vec<f64> = result.reports(1).filter_map(mean).collect();
    let estimate = result.estimate(1, mean).unwrap();
    assert_eq!(estimate.mean, (values[0] + values[1]) / 2.0);
    assert!(estimate.interval_half_width.unwrap() > 0.0);
    let with_itself = result.ratio_to_baseline(0, mean).unwrap();
    assert_eq!((with_itself.mean, with_itself.interval_half_width), (1.0, Some(0.0)));
    assert_eq!(result.estimate(0, |report| report.failure.as_ref()?.failed_ms), None);
}

#[test]
fn variants_set_several_keys_together() {
    let setting = |text: &str| text.parse::<Setting>().unwrap();
    let cases = [("small", vec![]), ("wide", vec![setting("array.members=4"), setting("workload.requests=300")])];
    let remedies = [("none", vec![]), ("semi", vec![setting("ssd.gc.preemption=semi")])];
    let study = Study::from_toml(SMALL).unwrap().variants("workload.case", cases).unwrap().variants("remedy", remedies).unwrap();
    let result = study.run(&()).unwrap();
    assert_eq!(result.points[3], [setting("workload.case=wide"), setting("remedy=semi")]);
    assert_eq!(result.baseline_index_by_point, [0, 0, 2, 2]);
    let config = |row: usize, pointer: &str| result.rows[row].report.config.pointer(pointer).unwrap().clone();
    assert_eq!((config(3, "/array/members"), config(3, "/ssd/gc/preemption")), (4.into(), "semi".into()));
    assert_eq!((config(2, "/workload/requests"), config(2, "/ssd/gc/preemption")), (300.into(), "none".into()));
    assert_ne!(config(0, "/array/members"), 4);
}
