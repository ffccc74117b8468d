//! The command line.

use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use flashraid::study::{Axis, Setting};
use flashraid_experiments::pts::Test;
use flashraid_fit::Parameter;
use flashraid_fit::datasheet::Flash;
use flashraid_fit::sets::Set;
use flashraid_report::figures;
use flashraid_workload::trace::write::WRITABLE;
use flashraid_workload::trace::{Devices, Discards, Format, Reorder, TimeUnit, TraceSpec};
use flashraid_workload::units::{Duration, Rate, Size};

/// Where results go unless the user says otherwise.
pub const DEFAULT_OUT: &str = "flashraid-out";

const RUN_HELP: &str = "\
Examples:
  flashraid run array.toml
  flashraid run array.toml --set ssd.gc.victim=fifo --out results
  flashraid run array.toml --seeds 5
  flashraid run trace.csv.zst --ssd pgc2011 --level raid5 --members 5
  zcat trace.gz | flashraid run - --format spc

A trace runs on ggc2014 SSDs unless --ssd or --set say otherwise; requests beyond the array are wrapped
into it (workload.address_fit), and times that go backwards a little are put in order (workload.reorder).
From a pipe it is read once, and its devices share addresses (workload.devices).

Exit status: 0 success, 1 the simulation or the writing of its results failed, 2 bad input,
130 stopped by Ctrl-C: what was done is reported and marked as partial.";

const DEMO_HELP: &str = "\
Examples:
  flashraid demo
  flashraid demo --quick --out quick

Exit status: 0 success, 1 a simulation or the writing of its results failed, 2 bad input,
130 stopped by Ctrl-C.";

const MERGE_HELP: &str = "\
Example:
  flashraid compare array.toml --vary array.members=2..8 --shard 1/2 --out one
  flashraid compare array.toml --vary array.members=2..8 --shard 2/2 --out two
  flashraid merge one two --out all";

const CHECK_HELP: &str = "\
Examples:
  flashraid check array.toml
  flashraid check array.toml --set array.members=16 --json
  flashraid check trace.csv.zst --ssd pgc2011";

const TRACE_INFO_HELP: &str = "\
Examples:
  flashraid trace info trace.csv.zst
  flashraid trace info trace.txt --format mqsim --json
  zcat trace.gz | flashraid trace info - --format spc";

const TRACE_CONVERT_HELP: &str = "\
Examples:
  flashraid trace convert trace.csv.zst trace.spc --to spc
  flashraid trace convert notime.txt trace.spc --to spc --rate 500
  flashraid trace convert trace.spc - --to msr | gzip > trace.gz";

const PRESET_HELP: &str = "\
Examples:
  flashraid preset list
  flashraid preset show pgc2011 > drive.toml     a configuration as it is";

const BENCH_HELP: &str = "\
Examples:
  flashraid bench
  flashraid bench --only nvme --only device
  flashraid bench --quick --json";

const SCHEMA_HELP: &str = "\
Examples:
  flashraid schema > flashraid.schema.json
  flashraid schema --report > report.schema.json
  flashraid schema --markdown";

const INIT_HELP: &str = "\
Examples:
  flashraid init
  flashraid init mine.toml
  flashraid init - | less";

const EXPLAIN_HELP: &str = "\
Examples:
  flashraid explain ssd.gc.victim            a key of the configuration
  flashraid explain response_us.all.p99      a figure of a report
  flashraid explain WA                       a column of a comparison

The end of a name is enough. Pages show the same where a figure stands.

Exit status: 0 success, 2 there is no such name.";

const COMPLETIONS_HELP: &str = "\
Examples:
  flashraid completions bash > ~/.local/share/bash-completion/completions/flashraid
  flashraid completions zsh > ~/.zfunc/_flashraid
  flashraid completions fish > ~/.config/fish/completions/flashraid.fish";

const MAN_HELP: &str = "\
Examples:
  flashraid man | man -l -
  flashraid man --out ~/.local/share/man/man1";

const START: &str = "\
Examples:
  flashraid demo                              see what it does
  flashraid init array.toml                   a configuration to begin with
  flashraid check array.toml                  what it means, without running it
  flashraid run array.toml --out results      one simulation, with charts
  flashraid run trace.csv.zst --members 4     a trace in place of a configuration
  flashraid compare array.toml --vary array.members=2..8

Exit status: 0 success, 1 the simulation or the writing of its results failed, 2 bad input,
130 stopped by Ctrl-C: what was done is reported or kept and marked as partial.";

