//! Import of `iostat -x`: the averages of a device become a load with the same rates, mean sizes and mix.

use super::{ImportError, Stream, quoted};

/// Averages of one device over one interval. Sizes are in KiB.
#[derive(Debug, Clone, PartialEq)]
struct Averages {
    reads_per_s: f64,
    writes_per_s: f64,
    read_kib_per_s: f64,
    write_kib_per_s: f64,
    discards_per_s: f64,
    flushes_per_s: f64,
    line: usize,
}

impl Averages {
    fn per_s(&self) -> f64 {
        self.reads_per_s + self.writes_per_s
    }
}

/// Returns true if the text is what iostat prints.
pub(super) fn is_iostat(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("Device") && line.split_whitespace().any(|name| name == "%util" || name == "tps"))
}

/// Returns the load of the device `part`, or of the only device, and notes for the user.
pub(super) fn streams(text: &str, part: Option<&str>) -> Result<(Vec<Stream>, Vec<String>), ImportError> {
    let devices = devices(text)?;
    let names = devices.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    let (name, intervals) = match (part, devices.as_slice()) {
        (None, [only]) => only,
        (None, []) => return Err(ImportError::WholeFile("it is a summary of iostat without a device".to_owned())),
        (None, _) => {
            return Err(ImportError::WholeFile(format!(
                "it is a summary of iostat with averages of several devices ({names}); choose one with --part, such as the array (md0)"
            )));
        }
        (Some(part), _) => devices
            .iter()
            .find(|(name, _)| name == part)
            .ok_or_else(|| ImportError::WholeFile(format!("--part {part}: there is no such device; there are {names}")))?,
    };
    // The first interval covers the time since the machine was started.
    let measured = if intervals.len() > 1 { &intervals[1..] } else { intervals };
    let Some(busiest) = measured.iter().max_by(|one, other| one.per_s().total_cmp(&other.per_s())).filter(|busy| busy.per_s() > 0.0) else {
        return Err(ImportError::WholeFile(format!("{name} is idle in it: it has no reads and writes, of which a load could be made")));
    };
    let mut notes = vec![
        "iostat tells averages only: arrivals are drawn as Poisson, addresses uniformly, and all requests of a direction have its mean size; bursts \
         and sequences are lost"
            .to_owned(),
    ];
    if intervals.len() > 1 {
        let (line, count) = (busiest.line, measured.len());
        notes.push(format!(
            "{name}: the busiest of {count} intervals (line {line}); the first one, since the start of the machine, is left out"
        ));
    } else {
        notes.push(format!("{name}: one interval, which iostat averages since the start of the machine unless it was asked with -y"));
    }
    if busiest.discards_per_s > 0.0 {
        notes.push(format!("{} discards a second are left out", busiest.discards_per_s));
    }
    let mut stream = Stream { name: name.clone(), ..Stream::default() };
    stream.set("kind", quoted("synthetic"));
    stream.set("read_fraction", format!("{:?}", (busiest.reads_per_s / busiest.per_s() * 1e6).round() / 1e6));
    let of_direction =
        [("read_size", busiest.reads_per_s, busiest.read_kib_per_s), ("write_size", busiest.writes_per_s, busiest.write_kib_per_s)];
    for (key, per_s, kib_per_s) in of_direction {
        if per_s > 0.0 {
            // Whole sectors of half a KiB.
            let bytes = ((kib_per_s / per_s * 2.0).round().max(1.0) * 512.0) as u64;
            stream.set(key, bytes.to_string());
        }
    }
    stream.set("arrivals", format!("{{ process = \"poisson\", mean_gap = \"{}/s\" }}", (busiest.per_s() * 1e3).round() / 1e3));
    if busiest.flushes_per_s > 0.0 && busiest.writes_per_s > 0.0 {
        let writes = (busiest.writes_per_s / busiest.flushes_per_s).round().max(1.0);
        stream.set("flush_every", (writes as u64).to_string());
    }
    Ok((vec![stream], notes))
}

/// Devices with their intervals, in order of appearance.
type Devices = Vec<(String, Vec<Averages>)>;

fn devices(text: &str) -> Result<Devices, ImportError> {
    let mut devices: Devices = Vec::new();
    let mut header: Option<Vec<&str>> = None;
    for (index, line) in text.lines().enumerate() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        match fields.first() {
            None => header = None,
            Some(first) if first.trim_end_matches(':') == "Device" => header = Some(fields),
            Some(name) => {
                let Some(names) = &header else { continue };
                let averages = averages(names, &fields, index + 1)?;
                match devices.iter_mut().find(|(known, _)| known == name) {
                    Some((_, intervals)) => intervals.push(averages),
                    None => devices.push(((*name).to_owned(), vec![averages])),
                }
            }
        }
    }
    Ok(devices)
}

