//! A drawing of an array: the host, the controller with its cache, the members with their dies, and spares.

use serde_json::Value;

use super::escape;

/// Most members that are drawn one by one.
const MEMBERS_MAX: u64 = 12;
const WIDTH: u64 = 440;
const MARGIN: u64 = 8;

/// The drawing, as SVG; colours are those of the page.
pub fn of(config: &Value) -> String {
    let array = &config["array"];
    let members = array["members"].as_u64().unwrap_or(1).max(1);
    let level = array["level"].as_str().unwrap_or("single");
    let dies = ["dies", "elements"].iter().find_map(|key| config["ssd"]["geometry"][*key].as_u64()).unwrap_or(1).max(1);
    let device = config["ssd"]["preset"].as_str().unwrap_or("SSD");
    let scheme = config["coordination"]["scheme"].as_str().unwrap_or("local");
    let cache = config["cache"]["policy"].as_str().filter(|policy| *policy != "none");
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
    let workload = super::part::workload(config);
    svg += &frame(middle - 110, 4, 220, 30, "host", &shortened(&workload, 30));
    svg += &line(middle, 34, middle, 52);
    let controller = match level {
        "single" => "host interface".to_owned(),
        level => format!("controller: {}", level.to_uppercase().replacen("RAID", "RAID-", 1)),
    };
    let cache_height = if cache.is_some() { 22 } else { 0 };
    svg += &frame(middle - 190, 52, 380, 40 + cache_height, "controller", &format!("{controller}, {scheme} collection"));
    if let Some(policy) = cache {
        svg += &frame(middle - 120, 84, 240, 22, "cache", &format!("write cache: {policy}"));
    }
    let (bus, top) = (108 + cache_height, 122 + cache_height);
    svg += &line(middle, 92 + cache_height, middle, bus);

    // As many on a row as have room for their names.
    let per_row = boxes.min(7);
    let rows = boxes.div_ceil(per_row);
    let step = (WIDTH - 2 * MARGIN) / per_row;
    let (width, height) = (step.min(110) - 8, 58);
    for index in 0..boxes {
        let (row, column) = (index / per_row, index % per_row);
        let on_row = per_row.min(boxes - row * per_row);
        let left = (WIDTH - on_row * step) / 2 + column * step + (step - width) / 2;
        let y = top + row * (height + 16);
        let (class, name) = match index {
            index if index < drawn && failing.contains(&index) => ("member failing", format!("SSD {index}")),
            index if index < drawn => ("member", format!("SSD {index}")),
            index if left_out > 0 && index == drawn => ("more", format!("… {members} SSDs")),
            index => ("member spare", format!("spare {}", members + index - drawn - u64::from(left_out > 0))),
        };
        let middle_of = left + width / 2;
        if row == 0 {
            svg += &line(middle_of, bus, middle_of, y);
        }
        svg += &frame(left, y, width, height, class, &name);
        if class != "more" {
            svg += &die_grid(left, y, width, dies);
        }
    }
    let row_ends = |column: u64| (WIDTH - per_row * step) / 2 + column * step + step / 2;
    svg += &line(row_ends(0).min(middle), bus, row_ends(per_row - 1).max(middle), bus);
    let bottom = top + rows * (height + 16);
    let member = format!("each SSD: {device}, {dies} {}", if dies == 1 { "die" } else { "dies" });
    svg += &text(middle, bottom + 10, "caption", &member);
    let said = format!("{members} members, {level}, {scheme} collection");
    format!("<svg viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"The array: {}\">\n{svg}</svg>\n", bottom + 18, escape(&said))
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn frame(x: u64, y: u64, width: u64, height: u64, class: &str, name: &str) -> String {
    let baseline = y + if height < 24 { height / 2 + 4 } else { 19 };
    format!(
        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"4\" class=\"{class}\"/>\n{}",
        text(x + width / 2, baseline, class, name)
    )
}

fn text(x: u64, y: u64, class: &str, text: &str) -> String {
    format!("<text x=\"{x}\" y=\"{y}\" class=\"{class}\">{}</text>\n", escape(text))
}

fn line(x1: u64, y1: u64, x2: u64, y2: u64) -> String {
    format!("<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>\n")
}

/// The dies of a member, as far as they have room: eight in a row, three rows.
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
        let svg = of(&config);
        assert_eq!((svg.matches("class=\"die\"").count(), svg.matches("<rect").count()), (6 * 4, 6 * 4 + 6 + 3));
        assert_eq!(svg.matches("<text").count(), 6 + 3 + 1);
        assert!(
            ["RAID-5", "SSD 4", "spare 5", "write cache: lawc", "failing", "&lt;hpc&gt;"].iter().all(|text| svg.contains(text)),
            "{svg}"
        );
    }

    #[test]
    fn many_members_are_counted() {
        let svg = of(&json!({ "array": { "members": 40, "level": "raid0" } }));
        assert!(svg.contains("SSD 11") && !svg.contains("SSD 12") && svg.contains("… 40 SSDs"));
        assert!(of(&json!({})).contains("SSD 0"));
    }
}
