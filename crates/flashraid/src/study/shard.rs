//! Folders of studies and of their parts (shards): which study a folder belongs to, which simulations a part has, and how parts are
//! combined.
//!
//! Several shards may run in one folder at the same time. Each writes a file of its own (its mark), so that no file is changed by two.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::plan::StudyPlan;
use super::run::StudySimulation;
use super::store::{ReportStore, refuse_other_than_files, short_hash, write};
use super::{Axis, Setting, StudyProblem, StudyResult, StudySimulationRow};
use crate::Error;
use crate::report::Report;
use crate::warm_up::warm_up_key;
use flashraid_model::units::count_with_noun;
use flashraid_workload::files::is_wrong_path;

/// Name of the file that describes the study, in the folder of the study or of one of its shards.
pub(super) const FILE: &str = "study.json";
const SCHEMA: &str = "flashraid.study/1";
/// Beginning of the names of marks: `shard-1-of-4`.
const MARK: &str = "shard-";

/// Names of files that show that a folder holds results, even without a description.
const RESULTS: [&str; 3] = ["report.json", "report.html", "reproduction.json"];

/// Description of the study to which the points in a folder belong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Description {
    schema: String,
    build: String,
    axes: Vec<(String, Vec<String>)>,
    baselines: Vec<usize>,
    seeds: u64,
    simulations: Vec<Entry>,
}

/// A simulation of the whole study.
///
/// Its seed and the hash of its configuration identify it. Its id names its file in this shard; the id also depends on the contents of
/// traces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Entry {
    seed: u64,
    config_hash: String,
    id: String,
}

/// Returns the indices of the simulations in part `index` of `count`. Groups that share a warm-up are distributed in turn. If there are
/// fewer groups than parts, simulations are distributed instead.
pub(super) fn of(tasks: &[StudySimulation], (index, count): (usize, usize)) -> Vec<usize> {
    parts(tasks, count).swap_remove(index - 1)
}

/// Returns the indices of the simulations in each of `count` parts.
pub(super) fn parts(tasks: &[StudySimulation], count: usize) -> Vec<Vec<usize>> {
    let mut groups: HashMap<String, usize> = HashMap::new();
    let group_of: Vec<usize> = tasks
        .iter()
        .map(|task| {
            let next = groups.len();
            *groups.entry(warm_up_key(&task.scenario)).or_insert(next)
        })
        .collect();
    let part = |task: usize| if groups.len() >= count { group_of[task] % count } else { task % count };
    let mut parts = vec![Vec::new(); count];
    (0..tasks.len()).for_each(|task| parts[part(task)].push(task));
    parts
}

/// Returns the description of a plan for its folder.
fn description(plan: &StudyPlan, build: &str) -> Description {
    let entry = |task: &StudySimulation| Entry {
        seed: task.scenario.seed,
        config_hash: task.scenario.config_hash.clone(),
        id: task.result_file_name.clone(),
    };
    Description {
        schema: SCHEMA.to_owned(),
        build: build.to_owned(),
        axes: plan.axes.iter().map(|axis| (axis.key.clone(), axis.values.clone())).collect(),
        baselines: plan.baselines.clone(),
        seeds: plan.seeds,
        simulations: plan.tasks.iter().map(entry).collect(),
    }
}

/// Writes a file into a folder that says to which study its points belong, and the mark of the shard that the plan runs.
pub(super) fn describe(plan: &StudyPlan, folder: &Path, store: &ReportStore) -> Result<(), Error> {
    let text = description(plan, store.build()).text();
    write(&folder.join(FILE), text.as_bytes())?;
    match plan.shard {
        Some(shard) => write(&folder.join(mark(shard)), format!("{}\n", short_hash(&text)).as_bytes()),
        None => Ok(()),
    }
}

/// Returns the name of a shard's mark. The file holds a hash of the study's description, without which it belongs to another study.
pub(super) fn mark((index, count): (usize, usize)) -> String {
    format!("{MARK}{index}-of-{count}")
}

/// Returns the shard with this mark.
fn marked(name: &str) -> Option<(usize, usize)> {
    let (index, count) = name.strip_prefix(MARK)?.split_once("-of-")?;
    Some((index.parse().ok()?, count.parse().ok()?))
}

/// Returns the shards whose marks are in a folder, with the contents of the marks.
fn marks(folder: &Path) -> Vec<((usize, usize), String)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mark = |entry: fs::DirEntry| {
        let shard = marked(entry.file_name().to_str()?)?;
        refuse_other_than_files(&entry.path()).ok()?;
        Some((shard, fs::read_to_string(entry.path()).ok()?))
    };
    entries.filter_map(mark).collect()
}

/// Returns true if any shard has begun in a folder.
pub(super) fn has_marks(folder: &Path) -> bool {
    !marks(folder).is_empty()
}

impl Description {
    fn text(&self) -> String {
        serde_json::to_string(self).expect("a description is plain data") + "\n"
    }

    /// Returns the shards of this study that have begun in a folder.
    fn shards(&self, folder: &Path) -> Vec<(usize, usize)> {
        let own = short_hash(&self.text());
        marks(folder).into_iter().filter(|(_, of)| of.trim_end() == own).map(|(shard, _)| shard).collect()
    }
}