/// Simulates garbage collection in arrays of SSDs.
#[derive(Debug, Parser)]
#[command(name = "flashraid", version, after_help = START, max_term_width = 100)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compare the schemes of garbage collection on a built-in array: the first thing to run
    ///
    /// Simulates a RAID-0 of 8 SSDs under the workload hpc-w, as in the paper and with all of the array in use, prints
    /// tables and writes flashraid-out/report.html and flashraid-out/report.json.
    #[command(after_help = DEMO_HELP)]
    Demo(DemoArgs),
    /// Write a commented configuration to begin with
    #[command(after_help = INIT_HELP)]
    Init(InitArgs),
    /// Run one simulation and report it
    #[command(after_help = RUN_HELP)]
    Run(RunArgs),
    /// Run every combination of varied keys and compare the results
    #[command(after_help = COMPARE_HELP)]
    Compare(CompareArgs),
    /// Make one page of earlier results: runs, comparisons, reproductions
    #[command(after_help = REPORT_HELP)]
    Report(ReportArgs),
    /// Put the parts of a comparison (--shard) together
    #[command(after_help = MERGE_HELP)]
    Merge(MergeArgs),
    /// Explain a configuration without running it
    #[command(after_help = CHECK_HELP)]
    Check(CheckArgs),
    /// Show what is in a trace, or convert it to another format
    #[command(subcommand)]
    Trace(TraceCommand),
    /// Convert a workload of fio or MQSim, or a device of MQSim, to a configuration
    #[command(after_help = IMPORT_HELP)]
    Import(ImportArgs),
    /// Write a drive and its workload for another simulator
    #[command(after_help = EXPORT_HELP)]
    Export(ExportArgs),
    /// Measure a drive by fio: writes over a file or block device
    #[command(after_help = PROBE_HELP)]
    Probe(ProbeArgs),
    /// Make a device file of what fio measured, or of a data sheet
    #[command(after_help = FIT_HELP)]
    Fit(FitArgs),
    /// Show the devices, arrays and workloads that come with the program
    #[command(after_help = PRESET_HELP)]
    Preset {
        /// What to show of them [default: list]
        #[command(subcommand)]
        command: Option<PresetCommand>,
    },
    /// Test a simulated drive by SNIA's specification (PTS): round by round until it is steady
    #[command(after_help = PTS_HELP)]
    Pts(PtsArgs),
    /// Simulate the papers' figures and tables and compare each of their claims with the results
    #[command(after_help = REPRODUCE_HELP)]
    Reproduce(ReproduceArgs),
    /// Measure the speed of the simulator on this machine
    #[command(after_help = BENCH_HELP)]
    Bench(BenchArgs),
    /// List or remove the states of SSDs that are kept after long warm-ups
    #[command(after_help = CACHE_HELP)]
    Cache {
        /// What to do with them [default: list]
        #[command(subcommand)]
        command: Option<CacheCommand>,
    },
    /// Print the JSON Schema of the configuration, or of a report
    #[command(after_help = SCHEMA_HELP)]
    Schema {
        /// Print the schema of the document of `run --json`, which is also each `report` of `compare --json`
        #[arg(long, conflicts_with = "markdown")]
        report: bool,
        /// Print a page with a table of all keys instead
        #[arg(long)]
        markdown: bool,
    },
    /// Say what a key of the configuration or a figure of a report means
    #[command(after_help = EXPLAIN_HELP)]
    Explain {
        /// Its name, or the end of it, for instance gc.runs
        #[arg(value_name = "KEY|FIGURE")]
        name: String,
    },
    /// Print the completions of a shell
    #[command(after_help = COMPLETIONS_HELP)]
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Print the manual page, or write those of all commands
    #[command(after_help = MAN_HELP)]
    Man {
        /// Write flashraid.1 and a page for each command into this folder
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

/// Arguments of `demo`.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Print every table below the summary
    #[arg(long)]
    pub tables: bool,
    /// Use smaller SSDs and fewer requests: takes seconds and gives other figures
    #[arg(long)]
    pub quick: bool,
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Folder of the results [default: flashraid-out]. If it holds files already, DIR-2, DIR-3 … is used
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write into the folder even if it holds files, and replace those of the same names
    #[arg(long)]
    pub force: bool,
}

/// Arguments of `init`.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// The new file; - is standard output
    #[arg(value_name = "FILE", default_value = "array.toml")]
    pub file: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
}

const CACHE_HELP: &str = "\
Examples:
  flashraid cache
  flashraid cache clear

The state of the SSDs after a long warm-up is kept, and later runs that begin in the same state load it. When there is no more
room, the states that were not used for the longest time are removed. The folder is flashraid in $XDG_CACHE_HOME or ~/.cache; FLASHRAID_CACHE names another,
FLASHRAID_CACHE=off keeps nothing.";

/// Commands on kept warm states.
#[derive(Debug, Subcommand)]
pub enum CacheCommand {
    /// List them with size and age
    List {
        /// Print one JSON document instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Remove all of them
    Clear,
}

/// How much of the machine to use, and what to show meanwhile; changes no result.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct MachineArgs {
    /// Threads of one simulation, which warm up and serve several SSDs at a time. All simulations together use one thread for each processor at most [default: the processors that --jobs leaves]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Do not use or keep the states after warm-ups (flashraid cache)
    #[arg(long)]
    pub no_cache: bool,
    /// Do not show progress and notes on standard error
    #[arg(short, long)]
    pub quiet: bool,
}

