//! `run --hdr` and `run --fio-logs`, read as others read them.

use std::path::Path;
use std::process::Command;

use crate::program::Place;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

/// An interval of a log: its tag, begin and length in seconds, and its histogram.
type Interval = (String, f64, f64, Histogram<u64>);

fn intervals(log: &str) -> Vec<Interval> {
    let mut deserializer = Deserializer::new();
    let mut found = Vec::new();
    for entry in IntervalLogIterator::new(log.as_bytes()) {
        if let LogEntry::Interval(interval) = entry.unwrap() {
            let bytes = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, interval.encoded_histogram()).unwrap();
            let histogram: Histogram<u64> = deserializer.deserialize(&mut bytes.as_slice()).unwrap();
            // The column for people is in milliseconds.
            assert!((interval.max() - histogram.max() as f64 / 1e6).abs() < 1e-3);
            let tag = interval.tag().unwrap().as_str().to_owned();
            found.push((tag, interval.start_timestamp().as_secs_f64(), interval.duration().as_secs_f64(), histogram));
        }
    }
    found
}

#[test]
fn an_hdr_log_has_the_response_times_of_the_report() {
    let place = Place::new();
    for (index, settings) in
        [&[][..], &["--set", "report.skip_requests=700"], &["--set", "report.bandwidth_interval=100ms"]].iter().enumerate()
    {
        let file = format!("logs/{index}.hlog");
        let report = place.run_json(&[&["run", "small.toml", "--json", "--hdr", &file], *settings].concat());
        let intervals = intervals(&place.read(&file));
        let length = if index == 2 { 0.1 } else { 1.0 };
        assert!(intervals.iter().all(|(_, from, taken, _)| *taken == length && (from / length - (from / length).round()).abs() < 1e-9));
        let most = report["simulated_ns"].as_f64().unwrap() / 1e9 / length + 1.0;
        for direction in ["read", "write"] {
            let own: Vec<_> = intervals.iter().filter(|(tag, ..)| tag == direction).collect();
            assert!(own.len() > 2 && (own.len() as f64) <= most && own.windows(2).all(|pair| pair[0].1 < pair[1].1));
            let mut all = Histogram::<u64>::new(3).unwrap();
            own.iter().for_each(|(.., histogram)| all.add(histogram).unwrap());
            let times = &report["response_us"][direction];
            assert_eq!(all.len(), times["count"].as_u64().unwrap(), "{settings:?}");
            for (key, quantile) in [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)] {
                assert_eq!(all.value_at_quantile(quantile) as f64 / 1e3, times[key].as_f64().unwrap(), "{settings:?} {direction} {key}");
            }
            assert!(all.mean() / 1e3 / times["mean"].as_f64().unwrap() - 1.0 < 1e-3);
        }
        // Requests per second over time are those of the log.
        let done: u64 = intervals.iter().map(|(.., histogram)| histogram.len()).sum();
        assert_eq!(done, report["requests"]["all"].as_u64().unwrap());
    }
}

/// The lines of one of fio's logs: time in ms, value, direction, bytes.
fn lines(log: &str) -> Vec<[u64; 4]> {
    log.lines().map(|line| line.split(", ").map(|field| field.parse().unwrap()).collect::<Vec<_>>().try_into().unwrap()).collect()
}

