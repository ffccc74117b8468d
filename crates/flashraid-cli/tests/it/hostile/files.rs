//! Places for results: devices, pipes, links, full disks, and folders that are read-only.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::process::{Command, Stdio};

use super::{ends, run_with, trace};
use crate::program::{Place, ended};

fn made(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).status().is_ok_and(|status| status.success())
}

/// Once: the node was a regular file afterwards, whatever it had been; as root so were /dev/full and /dev/null.
#[test]
fn devices_pipes_and_links_stay_what_they_are() {
    let place = Place::new();
    place.write("ok.spc", trace(100));
    let pipe = place.path("pipe");
    assert!(made("mkfifo", &[pipe.to_str().unwrap()]));
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read(pipe).unwrap()
    });
    ends(&place.run(&["trace", "convert", "ok.spc", "pipe", "--to", "spc"]), 0, &[]);
    assert_eq!(reader.join().unwrap().iter().filter(|byte| **byte == b'\n').count(), 100);
    assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());

    // Another program might do to the machine what it did to the pipe.
    if std::env::var_os("FLASHRAID_PROGRAM").is_some() {
        return;
    }
    ends(&place.run(&["trace", "convert", "ok.spc", "/dev/null", "--to", "spc"]), 0, &[]);
    assert!(fs::symlink_metadata("/dev/null").unwrap().file_type().is_char_device());
    ends(&place.run(&["trace", "convert", "ok.spc", "/dev/full", "--to", "spc"]), 1, &["/dev/full"]);
    ends(&run_with(&place, "run", &["ssd.warm_up.save=\"/dev/full\""]), 1, &["/dev/full", "ssd.warm_up.save"]);
    assert!(fs::symlink_metadata("/dev/full").unwrap().file_type().is_char_device());
    let streamed = place.run(&["trace", "convert", "ok.spc", "/dev/stdout", "--to", "spc"]);
    assert_eq!(streamed.stdout.lines().count(), 100);

    fs::create_dir(place.path("deep")).unwrap();
    symlink("deep/real.spc", place.path("link.spc")).unwrap();
    ends(&place.run(&["trace", "convert", "ok.spc", "link.spc", "--to", "spc"]), 0, &[]);
    assert!(fs::symlink_metadata(place.path("link.spc")).unwrap().is_symlink());
    assert_eq!(place.read("deep/real.spc").lines().count(), 100);
    symlink("deep/state", place.path("state")).unwrap();
    ends(&run_with(&place, "run", &["ssd.warm_up.save=\"state\""]), 0, &[]);
    assert!(fs::symlink_metadata(place.path("state")).unwrap().is_symlink() && place.path("deep/state").is_file());
}

/// Once: the temporary name was longer than a name may be.
#[test]
fn the_longest_names_can_be_written() {
    let place = Place::new();
    place.write("ok.spc", trace(10));
    let name = format!("{}.spc", "n".repeat(251));
    ends(&place.run(&["trace", "convert", "ok.spc", &name, "--to", "spc"]), 0, &[]);
}

/// One message and status 1 where standard output can't be written; status 0 where its reader has gone.
#[test]
fn standard_output_that_is_full_or_gone() {
    let place = Place::new();
    place.write("ok.spc", trace(100));
    let commands: [&[&str]; 9] = [
        &["run", "small.toml"],
        &["run", "small.toml", "--json"],
        &["compare", "small.toml", "--vary", "seed=1,2", "--json"],
        &["check", "small.toml"],
        &["trace", "info", "ok.spc"],
        &["trace", "convert", "ok.spc", "-", "--to", "spc"],
        &["preset", "list"],
        &["schema"],
        &["reproduce", "list"],
    ];
    for arguments in commands {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = place.command(arguments).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let ended = ended(output);
        ends(&ended, 1, &["No space left"]);
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);

        let mut child = place.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        let status = child.wait().unwrap();
        assert!(status.code() == Some(0) && !said.contains("bug"), "{arguments:?}: {status}: {said}");
    }
}

/// A folder that takes no files: one message, nothing half-written.
#[test]
fn folders_that_can_not_be_written() {
    let place = Place::new();
    place.write("ok.spc", trace(100));
    // No folder can be made below a file, not even by root.
    place.write("file", "");
    for arguments in [
        &["run", "small.toml", "--out", "file/out"][..],
        &["compare", "small.toml", "--vary", "seed=1,2", "--out", "file/out"],
        &["trace", "convert", "ok.spc", "file/out.spc", "--to", "spc"],
    ] {
        let ended = place.run(arguments);
        ends(&ended, 1, &["file"]);
        assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    }
    ends(&run_with(&place, "run", &["ssd.warm_up.save=\"file/state\""]), 2, &["ssd.warm_up.save"]);
    assert_eq!(place.files(), ["file", "ok.spc"]);
}

/// A disk that becomes full: one message and status 1, nothing half-written. Needs a small file system, which only root may mount.
#[test]
fn a_full_disk_is_told_and_nothing_half_written_stays() {
    let place = Place::new();
    let disk = place.path("disk");
    fs::create_dir(&disk).unwrap();
    if !made("mount", &["-t", "tmpfs", "-o", "size=96k", "tmpfs", disk.to_str().unwrap()]) {
        return;
    }
    place.write("ok.spc", trace(50_000));
    let mut left = Vec::new();
    for arguments in [
        &["run", "small.toml", "--out", "disk/run"][..],
        &["compare", "small.toml", "--vary", "seed=1,2,3,4", "--out", "disk/grid"],
        &["trace", "convert", "ok.spc", "disk/out.spc", "--to", "spc"],
        &[
            "run",
            "small.toml",
            "--set",
            "ssd.geometry.blocks=4096",
            "--set",
            "ssd.warm_up.overwrites=0",
            "--set",
            "ssd.warm_up.save=\"disk/state\"",
        ],
    ] {
        let ended = place.run(arguments);
        let parts = fs::read_dir(&disk).unwrap().map(|entry| entry.unwrap().path());
        left.push((ended.status, ended.stderr, parts.filter(|path| path.is_file()).collect::<Vec<_>>()));
        let _ = Command::new("sh").arg("-c").arg(format!("rm -rf {}/*", disk.display())).status();
    }
    assert!(made("umount", &[disk.to_str().unwrap()]));
    for (status, said, files) in left {
        assert_eq!((status, said.lines().count()), (1, 1), "{said}");
        assert!(files.is_empty(), "{files:?}");
    }
}