/// What to simulate.
#[derive(Debug, Args)]
pub struct ScenarioArgs {
    /// Configuration (.toml), or a trace to replay; - is standard input. `flashraid init` writes a configuration to begin with
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Replace a key of the configuration, for instance --set ssd.gc.victim=fifo (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<Setting>,
    /// The SSDs: short for --set ssd.preset=PRESET
    #[arg(long, value_name = "PRESET")]
    pub ssd: Option<String>,
    /// The array: short for --set array.level=LEVEL; single has one member
    #[arg(long, value_name = "LEVEL")]
    pub level: Option<String>,
    /// SSDs of the array: short for --set array.members=N
    #[arg(long, value_name = "N")]
    pub members: Option<u32>,
    /// FILE is a trace of this format [default: found out from its content]
    #[arg(long, value_name = "FORMAT", value_parser = one_of(&Format::ALL))]
    pub format: Option<Format>,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// Seed of all random numbers, in place of the configuration's
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Run N consecutive seeds and print means with 95 % confidence intervals, with the tables and files of compare
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000), conflicts_with_all = ["check", "timeline"])]
    pub seeds: Option<u64>,
    /// Verify the whole state of every SSD at the end
    #[arg(long)]
    pub check: bool,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
    /// Print every table below the summary
    #[arg(long, conflicts_with = "json")]
    pub tables: bool,
    /// Print the results in this form: json is that of --json, fio+ that of fio --output-format=json+
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = OutputFormat::Text, conflicts_with = "json")]
    pub output_format: OutputFormat,
    /// Write response times, read and write apart, into this file as an interval log of HdrHistogram; intervals are as long as report.bandwidth_interval
    #[arg(long, value_name = "FILE", conflicts_with = "seeds")]
    pub hdr: Option<PathBuf>,
    /// Write fio's logs PREFIX_lat.log, _clat.log, _slat.log, _bw.log and _iops.log, for its plotters; intervals are as long as report.bandwidth_interval
    #[arg(long, value_name = "PREFIX", conflicts_with = "seeds")]
    pub fio_logs: Option<PathBuf>,
    /// Keep single requests and collections of this window of simulated time, for instance 1s..1300ms; --out draws them
    #[arg(long, value_name = "FROM..TO", value_parser = parse_window)]
    pub timeline: Option<Range<Duration>>,
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Write report.json, report.html, every request (requests.parquet, requests.csv), the run interval by interval (series.parquet, series.csv), pictures (*.svg) and what they show (charts.parquet, charts.csv) into this folder. If it holds files already, DIR-2, DIR-3 … is used
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write into the folder even if it holds files, and replace those of the same names
    #[arg(long)]
    pub force: bool,
}

/// Forms in which a run is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum OutputFormat {
    /// Tables
    Text,
    /// One JSON document
    Json,
    /// What tools for fio read
    #[value(name = "fio+")]
    Fio,
}

impl RunArgs {
    /// The form that the options ask for.
    pub fn form(&self) -> OutputFormat {
        if self.json { OutputFormat::Json } else { self.output_format }
    }
}

const COMPARE_HELP: &str = "\
Examples:
  flashraid compare array.toml --vary coordination.scheme=local,ideal --seeds 5
  flashraid compare array.toml --vary array.members=2..8
  flashraid compare array.toml --vary workload.arrivals.mean_gap=1ms..100ms:log:5 --out gaps
  flashraid compare array.toml --vary coordination.scheme=local,reactive-inclusive --timeline 1s..1300ms
  flashraid compare array.toml --vary array.members=2..8 --seeds 20 --slurm job.sh --parts 64%16

A range FROM..TO stands for every whole number, FROM..TO:lin:N for N values with equal differences,
FROM..TO:log:N with equal ratios; both ends are included. '\"2..8\"' in quotes is a text.

Every point sees the same workload and the same seeds. Each one is saved as it ends, and the same command continues an
interrupted grid where it stopped. Commas inside quotes, brackets or braces do not split: --vary 'a.b=[1,2],[3]'.

Exit status: 0 success, 1 the simulation or the writing of its results failed, 2 bad input,
130 stopped by Ctrl-C: the points that are done are kept.";

