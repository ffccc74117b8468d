//! Which point every point is compared with.

use super::{Axis, Setting, StudyProblem};

/// For each combination the position of its baseline: the one that differs only in the varied key of which `wanted` is a value.
///
/// `wanted` is a value or `KEY=VALUE`; without it the first value of the first varied key is taken.
pub(super) fn baselines(axes: &[Axis], combinations: &[Vec<Setting>], wanted: Option<&str>) -> Result<Vec<usize>, StudyProblem> {
    let (key, value) = match (wanted, axes.first()) {
        (Some(text), _) => find(axes, text)?,
        (None, Some(first)) => (first.key.as_str(), first.values[0].as_str()),
        (None, None) => return Ok(vec![0; combinations.len()]),
    };
    let baseline_of = |settings: &Vec<Setting>| {
        let wanted = settings.iter().map(|setting| if setting.key == key { value } else { &setting.value });
        combinations
            .iter()
            .position(|other| other.iter().map(|setting| setting.value.as_str()).eq(wanted.clone()))
            .expect("a grid holds every combination")
    };
    Ok(combinations.iter().map(baseline_of).collect())
}

fn find<'a>(axes: &'a [Axis], text: &str) -> Result<(&'a str, &'a str), StudyProblem> {
    let pairs = || axes.iter().flat_map(|axis| axis.values.iter().map(|value| (axis.key.as_str(), value.as_str())));
    let matches: Vec<(&str, &str)> = pairs().filter(|(key, value)| *value == text || format!("{key}={value}") == text).collect();
    let refuse = |reason: &'static str, choices: Vec<String>| Err(StudyProblem::Baseline { wanted: text.to_owned(), reason, choices });
    match matches.as_slice() {
        [only] => Ok(*only),
        [] => refuse("not among the varied values", pairs().map(|(_, value)| value.to_owned()).collect()),
        several => refuse("several varied keys have this value", several.iter().map(|(key, value)| format!("{key}={value}")).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::combinations;
    use super::*;

    fn grid(texts: &[&str], wanted: Option<&str>) -> Result<Vec<usize>, String> {
        let axes: Vec<Axis> = texts.iter().map(|text| text.parse().unwrap()).collect();
        baselines(&axes, &combinations(&axes), wanted).map_err(|problem| problem.to_string())
    }

    #[test]
    fn points_are_compared_within_their_group() {
        assert_eq!(grid(&["s=local,ideal", "m=2,4"], None).unwrap(), [0, 1, 0, 1]);
        assert_eq!(grid(&["s=local,ideal", "m=2,4"], Some("ideal")).unwrap(), [2, 3, 2, 3]);
        assert_eq!(grid(&["s=local,ideal", "m=2,4"], Some("4")).unwrap(), [1, 1, 3, 3]);
        assert_eq!(grid(&[], None).unwrap(), [0]);
    }

    #[test]
    fn an_unclear_baseline_is_refused() {
        assert!(grid(&["s=local,ideal"], Some("lokal")).unwrap_err().contains("choose one of local, ideal"));
        assert!(grid(&["a=1,2", "b=1,3"], Some("1")).unwrap_err().contains("choose one of a=1, b=1"));
        assert_eq!(grid(&["a=1,2", "b=1,3"], Some("b=1")).unwrap(), [0, 0, 2, 2]);
    }
}
