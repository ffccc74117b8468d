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
    place.write("rate.fio", "[a]\nrw=read\nrate=1m\n");
    place.write("open.xml", "<a>\n<b>");
    place.write(
        "unknown.xml",
        "<Execution_Parameter_Set><Device_Parameter_Set>\n<Chanel_Count>8</Chanel_Count></Device_Parameter_Set></Execution_Parameter_Set>",
    );
    place.write("binary", [0xff, 0xfe, 0x00]);
    for (file, expected) in [
        ("rate.fio", "rate.fio: line 3: rate: only rate_iops"),
        ("open.xml", "open.xml: line 1: the root node was opened but never closed"),
        ("binary", "binary: is not text"),
        ("absent", "absent: can't be read"),
        ("unknown.xml", "unknown.xml: line 2: <Chanel_Count> is no tag of MQSim here"),
        ("small.toml", "small.toml: line 2"),
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