/// Arguments of `compare`.
#[derive(Debug, Args)]
#[group(skip)]
#[command(group = clap::ArgGroup::new("for_others").args(["slurm", "parallel"]))]
pub struct CompareArgs {
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// A key and its values (repeatable: all combinations), for instance --vary coordination.scheme=local,ideal or --vary array.members=2..8
    #[arg(long, value_name = "KEY=A,B,C", required = true)]
    pub vary: Vec<Axis>,
    /// The value that the others are compared with [default: the first of the first --vary]
    #[arg(long, value_name = "A")]
    pub baseline: Option<String>,
    /// Keep single requests and collections of this window of simulated time, for instance 1s..1300ms: the page and a picture show each point below its baseline, with the slowest request and the collection that it met
    #[arg(long, value_name = "FROM..TO", value_parser = parse_window)]
    pub timeline: Option<Range<Duration>>,
    /// Sort the tables by this figure, the best first, for instance response_us.all.mean
    #[arg(long, value_name = "FIGURE", value_parser = figures::of_key)]
    pub sort: Option<&'static figures::Figure>,
    /// First seed, in place of the configuration's
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Run every point with so many consecutive seeds and give 95 % confidence intervals
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub seeds: u64,
    /// Simulations at a time; changes no result [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Run only part I of N, for instance 1/4; `flashraid merge` puts the folders of all parts together
    #[arg(long, value_name = "I/N", value_parser = parse_shard)]
    pub shard: Option<(usize, usize)>,
    /// Run nothing: write a script for Slurm that runs the parts as an array of jobs, and JOB-merge.sh beside it that puts them together
    #[arg(long, value_name = "JOB.sh", conflicts_with_all = ["shard", "json", "tables", "parallel"])]
    pub slurm: Option<PathBuf>,
    /// Run nothing: print the line with which GNU parallel runs the parts
    #[arg(long, conflicts_with_all = ["shard", "json", "tables"])]
    pub parallel: bool,
    /// Parts for --slurm and --parallel, and how many of them run at a time, for instance 64%16 [default: one for each simulation, at most 64]
    #[arg(long, value_name = "N[%M]", value_parser = parse_parts, requires = "for_others")]
    pub parts: Option<(usize, Option<usize>)>,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
    /// Print every table below the summary
    #[arg(long, conflicts_with = "json")]
    pub tables: bool,
    /// Folder of report.json, report.html, every point (points.parquet, points.csv), pictures (*.svg) and what they show (charts.parquet, charts.csv); one that holds this study is gone on with, one that holds another is refused [default: flashraid-out/compare-HASH]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write into the folder even if it holds files, and replace those of the same names
    #[arg(long)]
    pub force: bool,
}

const IMPORT_HELP: &str = "\
Prints a configuration of which only the workload, or only the drive, is given; all else has its defaults. What has no
counterpart is said and left out, what would change the requests or the drive and can't be expressed is refused.

Examples:
  flashraid import randrw.fio > randrw.toml && flashraid run randrw.toml
  flashraid import ssdconfig.xml --out drive.toml
  flashraid import workload.xml --part 2 --out second.toml

Exit status: 0 success, 1 the file can't be written, 2 bad input.";

/// Arguments of `import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// A fio job file, or a workload definition or device of MQSim (workload.xml, ssdconfig.xml)
    pub file: PathBuf,
    /// The job of this name or, of MQSim, the scenario of this number, where there are several
    #[arg(long, value_name = "NAME|N")]
    pub part: Option<String>,
    /// Write the configuration into this file instead of printing it
    #[arg(long, value_name = "FILE.toml")]
    pub out: Option<PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
}

const EXPORT_HELP: &str = "\
Prints the drive as the other program reads it, and says on standard error what that program can't be told.
With --out the workload is written beside it.

Examples:
  flashraid export --to mqsim nvme-tlc-read > ssdconfig.xml
  flashraid export --to mqsim array.toml --out mqsim
  flashraid export --to femu nvme-simple > options.txt

Exit status: 0 success, 1 the files can't be written, 2 bad input.";

/// Arguments of `export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// A preset, or a configuration (.toml), also a drive that `flashraid fit` made
    #[arg(value_name = "PRESET|FILE.toml")]
    pub what: String,
    /// The program that shall read it
    #[arg(long, value_name = "PROGRAM")]
    pub to: Simulator,
    /// Replace a key of the configuration (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<Setting>,
    /// Write all files into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace files of the folder
    #[arg(long, requires = "out")]
    pub force: bool,
}

/// A simulator that drives are exported to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Simulator {
    /// MQSim: ssdconfig.xml and workload.xml
    Mqsim,
    /// NVMeVirt: the constants of its ssd_config.h
    Nvmevirt,
    /// FEMU's black-box mode: options for QEMU
    Femu,
}

const PROBE_HELP: &str = "\
Examples:
  flashraid probe /dev/nvme1n1 --out drive            20 fio jobs of 70 s, and the drive written over three times
  flashraid probe /mnt/scratch/file --seconds 10
  flashraid probe --gentle /dev/nvme0n1 --out drive   reads alone, for five minutes; the drive may be in use
  flashraid probe /dev/nvme1n1 --set ggc --out variability
  flashraid probe /dev/nvme1n1 --dry-run              the jobs, without running them
  flashraid probe --simulate nvme-gen5 --out known    the same results from a simulated drive

All that the file or device holds is lost, except with --gentle, which opens it for reading only. What is mounted, in use, or holds a partition table, a file system or other data
is refused without both --destroy-data and --really. The same command goes on where an interrupted one stopped.

Sets: fit (what `flashraid fit` needs), ggc (one-second bandwidth under large random requests, as in section 3 of the paper).

Exit status: 0 success, 1 fio failed, 2 bad input, 130 stopped by Ctrl-C: finished jobs are kept.";

