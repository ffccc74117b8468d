//! Baselines of a study: for each point, the point with which it is compared.

use super::axis::must_match_for_comparison;
use super::{Axis, Setting, StudyProblem};

/// Returns the index of the baseline for each combination of values.
///
/// The baseline has the same given keys (see [`must_match_for_comparison`]). Every other key has its first value that is not a yardstick.
/// If all keys are given, each point is its own baseline.
///
/// `wanted` chooses another value of one of the other keys, as a value or as `KEY=VALUE`.
pub(super) fn baselines(axes: &[Axis], combinations: &[Vec<Setting>], wanted: Option<&str>) -> Result<Vec<usize>, StudyProblem> {
    let first = |axis: &Axis| -> Option<String> {
        let setting = |value: &String| Setting { key: axis.key.clone(), value: value.clone() };
        let real = axis.values.iter().find(|value| !setting(value).selects_ideal_coordination()).unwrap_or(&axis.values[0]);
        (!must_match_for_comparison(&axis.key)).then(|| real.clone())
    };
    let mut chosen: Vec<Option<String>> = axes.iter().map(first).collect();
    if let Some(wanted) = wanted {
        let (axis, value) = find(axes, wanted)?;
        chosen[axis] = Some(value.to_owned());
    }
    let baseline_of = |settings: &Vec<Setting>| {
        let has = |(setting, chosen): (&Setting, &Option<String>)| chosen.as_ref().unwrap_or(&setting.value).clone();
        let wanted: Vec<String> = settings.iter().zip(&chosen).map(has).collect();
        combinations
            .iter()
            .position(|other| other.iter().map(|setting| &setting.value).eq(&wanted))
            .expect("a grid holds every combination")
    };
    Ok(combinations.iter().map(baseline_of).collect())
}

/// Returns the axis and the value that `text` names.
fn find<'a>(axes: &'a [Axis], text: &str) -> Result<(usize, &'a str), StudyProblem> {
    let pairs = || axes.iter().enumerate().flat_map(|(index, axis)| axis.values.iter().map(move |value| (index, value.as_str())));
    let is_meant = |&(index, value): &(usize, &str)| value == text || format!("{}={value}", axes[index].key) == text;
    let is_remedy = |&(index, _): &(usize, &str)| !must_match_for_comparison(&axes[index].key);
    let refuse = |reason: &'static str, choices: Vec<String>| {
        Err(StudyProblem::UnusableBaseline { requested_baseline: text.to_owned(), reason, possible_baseline_values: choices })
    };
    let remedies: Vec<String> = pairs().filter(is_remedy).map(|(_, value)| value.to_owned()).collect();
    match pairs().filter(is_meant).filter(is_remedy).collect::<Vec<_>>().as_slice() {
        [only] => Ok(*only),
        [] if pairs().any(|pair| is_meant(&pair)) => {
            refuse("it describes the work of the array, and only points with the same work are compared", remedies)
        }
        [] => refuse("not among the varied values", remedies),
        several => refuse(
            "several varied keys have this value",
            several.iter().map(|(index, value)| format!("{}={value}", axes[*index].key)).collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::all_combinations;
    use super::*;

    fn grid(texts: &[&str], wanted: Option<&str>) -> Result<Vec<usize>, String> {
        let axes: Vec<Axis> = texts.iter().map(|text| text.parse().unwrap()).collect();
        baselines(&axes, &all_combinations(&axes), wanted).map_err(|problem| problem.to_string())
    }

    #[test]
    fn points_are_compared_where_the_same_is_asked() {
        assert_eq!(grid(&["s=local,ideal", "array.members=2,4"], None).unwrap(), [0, 1, 0, 1]);
        assert_eq!(grid(&["workload.preset=a,b", "s=x,y"], None).unwrap(), [0, 0, 2, 2]);
        assert_eq!(grid(&["s=local,ideal", "array.members=2,4"], Some("ideal")).unwrap(), [2, 3, 2, 3]);
        assert_eq!(grid(&[], None).unwrap(), [0]);
        // All differences are in given keys, so there is nothing to compare with.
        assert_eq!(grid(&["seed=1,2", "workload.preset=a,b"], None).unwrap(), [0, 1, 2, 3]);
    }

    #[test]
    fn one_point_of_each_workload_is_the_baseline() {
        assert_eq!(grid(&["s=x,y", "p=none,semi"], None).unwrap(), [0; 4]);
        assert_eq!(grid(&["s=x,y", "p=none,semi"], Some("semi")).unwrap(), [1; 4]);
        // A yardstick is the baseline only if it is asked for.
        assert_eq!(grid(&["coordination.scheme=ideal,local"], None).unwrap(), [1, 1]);
        assert_eq!(grid(&["coordination.scheme=ideal,local"], Some("ideal")).unwrap(), [0, 0]);
    }

    #[test]
    fn an_unclear_baseline_is_refused() {
        assert!(grid(&["s=local,ideal"], Some("lokal")).unwrap_err().contains("choose one of local, ideal"));
        assert!(grid(&["a=1,2", "b=1,3"], Some("1")).unwrap_err().contains("choose one of a=1, b=1"));
        assert_eq!(grid(&["a=1,2", "b=1,3"], Some("b=3")).unwrap(), [1; 4]);
        let refused = grid(&["a=1,2", "array.members=2,4"], Some("4")).unwrap_err();
        assert!(refused.contains("describes the work") && refused.contains("choose one of 1, 2"), "{refused}");
        assert!(grid(&["array.members=2,4"], Some("4")).unwrap_err().contains("no varied key is a remedy"));
    }
}
