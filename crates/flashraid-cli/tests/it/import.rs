//! `flashraid import` and `export`: workloads of fio and MQSim run, and drives go to MQSim and back.

use crate::program::Place;

const JOB: &str =
    "[global]\nioengine=libaio\ndirect=1\nbs=8k\n[mixed]\nrw=randrw\nrwmixread=25\niodepth=4\nnumber_ios=300\nfilename=/dev/nvme0n1\n";
const SCENARIO: &str = "<MQSim_IO_Scenarios><IO_Scenario><IO_Flow_Parameter_Set_Synthetic><Synthetic_Generator_Type>BANDWIDTH</Synthetic_Generator_Type>\
<Bandwidth>4096000</Bandwidth><Read_Percentage>60</Read_Percentage><Average_Request_Size>16</Average_Request_Size>\
<Total_Requests_To_Generate>300</Total_Requests_To_Generate></IO_Flow_Parameter_Set_Synthetic>{}</IO_Scenario></MQSim_IO_Scenarios>";

/// The small array of the tests with another workload.
fn with_workload(place: &Place, workload: &str) -> String {
    format!("{}{workload}", place.read("small.toml").split("[workload]").next().unwrap())
}

#[test]
fn what_is_imported_runs() {
    let place = Place::new();
    place.write("job.fio", JOB);
    place.write("one.xml", SCENARIO.replace("{}", ""));
    let flow = SCENARIO.split("<IO_Scenario>").nth(1).unwrap().split("{}").next().unwrap();
    place.write("two.xml", SCENARIO.replace("{}", flow));
    for (file, requests, share) in [("job.fio", 300, 0.25), ("one.xml", 300, 0.6), ("two.xml", 600, 0.6)] {
        let ended = place.run(&["import", file]);
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        place.write("imported.toml", with_workload(&place, &ended.stdout));
        let report = place.run_json(&["run", "imported.toml", "--json"]);
        assert_eq!(report["requests"]["all"], requests, "{}", ended.stdout);
        let reads = report["requests"]["read"].as_f64().unwrap() / f64::from(requests);
        assert!((reads - share).abs() < 0.1, "{file}: {reads}");
        assert_eq!(ended.stderr.contains("note: filename"), file == "job.fio", "{}", ended.stderr);
    }
    // A file that is there stays.
    assert_eq!(place.run(&["import", "job.fio", "--out", "new.toml"]).status, 0);
    let ended = place.run(&["import", "one.xml", "--out", "new.toml"]);
    assert_eq!((ended.status, ended.stderr.contains("--force")), (2, true), "{}", ended.stderr);
    assert!(place.read("new.toml").contains("depth = 4"));
    assert_eq!(place.run(&["import", "one.xml", "--out", "new.toml", "--force"]).status, 0);
    assert!(place.read("new.toml").contains("poisson"));
}

