//! A tour of a new user. Every command and every configuration in the README and in the book does what the text promises.
//!
//! Blocks of code run in order, in a separate folder for each page. A page may therefore write a file and use it later. A comment before a
//! block of commands says what is promised, and how the block is run:
//!
//! ```text
//! <!-- tour: writes results/report.html; says Response time -->   a file that is there afterwards, and a text on standard output
//! <!-- tour: small -->                                            the full size takes too long: small SSDs and few requests instead
//! <!-- tour: with --set array.level=raid5 -->                     what a part of a configuration is checked with
//! <!-- tour: skip: why -->                                        not run at all
//! <!-- tour: said -->                                             before a text: the commands before it have printed every line of it
//! ```
//!
//! Several are separated by `;`. Blocks without a comment run as they stand and have to succeed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::program::{Place, ended};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A block of code of a page.
#[derive(Debug, Default)]
struct Block {
    /// Number of the first line.
    line: usize,
    language: String,
    text: String,
    marks: Vec<String>,
}

impl Block {
    fn has(&self, mark: &str) -> bool {
        self.marks.iter().any(|own| own == mark)
    }

    /// Returns the texts after this word in the marks of the block.
    fn marks<'a>(&'a self, word: &'a str) -> impl Iterator<Item = &'a str> {
        self.marks.iter().filter_map(move |mark| mark.strip_prefix(word)?.strip_prefix([' ', ':'])).map(str::trim)
    }
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    let mut marks: Vec<String> = Vec::new();
    for (line, text) in page.lines().enumerate() {
        match (&mut open, text.strip_prefix("```")) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(block), None) => block.text += &format!("{text}\n"),
            (None, Some(language)) => {
                open =
                    Some(Block { line: line + 2, language: language.to_owned(), text: String::new(), marks: std::mem::take(&mut marks) });
            }
            (None, None) => {
                if let Some(mark) = text.strip_prefix("<!-- tour:").and_then(|rest| rest.strip_suffix("-->")) {
                    marks = mark.split(';').map(|mark| mark.trim().to_owned()).collect();
                } else if !text.trim().is_empty() {
                    assert_eq!(marks, Vec::<String>::new(), "line {line}: a mark without a block");
                }
            }
        }
    }
    assert!(open.is_none() && marks.is_empty());
    blocks
}