#[test]
fn logs_of_fio_have_each_request_and_each_interval() {
    let place = Place::new();
    for set in ["report.skip_requests=0", "report.skip_requests=300", "report.bandwidth_interval=250ms"] {
        let report = place.run_json(&["run", "small.toml", "--json", "--fio-logs", "out/small", "--force", "--set", set]);
        let of_log = |name: &str| lines(&place.read(&format!("out/small_{name}.log")));
        let latency = of_log("lat");
        assert_eq!(of_log("clat"), latency, "{set}");
        assert_eq!(of_log("slat"), latency.iter().map(|line| [line[0], 0, line[2], line[3]]).collect::<Vec<_>>(), "{set}");
        let end_ms = report["simulated_ns"].as_u64().unwrap() / 1_000_000;
        for (direction, name) in [(0, "read"), (1, "write")] {
            let own = || latency.iter().filter(move |line| line[2] == direction);
            let count = report["response_us"][name]["count"].as_u64().unwrap();
            assert_eq!(own().count() as u64, count, "{set}");
            let mean = own().map(|line| line[1]).sum::<u64>() as f64 / count as f64 / 1e3;
            assert!((mean / report["response_us"][name]["mean"].as_f64().unwrap() - 1.0).abs() < 1e-9, "{set}");
            assert!(own().all(|line| line[3] == 8192 && line[0] <= end_ms), "{set}");
            // Each interval's rate times its length is what was done in it, up to rounding.
            let interval_ms = if set.ends_with("250ms") { 250 } else { 1000 };
            let iops: Vec<_> = of_log("iops").into_iter().filter(|line| line[2] == direction).collect();
            assert!(
                iops.iter().all(|line| line[0] % interval_ms == 0) && iops.windows(2).all(|pair| pair[1][0] == pair[0][0] + interval_ms)
            );
            assert_eq!(iops.iter().map(|line| line[1] * interval_ms).sum::<u64>() / 1000, count, "{set} {name}");
            let written: u64 =
                of_log("bw").iter().filter(|line| line[2] == direction).map(|line| line[1] * 1024 * interval_ms / 1000).sum();
            assert!(written.abs_diff(count * 8192) <= 1024 * iops.len() as u64, "{set} {name}: {written}");
        }
    }
}

#[test]
fn logs_are_not_written_over_unasked_and_not_left_half_done() {
    let place = Place::new();
    for options in [["--hdr", "a.hlog"], ["--fio-logs", "a"]] {
        assert_eq!(place.run(&[&["run", "small.toml"], &options[..]].concat()).status, 0);
        let again = place.run(&[&["run", "small.toml"], &options[..]].concat());
        assert_eq!(again.status, 2);
        assert!(again.stderr.contains("is there already") && again.stderr.contains("--force"), "{}", again.stderr);
        assert_eq!(place.run(&[&["run", "small.toml", "--force"], &options[..]].concat()).status, 0);
    }
    let before = place.files();
    assert_eq!(before, ["a.hlog", "a_bw.log", "a_clat.log", "a_iops.log", "a_lat.log", "a_slat.log"]);
    let ended = place.run(&["run", "small.toml", "--set", "workload.read_fraction=7", "--hdr", "b.hlog", "--fio-logs", "b"]);
    assert_eq!((ended.status, place.files()), (2, before));
    let ended = place.run(&["run", "small.toml", "--force"]);
    assert!(ended.status == 2 && ended.stderr.contains("--out"), "{}", ended.stderr);
}

/// A script of fio's, put into the folder, if fio is installed; else the test says that it is skipped.
fn tool(place: &Place, name: &str) -> Option<String> {
    let folders = ["/usr/bin", "/usr/local/bin", "/usr/share/fio", "/usr/share/doc/fio"];
    let mut files = folders.iter().flat_map(|folder| ["", ".gz"].map(|packed| format!("{folder}/{name}{packed}")));
    let Some(file) = files.find(|file| Path::new(file).is_file()) else {
        eprintln!("skipped: no fio ({name} is not installed)");
        return None;
    };
    // Debian packs some of them.
    let read = "import sys, gzip\nopen_ = gzip.open if sys.argv[1].endswith('.gz') else open\nprint(open_(sys.argv[1], 'rt').read())";
    place.write(name, Command::new("python3").args(["-c", read, &file]).output().unwrap().stdout);
    // What the scripts take of the package six, which need not be there.
    std::fs::create_dir_all(place.path("six")).unwrap();
    place.write("six/__init__.py", "def iteritems(table):\n    return iter(table.items())\n");
    place.write("six/moves.py", "from builtins import map, range\n");
    Some(name.to_owned())
}