fn averages(names: &[&str], fields: &[&str], line: usize) -> Result<Averages, ImportError> {
    let refuse = |reason: String| ImportError::AtLine { line, reason };
    let find = |name: &str| -> Result<Option<f64>, ImportError> {
        let Some(place) = names.iter().position(|known| *known == name) else { return Ok(None) };
        let text = fields.get(place).ok_or_else(|| refuse(format!("the column {name} is missing; expected {} columns", names.len())))?;
        // Some languages write decimals with a comma.
        let number = text.replace(',', ".").parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
        number.map(Some).ok_or_else(|| refuse(format!("{name} is \"{text}\", but a number is expected")))
    };
    let needed = |name: &str| {
        find(name)?.ok_or_else(|| refuse(format!("there is no column {name}; `iostat -x` (or -xk, -xm) prints what is needed")))
    };
    let kib_per_s = |letter: &str| -> Result<f64, ImportError> {
        for (unit, kib) in [("kB/s", 1.0), ("MB/s", 1024.0), ("sec/s", 0.5)] {
            if let Some(value) = find(&format!("{letter}{unit}"))? {
                return Ok(value * kib);
            }
        }
        needed(&format!("{letter}kB/s"))
    };
    Ok(Averages {
        reads_per_s: needed("r/s")?,
        writes_per_s: needed("w/s")?,
        read_kib_per_s: kib_per_s("r")?,
        write_kib_per_s: kib_per_s("w")?,
        discards_per_s: find("d/s")?.unwrap_or(0.0),
        flushes_per_s: find("f/s")?.unwrap_or(0.0),
        line,
    })
}

#[cfg(test)]
mod tests {
    use super::super::import_fio_or_mqsim;

    const ONE: &str = "Linux 6.8.0 (node)\n\navg-cpu:  %user\n  1.25\n\n\
        Device  r/s  rkB/s  r_await  rareq-sz  w/s  wkB/s  w_await  wareq-sz  d/s  f/s  %util\n\
        sda  30.00  960.00  0.40  32.00  90.00  5400.00  4.70  60.00  0.00  45.00  80.00\n\n";

    fn toml(text: &str, part: Option<&str>) -> Result<String, String> {
        import_fio_or_mqsim(text, part).map(|imported| imported.toml).map_err(|error| error.to_string())
    }

    #[test]
    fn averages_become_a_load() {
        let load = toml(ONE, None).unwrap();
        for line in ["read_fraction = 0.25", "read_size = 32768", "write_size = 61440", "mean_gap = \"120/s\"", "flush_every = 2"] {
            assert!(load.contains(line), "{line} in {load}");
        }
        let megabytes = ONE.replace("rkB/s", "rMB/s").replace("960.00", "0.9375");
        assert!(toml(&megabytes, None).unwrap().contains("read_size = 32768"));
    }

    /// The first interval does not count, and of the others the busiest does.
    #[test]
    fn the_busiest_interval_is_taken() {
        let interval = |reads: u32| ONE.replace("30.00", &format!("{reads}.00"));
        let load = toml(&[interval(9000), interval(10), interval(110), interval(60)].concat(), Some("sda")).unwrap();
        assert!(load.contains("mean_gap = \"200/s\"") && load.contains("the busiest of 3 intervals"), "{load}");
    }

    #[test]
    fn what_cannot_be_a_load_is_refused() {
        let two = ONE.replace("\n\n\n", "\n").replace("80.00\n\n", "80.00\nmd0 1 1 1 1 1 1 1 1 1 1 1\n");
        assert!(toml(&two, None).unwrap_err().contains("several devices (sda, md0); choose one with --part"));
        assert!(toml(&two, Some("sdz")).unwrap_err().contains("there are sda, md0"));
        assert!(toml(&ONE.replace("rkB/s", "other"), None).unwrap_err().contains("line 7: there is no column rkB/s"));
        assert!(toml(&ONE.replace("90.00", "many"), None).unwrap_err().contains("w/s is \"many\""));
        assert!(toml("Device tps kB_read/s kB_wrtn/s\nsda 1.00 2.00 3.00\n", None).unwrap_err().contains("iostat -x"));
        assert!(toml(&ONE.replace("30.00", "0").replace("90.00", "0"), None).unwrap_err().contains("idle"));
    }
}