/// Arguments of `probe`.
#[derive(Debug, Args)]
pub struct ProbeArgs {
    /// The file or block device to measure; it is written over unless --gentle is given
    #[arg(value_name = "FILE|DEVICE", required_unless_present = "simulate")]
    pub target: Option<PathBuf>,
    /// Only read, for five minutes at most: works on what is mounted, in use or holds data
    #[arg(long, conflicts_with_all = ["set", "overwrites", "destroy_data", "really"])]
    pub gentle: bool,
    /// Which jobs: fit or ggc
    #[arg(long, value_name = "NAME", default_value = "fit", value_parser = PossibleValuesParser::new(Set::WRITING.map(Set::name)).map(|name| name.parse::<Set>().expect("the name of a set")))]
    pub set: Set,
    /// Time of each measured job, after a ramp of a sixth of it [default: 60, of the set ggc 300]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub seconds: Option<u64>,
    /// Random writes before random writes are measured, as a multiple of the size
    #[arg(long, value_name = "X", default_value_t = 2.0, value_parser = parse_overwrites)]
    pub overwrites: f64,
    /// fio's engine, for instance io_uring
    #[arg(long, value_name = "NAME", default_value = "libaio", value_parser = parse_word)]
    pub engine: String,
    /// Through the cache of the operating system, where a file system knows no direct I/O: it is the cache that is measured
    #[arg(long)]
    pub buffered: bool,
    /// Print the jobs as fio reads them and run nothing
    #[arg(long, conflicts_with = "simulate")]
    pub dry_run: bool,
    /// Write over what is in use or holds something; needs --really as well
    #[arg(long)]
    pub destroy_data: bool,
    /// Yes; needs --destroy-data as well
    #[arg(long)]
    pub really: bool,
    /// In place of a drive, simulate this device, a preset or a file that ends in .toml, and write what fio would
    #[arg(long, value_name = "PRESET|FILE.toml", conflicts_with_all = ["target", "seconds", "overwrites", "engine", "buffered", "destroy_data", "really"])]
    pub simulate: Option<String>,
    /// With --simulate: simulate one row of each superblock in so many
    #[arg(long, value_name = "N", default_value_t = 128, requires = "simulate", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub scale: u32,
    /// Show no progress on standard error
    #[arg(short, long)]
    pub quiet: bool,
    /// Folder of the jobs and their results; one that holds a beginning of the same measurement is gone on with [default: flashraid-out/probe]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

fn parse_overwrites(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(times) if (0.0..=100.0).contains(&times) => Ok(times),
        _ => Err("write a number from 0 to 100".to_owned()),
    }
}

fn parse_word(text: &str) -> Result<String, String> {
    match !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-:./".contains(&byte)) {
        true => Ok(text.to_owned()),
        false => Err("write the name of an engine, for instance libaio or io_uring".to_owned()),
    }
}

const FIT_HELP: &str = "\
Examples:
  flashraid fit drive --out drive.toml
  flashraid fit drive --base nvme-gen5 --out drive.toml
  flashraid fit one.json two.json --parameters link,latency --out drive.toml
  flashraid fit --datasheet sheet.toml --out drive.toml
  flashraid fit --datasheet --capacity 3.84TB --raw 4TiB --seq-read 6800MB/s --seq-write 4000MB/s --rand-read 1000000 \\
    --rand-write 180000 --read-latency 85us --write-latency 30us --out drive.toml

Results are those of `flashraid probe`, or of fio jobs of one's own with one size, a closed loop and --output-format=json+.
A data sheet's figures stand for measurements. At the end the device is run for longer, and the page has the data sheet's
figures beside those of these runs; figures that contradict each other are named.
The device file inherits into configurations: inherits = \"drive.toml\". What measurements can't tell is the base's and marked
`# assumed`; a value whose 95 % interval is wider than 30 % to one side is marked undetermined.

Exit status: 0 success, 1 a simulation or the writing of its results failed, 2 bad input, 130 stopped by Ctrl-C.";

/// Arguments of `fit`.
#[derive(Debug, Args)]
pub struct FitArgs {
    /// Results of fio (JSON), or folders of them
    #[arg(value_name = "RESULT", required_unless_present = "datasheet", conflicts_with = "datasheet")]
    pub results: Vec<PathBuf>,
    /// The device to begin with, a preset or a file that ends in .toml; of the same size and kind
    #[arg(long, value_name = "PRESET|FILE.toml", default_value = "nvme-tlc-read", conflicts_with = "datasheet")]
    pub base: String,
    #[command(flatten)]
    pub sheet: DataSheetArgs,
    /// The device file; a page with measured and simulated curves is written beside it (.html)
    #[arg(long, value_name = "DEVICE.toml")]
    pub out: PathBuf,
    /// Of measurements: what to look for, at most seven of page_program, programs_at_once, page_read, link, latency, ack, read, move (of a write and a moved unit)
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "page_program,link,latency,ack,read,move",
        conflicts_with = "datasheet"
    )]
    pub parameters: Vec<Parameter>,
    /// Predict this job instead of fitting it; none: fit all [default: an even mix or a middle depth, if there are eight jobs]
    #[arg(long, value_name = "JOB", conflicts_with = "datasheet")]
    pub hold_out: Option<String>,
    /// Simulate one row of each superblock in so many
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub scale: u32,
    /// Evaluations of the simplex in the middle of the search, each of all jobs; 0: only slopes are followed
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(..=10_000))]
    pub simplex: u32,
    /// Seed of all simulations
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(..1 << 62))]
    pub seed: u64,
    /// Simulations at a time; changes no result [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
    /// Show no progress on standard error
    #[arg(short, long)]
    pub quiet: bool,
    /// Write over files that are there
    #[arg(long)]
    pub force: bool,
}