fn run_tool(place: &Place, tool: &str, arguments: &[&str]) -> String {
    let output = Command::new("python3").arg(tool).args(arguments).current_dir(place.path("")).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{tool}: {}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// Output of fio's own converter for `--output-format fio+` has the report's percentiles in its columns.
#[test]
fn the_converter_of_fio_reads_the_document() {
    let place = Place::new();
    let Some(converter) = tool(&place, "fio_jsonplus_clat2csv") else { return };
    for set in ["workload.read_fraction=0.25", "workload.read_fraction=1"] {
        let report = place.run_json(&["run", "small.toml", "--json", "--set", set]);
        let document = place.run(&["run", "small.toml", "--output-format", "fio+", "--set", set]);
        place.write("fio.json", document.stdout);
        run_tool(&place, &converter, &["fio.json", "clat.csv"]);
        assert!(run_tool(&place, &converter, &["--validate", "fio.json", "clat.csv"]).contains("validated"));
        let table = place.read("clat_job0.csv");
        let mut rows = table.lines().map(|line| line.split(',').map(str::trim).collect::<Vec<_>>());
        let header = rows.next().unwrap();
        let rows: Vec<Vec<&str>> = rows.collect();
        for direction in ["read", "write"] {
            // Its earlier versions leave the kind of latency out.
            let column = |figure: &str| {
                let names = [format!("{direction}_clat_ns_{figure}"), format!("{direction}_{figure}")];
                header.iter().position(|name| names.iter().any(|own| own == name)).unwrap()
            };
            let (cumulative, percentile) = (column("cumulative"), column("percentile"));
            let times = &report["response_us"][direction];
            let own: Vec<(f64, u64, f64)> = rows
                .iter()
                .filter(|row| !row[cumulative].is_empty())
                .map(|row| (row[0].parse().unwrap(), row[cumulative].parse().unwrap(), row[percentile].parse().unwrap()))
                .collect();
            let count = times["count"].as_u64().unwrap();
            assert_eq!(own.last().map_or(0, |row| row.1), count, "{set} {direction}");
            if count == 0 {
                continue;
            }
            for (key, share) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)] {
                let ns = own.iter().find(|row| row.2 >= share).unwrap().0;
                let expected = times[key].as_f64().unwrap() * 1e3;
                // Half a bin of fio's, which is a 64th, and a thousandth of ours.
                assert!((ns - expected).abs() <= (1.0 / 128.0 + 2e-3) * expected, "{set} {direction} {key}: {ns} {expected}");
            }
        }
    }
}

/// fio's own readers of logs find the report's figures.
#[test]
fn the_readers_of_fio_read_the_logs() {
    let place = Place::new();
    let Some(parser) = tool(&place, "fiologparser.py") else { return };
    let report = place.run_json(&["run", "small.toml", "--json", "--fio-logs", "small", "--set", "workload.read_fraction=1"]);
    // Sums of each second: with one direction in the log, its requests per second.
    let sum = |log: &str| -> f64 {
        let printed = run_tool(&place, &parser, &["-s", log]);
        printed.lines().map(|line| line.split(", ").nth(1).unwrap().parse::<f64>().unwrap()).sum()
    };
    let (requests, kib) = (sum("small_iops.log"), sum("small_bw.log"));
    assert!((requests - report["requests"]["all"].as_f64().unwrap()).abs() < 0.01 * requests, "{requests}");
    assert!((kib / (requests * 8.0) - 1.0).abs() < 0.01, "{kib}");
    let Some(plotter) = tool(&place, "fio2gnuplot") else { return };
    // Without -g it writes what gnuplot would draw, and the mean of each log.
    run_tool(&place, &plotter, &["-i", "-d", "plots", "-o", "iops"]);
    let drawn = place.read("plots/gnuplot_temp_file.0");
    let drawn: Vec<f64> =
        drawn.lines().filter(|line| !line.starts_with('#')).map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect();
    let log = lines(&place.read("small_iops.log"));
    assert_eq!(drawn, log.iter().map(|line| line[1] as f64).collect::<Vec<_>>());
}

/// Returns true if gnuplot is installed, which fio's plotters need. Otherwise, the test says that it is skipped.
fn has_gnuplot() -> bool {
    let is_there = Command::new("gnuplot").arg("--version").output().is_ok();
    if !is_there {
        eprintln!("skipped: no gnuplot");
    }
    is_there
}