/// Returns an error if a folder holds another study, or results of another command.
pub(super) fn refuse_foreign(plan: &StudyPlan, folder: &Path) -> Result<(), Error> {
    let refuse = |reason: String| Err(StudyProblem::UnusableFolder { folder: folder.to_owned(), reason }.into());
    if !folder.join(FILE).exists() {
        return match RESULTS.iter().find(|name| folder.join(name).exists()) {
            Some(name) => refuse(format!("holds other results ({name}, without {FILE})")),
            None => Ok(()),
        };
    }
    match read(folder) {
        // A study stays the same with another build or another baseline.
        Ok(there) if same_grid(&there, &description(plan, &there.build)) => Ok(()),
        Ok(there) => {
            let keys: Vec<&str> = there.axes.iter().map(|(key, _)| key.as_str()).collect();
            let keys = if keys.is_empty() { "nothing varied".to_owned() } else { keys.join(", ") };
            refuse(format!("holds another study ({}: {keys})", count_with_noun(there.simulations.len() as u64, "simulation")))
        }
        // A description that cannot be understood is written again.
        Err(Error::Study(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

fn read(folder: &Path) -> Result<Description, Error> {
    let path = folder.join(FILE);
    let refuse = |reason: String| StudyProblem::UnusableFolder { folder: folder.to_owned(), reason };
    refuse_other_than_files(&path)?;
    let text = fs::read(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => refuse(format!("there is no {FILE}, which every shard of a study writes")).into(),
        _ if is_wrong_path(&error) => refuse(format!("{FILE} can't be read: {error}")).into(),
        _ => Error::file("read", &path, &error),
    })?;
    let description: Description =
        serde_json::from_slice(&text).map_err(|error| refuse(format!("{FILE} can't be understood: {error}; run the shard again")))?;
    let points = description.axes.iter().map(|(_, values)| values.len()).product::<usize>();
    let fits = description.schema == SCHEMA
        && description.baselines.len() == points
        && description.baselines.iter().all(|point| *point < points)
        && points.checked_mul(description.seeds as usize) == Some(description.simulations.len());
    match fits {
        true => Ok(description),
        false => Err(refuse(format!("{FILE} contradicts itself; run the shard again")).into()),
    }
}

fn same_study(one: &Description, other: &Description) -> bool {
    one.baselines == other.baselines && one.build == other.build && same_grid(one, other)
}

fn same_grid(one: &Description, other: &Description) -> bool {
    let names = |description: &Description| -> Vec<(u64, String)> {
        description.simulations.iter().map(|entry| (entry.seed, entry.config_hash.clone())).collect()
    };
    (&one.axes, one.seeds) == (&other.axes, other.seeds) && names(one) == names(other)
}

/// Combines the folders of all shards.
pub(super) fn merge(folders: &[impl AsRef<Path>]) -> Result<StudyResult, Error> {
    let folders: Vec<&Path> = folders.iter().map(AsRef::as_ref).collect();
    let descriptions = folders.iter().map(|folder| read(folder)).collect::<Result<Vec<Description>, Error>>()?;
    let Some(first) = descriptions.first() else {
        return Ok(StudyResult { axes: Vec::new(), points: Vec::new(), baseline_index_by_point: Vec::new(), rows: Vec::new() });
    };
    for (folder, other) in folders.iter().zip(&descriptions) {
        if !same_study(first, other) {
            let reason = match first.build == other.build {
                true => format!("is a shard of another study than {}", folders[0].display()),
                false => format!("comes from another build of flashraid than {}", folders[0].display()),
            };
            return Err(StudyProblem::UnusableFolder { folder: (*folder).to_owned(), reason }.into());
        }
    }
    let stores: Vec<ReportStore> = folders.iter().zip(&descriptions).map(|(folder, of)| ReportStore::of_build(folder, &of.build)).collect();
    let load = |task: usize| -> Option<Report> {
        stores.iter().zip(&descriptions).find_map(|(store, description)| store.load_report(&description.simulations[task].id))
    };
    let all = first.simulations.len();
    let reports: Vec<Option<Report>> = (0..all).map(load).collect();
    let missing = reports.iter().filter(|report| report.is_none()).count();
    if missing > 0 {
        let mut shards: Vec<(usize, usize)> = folders.iter().zip(&descriptions).flat_map(|(folder, of)| of.shards(folder)).collect();
        shards.sort_unstable();
        shards.dedup();
        let shards = shards.iter().map(|(index, count)| format!("{index}/{count}")).collect::<Vec<_>>().join(", ");
        return Err(StudyProblem::SimulationsMissingFromShards { missing, simulations_in_study: all, shards_found: shards }.into());
    }
    let axes: Vec<Axis> = first.axes.iter().map(|(key, values)| Axis { key: key.clone(), values: values.clone() }).collect();
    let points: Vec<Vec<Setting>> = super::all_combinations(&axes);
    let row = |(task, report): (usize, Report)| StudySimulationRow { point: task / first.seeds as usize, report };
    let rows = reports.into_iter().flatten().enumerate().map(row).collect();
    Ok(StudyResult { axes, points, baseline_index_by_point: first.baselines.clone(), rows })
}