/// Figures of a data sheet.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of --datasheet")]
pub struct DataSheetArgs {
    /// Make a device of what a data sheet prints: the options below, or the same keys in FILE (with _ for -)
    #[arg(long, value_name = "FILE.toml", num_args = 0..=1, help_heading = "Options")]
    pub datasheet: Option<Option<PathBuf>>,
    /// Name of the drive [default: that of --out]
    #[arg(long, value_name = "NAME", requires = "datasheet")]
    pub name: Option<String>,
    /// Bytes that a host sees, such as 3.84TB
    #[arg(long, value_name = "SIZE", requires = "datasheet")]
    pub capacity: Option<Size>,
    /// Bytes of flash, such as 4TiB [default: the least power of two that leaves 7 % or more]
    #[arg(long, value_name = "SIZE", requires = "datasheet")]
    pub raw: Option<Size>,
    /// Sequential reads, such as 6800MB/s
    #[arg(long, value_name = "RATE", requires = "datasheet")]
    pub seq_read: Option<Rate>,
    /// Sequential writes, such as 4000MB/s
    #[arg(long, value_name = "RATE", requires = "datasheet")]
    pub seq_write: Option<Rate>,
    /// Random reads of 4 KiB in a second
    #[arg(long, value_name = "N", requires = "datasheet")]
    pub rand_read: Option<u64>,
    /// Random writes of 4 KiB in a second, in the steady state
    #[arg(long, value_name = "N", requires = "datasheet")]
    pub rand_write: Option<u64>,
    /// Response time of a single read of 4 KiB, such as 85us
    #[arg(long, value_name = "TIME", requires = "datasheet")]
    pub read_latency: Option<Duration>,
    /// Response time of a single write of 4 KiB, such as 30us
    #[arg(long, value_name = "TIME", requires = "datasheet")]
    pub write_latency: Option<Duration>,
    /// Drive writes a day that are promised for five years
    #[arg(long, value_name = "X", requires = "datasheet")]
    pub dwpd: Option<f64>,
    /// Kind of flash: tlc or qlc [default: that of --like]
    #[arg(long, value_name = "KIND", requires = "datasheet", value_parser = PossibleValuesParser::new(Flash::ALL.map(Flash::name)).map(|name| Flash::ALL.into_iter().find(|flash| flash.name() == name).expect("the name of a kind")))]
    pub flash: Option<Flash>,
    /// A device that has what data sheets do not print, a preset or a file that ends in .toml [default: a preset of the same flash and link]
    #[arg(long, value_name = "PRESET|FILE.toml", requires = "datasheet")]
    pub like: Option<String>,
}

const REPORT_HELP: &str = "\
Several runs are also put beside each other, the first as the baseline. The page is one file that opens without a network;
of one result the pictures are written, too.

Examples:
  flashraid report results
  flashraid report before after --out before-after
  flashraid report flashraid-out/compare-1f0c2a44

Exit status: 0 success, 1 the page can't be written, 2 bad input.";

/// Arguments of `report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Folders that run, compare, reproduce or demo have written, or their report.json or reproduction.json
    #[arg(value_name = "RESULT", required = true)]
    pub results: Vec<PathBuf>,
    /// Print every table below the summaries
    #[arg(long)]
    pub tables: bool,
    /// Folder of report.html and pictures (*.svg); the next free name if there is something in it [default: flashraid-out/report]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// Arguments of `merge`.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// Folders of the shards, as `flashraid compare --shard` left them
    #[arg(value_name = "DIR", required = true)]
    pub folders: Vec<PathBuf>,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
    /// Print every table below the summary
    #[arg(long, conflicts_with = "json")]
    pub tables: bool,
    /// Folder of the results, with the same files as those of compare; if it holds files already, the next of DIR-2, DIR-3 … that does not [default: flashraid-out/merge]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write into the folder even if it holds files, and replace those of the same names
    #[arg(long)]
    pub force: bool,
}

/// Reads `N` or `N%M`.
fn parse_parts(text: &str) -> Result<(usize, Option<usize>), String> {
    let (count, at_once) = text.split_once('%').map_or((text, None), |(count, at_once)| (count, Some(at_once)));
    let number = |text: &str| match text.trim().parse::<usize>() {
        Ok(number @ 1..=100_000) => Ok(number),
        _ => Err("write N or N%M, both from 1 to 100000, for instance 64%16".to_owned()),
    };
    Ok((number(count)?, at_once.map(number).transpose()?))
}

/// Reads `I/N`.
fn parse_shard(text: &str) -> Result<(usize, usize), String> {
    let (index, count) = text.split_once('/').ok_or("write I/N, for instance 1/4")?;
    let number = |text: &str| text.trim().parse::<usize>().map_err(|_| "write I/N, for instance 1/4".to_owned());
    let (index, count) = (number(index)?, number(count)?);
    match index >= 1 && index <= count {
        true => Ok((index, count)),
        false => Err(format!("shards of {count} are 1/{count} to {count}/{count}")),
    }
}