/// The ends of the strokes of the first curve in a picture of gnuplot's.
fn drawn_by_gnuplot(svg: &str) -> Vec<[f64; 2]> {
    let curve = svg.split_once("id=\"gnuplot_plot_1\"").expect("a curve").1;
    let curve = curve.split("id=\"gnuplot_plot_").next().unwrap();
    // The colour that the script gives to the first curve.
    let strokes = curve.split("<path stroke='rgb(228,  26,  28)'").skip(1);
    let strokes = strokes.map(|path| path.split_once("d='").unwrap().1.split('\'').next().unwrap());
    let points = strokes.flat_map(|stroke| stroke.split(['M', 'L', ' ', '\n', '\t'])).filter_map(|point| {
        let (x, y) = point.split_once(',')?;
        Some([x.parse().unwrap(), y.parse().unwrap()])
    });
    // The first stroke is that of the key.
    points.skip(2).collect()
}

/// `fio_generate_plots` draws five pictures, and their curves are the logs.
#[test]
fn the_plotter_of_fio_draws_the_logs() {
    let place = Place::new();
    let Some(_) = tool(&place, "fio_generate_plots") else { return };
    if !has_gnuplot() {
        return;
    }
    for (title, set) in [("mixed", "workload.read_fraction=0.25"), ("writes", "workload.read_fraction=0")] {
        assert_eq!(place.run(&["run", "small.toml", "--fio-logs", "logs/small", "--force", "--set", set]).status, 0);
        let output = Command::new("sh").args(["../fio_generate_plots", title]).current_dir(place.path("logs")).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        for (log, scale) in [("lat", 1e6), ("clat", 1e6), ("slat", 1e3), ("iops", 1.0), ("bw", 1.0)] {
            let drawn = drawn_by_gnuplot(&place.read(&format!("logs/{title}-{log}.svg")));
            let lines = lines(&place.read(&format!("logs/small_{log}.log")));
            let expected: Vec<[f64; 2]> = lines.iter().map(|line| [line[0] as f64 / 1e3, line[1] as f64 / scale]).collect();
            // The axes are linear: the least and the greatest values of both say where the others have to lie.
            let axis = |axis: usize| {
                let ends = |points: &[[f64; 2]]| {
                    let values = || points.iter().map(|point| point[axis]);
                    (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
                };
                let ((least, most), (low, high)) = (ends(&expected), ends(&drawn));
                // Pixels count from above.
                let (from, to) = if axis == 0 { (low, high) } else { (high, low) };
                assert!(log == "slat" && axis == 1 || (most > least && high - low > 100.0), "{title} {log}: {low} {high}");
                move |value: f64| if most > least { from + (value - least) / (most - least) * (to - from) } else { from }
            };
            let (x, y) = (axis(0), axis(1));
            let mut strokes = drawn.iter().peekable();
            let mut last = None;
            for point in &expected {
                let is_at = |drawn: &[f64; 2]| (drawn[0] - x(point[0])).abs() < 0.03 && (drawn[1] - y(point[1])).abs() < 0.03;
                // What lies where the one before does is not drawn again.
                last = strokes.next_if(|drawn| is_at(drawn)).or(last);
                assert!(last.is_some_and(is_at), "{title} {log}: {point:?} is drawn at {last:?} or {:?}", strokes.peek());
            }
            assert_eq!(strokes.next(), None, "{title} {log}");
        }
    }
}

/// `fio2gnuplot -g` makes its pictures of the logs.
#[test]
fn the_older_plotter_of_fio_draws_the_logs() {
    let place = Place::new();
    let Some(plotter) = tool(&place, "fio2gnuplot") else { return };
    if !has_gnuplot() {
        return;
    }
    assert_eq!(place.run(&["run", "small.toml", "--fio-logs", "small"]).status, 0);
    for (log, option) in [("iops", "-i"), ("bw", "-b")] {
        run_tool(&place, &plotter, &["-g", option, "-d", "plots", "-o", log]);
        let pictures = [format!("small_{log}-2Draw"), format!("{log}.average"), format!("{log}.max")];
        for name in pictures.map(|name| format!("plots/{name}.png")) {
            let picture = std::fs::read(place.path(&name)).unwrap();
            // An empty one of this size has some 2500 bytes.
            assert!(picture.starts_with(b"\x89PNG") && picture.len() > 4000, "{name}: {}", picture.len());
        }
    }
}
