//! Draws an array: the host, the controller with its cache, the members with their dies, and spares.

use serde_json::Value;

use super::escape;
use crate::number;

/// Largest number of members that are drawn one by one.
const MEMBERS_MAX: u64 = 12;
const WIDTH: u64 = 440;
const MARGIN: u64 = 8;
/// Largest number of members in a row.
const PER_ROW: u64 = 8;
/// Horizontal position of the line that connects rows.
const TRUNK: u64 = 4;

/// Space between rows of members, with the line that connects a row.
const GAP: u64 = 28;
const HEIGHT: u64 = 58;

/// Returns the drawing as SVG in the colours of the page. If configurations differ, it draws the first, and tells how many values there
/// are.
pub fn of(configs: &[&Value]) -> String {
    let nothing = Value::Null;
    let config = configs.first().copied().unwrap_or(&nothing);
    let array = &config["array"];
    let members = array["members"].as_u64().unwrap_or(1).max(1);
    let dies = config["ssd"]["geometry"]["dies"].as_u64().unwrap_or(1).max(1);
    let text = |value: &Value, default: &str| value.as_str().unwrap_or(default).to_owned();
    let level = one_of(configs, "RAID levels", |config| match config["array"]["level"].as_str() {
        None | Some("single") => "host interface".to_owned(),
        Some(level) => format!("controller: {}", level.to_uppercase().replacen("RAID", "RAID-", 1)),
    });
    let scheme =
        one_of(configs, "schemes of collection", |config| format!("{} collection", text(&config["coordination"]["scheme"], "local")));
    let device = one_of(configs, "kinds of SSD", |config| text(&config["ssd"]["preset"], "SSD"));
    let workload = one_of(configs, "workloads", crate::headline::workload);
    let cache = one_of(configs, "write caches", |config| match config["cache"]["policy"].as_str() {
        Some(policy) if policy != "none" => format!("write cache: {policy}"),
        _ => String::new(),
    });
    let failing: Vec<u64> = match &array["failure"] {
        Value::Array(failures) => failures.iter().filter_map(|failure| failure["member"].as_u64()).collect(),
        failure => failure["member"].as_u64().into_iter().collect(),
    };
    let spares = match array["rebuild"].is_object() && !failing.is_empty() {
        true => array["rebuild"]["spares"].as_u64().unwrap_or(1).min(failing.len() as u64),
        false => 0,
    };

    let drawn = members.min(MEMBERS_MAX);
    let left_out = members - drawn;
    let boxes = drawn + spares + u64::from(left_out > 0);
    let middle = WIDTH / 2;
    let mut svg = String::new();
    svg += &frame((middle - 110, 4), (220, 30), "host", &shortened(&workload, 30));
    svg += &line((middle, 34), (middle, 52));
    let cache_height = if cache.is_empty() { 0 } else { 22 };
    svg += &frame((middle - 190, 52), (380, 40 + cache_height), "controller", &format!("{level}, {scheme}"));
    if !cache.is_empty() {
        svg += &frame((middle - 120, 84), (240, 22), "cache", &cache);
    }
    let (bus, top) = (108 + cache_height, 122 + cache_height);
    svg += &line((middle, 92 + cache_height), (middle, bus));

    // Rows have the same number of members, as far as their names have room.
    let rows = boxes.div_ceil(PER_ROW);
    let per_row = boxes.div_ceil(rows);
    let step = (WIDTH - 2 * MARGIN) / per_row;
    let width = step.min(110) - 6;
    for row in 0..rows {
        let on_row = per_row.min(boxes - row * per_row);
        let (begin, y) = ((WIDTH - on_row * step) / 2, top + row * (HEIGHT + GAP));
        let centre = |column: u64| begin + column * step + step / 2;
        // Rows below the first are connected by a line at the left edge.
        let (bus_y, first) = (y - (top - bus), if rows > 1 { TRUNK } else { centre(0).min(middle) });
        svg += &line((first, bus_y), (centre(on_row - 1).max(if row == 0 { middle } else { 0 }), bus_y));
        if row > 0 {
            svg += &line((TRUNK, bus_y - HEIGHT - GAP), (TRUNK, bus_y));
        }
        for column in 0..on_row {
            let index = row * per_row + column;
            let (class, name) = match index {
                index if index < drawn && failing.contains(&index) => ("member failing", format!("SSD {index}")),
                index if index < drawn => ("member", format!("SSD {index}")),
                index if left_out > 0 && index == drawn => ("more", format!("… {members} SSDs")),
                index => ("member spare", format!("spare {}", members + index - drawn - u64::from(left_out > 0))),
            };
            let left = centre(column) - width / 2;
            if class != "more" {
                svg += &line((centre(column), bus_y), (centre(column), y));
            }
            svg += &frame((left, y), (width, HEIGHT), class, &name);
            if class != "more" {
                svg += &die_grid(left, y, width, dies);
            }
        }
    }
    let bottom = top + rows * HEIGHT + (rows - 1) * GAP + 16;
    let mut counts: Vec<u64> = configs.iter().map(|config| config["array"]["members"].as_u64().unwrap_or(1)).collect();
    counts.sort_unstable();
    counts.dedup();
    let varied = match counts.as_slice() {
        [least, .., most] => format!("; compared: {least} to {most} SSDs"),
        _ => String::new(),
    };
    svg += &text_at((middle, bottom + 10), "caption", &format!("each SSD: {device}, {}{varied}", number::count_with_noun(dies, "die")));
    let said = format!("{}, {level}, {scheme}", number::count_with_noun(members, "member"));
    format!("<svg viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"The array: {}\">\n{svg}</svg>\n", bottom + 18, escape(&said))
}