const REPRODUCE_HELP: &str = "\
Examples:
  flashraid reproduce list                       what there is, and about how long it takes
  flashraid reproduce ggc.fig6 --quick
  flashraid reproduce all

Writes the ledger of all claims (reproduction.md, reproduction.json), the measured values
(rows.parquet, rows.csv), report.html, pictures (*.svg) and what they show (charts.parquet,
charts.csv). Each point is saved as it ends, and the same command goes on where it stopped.

Exit status: 0 success, 1 a simulation or the writing of its results failed, 2 bad input,
130 stopped by Ctrl-C: the points that are done are kept.";

/// Arguments of `reproduce`.
#[derive(Debug, Args)]
pub struct ReproduceArgs {
    /// `list`, `all`, figures such as ggc.fig6, or papers such as pgc
    #[arg(value_name = "list|all|ID", default_value = "list")]
    pub figures: Vec<String>,
    /// Smaller devices and fewer requests
    #[arg(long)]
    pub quick: bool,
    /// First seed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(..1 << 62))]
    pub seed: u64,
    /// Seeds of every simulation [default: three, one where that is enough; with --quick four]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub seeds: Option<u64>,
    /// Use a real trace in place of a named workload, for instance --trace financial=Financial1.spc (repeatable)
    #[arg(long, value_name = "NAME=FILE", value_parser = parse_named_trace)]
    pub trace: Vec<Setting>,
    /// Simulations at a time; changes no result [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
    /// Print every value of each claim and the measured values of all figures below the summary
    #[arg(long, conflicts_with = "json")]
    pub tables: bool,
    /// Folder of the results [default: flashraid-out/reproduce, with --quick flashraid-out/reproduce-quick]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

/// `NAME=FILE`.
fn parse_named_trace(text: &str) -> Result<Setting, String> {
    text.parse().map_err(|_| "write NAME=FILE, for instance financial=Financial1.spc".to_owned())
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

/// Commands on traces.
#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Statistics of a trace
    #[command(after_help = TRACE_INFO_HELP)]
    Info(TraceInfoArgs),
    /// Write a trace in another format
    #[command(after_help = TRACE_CONVERT_HELP)]
    Convert(TraceConvertArgs),
}

/// How to read a trace.
#[derive(Debug, Args)]
pub struct TraceInputArgs {
    /// Format of the input [default: found out from its content]
    #[arg(long, value_name = "FORMAT", value_parser = one_of(&Format::ALL))]
    pub format: Option<Format>,
    /// Unit of its times, where the format has variants
    #[arg(long, value_name = "UNIT", value_parser = unit())]
    pub time_unit: Option<TimeUnit>,
    /// Bytes of a sector, where the format counts sectors [default: 512]
    #[arg(long, value_name = "BYTES")]
    pub sector_bytes: Option<u32>,
    /// Read only these devices, by their numbers: 0,2
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub devices: Vec<u32>,
    /// Leave out lines that can't be read, and count them
    #[arg(long)]
    pub skip_bad_lines: bool,
    /// Leave out discards, and count them
    #[arg(long)]
    pub ignore_discards: bool,
    /// Leave out a request that repeats another at most so many microseconds later, and count them
    #[arg(long, value_name = "US")]
    pub drop_repeats_within_us: Option<u64>,
}

impl TraceInputArgs {
    /// The trace in `file`, read as these options say.
    pub fn spec(&self, file: &Path) -> TraceSpec {
        let devices = if self.devices.is_empty() { Devices::Concat } else { Devices::List(self.devices.clone()) };
        TraceSpec {
            format: self.format,
            time_unit: self.time_unit,
            sector_bytes: self.sector_bytes,
            devices,
            skip_bad_lines: self.skip_bad_lines,
            discards: if self.ignore_discards { Discards::Ignore } else { Discards::Trim },
            drop_repeats_within_ns: self.drop_repeats_within_us.map(|us| us.saturating_mul(1000)),
            ..TraceSpec::new(file)
        }
    }
}

/// Arguments of `trace info`.
#[derive(Debug, Args)]
pub struct TraceInfoArgs {
    /// The trace, compressed (gzip, zstd, bzip2) or not; - is standard input
    pub file: PathBuf,
    #[command(flatten)]
    pub input: TraceInputArgs,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `trace convert`.
#[derive(Debug, Args)]
pub struct TraceConvertArgs {
    /// The trace, compressed (gzip, zstd, bzip2) or not; - is standard input
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The new file; .gz, .zst or .bz2 at its end compresses it; - is standard output
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    #[command(flatten)]
    pub options: TraceInputArgs,
    /// Format of the output
    #[arg(long, value_name = "FORMAT", value_parser = one_of(&WRITABLE))]
    pub to: Format,
    /// Requests per second of a trace without times, which formats with times need
    #[arg(long, value_name = "PER_SECOND", value_parser = parse_rate)]
    pub rate: Option<f64>,
    /// Put requests whose times go backwards in order: how many to hold back, or sort (in memory)
    #[arg(long, value_name = "N|sort", value_parser = parse_reorder, default_value = "0")]
    pub reorder: Reorder,
}

/// Reads the name of one of these formats; help lists them.
fn one_of(formats: &'static [Format]) -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(formats.iter().map(|format| format.name())).map(|name| name.parse().expect("the name of a format"))
}

fn unit() -> impl TypedValueParser<Value = TimeUnit> {
    PossibleValuesParser::new(TimeUnit::ALL.map(TimeUnit::name)).map(|name| name.parse().expect("the name of a unit"))
}

fn parse_reorder(text: &str) -> Result<Reorder, String> {
    match text {
        "sort" => Ok(Reorder::Sort),
        number => number.parse().map(Reorder::Window).map_err(|_| "write a number of requests, or sort".to_owned()),
    }
}

fn parse_rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate.is_finite() && (1e-6..=1e9).contains(&rate) => Ok(rate),
        _ => Err("write requests per second, from 0.000001 to 1000000000".to_owned()),
    }
}

