//! Capacity of arrays, and the factor by which they are simulated smaller.

use std::collections::BTreeSet;

use flashraid::Simulation;
use serde_json::Value;

use super::part::Tile;
use crate::headline::array;
use crate::number;

/// Most different arrays whose capacities are looked up.
const ARRAYS_MAX: usize = 64;

/// The capacity that a host may use, of the drives that are meant rather than of what is simulated of them.
pub fn tile(configs: &[&Value]) -> Option<Tile> {
    let mut seen = BTreeSet::new();
    let different: Vec<&Value> = configs
        .iter()
        .copied()
        .filter(|config| seen.insert(format!("{}{}", config["array"], config["ssd"])))
        .take(ARRAYS_MAX + 1)
        .collect();
    if different.len() > ARRAYS_MAX {
        return None;
    }
    let of_each: Vec<(f64, u64)> = different.iter().map(|config| capacity(config)).collect::<Option<_>>()?;
    let (least, most) = of_each.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), (bytes, _)| (least.min(*bytes), most.max(*bytes)));
    let texts = [least, most].map(number::capacity);
    let value = if texts[0] == texts[1] { texts[0].clone() } else { format!("{} to {}", texts[0], texts[1]) };
    let scales: BTreeSet<u64> = of_each.iter().map(|(_, scale)| *scale).collect();
    let scale = match scales.iter().collect::<Vec<_>>().as_slice() {
        [1] | [] => String::new(),
        [scale] => format!("; simulated at a scale of 1 : {}", number::grouped(**scale)),
        [least, .., most] => format!("; simulated at scales of 1 : {} to 1 : {}", number::grouped(**least), number::grouped(**most)),
    };
    let arrays: BTreeSet<String> = configs.iter().map(|config| array(config)).collect();
    let what = if arrays.len() == 1 { arrays.into_iter().next()? } else { number::count_with_noun(arrays.len() as u64, "array") };
    Some(Tile::plain("usable capacity", value, Some(format!("{what}{scale}"))).of("capacity_bytes"))
}

/// Bytes that the host of the array that is meant may use, and how many times smaller it is simulated.
fn capacity(config: &Value) -> Option<(f64, u64)> {
    let scale = config["ssd"]["scale"].as_u64().unwrap_or(1).max(1);
    let simulated = Simulation::from_value(config).ok()?.capacity_bytes().ok()?;
    Some((simulated as f64 * scale as f64, scale))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn scaled_drives_have_the_capacity_that_they_are_sold_with() {
        let config = |scale: u64| {
            json!({
                "array": { "level": "raid0", "members": 8 },
                "ssd": { "preset": "nvme-tlc-read", "scale": scale },
                "workload": { "kind": "synthetic", "requests": 10, "size": "4KiB", "arrivals": { "process": "closed", "depth": 1 } },
            })
        };
        let (one, other) = (config(64), config(128));
        let shown = tile(&[&one]).unwrap();
        let said: f64 = shown.value.trim_end_matches(" TB").parse().unwrap();
        assert!((said - 61.44).abs() < 0.7, "{}", shown.value);
        assert_eq!(shown.note.unwrap(), "8 × nvme-tlc-read as RAID-0; simulated at a scale of 1 : 64");
        assert!(tile(&[&one, &other]).unwrap().note.unwrap().ends_with("simulated at scales of 1 : 64 to 1 : 128"));
        assert!(tile(&[&json!({ "array": "nonsense" })]).is_none());
    }
}
