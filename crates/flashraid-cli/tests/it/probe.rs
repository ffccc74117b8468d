//! Tests of `flashraid probe`: refused targets, continued measurements, and files that are left. A script stands in for fio. The last test
//! uses fio itself, if it is installed.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::fit::DRIVE;
use crate::names::NAMES;
use crate::program::{Ended, Place, ended};

const TARGET_BYTES: u64 = 64 << 20;

fn target(place: &Place, name: &str) {
    File::create(place.path(name)).unwrap().set_len(TARGET_BYTES).unwrap();
}

/// Writes results of the job whose file it is given, after as many seconds as the file `slow` says; counts its runs. It reads names of
/// files as fio does: up to a comment, without blanks at the end, with variables replaced. In results it names what the file `opens` says.
const FIO: &str = r#"#!/bin/sh
export LC_ALL=C
[ "$1" = --version ] && { echo fio-3.33; exit; }
for argument; do
  case $argument in --output=*) out=${argument#--output=};; *.fio) file=$argument;; esac
done
target=$(sed -n 's/^filename=//p' "$file" | head -n 1)
target=${target%%;*}
target=${target%%#*}
target=$(printf %s "$target" | sed "s|[[:space:][:cntrl:]]*\$||; s|\${HOME}|$HOME|g; s|\$ncpus|2|g")
[ -e ../strange ] && target=/strange
[ "$1" = --showcmd ] && { [ -e ../silent ] || printf 'fio --filename=%s --name=j \n' "$target"; exit; }
[ -e ../silent ] && target=/silent
printf '%s\n' "$target" | sed 's/\\:/:/g' >> ../opened
target=$(printf %s "$target" | sed 's/\\/\\\\/g; s/"/\\"/g')
echo "$file" >> ../ran
echo "$*" >> ../arguments
[ -e ../broken ] && { echo "fio: direct I/O is not known here" >&2; exit 1; }
[ -e ../slow ] && exec sleep 30
name=${file%.fio}
cat > "$out" <<END
{"global options": {"filename": "$target"}, "jobs": [{"jobname": "$name", "error": 0, "job options": {"rw": "randread"}, "read": {"iops": 9000.0, "lat_ns": {"mean": 111000.0}}}]}
END
printf '1000, 5000, 0, 0\n2000, 7000, 0, 0\n' > "${name}_bw.1.log"
"#;

/// Writes a script that the program finds before all programs of its name.
fn script(place: &Place, name: &str, text: &str) {
    let bin = place.path("bin");
    fs::create_dir(&bin).unwrap();
    fs::write(bin.join(name), text).unwrap();
    fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
}

fn path_with_scripts(place: &Place) -> String {
    format!("{}:{}", place.path("bin").display(), std::env::var("PATH").unwrap())
}

fn command(place: &Place, arguments: &[&str]) -> Command {
    if !place.path("bin").exists() {
        script(place, "fio", FIO);
    }
    let mut command = place.command(arguments);
    command.env("PATH", path_with_scripts(place));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(place: &Place, arguments: &[&str]) -> Ended {
    ended(command(place, arguments).output().unwrap())
}

fn runs(place: &Place) -> usize {
    fs::read_to_string(place.path("ran")).unwrap_or_default().lines().count()
}

#[test]
fn jobs_are_run_once_and_gone_on_with() {
    let place = Place::new();
    target(&place, "target");
    let probe = ["probe", "target", "--seconds", "6", "--out", "out"];
    place.write("slow", "");
    let mut child = command(&place, &probe).spawn().unwrap();
    let begin = Instant::now();
    while runs(&place) == 0 {
        assert!(begin.elapsed() < Duration::from_secs(30), "fio was not started");
        std::thread::sleep(Duration::from_millis(20));
    }
    let interrupted = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupted.success() && child.wait().unwrap().code() == Some(130));
    assert!(begin.elapsed() < Duration::from_secs(25), "fio was ended");
    assert!(!place.files().iter().any(|name| name.ends_with("json") || name.ends_with("part")), "{:?}", place.files());

    fs::remove_file(place.path("slow")).unwrap();
    let ended = run(&place, &probe);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    // 17 measured ones of 6 s and a ramp of 1, and two that prepare: 192 MiB.
    assert!(
        ended.stderr.contains("fio-3.33 on target, 19 jobs, about 3 min") && ended.stderr.contains("119 s of measuring and 192"),
        "{}",
        ended.stderr
    );
    assert!(ended.stdout.contains("next: flashraid fit out --out device.toml"), "{}", ended.stdout);
    assert_eq!(runs(&place), 20);
    assert!(place.read("out/01-write-128k-q32.fio").contains("rw=write\nbs=128k\niodepth=32\n"));

    fs::remove_file(place.path("out/04-randread-4k-q2.json")).unwrap();
    let ended = run(&place, &probe);
    assert!(ended.stderr.contains("going on in out: 18 of 19 jobs are done"), "{}", ended.stderr);
    assert_eq!(runs(&place), 21, "only the one that was missing");

    let ended = run(&place, &["probe", "target", "--seconds", "7", "--out", "out"]);
    assert!(ended.status == 2 && ended.stderr.contains("other options (--seconds"), "{}", ended.stderr);
    target(&place, "other");
    let ended = run(&place, &["probe", "other", "--seconds", "6", "--out", "out"]);
    assert!(ended.status == 2 && ended.stderr.contains("holds a measurement of"), "{}", ended.stderr);
    assert_eq!(runs(&place), 21);
}

#[test]
fn what_holds_anything_is_refused_unless_told_twice() {
    let place = Place::new();
    target(&place, "target");
    let probe = |more: &[&str]| run(&place, &[&["probe", "target", "--seconds", "6", "--out", "out"], more].concat());
    use std::io::{Seek, SeekFrom, Write};
    let mut file = File::options().write(true).open(place.path("target")).unwrap();
    file.seek(SeekFrom::Start(1080)).unwrap();
    file.write_all(b"\x53\xef").unwrap();
    for flags in [&[][..], &["--destroy-data"], &["--really"]] {
        let ended = probe(flags);
        assert_eq!(ended.status, 2, "{flags:?}");
        assert!(
            ended.stderr.contains("target: holds a file system (ext2, ext3 or ext4)") && ended.stderr.contains("--destroy-data --really"),
            "{}",
            ended.stderr
        );
    }
    assert!(runs(&place) == 0 && !place.path("out").exists());
    assert_eq!(probe(&["--destroy-data", "--really"]).status, 0);
    assert_eq!(runs(&place), 19);
}

#[test]
fn what_was_examined_is_what_fio_opens() {
    let place = Place::new();
    fs::create_dir(place.path("names")).unwrap();
    fs::create_dir(place.path("outs")).unwrap();
    // Where a name is cut, there is a file to open in its place.
    let decoys = ["a", "2", "x", "b"];
    decoys.into_iter().for_each(|name| target(&place, &format!("names/{name}")));
    for (name, is_refused) in NAMES {
        let file = place.path("names").canonicalize().unwrap().join(name);
        target(&place, &format!("names/{name}"));
        for seen in ["outs/ran", "outs/opened"] {
            let _ = fs::remove_file(place.path(seen));
        }
        let _ = fs::remove_dir_all(place.path("outs/out"));
        let probe = ["probe", file.to_str().unwrap(), "--out", "outs/out", "--gentle"];
        // Whoever is refused would be overwritten.
        let ended = run(&place, if is_refused { &probe[..4] } else { &probe });
        let opened = fs::read_to_string(place.path("outs/opened")).unwrap_or_default();
        if is_refused {
            assert!(ended.status == 2 && ended.stderr.contains("fio") && ended.stderr.contains("rename"), "{name:?}: {}", ended.stderr);
            assert!(opened.is_empty() && !place.path("outs/out").exists(), "{name:?}: {opened}");
        } else {
            assert_eq!(ended.status, 0, "{name:?}: {}", ended.stderr);
            assert_eq!(opened.lines().collect::<Vec<_>>(), [file.to_str().unwrap(); 4], "{name:?}");
        }
    }
}

#[test]
fn links_and_other_versions_of_fio_open_nothing_else() {
    let place = Place::new();
    target(&place, "target");
    target(&place, "a#b");
    let link = |of: &str, name: &str| std::os::unix::fs::symlink(of, place.path(name)).unwrap();
    link("a#b", "to-hostile");
    link("target", "a;link");
    fs::hard_link(place.path("a#b"), place.path("hard")).unwrap();
    let probe = |name: &str, out: &str| run(&place, &["probe", name, "--gentle", "--out", out]);
    let refused = probe("to-hostile", "none");
    assert!(refused.status == 2 && refused.stderr.contains("a#b"), "{}", refused.stderr);
    let whole = |name: &str| place.path(".").canonicalize().unwrap().join(name).display().to_string();
    for (name, opened) in [("a;link", "target"), ("./bin/../target", "target"), ("hard", "hard")] {
        let _ = fs::remove_file(place.path("opened"));
        assert_eq!(probe(name, &format!("out-{}", name.len())).status, 0, "{name}");
        assert_eq!(place.read("opened").lines().collect::<Vec<_>>(), vec![whole(opened); 4], "{name}");
    }

    let ran = runs(&place);
    place.write("strange", "");
    let ended = run(&place, &["probe", "target", "--out", "strange-out"]);
    assert!(ended.status == 2 && ended.stderr.contains("would open another file: --filename=/strange"), "{}", ended.stderr);
    assert_eq!(runs(&place), ran, "nothing was overwritten");
    fs::remove_file(place.path("strange")).unwrap();
    place.write("silent", "");
    let ended = run(&place, &["probe", "target", "--out", "silent-out"]);
    assert!(ended.status == 1 && ended.stderr.contains("it opened /silent instead of"), "{}", ended.stderr);
    assert_eq!(runs(&place), ran + 1, "no job after it");
}

#[test]
fn what_goes_wrong_is_said() {
    let place = Place::new();
    target(&place, "target");
    let out = ["probe", "target", "--out", "out"];
    // The program runs on a machine without fio.
    let ended = ended(place.command(&out).env("PATH", place.path("none")).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap());
    assert!(
        ended.status == 2 && ended.stderr.contains("fio is not installed") && ended.stderr.contains("apt-get install fio"),
        "{}",
        ended.stderr
    );
    assert!(!place.path("out").exists());
    // The jobs alone need none.
    let dry = place.run(&["probe", "target", "--dry-run", "--set", "ggc"]);
    assert!(
        dry.status == 0 && dry.stdout.contains("[01-w1-writes80]") && dry.stdout.contains("write_bw_log=01-w1-writes80\n"),
        "{}",
        dry.stdout
    );
    assert!(dry.stderr.contains("13 jobs, about 71 min"), "{}", dry.stderr);

    place.write("broken", "");
    let ended = run(&place, &out);
    assert!(
        ended.status == 1 && ended.stderr.contains("fio failed in job 00-prepare-fill") && ended.stderr.contains("--buffered"),
        "{}",
        ended.stderr
    );
    assert!(!place.files().iter().any(|name| name.ends_with("part")));
    place.write("small", "x");
    for (target, named) in [("small", "64 MiB"), ("none", "no such file"), (".", "neither a file nor a block device")] {
        let ended = run(&place, &["probe", target]);
        assert!(ended.status == 2 && ended.stderr.contains(named), "{named}: {}", ended.stderr);
    }
}

#[test]
fn variability_is_reported() {
    let place = Place::new();
    target(&place, "target");
    let ended = run(&place, &["probe", "target", "--set", "ggc", "--seconds", "10", "--out", "out"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let first = &place.json("out/variability.json")["variability"][0];
    assert_eq!((first["name"].as_str(), first["seconds"].as_u64()), (Some("01-w1-writes80"), Some(2)));
    // 5000 and 7000 KiB/s.
    assert!((first["mean_mb_s"].as_f64().unwrap() - 6.144).abs() < 1e-9 && (first["cv"].as_f64().unwrap() - 1.0 / 6.0).abs() < 1e-9);
    assert!(place.read("out/report.html").contains("z-scores-w3"));
}

#[test]
fn gentle_measurements_only_read() {
    let place = Place::new();
    target(&place, "target");
    use std::io::{Seek, SeekFrom, Write};
    let mut file = File::options().write(true).open(place.path("target")).unwrap();
    file.seek(SeekFrom::Start(1080)).unwrap();
    file.write_all(b"\x53\xef").unwrap();
    // It holds a file system, and the drive may be in use: both are no reason to refuse reads.
    let ended = run(&place, &["probe", "--gentle", "target", "--seconds", "6", "--out", "out"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("4 jobs, about 28 s") && ended.stderr.contains("target has holes"), "{}", ended.stderr);
    assert!(ended.stdout.contains("Nothing was written") && ended.stdout.contains("randread-4k-q16"), "{}", ended.stdout);
    assert!(ended.stdout.contains("next: flashraid fit out --parameters link,latency,read"), "{}", ended.stdout);
    let arguments = place.read("arguments");
    assert!(arguments.lines().count() == 4 && arguments.lines().all(|line| line.contains("--readonly")), "{arguments}");
    let csv = place.read("out/percentiles.csv");
    assert!(csv.starts_with("job,requests,iops,mean_us,p50_us") && csv.lines().count() == 5, "{csv}");
    for refused in [&["--overwrites", "1"][..], &["--destroy-data"], &["--set", "ggc"]] {
        let ended = run(&place, &[&["probe", "--gentle", "target"], refused].concat());
        assert!(ended.status == 2 && ended.stderr.contains("cannot be used with"), "{}", ended.stderr);
    }
}

/// Passes everything on to fio itself, which then measures for a tenth of a second instead of one, and a ramp of one.
const SHORT_FIO: &str = r#"#!/bin/sh
for argument; do
  case $argument in --showcmd*) break;; *.fio) sed -i 's/^\(runtime\|ramp_time\)=.*/\1=100ms/' "$argument";; esac
done
PATH=${PATH#*:}
exec fio "$@"
"#;

/// fio itself, watched by strace where that can be had: the target is opened for reading only, and stays as it was. What it measures is the
/// memory of this machine, which `fit` takes for no drive.
#[test]
fn fio_opens_nothing_for_writing_in_gentle_measurements() {
    let is_there = |program: &str| Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !is_there("fio") {
        eprintln!("skipped: no fio");
        return;
    }
    let is_watched =
        Command::new("strace").args(["-o", "/dev/null", "true"]).stderr(Stdio::null()).status().is_ok_and(|status| status.success());
    let place = Place::new();
    fs::write(place.path("target"), vec![7; TARGET_BYTES as usize]).unwrap();
    let before = fs::metadata(place.path("target")).unwrap().modified().unwrap();
    let of_program = place.command(&["probe", "--gentle", "target", "--seconds", "1", "--buffered", "--engine", "psync", "--out", "out"]);
    script(&place, "fio", SHORT_FIO);
    let watch = ["-f", "-qq", "-e", "trace=open,openat,creat", "-o", "opens"];
    let mut probe = Command::new(if is_watched { OsStr::new("strace") } else { of_program.get_program() });
    if is_watched {
        probe.args(watch).arg(of_program.get_program());
    }
    probe.args(of_program.get_args()).current_dir(place.path(".")).stdout(Stdio::piped()).stderr(Stdio::piped());
    probe.envs(of_program.get_envs().filter_map(|(key, value)| Some((key, value?)))).env("PATH", path_with_scripts(&place));
    let ended = ended(probe.output().unwrap());
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    if is_watched {
        let opens = place.read("opens");
        let of_target: Vec<&str> = opens.lines().filter(|line| line.contains("/target\"") || line.contains("\"target\"")).collect();
        assert!(of_target.len() > 4, "fio has opened it for each job: {opens}");
        for open in &of_target {
            assert!(open.contains("O_RDONLY"), "{open}");
        }
    } else {
        eprintln!("skipped: what is opened, as nothing may be traced here");
    }
    let metadata = fs::metadata(place.path("target")).unwrap();
    assert_eq!((metadata.modified().unwrap(), metadata.len()), (before, TARGET_BYTES));
    assert!(fs::read(place.path("target")).unwrap().iter().all(|byte| *byte == 7));
    // `fit` reads the results, and says that a page cache is no drive.
    fs::write(place.path("small.toml"), DRIVE).unwrap();
    let fitted = place.run(&[
        "fit",
        "out",
        "--base",
        "small.toml",
        "--parameters",
        "link,latency,read",
        "--simplex",
        "0",
        "--scale",
        "1",
        "--out",
        "device.toml",
    ]);
    // A device file of memory once said that 0 of 2 values were determined, and was written.
    assert_eq!(fitted.status, 1, "{}", fitted.stderr);
    assert!(fitted.stderr.contains("this is no drive of the kind of small.toml"), "{}", fitted.stderr);
    assert!(!place.path("device.toml").exists() && !place.path("device.html").exists());
}