/// Returns the value that all configurations have in common, or the number of different ones.
fn one_of(configs: &[&Value], what: &str, of: impl Fn(&Value) -> String) -> String {
    let mut found: Vec<String> = configs.iter().map(|config| of(config)).collect();
    found.sort_unstable();
    found.dedup();
    match found.as_slice() {
        [] => of(&Value::Null),
        [one] => one.clone(),
        several => format!("{} {what}", several.len()),
    }
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn frame((x, y): (u64, u64), (width, height): (u64, u64), class: &str, name: &str) -> String {
    let baseline = y + if height < 24 { height / 2 + 4 } else { 19 };
    format!(
        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"4\" class=\"{class}\"/>\n{}",
        text_at((x + width / 2, baseline), class, name)
    )
}

fn text_at((x, y): (u64, u64), class: &str, text: &str) -> String {
    format!("<text x=\"{x}\" y=\"{y}\" class=\"{class}\">{}</text>\n", escape(text))
}

fn line((x1, y1): (u64, u64), (x2, y2): (u64, u64)) -> String {
    format!("<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>\n")
}

/// Draws the dies of a member: eight in a row, and at most three rows.
fn die_grid(left: u64, top: u64, width: u64, dies: u64) -> String {
    let (per_row, shown) = (dies.min(8), dies.min(24));
    let size = ((width - 12) / per_row).min(9);
    let from = left + (width - per_row * size) / 2;
    let die = |die: u64| {
        let (x, y) = (from + die % per_row * size, top + 26 + die / per_row * 10);
        format!("<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"8\" class=\"die\"/>\n", size.saturating_sub(1).max(1))
    };
    (0..shown).map(die).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn members_dies_failures_and_spares_are_drawn() {
        let config = json!({
            "array": { "level": "raid5", "members": 5, "failure": { "member": 2 }, "rebuild": { "spares": 1 } },
            "ssd": { "preset": "ggc2014", "geometry": { "dies": 4 } },
            "cache": { "policy": "lawc" }, "coordination": { "scheme": "local" }, "workload": { "preset": "<hpc>" },
        });
        let svg = of(&[&config]);
        assert_eq!((svg.matches("class=\"die\"").count(), svg.matches("<rect").count()), (6 * 4, 6 * 4 + 6 + 3));
        assert_eq!(svg.matches("<text").count(), 6 + 3 + 1);
        assert!(
            ["RAID-5", "SSD 4", "spare 5", "write cache: lawc", "failing", "&lt;hpc&gt;"].iter().all(|text| svg.contains(text)),
            "{svg}"
        );
    }

    #[test]
    fn many_members_are_counted() {
        let svg = of(&[&json!({ "array": { "members": 40, "level": "raid0" } })]);
        assert!(svg.contains("SSD 11") && !svg.contains("SSD 12") && svg.contains("… 40 SSDs"));
        assert!(of(&[&json!({})]).contains("SSD 0") && of(&[]).contains("1 member"));
    }

    /// Returns the end points of the lines of a drawing: (x1, y1), (x2, y2).
    fn lines(svg: &str) -> Vec<[(u64, u64); 2]> {
        let number = |element: &str, name: &str| -> u64 {
            element.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        };
        let ends = |element: &str| [("x1", "y1"), ("x2", "y2")].map(|(x, y)| (number(element, x), number(element, y)));
        svg.split("<line ").skip(1).map(ends).collect()
    }

    #[test]
    fn every_member_is_connected_to_the_controller() {
        for members in 1..=12 {
            let svg = of(&[&json!({ "array": { "members": members, "level": "raid0" } })]);
            let lines = lines(&svg);
            let meet = |a: &[(u64, u64); 2], b: &[(u64, u64); 2]| {
                let within = |point: &(u64, u64), line: &[(u64, u64); 2]| {
                    (line[0].0.min(line[1].0)..=line[0].0.max(line[1].0)).contains(&point.0)
                        && (line[0].1.min(line[1].1)..=line[0].1.max(line[1].1)).contains(&point.1)
                };
                a.iter().any(|point| within(point, b)) || b.iter().any(|point| within(point, a))
            };
            // The search starts at the line below the controller, and follows all lines that touch.
            let mut reached = vec![false; lines.len()];
            reached[1] = true;
            for _ in 0..lines.len() {
                for index in 0..lines.len() {
                    reached[index] |=
                        index > 0 && lines.iter().zip(&reached).any(|(line, is_reached)| *is_reached && meet(line, &lines[index]));
                }
            }
            let drops = svg.split("class=\"member\"/>").count() - 1;
            let tops: Vec<(u64, u64)> = svg
                .split("<rect ")
                .skip(1)
                .filter(|rect| rect.split('>').next().unwrap().contains("class=\"member\""))
                .map(|rect| {
                    let number =
                        |name: &str| rect.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap().parse::<u64>().unwrap();
                    (number("x") + number("width") / 2, number("y"))
                })
                .collect();
            assert_eq!((drops, tops.len()), (members, members));
            for top in tops {
                let own =
                    lines.iter().zip(&reached).any(|(line, reached)| *reached && line[1].1 == top.1 && line[1].0.abs_diff(top.0) <= 1);
                assert!(own, "{members} members: nothing leads to the one at {top:?}: {lines:?}");
            }
        }
    }

    #[test]
    fn what_is_compared_is_counted() {
        let config = |scheme: &str, members: u64| json!({ "array": { "level": "raid0", "members": members }, "coordination": { "scheme": scheme }, "ssd": { "preset": "ggc2014" } });
        let configs = [config("local", 4), config("ideal", 4), config("local", 16)];
        let svg = of(&configs.iter().collect::<Vec<_>>());
        assert!(
            ["controller: RAID-0, 2 schemes of collection", "compared: 4 to 16 SSDs", "each SSD: ggc2014"]
                .iter()
                .all(|text| svg.contains(text)),
            "{svg}"
        );
    }
}