/// Makes what a user has: the program under its name, a toolchain, examples, and a trace.
fn set_up(place: &Place) {
    let bin = place.path("bin");
    fs::create_dir(&bin).unwrap();
    let program = place.command(&[]).get_program().to_owned();
    let small = "--set ssd.geometry.dies=2 --set ssd.geometry.planes=1 --set ssd.geometry.blocks=64 --set ssd.geometry.pages=16 --set ssd.warm_up.overwrites=0.2";
    // Drives with superblocks, whose blocks hold whole superpages.
    let small_drive = "--set ssd.geometry.dies=8 --set ssd.superblock.programs_at_once=8 --set ssd.scale=4096";
    let scripts = [
        (
            "flashraid",
            // Options may stand anywhere after the command. Blocks about traces, presets and the like need no smaller settings.
            format!(
                "#!/bin/sh\ncase \"$TOUR_SMALL $1 $*\" in 'yes run '*hpc-array*|'yes compare '*hpc-array*) set -- \"$@\" --set workload.address.footprint=0.5;; esac\n\
                 small='{small}'\ncase \"$*\" in *'--ssd nvme'*) small='{small_drive}';; esac\n\
                 if grep -qs '^preset = \"nvme' -- \"$2\"; then small='{small_drive}'; fi\n\
                 case \"$TOUR_SMALL $1\" in\n  'yes run'|'yes compare') exec '{0}' \"$@\" $small --set workload.requests=200 --set report.skip_requests=0;;\n  \
                 'yes check') exec '{0}' \"$@\" $small;;\n  'yes demo') exec '{0}' \"$@\" --quick;;\n  *) exec '{0}' \"$@\";;\nesac\n",
                program.display()
            ),
        ),
        (
            "cargo",
            "#!/bin/sh\n[ \"$1\" = install ] && exit\nwhile [ \"$1\" != -- ]; do shift || exit 1; done\nshift\nexec flashraid \"$@\"\n"
                .to_owned(),
        ),
        // It runs these tests.
        ("make", "#!/bin/sh\nexit 0\n".to_owned()),
    ];
    for (name, text) in scripts {
        fs::write(bin.join(name), text).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    symlink(root().join("examples"), place.path("examples")).unwrap();
    place.write(
        "trace.csv",
        (0..500)
            .map(|at| format!("0,{},4096,{},{}.{:03}\n", 8 * (at * 37 % 400), if at % 3 == 0 { 'r' } else { 'w' }, at / 100, at % 100))
            .collect::<String>(),
    );
    let made = place.run(&["trace", "convert", "trace.csv", "trace.csv.zst", "--to", "msr"]);
    assert_eq!(made.status, 0, "{}", made.stderr);
}

/// Runs the commands of a block; what they printed.
fn run_block(place: &Place, page: &str, block: &Block) -> String {
    let at = format!("{page}:{}", block.line);
    let path = format!("{}:{}", place.path("bin").display(), std::env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command.args(["-e", "-c", &block.text]).current_dir(place.path("")).env("PATH", path).env("FLASHRAID_CACHE", "cache");
    command.env("TOUR_SMALL", if block.has("small") { "yes" } else { "no" });
    let ended = ended(command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap());
    assert_eq!(ended.status, 0, "{at}: {}{}", ended.stderr, ended.stdout);
    for file in block.marks("writes") {
        assert!(place.path(file).exists(), "{at}: {file} is not there");
    }
    for text in block.marks("says") {
        assert!(ended.stdout.contains(text), "{at}: {text:?} is not in {}", ended.stdout);
    }
    ended.stdout
}

fn check_configuration(place: &Place, page: &str, block: &Block) {
    // The name of a file in the first line makes it one for what follows.
    let named =
        block.text.lines().next().and_then(|line| line.strip_prefix("# ")).filter(|name| name.ends_with(".toml") && !name.contains(' '));
    let name = named.unwrap_or("block.toml");
    place.write(name, &block.text);
    let with = block.marks("with").flat_map(|options| options.split(' '));
    let ended = place.run(&["check", name].into_iter().chain(with).collect::<Vec<_>>());
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{page}:{}", block.line);
}

/// A tour through one page; how many blocks were tried.
fn tour(page: &Path) -> usize {
    let text = fs::read_to_string(page).unwrap();
    let name = page.file_name().unwrap().to_str().unwrap();
    let place = Place::new();
    set_up(&place);
    let (mut tried, mut printed) = (0, String::new());
    for block in blocks(&text) {
        let known = |mark: &String| {
            ["small", "said"].contains(&mark.as_str()) || ["writes ", "says ", "with ", "skip:"].iter().any(|word| mark.starts_with(word))
        };
        assert!(block.marks.iter().all(known), "{name}:{}: {:?} (a semicolon ends a mark, also within a reason)", block.line, block.marks);
        if let Some(reason) = block.marks("skip").next() {
            assert!(!reason.is_empty(), "{name}:{}: why?", block.line);
            continue;
        }
        match block.language.as_str() {
            "sh" => printed = run_block(&place, name, &block),
            "toml" => check_configuration(&place, name, &block),
            "text" if block.has("said") => {
                for line in block.text.lines() {
                    assert!(printed.lines().any(|own| own == line), "{name}:{}: {line:?} is not in\n{printed}", block.line);
                }
            }
            _ => continue,
        }
        tried += 1;
    }
    tried
}

#[test]
fn the_readme_does_what_it_says() {
    assert!(tour(&root().join("README.md")) >= 3);
}

/// Pages of the book that are not read as a user would read them.
const LEFT_OUT: [(&str, &str); 3] = [
    ("presets.md", "devices by themselves, made by the program; other tests run each preset"),
    ("reference.md", "made by the program, without commands"),
    ("report.md", "the same"),
];

#[test]
fn the_book_does_what_it_says() {
    let mut pages: Vec<PathBuf> = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.retain(|page| page.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    let is_left_out = |page: &PathBuf| LEFT_OUT.iter().any(|(name, _)| page.ends_with(name));
    assert_eq!(pages.iter().filter(|page| is_left_out(page)).count(), LEFT_OUT.len(), "a page that is left out is not there");
    pages.retain(|page| !is_left_out(page));
    // Each page is a tour of its own.
    let (first, second) = pages.split_at(pages.len() / 2);
    let tried: usize = std::thread::scope(|scope| {
        let halves = [first, second].map(|pages| scope.spawn(move || pages.iter().map(|page| tour(page)).sum::<usize>()));
        halves.into_iter().map(|half| half.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).sum()
    });
    assert!(tried >= 30, "only {tried} blocks");
}

/// The real traces, which may not be redistributed: where FLASHRAID_TRACES says, else in `../shared/traces` beside the repository.
fn traces() -> Vec<PathBuf> {
    let folder = std::env::var_os("FLASHRAID_TRACES").map_or_else(|| root().join("../shared/traces"), PathBuf::from);
    let Ok(entries) = fs::read_dir(&folder) else {
        eprintln!("skipped: no trace in {}", folder.display());
        return Vec::new();
    };
    let mut traces: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    traces.retain(|trace| trace.extension().is_some_and(|extension| extension == "gz" || extension == "zst"));
    traces.sort();
    traces
}

/// A user with a trace: run it on an array, compare, and put the results on a page.
#[test]
fn every_real_trace_runs_and_is_reported() {
    let traces = traces();
    let place = Place::new();
    let small =
        ["ssd.geometry.dies=2", "ssd.geometry.planes=1", "ssd.geometry.blocks=64", "ssd.geometry.pages=16", "ssd.warm_up.overwrites=0.2"];
    let small: Vec<&str> = small.iter().flat_map(|setting| ["--set", *setting]).chain(["--set", "workload.requests=400"]).collect();
    let mut reported = Vec::new();
    for (index, trace) in traces.iter().enumerate() {
        let (path, name) = (trace.to_str().unwrap(), trace.file_name().unwrap().to_str().unwrap());
        let out = format!("trace-{index}");
        let ended = place.run(&[&["run", path, "--level", "raid5", "--members", "3", "--json", "--out", &out][..], &small].concat());
        // How often addresses were written is no trace: there is no request in it.
        if name.contains("writefreq") {
            assert_eq!(ended.status, 2, "{name}: {}", ended.stdout);
            assert!(ended.stderr.contains("neither a configuration nor a trace"), "{name}: {}", ended.stderr);
            continue;
        }
        assert_eq!(ended.status, 0, "{name}: {}", ended.stderr);
        let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!((&report["requests"]["all"], &report["config"]["array"]["level"]), (&400.into(), &"raid5".into()), "{name}");
        let parts: f64 = report["time_us"]["all"].as_object().unwrap().values().filter_map(serde_json::Value::as_f64).sum();
        let mean = report["response_us"]["all"]["mean"].as_f64().unwrap();
        assert!(mean > 0.0 && (parts - mean).abs() <= 1e-6 * mean, "{name}: {parts} {mean}");
        assert!(report["verdict"]["load"].is_string(), "{name}");
        assert!(place.read(&format!("{out}/report.html")).contains("<p class=\"headline\">3 × "), "{name}");
        reported.push(out);
    }
    let Some(first) = reported.first() else { return };
    let trace = traces.iter().find(|trace| !trace.to_str().unwrap().contains("writefreq")).unwrap().to_str().unwrap();
    let vary = ["compare", trace, "--members", "2", "--vary", "coordination.scheme=local,ideal", "--out", "grid"];
    let ended = place.run(&[&vary[..], &small].concat());
    assert!(ended.status == 0 && ended.stdout.contains("collection in 0 s, the yardstick"), "{}{}", ended.stdout, ended.stderr);
    let ended = place.run(&[&["report"][..], &reported.iter().map(String::as_str).collect::<Vec<_>>(), &["grid", "--out", "all"]].concat());
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let page = place.read("all/report.html");
    assert!(page.matches("<article ").count() > reported.len() && page.contains(first), "a result is missing on the page");
}

#[test]
fn marks_are_read() {
    let page = "text\n<!-- tour: small; writes a/b.html; says Response time -->\n```sh\nx \\\n  y\n```\n\n<!-- tour: skip: needs a drive -->\n\n```sh\nz\n```\n";
    let blocks = blocks(page);
    assert_eq!((blocks.len(), blocks[0].text.as_str(), blocks[0].line), (2, "x \\\n  y\n", 4));
    assert!(blocks[0].has("small"));
    assert_eq!(blocks[0].marks("writes").chain(blocks[0].marks("says")).collect::<Vec<_>>(), ["a/b.html", "Response time"]);
    assert_eq!(blocks[1].marks("skip").next(), Some("needs a drive"));
}
