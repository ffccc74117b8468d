//! The tests as fio's jobs for a real drive.

use std::fmt::Write as _;

use super::{KIB, Pattern, Test};

/// Returns the number of jobs of a section, and the depth of each. Their product is the depth of the test.
fn split(test: Test) -> (u32, u32) {
    if test.depth() == 1 { (1, 1) } else { (8, test.depth() / 8) }
}

/// Returns fio's job file of a test. Tests with several patterns contain so many rounds.
#[must_use]
pub fn job_file(test: Test, rounds: u32) -> String {
    let (processes, depth) = split(test);
    let mut text = format!(
        "# PTS {name} on a real drive, as `flashraid pts {name}` has it on a simulated one.\n\
         # THIS DESTROYS ALL DATA OF THE DRIVE. Before it: nvme format /dev/nvmeXn1\n\
         # fio --output-format=json+ --output={name}.json {name}.fio\n",
        name = test.name()
    );
    if test != Test::Wsat {
        text += "# A round is steady as the program says it; if none is, print more of them (--rounds N).\n";
    }
    if test.patterns().iter().any(|pattern| pattern.block_bytes < 4 * KIB) {
        text += "# A drive with sectors of 4 KiB takes no requests of 512 B: delete their sections.\n";
    }
    text += "\n[global]\nfilename=/dev/nvmeXn1\ndirect=1\nioengine=io_uring\nnorandommap\nrandrepeat=0\nrefill_buffers\ngroup_reporting\n";
    if test == Test::Wsat {
        let _ = write!(
            text,
            "\n[wsat]\nrw=randwrite\nbs=4k\niodepth={depth}\nnumjobs={processes}\ntime_based\nruntime=10h\nwrite_iops_log=wsat\nlog_avg_msec=1000\n"
        );
        return text;
    }
    text += "\n[fill]\nrw=write\nbs=128k\niodepth=32\nloops=2\n";
    for round in 1..=rounds {
        for pattern in test.patterns() {
            let Pattern { read_percent, .. } = pattern;
            let size = size_of(pattern);
            let direction = match read_percent {
                0 => "rw=randwrite".to_owned(),
                100 => "rw=randread".to_owned(),
                _ => format!("rw=randrw\nrwmixread={read_percent}"),
            };
            let _ = write!(
                text,
                "\n[round{round}-read{read_percent}-{size}]\nstonewall\n{direction}\nbs={size}\niodepth={depth}\nnumjobs={processes}\ntime_based\nruntime=60\n"
            );
        }
    }
    text
}

fn size_of(pattern: Pattern) -> String {
    match pattern.block_bytes {
        bytes if bytes.is_multiple_of(KIB) => format!("{}k", bytes / KIB),
        bytes => bytes.to_string(),
    }
}