#[test]
fn what_cannot_be_imported_is_refused_with_its_place() {
    let place = Place::new();
    place.write("rate.fio", "[a]\nrw=read\nrate=,1m\n");
    place.write("other.toml", "[package]\nname = \"x\"\n");
    place.write("script.sh", "#!/bin/sh\nfio --name=a --rw=read --size=1g\n");
    place.write("open.xml", "<a>\n<b>");
    place.write(
        "unknown.xml",
        "<Execution_Parameter_Set><Device_Parameter_Set>\n<Chanel_Count>8</Chanel_Count></Device_Parameter_Set></Execution_Parameter_Set>",
    );
    place.write("binary", [0xff, 0xfe, 0x00]);
    for (file, expected) in [
        ("rate.fio", "rate.fio: line 3: rate=,1m: reads have no rate"),
        ("open.xml", "open.xml: line 1: the root node was opened but never closed"),
        ("binary", "binary: is not text"),
        ("absent", "absent: can't be read"),
        ("unknown.xml", "unknown.xml: line 2: <Chanel_Count> is no tag of MQSim here"),
        ("small.toml", "small.toml: line 2"),
        ("other.toml", "other.toml: line 2: name=\"x\": values of fio have no quotes"),
        ("script.sh", "script.sh: line 1: this is a shell script"),
    ] {
        let ended = place.run(&["import", file, "--out", "x.toml"]);
        assert_eq!(ended.status, 2, "{}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
        assert!(!place.path("x.toml").exists());
    }
}

#[test]
fn a_drive_goes_to_mqsim_and_comes_back() {
    let place = Place::new();
    let ended = place.run(&["export", "--to", "mqsim", "slc-sata2", "--set", "ssd.gc.victim=fifo"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("note: MQSim"), "{}", ended.stderr);
    assert!(ended.stdout.contains("<GC_Block_Selection_Policy>FIFO</GC_Block_Selection_Policy>"), "{}", ended.stdout);
    let ended = place.run(&["export", "--to", "mqsim", "small.toml", "--set", "ssd.geometry.blocks=128", "--out", "there"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert!(place.read("there/workload.xml").contains("<MQSim_IO_Scenarios>"));
    place.write("drive.xml", place.read("there/ssdconfig.xml").replace("Ratio>", "Ratio >"));
    let ended = place.run(&["import", "drive.xml", "--out", "drive.toml"]);
    assert!(ended.stderr.contains("note: read: PCIe_Lane_Bandwidth"), "{}", ended.stderr);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert_eq!(place.run(&["check", "drive.toml"]).status, 0);
    // Nothing is overwritten unasked, and an unknown name is told with the names there are.
    let ended = place.run(&["export", "--to", "mqsim", "small.toml", "--out", "there"]);
    assert!(ended.stderr.contains("results go to there-2"), "{}", ended.stderr);
    let ended = place.run(&["export", "--to", "mqsim", "nothing"]);
    assert_eq!((ended.status, ended.stderr.contains("slc-sata2")), (2, true), "{}", ended.stderr);
}

/// A job file in place of a configuration or a trace leads to `import`.
#[test]
fn a_run_of_a_job_file_names_import() {
    let place = Place::new();
    place.write("job.fio", JOB);
    place.write("comment.fio", format!("; a job\n{JOB}"));
    place.write("one.xml", SCENARIO.replace("{}", ""));
    for file in ["job.fio", "comment.fio", "one.xml"] {
        let ended = place.run(&["run", file]);
        assert_eq!((ended.status, ended.stderr.contains("flashraid import")), (2, true), "{file}: {}", ended.stderr);
    }
}

#[test]
fn included_files_and_variables_are_found_as_by_fio() {
    let place = Place::new();
    std::fs::create_dir(place.path("jobs")).unwrap();
    place.write("jobs/common.fio", "rw=randwrite ; all of them\nsize=1m\n");
    place.write("jobs/a.fio", "[a]\ninclude common.fio\nbs=${FLASHRAID_TEST_BS}\n");
    let ended = place.run(&["import", "jobs/a.fio"]);
    let unset = "jobs/a.fio: line 3: ${FLASHRAID_TEST_BS}: the environment variable FLASHRAID_TEST_BS is not set";
    assert_eq!((ended.status, ended.stderr.contains(unset)), (2, true), "{}", ended.stderr);
    place.write("jobs/b.fio", "[a]\ninclude common.fio\nbs=8k\n");
    assert!(place.run(&["import", "jobs/b.fio"]).stdout.contains("limit = 128\n"));
}

/// Small jobs, each with a kind of option that decides how many requests there are, and of which kind.
const COUNTED: &[&str] = &[
    "rw=read\nsize=2m",
    "rw=write\nsize=2m\nbs=16k",
    "rw=randwrite\nsize=1m\nbs=512",
    "rw=read\nsize=1m\nloops=3",
    "rw=read\nsize=1m\nnumber_ios=100\nloops=2",
    "rw=read\nsize=1m\nnumber_ios=9000",
    "rw=write\nsize=1m\nio_size=3m",
    "rw=write\nsize=1m\nnumjobs=3",
    "rw=randrw\nrwmixread=70\nsize=16m",
    "rw=randrw\nrwmixwrite=10.9\nsize=16m",
    "rw=rw\nrwmixread=25\nbs=4k,8k\nsize=16m",
    "rw=write\nbs=,8k\nsize=2m",
    "rw=randwrite\nbs=8k,\nsize=2m",
    "rw=randread\nbssplit=4k/60:64k/40\nnorandommap\nsize=256m",
    "rw=randwrite\nbssplit=4k/100,8k/50:16k\nnorandommap\nsize=16m",
    "rw=randrw\nrwmixread=70\nbssplit=4k/60:64k/40,8k/100\nnorandommap\nsize=256m",
    "rw=randread\nbsrange=4k-64k\nnorandommap\nsize=256m",
    "rw=write\nbsrange=4k-10k\nsize=64m",
    "rw=write\nbsrange=1k-8k,2k-16k\nsize=64m",
    "rw=randread\nrandom_distribution=zipf:1.1/20\nnorandommap\nsize=4m",
    "rw=randread\nrandom_distribution=zipf:1.2:0.25\nnorandommap\nsize=4m",
    "rw=randread:8\nsize=4m",
    "rw=write\nsize=4m ; a span\nbs=8k # a size",
    "rw=randrw\nrate_iops=4000,2000\nsize=4m\nnorandommap",
    "rw=randrw\nrwmixread=90\nrate_iops=4000\nsize=4m\nnorandommap",
    "rw=write\nrate=8m\nbs=8k\nsize=4m",
    "rw=randread\nrate_iops=4000\nrate_process=poisson\nsize=4m",
];

/// fio itself is the judge of what a job sends: its engine `null` counts requests without a device.
#[test]
fn a_job_sends_what_fio_sends() {
    let place = Place::new();
    let global = "[global]\nioengine=null\niodepth=4\nfilename=x\ngroup_reporting\n";
    // Each start of fio takes it a fifth of a second, to measure its clock: all jobs run in one.
    let jobs = COUNTED.iter().enumerate().map(|(at, options)| format!("[{at}]\nnew_group\n{options}\n"));
    place.write("all.fio", format!("{global}{}", jobs.collect::<String>()));
    let ended = std::process::Command::new("fio").arg("--output-format=json").arg(place.path("all.fio")).output();
    let Ok(ended) = ended else {
        eprintln!("skipped: fio is not installed");
        return;
    };
    let text = String::from_utf8(ended.stdout).unwrap();
    let fio: serde_json::Value = serde_json::from_str(&text[text.find('{').unwrap_or(0)..]).unwrap();
    assert_eq!(fio["jobs"].as_array().unwrap().len(), COUNTED.len());
    for (at, options) in COUNTED.iter().enumerate() {
        let of_fio = &fio["jobs"][at];
        assert_eq!((&of_fio["jobname"], &of_fio["error"]), (&at.to_string().into(), &0.into()), "{options}");
        let counted = |direction: &str| of_fio[direction]["total_ios"].as_f64().unwrap();
        place.write("a.fio", format!("{global}[a]\n{options}\n"));
        let imported = place.run(&["import", "a.fio"]);
        assert_eq!(imported.status, 0, "{options}: {}", imported.stderr);
        place.write("imported.toml", with_workload(&place, &imported.stdout));
        let report = place.run_json(&["run", "imported.toml", "--json"]);
        let sent = |key: &str| report["requests"][key].as_f64().unwrap();
        let all = counted("read") + counted("write");
        assert!((sent("all") / all - 1.0).abs() < 0.03, "{options}: {} of {all}\n{}", sent("all"), imported.stdout);
        let shares = (sent("read") / sent("all"), counted("read") / all);
        assert!((shares.0 - shares.1).abs() < 0.03, "{options}: {shares:?}\n{}", imported.stdout);
    }
}