/// A window of simulated time. Its order is the configuration's to check.
fn parse_window(text: &str) -> Result<Range<Duration>, String> {
    let (from, to) = text.split_once("..").ok_or("write FROM..TO, for instance 1s..1300ms")?;
    let time = |text: &str| text.trim().parse::<Duration>().map_err(|error| error.to_string());
    Ok(time(from)?..time(to)?)
}

/// Commands on presets.
#[derive(Debug, Subcommand)]
pub enum PresetCommand {
    /// List them
    List {
        /// Print one JSON document, with each preset as a configuration
        #[arg(long, conflicts_with = "markdown")]
        json: bool,
        /// Print a page with all that is in them instead
        #[arg(long)]
        markdown: bool,
    },
    /// Print one of them as a configuration, which can be run as it is
    Show {
        /// A name from `flashraid preset list`
        name: String,
    },
    /// Simulate a drive and hold it against its data sheet, figure by figure
    #[command(after_help = CARD_HELP)]
    Card(CardArgs),
}

const CARD_HELP: &str = "\
Examples:
  flashraid preset card nvme-tlc-read
  flashraid preset card nvme-gen5 --json > card.json

Each figure is fitted (a number of the preset was chosen to meet it), predicted (nothing was)
or reported (shown beside the simulation, nothing is claimed). It holds if the simulation is
within the tolerance of the data sheet. A card takes some minutes.

Exit status: 0 success, whatever holds; 1 a simulation failed, 2 bad input, 130 stopped by Ctrl-C.";

/// Arguments of `preset card`.
#[derive(Debug, Args)]
pub struct CardArgs {
    /// A device from `flashraid preset list` that has a card
    pub name: String,
    /// Only look whether it works: a few requests to a drive at the largest scale, which prove nothing
    #[arg(long)]
    pub quick: bool,
    /// Simulations at a time; changes no result [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Print one JSON document instead of a table
    #[arg(long)]
    pub json: bool,
}

const PTS_HELP: &str = "\
Examples:
  flashraid pts wsat --ssd nvme-tlc-read
  flashraid pts latency --ssd nvme-gen5 --set ssd.gc.preemption=suspend --json
  flashraid pts iops --fio > iops.fio            the same for fio and a real drive, which it destroys

iops: 7 shares of reads by 8 sizes, 128 at a time; latency: 3 by 3, one at a time; both after the capacity
has been written twice in order. wsat: random writes of 4 KiB, 128 at a time, to an empty drive. A pattern
lasts a minute, divided by the scale of the simulated drive, in each round. Steady is what over five rounds
ranges by no more than 20 % of its mean and, as a fitted line, rises by no more than 10 %.

Exit status: 0 success, 1 the simulation failed, 2 bad input, 130 stopped by Ctrl-C: the rounds so far
are reported and marked as partial.";

/// Arguments of `pts`.
#[derive(Debug, Args)]
pub struct PtsArgs {
    /// What to test
    #[arg(value_name = "TEST", value_parser = PossibleValuesParser::new(Test::ALL.map(Test::name)).map(|name| test_of(&name)))]
    pub test: Test,
    /// A drive with superblocks from `flashraid preset list`
    #[arg(long, value_name = "PRESET", required_unless_present = "fio")]
    pub ssd: Option<String>,
    /// Replace a key of the configuration, for instance --set ssd.gc.preemption=suspend (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<Setting>,
    /// Rounds at most [default: 600 for wsat, 25 for the others; with --fio 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(5..=10_000))]
    pub rounds: Option<u32>,
    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub machine: MachineArgs,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
    /// Print fio's job file of the test instead of simulating it
    #[arg(long, conflicts_with_all = ["ssd", "set", "json", "seed"])]
    pub fio: bool,
}

fn test_of(name: &str) -> Test {
    Test::ALL.into_iter().find(|test| test.name() == name).expect("clap lets no other one through")
}

/// Arguments of `bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Only look whether it works: a second of work on small devices
    #[arg(long)]
    pub quick: bool,
    /// Measure this line alone, named as with --json: nvme, device … (repeatable)
    #[arg(long, value_name = "LINE", value_enum, hide_possible_values = true)]
    pub only: Vec<crate::bench::Line>,
    /// Print one JSON document instead of tables
    #[arg(long)]
    pub json: bool,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent() {
        super::Arguments::command().debug_assert();
    }
}
