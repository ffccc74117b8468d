//! List of all tags of MQSim's device file. For each, it says which values are allowed, which value MQSim assumes without it, and what the
//! importer does with it.

/// Table of the file in which a tag stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Host,
    Device,
    Flash,
}

impl Section {
    /// Names of the table's element in MQSim, and in a program derived from it.
    pub(super) const fn names(self) -> &'static [&'static str] {
        match self {
            Self::Host => &["Host_Parameter_Set", "HostParameterSet"],
            Self::Device => &["Device_Parameter_Set", "DeviceParameterSet"],
            Self::Flash => &["Flash_Parameter_Set", "FlashParameterSet"],
        }
    }
}

/// Values that a tag may have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Allowed {
    Flag,
    Whole { min: u64, max: u64 },
    Decimal { min: f64, max: f64 },
    Word(&'static [&'static str]),
}

impl Allowed {
    /// Returns a description of the allowed values, as the end of a sentence.
    pub(super) fn text(self) -> String {
        match self {
            Self::Flag => "true or false".to_owned(),
            Self::Whole { min, max } => format!("a whole number from {min} to {max}"),
            Self::Decimal { min, max } => format!("a number from {min} to {max}"),
            Self::Word(words) => words.join(", "),
        }
    }

    /// Returns true if the text is an allowed value. MQSim ignores case.
    pub(super) fn fits(self, text: &str) -> bool {
        match self {
            Self::Flag => ["TRUE", "FALSE"].contains(&text.to_ascii_uppercase().as_str()),
            Self::Whole { min, max } => {
                text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u64>().is_ok_and(|number| (min..=max).contains(&number))
            }
            Self::Decimal { min, max } => text.parse::<f64>().is_ok_and(|number| (min..=max).contains(&number)),
            Self::Word(words) => words.contains(&text.to_ascii_uppercase().as_str()),
        }
    }
}

/// Use that the importer makes of a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The value of the tag is used for this configuration key.
    Key(&'static str),
    /// The tag is ignored, for this reason.
    Ignored(&'static str),
}

/// A tag of MQSim's device file.
pub(super) struct Tag {
    pub(crate) section: Section,
    pub(crate) name: &'static str,
    /// Other spellings of the tag in MQSim, or in a program derived from it.
    pub(crate) also: &'static [&'static str],
    /// Value that MQSim assumes without the tag.
    pub(crate) default_value: &'static str,
    pub(crate) allowed: Allowed,
    pub(crate) meaning: Meaning,
}

impl Tag {
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.name == name || self.also.contains(&name)
    }
}

const fn whole(min: u64, max: u64) -> Allowed {
    Allowed::Whole { min, max }
}

const fn tag(section: Section, name: &'static str, default_value: &'static str, allowed: Allowed, meaning: Meaning) -> Tag {
    Tag { section, name, also: &[], default_value, allowed, meaning }
}

const fn also(tag: Tag, also: &'static [&'static str]) -> Tag {
    Tag { also, ..tag }
}

use Meaning::{Ignored, Key};
use Section::{Device, Flash, Host};

const ANY: Allowed = whole(0, u64::MAX);
const SHARE: Allowed = Allowed::Decimal { min: 0.0, max: 1.0 };
const SHARING: Allowed = Allowed::Word(&["SHARED", "EQUAL_PARTITIONING"]);

const LOGS: &str = "a report of flashraid has every response time";
const SEED: &str = "the seeds of both give different requests";
const STATE: &str = "`ssd.warm_up` says in which state the drive begins";
const HOST: &str = "the rest of the NVMe interface takes no time";
const SATA: &str = "the SATA interface is not modelled apart from its link";
const CACHE: &str = "MQSim's DRAM cache differs from every buffer of flashraid";
const MAP: &str = "the whole map is in memory";
const WEAR: &str = "blocks are taken in order of their erasure, and wear is not levelled";
const SUSPENSION: &str = "MQSim cannot suspend, whatever its setting (beside-mqsim.md)";
const SPARE: &str = "MQSim transfers no spare bytes";
const ORDER: &str = "every die serves commands in order of arrival";

/// End of the names of latencies that only pages of cells with four bits have. MQSim itself does not know them.
pub(super) const FOURTH_LATENCY: &str = "_TSB";

