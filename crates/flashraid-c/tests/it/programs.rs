//! The C programs of `examples`: compiled, linked with both kinds of the library, run, and held against runs of the simulator.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use flashraid::{CompletedRequest, Observer, OpKind, Simulation};

const ARRAY: &str =
    "array.members = 4\nssd.geometry = { dies = 2, blocks = 64, pages = 16 }\nworkload = { preset = \"hpc-w\", requests = 3000 }\n";

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The folder into which cargo has built the library for these tests.
fn built() -> PathBuf {
    std::env::current_exe().expect("the test is a file").parent().expect("it lies in a folder").to_owned()
}

/// Says that a test is skipped if there is no such program.
fn is_there(program: &str) -> bool {
    let found =
        Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success());
    if !found {
        eprintln!("{program} is missing: the test of the C programs is skipped");
    }
    found
}

fn sanitized() -> bool {
    std::env::var_os("FLASHRAID_SANITIZE").is_some()
}

#[derive(Debug, Clone, Copy)]
enum Link {
    Static,
    Shared,
}

/// Compiles an example; returns the program. With the variable `FLASHRAID_SANITIZE` it stops at the first wrong access to memory and at
/// undefined behaviour. It also fails at the end if memory was not given back (`make sanitize`).
fn compiled(name: &str, link: Link, to: &Path) -> PathBuf {
    compiled_of(&folder().join("examples").join(format!("{name}.c")), link, to)
}

/// Compiles this file; returns the program.
fn compiled_of(source: &Path, link: Link, to: &Path) -> PathBuf {
    let name = source.file_stem().expect("a file has a name").to_string_lossy();
    let program = to.join(format!("{name}-{link:?}"));
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g", "-O1"]);
    if sanitized() {
        cc.args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
    }
    cc.arg(source).arg("-I").arg(folder().join("include")).arg("-o").arg(&program);
    match link {
        Link::Static => cc.arg(built().join("libflashraid_c.a")).args(["-lpthread", "-ldl", "-lm"]),
        Link::Shared => cc.arg("-L").arg(built()).arg("-lflashraid_c").arg(format!("-Wl,-rpath,{}", installed(to).display())),
    };
    let output = cc.output().expect("cc starts");
    assert!(output.status.success() && output.stderr.is_empty(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    program
}

/// Returns a folder below this one that has the library by its SONAME and by no other name, as a system without the development files.
fn installed(to: &Path) -> PathBuf {
    let folder = to.join("lib");
    fs::create_dir_all(&folder).unwrap();
    let soname = folder.join(concat!("libflashraid_c.so.", env!("CARGO_PKG_VERSION_MAJOR")));
    if !soname.exists() {
        std::os::unix::fs::symlink(built().join("libflashraid_c.so"), soname).unwrap();
    }
    folder
}

fn output_of(command: &mut Command) -> String {
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("it prints text")
}

#[derive(Default)]
struct Ends(Vec<CompletedRequest>);

impl Observer for Ends {
    fn request_completed(&mut self, done: &CompletedRequest) {
        self.0.push(*done);
    }
}

#[test]
fn a_trace_replayed_by_a_c_program_has_the_response_times_of_a_run() {
    if !is_there("cc") {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("array.toml"), ARRAY).unwrap();
    let mut ends = Ends::default();
    Simulation::from_toml(ARRAY).unwrap().observe(&mut ends).run().unwrap();
    let mut trace = String::new();
    let mut by_arrival = ends.0.clone();
    by_arrival.sort_by_key(|end| end.arrival_index);
    for CompletedRequest { arrival_ns, request, .. } in &by_arrival {
        let kind = u32::from(request.kind == OpKind::Write);
        writeln!(trace, "{arrival_ns} {kind} {} {}", request.offset_bytes, request.length_bytes).unwrap();
    }
    fs::write(place.path().join("trace"), trace).unwrap();
    let expected: String = ends.0.iter().map(|end| format!("{} {}\n", end.arrival_index, end.done_ns - end.arrival_ns)).collect();
    assert_eq!(expected.lines().count(), 3000);
    for link in [Link::Static, Link::Shared] {
        let program = compiled("replay", link, place.path());
        let input = fs::File::open(place.path().join("trace")).unwrap();
        let printed = output_of(Command::new(program).arg("array.toml").current_dir(place.path()).stdin(input));
        assert!(printed == expected, "{link:?}: other response times than those of the run");
    }
}

#[test]
fn the_shared_library_has_a_soname() {
    if !cfg!(target_os = "linux") || !is_there("readelf") {
        return;
    }
    let printed = output_of(Command::new("readelf").arg("--dynamic").arg(built().join("libflashraid_c.so")));
    let soname = concat!("[libflashraid_c.so.", env!("CARGO_PKG_VERSION_MAJOR"), "]");
    let names: Vec<&str> = printed.lines().filter(|line| line.contains("(SONAME)")).collect();
    assert!(names.len() == 1 && names[0].ends_with(soname), "{names:?}, but must be {soname}");
}

#[test]
fn a_program_is_compiled_against_the_version_of_its_library() {
    if !is_there("cc") {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let source = place.path().join("version.c");
    let text = "#include <stdio.h>\n#include <string.h>\n#include <flashraid.h>\n\
        #if FLASHRAID_VERSION_MAJOR > 999 || FLASHRAID_VERSION_MINOR > 999 || FLASHRAID_VERSION_PATCH > 999\n#error version\n#endif\n\
        int main(void) { puts(flashraid_version()); return strcmp(FLASHRAID_VERSION, flashraid_version()); }\n";
    fs::write(&source, text).unwrap();
    let program = compiled_of(&source, Link::Shared, place.path());
    assert_eq!(output_of(&mut Command::new(program)), concat!(env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn hosts_that_think_in_a_c_program_are_the_closed_loop_of_the_simulator() {
    if !is_there("cc") {
        return;
    }
    assert!(fs::read_to_string(folder().join("examples/think.c")).unwrap().lines().count() <= 60, "the example fits a page");
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("array.toml"), ARRAY).unwrap();
    let program = compiled("think", Link::Shared, place.path());
    let run = |requests: &str| output_of(Command::new(&program).args(["array.toml", requests]).current_dir(place.path()));
    let printed = run("5000");
    assert_eq!(printed, run("5000"), "the same calls give the same answers");
    let mean: f64 = printed.split("mean ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    // The same load as a configuration; only the random numbers differ.
    let closed = "workload = { kind = \"synthetic\", requests = 5000, read_fraction = 0.3, size = \"4KiB\", \
                  arrivals = { process = \"closed\", depth = 8, think = \"100us\" } }\n";
    let text = format!("{}{closed}", ARRAY.split("workload").next().unwrap());
    let expected = Simulation::from_toml(&text).unwrap().run().unwrap().response_us.all.mean.unwrap();
    assert!((mean / expected - 1.0).abs() < 0.05, "a mean of {mean} us, and of {expected} us as a closed loop");

    // Valgrind can't run a program that has a sanitizer in it.
    if !sanitized() && is_there("valgrind") {
        let mut valgrind = Command::new("valgrind");
        valgrind.args([
            "-q",
            "--error-exitcode=9",
            "--leak-check=full",
            "--errors-for-leak-kinds=definite,indirect",
            "--show-leak-kinds=definite,indirect",
        ]);
        let output = valgrind.arg(&program).args(["array.toml", "300"]).current_dir(place.path()).output().unwrap();
        let found = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && found.is_empty(), "valgrind found: {found}");
    }
    let wrong = Command::new(&program).args(["nowhere.toml", "1"]).current_dir(place.path()).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("nowhere.toml"));
}