/// All tags, in the order of MQSim's file.
pub(super) const TAGS: &[Tag] = &[
    tag(Host, "PCIe_Lane_Bandwidth", "0.4", Allowed::Decimal { min: 0.000_001, max: 1000.0 }, Key("ssd.link")),
    tag(Host, "PCIe_Lane_Count", "4", whole(1, 1024), Key("ssd.link")),
    tag(Host, "SATA_Processing_Delay", "0", ANY, Ignored(SATA)),
    tag(Host, "Enable_ResponseTime_Logging", "false", Allowed::Flag, Ignored(LOGS)),
    also(tag(Host, "ResponseTime_Logging_Period_Length", "400000", ANY, Ignored(LOGS)), &["ResponseTime_Logging_Period"]),
    tag(Device, "Seed", "123", ANY, Ignored(SEED)),
    tag(Device, "Enabled_Preconditioning", "true", Allowed::Flag, Ignored(STATE)),
    tag(Device, "Memory_Type", "FLASH", Allowed::Word(&["FLASH"]), Ignored("flashraid simulates flash only")),
    tag(Device, "HostInterface_Type", "NVME", Allowed::Word(&["NVME", "SATA"]), Ignored(SATA)),
    tag(Device, "IO_Queue_Depth", "1024", whole(1, 65_535), Ignored(HOST)),
    tag(Device, "Queue_Fetch_Size", "512", whole(1, 65_535), Ignored(HOST)),
    tag(Device, "Caching_Mechanism", "ADVANCED", Allowed::Word(&["SIMPLE", "ADVANCED"]), Ignored(CACHE)),
    tag(Device, "Data_Cache_Sharing_Mode", "SHARED", SHARING, Ignored(CACHE)),
    tag(Device, "Data_Cache_Capacity", "536870912", ANY, Ignored(CACHE)),
    tag(Device, "Data_Cache_DRAM_Row_Size", "8192", ANY, Ignored(CACHE)),
    tag(Device, "Data_Cache_DRAM_Data_Rate", "800", ANY, Ignored(CACHE)),
    also(tag(Device, "Data_Cache_DRAM_Data_Busrt_Size", "4", ANY, Ignored(CACHE)), &["Data_Cache_DRAM_Data_Burst_Size"]),
    tag(Device, "Data_Cache_DRAM_tRCD", "13", ANY, Ignored(CACHE)),
    tag(Device, "Data_Cache_DRAM_tCL", "13", ANY, Ignored(CACHE)),
    tag(Device, "Data_Cache_DRAM_tRP", "13", ANY, Ignored(CACHE)),
    tag(Device, "Address_Mapping", "PAGE_LEVEL", Allowed::Word(&["PAGE_LEVEL"]), Ignored("flashraid maps by page only")),
    tag(Device, "Ideal_Mapping_Table", "false", Allowed::Flag, Ignored(MAP)),
    tag(Device, "CMT_Capacity", "2097152", ANY, Ignored(MAP)),
    tag(Device, "CMT_Sharing_Mode", "SHARED", SHARING, Ignored(MAP)),
    tag(Device, "Plane_Allocation_Scheme", "CWDP", Allowed::Word(SCHEMES), Key("ssd.channel.order")),
    tag(
        Device,
        "Transaction_Scheduling_Policy",
        "OUT_OF_ORDER",
        Allowed::Word(&["OUT_OF_ORDER", "PRIORITY_OUT_OF_ORDER", "FLIN"]),
        Ignored(ORDER),
    ),
    tag(Device, "Overprovisioning_Ratio", "0.07", Allowed::Decimal { min: 0.0, max: 0.99 }, Key("ssd.geometry.reserved")),
    tag(Device, "GC_Exec_Threshold", "0.05", SHARE, Key("ssd.gc.start")),
    tag(Device, "GC_Block_Selection_Policy", "RGA", Allowed::Word(&["GREEDY", "RGA", "RANDOM_P", "FIFO"]), Key("ssd.gc.victim")),
    tag(Device, "Use_Copyback_for_GC", "false", Allowed::Flag, Key("ssd.gc.copy_back")),
    tag(Device, "Preemptible_GC_Enabled", "true", Allowed::Flag, Key("ssd.gc.preemption")),
    tag(Device, "GC_Hard_Threshold", "0.005", SHARE, Key("ssd.gc.t_hard")),
    tag(Device, "Dynamic_Wearleveling_Enabled", "true", Allowed::Flag, Ignored(WEAR)),
    tag(Device, "Static_Wearleveling_Enabled", "true", Allowed::Flag, Ignored(WEAR)),
    tag(Device, "Static_Wearleveling_Threshold", "100", ANY, Ignored(WEAR)),
    // MQSim's own file spells it one way, and MQSim reads it the other.
    also(
        tag(Device, "Preferred_suspend_erase_time_for_read", "700000", ANY, Ignored(SUSPENSION)),
        &["Prefered_suspend_erase_time_for_read"],
    ),
    tag(Device, "Preferred_suspend_erase_time_for_write", "700000", ANY, Ignored(SUSPENSION)),
    tag(Device, "Preferred_suspend_write_time_for_read", "100000", ANY, Ignored(SUSPENSION)),
    tag(Device, "Flash_Channel_Count", "8", whole(1, 65_536), Key("ssd.geometry.dies")),
    tag(Device, "Flash_Channel_Width", "1", whole(1, 1024), Key("ssd.timing.transfer_per_byte")),
    tag(Device, "Channel_Transfer_Rate", "300", whole(1, 1_000_000), Key("ssd.timing.transfer_per_byte")),
    tag(Device, "Chip_No_Per_Channel", "4", whole(1, 65_536), Key("ssd.channel.dies_per_channel")),
    tag(Device, "Flash_Comm_Protocol", "NVDDR2", Allowed::Word(&["NVDDR2"]), Ignored("it is the only one that MQSim knows")),
    tag(Flash, "Flash_Technology", "MLC", Allowed::Word(&["SLC", "MLC", "TLC", "QLC"]), Key("ssd.timing.page_read")),
    tag(Flash, "CMD_Suspension_Support", "ERASE", Allowed::Word(&["NONE", "ERASE", "PROGRAM", "PROGRAM_ERASE"]), Ignored(SUSPENSION)),
    tag(Flash, "Page_Read_Latency_LSB", "75000", NANOSECONDS, Key("ssd.timing.page_read")),
    tag(Flash, "Page_Read_Latency_CSB", "75000", NANOSECONDS, Key("ssd.timing.page_read")),
    tag(Flash, "Page_Read_Latency_MSB", "75000", NANOSECONDS, Key("ssd.timing.page_read")),
    also(tag(Flash, "Page_Read_Latency_TSB", "75000", NANOSECONDS, Key("ssd.timing.page_read")), &["Page_Read_Latency_WSB"]),
    tag(Flash, "Page_Program_Latency_LSB", "750000", NANOSECONDS, Key("ssd.timing.page_program")),
    tag(Flash, "Page_Program_Latency_CSB", "750000", NANOSECONDS, Key("ssd.timing.page_program")),
    tag(Flash, "Page_Program_Latency_MSB", "750000", NANOSECONDS, Key("ssd.timing.page_program")),
    also(tag(Flash, "Page_Program_Latency_TSB", "750000", NANOSECONDS, Key("ssd.timing.page_program")), &["Page_Program_Latency_WSB"]),
    tag(Flash, "Block_Erase_Latency", "3800000", NANOSECONDS, Key("ssd.timing.block_erase")),
    tag(Flash, "Block_PE_Cycles_Limit", "10000", whole(1, 4_294_967_295), Key("ssd.endurance")),
    tag(Flash, "Suspend_Erase_Time", "700000", ANY, Ignored(SUSPENSION)),
    tag(Flash, "Suspend_Program_Time", "100000", ANY, Ignored(SUSPENSION)),
    tag(Flash, "Die_No_Per_Chip", "2", whole(1, 1024), Key("ssd.geometry.planes")),
    tag(Flash, "Plane_No_Per_Die", "2", whole(1, 1024), Key("ssd.geometry.planes")),
    tag(Flash, "Block_No_Per_Plane", "2048", whole(4, 16_777_216), Key("ssd.geometry.blocks")),
    tag(Flash, "Page_No_Per_Block", "256", whole(2, 8192), Key("ssd.geometry.pages")),
    tag(Flash, "Page_Capacity", "8192", whole(512, 1 << 30), Key("ssd.geometry.page_size")),
    also(tag(Flash, "Page_Metadat_Capacity", "1872", ANY, Ignored(SPARE)), &["Page_Metadata_Capacity"]),
];

/// An hour, which is longer than any operation of flash.
const NANOSECONDS: Allowed = whole(0, 3_600_000_000_000);

/// Orders in which MQSim spreads pages over channels, ways (chips), dies and planes.
const SCHEMES: &[&str] = &[
    "CWDP", "CWPD", "CDWP", "CDPW", "CPWD", "CPDW", "WCDP", "WCPD", "WDCP", "WDPC", "WPCD", "WPDC", "DCWP", "DCPW", "DWCP", "DWPC", "DPCW",
    "DPWC", "PCWD", "PCDW", "PWCD", "PWDC", "PDCW", "PDWC",
];

/// Values that MQSim allows but flashraid cannot simulate, each with the reason.
pub(super) const REFUSED: &[(&str, &str, &str)] = &[
    ("GC_Block_Selection_Policy", "RANDOM", "it takes blocks that are not full, which flashraid does not"),
    ("GC_Block_Selection_Policy", "RANDOM_PP", "flashraid has no least number of invalid pages for a random victim"),
    ("Address_Mapping", "HYBRID", "flashraid maps by page only"),
];
