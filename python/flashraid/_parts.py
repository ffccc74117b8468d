"""Parts of a report. Made of its schema by scripts/python_parts.py: change the report, and run ``make pages``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Lost:
    """Counters of lost pages, which could not be read or written because too many members had failed, and of requests with such pages. A
    request with a lost page counts in no other value about requests (rule 157)."""

    requests: int
    """Number of host requests with a lost page."""
    pages: int
    """Number of pages of reads, writes and destages that were lost."""


@dataclass(frozen=True)
class Wear:
    """Summary of the number of erases per block: least, mean, greatest and standard deviation over all blocks. Erases of the warm-up count,
    too."""

    min: int
    """Number of erases of the least erased block."""
    mean: float
    """Mean number of erases over all blocks."""
    max: int
    """Number of erases of the most erased block."""
    stddev: float
    """Standard deviation of the erases over all blocks."""


@dataclass(frozen=True)
class Lifetime:
    """Projected lifetime of a new member at the measured rate of erases."""

    endurance_cycles: int
    """Number of erases that a block endures."""
    days_levelled: float
    """Days until blocks have reached their rated erases on average. With perfect wear levelling, all blocks reach them then."""
    days_worst_block: float
    """Days until the most worn block has reached its rated erases, if wear stays as uneven as it is."""
    levels_wear: bool
    """True if the member levels wear. The years and terabytes until it is worn out then follow from ``days_levelled``, otherwise from
    ``days_worst_block``."""
    years: float | None
    """Years until the member is worn out: ``days_levelled`` in years if it levels wear, otherwise ``days_worst_block``."""
    tbw: float | None
    """Terabytes (10^12 bytes) that can be written to the member until it is worn out at this load. Data sheets call it TBW."""
    dwpd: float | None
    """Drive writes per day (DWPD) at this load: how often its whole capacity is written each day."""
    dwpd_five_years: float | None
    """Drive writes per day with which the member would last five years."""


@dataclass(frozen=True)
class ImpliedLife:
    """Lifetime computed from write amplification and rated erases alone, as if all blocks wore evenly."""

    endurance_cycles: int
    """Number of erases that a block endures."""
    write_amplification: float
    """Number of pages that this member programs for each page sent to it."""
    tbw: float
    """Terabytes (10^12 bytes) that can be written to the member."""
    dwpd_five_years: float
    """Drive writes per day with which the member would last five years."""
    days: float | None
    """Days that the member lasts at this load; ``None`` for a measured time of no length."""
    rate_scale: float | None
    """Factor by which requests arrive faster than the workload itself has them (``workload.rate_scale``); left out if it is 1. At the
    workload's own rate, the member lasts longer by this factor."""


@dataclass(frozen=True)
class Flash:
    """Counters of page reads, programs and erases on flash, and of wear, summed over the members."""

    host_pages_read: int
    """Number of pages read for the host."""
    host_pages_written: int
    """Number of pages that were sent to the members to be written."""
    host_pages_trimmed: int | None
    """Number of pages of members that trims have unmapped, including parity; left out if there are none."""
    gc_pages_moved: int
    """Number of valid pages that collections moved."""
    erases: int
    """Number of blocks erased."""
    write_amplification: float | None
    """Pages programmed (data, moves, parity within drives, padding) divided by the pages sent to the members. Summary pages do not
    count."""
    write_amplification_max: float | None
    """Write amplification if all buffered data were programmed, and all moves made, that were still to be done at the end of the measured
    time. The moves include those that would win back the free space that the run used up (``owed.credit_pages``). It is an upper bound for
    short runs."""
    summary_programs: int
    """Number of summary pages programmed, one for each block that became full (``ssd.summary_page``)."""
    wear: Wear
    """Erase counts of all blocks, including those of the warm-up."""
    lifetime: Lifetime | None
    """Projected lifetime at this load of the member with the shortest one. ``None`` below a mean of 20 erases per block in the measured
    time."""
    implied_life: ImpliedLife | None
    """Lifetime of the same member as in ``lifetime``, which is the member with the shortest one. It is computed from write amplification
    and rated erases alone, as if all blocks wore evenly."""


@dataclass(frozen=True)
class UncoordinatedCleans:
    """Number of victims that members had to collect because they could not wait for the controller's answer any longer."""

    during_cycles: int
    """Number of victim blocks that a member had to collect by itself while the controller forced others to collect. The member could not be
    forced until the others had finished."""
    unanswered: int
    """Number of victim blocks that a member had to collect by itself while no others were forced. It is 0 unless messages take time or are
    not answered."""


@dataclass(frozen=True)
class PredictableLatency:
    """Counts of NVMe's predictable latency mode, over all members. In its deterministic window (DTWIN), a member does not collect. In its
    non-deterministic window (NDWIN), it does."""

    dtwins: int
    """Number of deterministic windows that have ended."""
    ended_by_reads: int
    """Number of deterministic windows that drives ended by themselves, because they got more page reads than
    ``coordination.dtwin_reads_typical`` or what was restored of it."""
    ended_by_writes: int
    """Number of deterministic windows that drives ended by themselves, because they got more page writes than
    ``coordination.dtwin_writes_typical`` or what was restored of it."""
    ended_by_time: int
    """Number of deterministic windows that drives ended by themselves, because they lasted longer than ``coordination.dtwin_time_maximum``
    or what was restored of it."""
    ended_by_excursion: int
    """Number of deterministic windows that drives ended by themselves, because they had to collect. A pool of blocks had come down to
    ``ssd.gc.start`` free blocks, or a drive with superblocks to ``ssd.superblock.floor``."""
    reads_warnings: int
    """Number of deterministic windows that ended with fewer page reads left than ``coordination.dtwin_reads_threshold``."""
    writes_warnings: int
    """Number of deterministic windows that ended with fewer page writes left than ``coordination.dtwin_writes_threshold``."""
    time_warnings: int
    """Number of deterministic windows that ended with less time left than ``coordination.dtwin_time_threshold``."""
    reads_left_mean: float | None
    """Mean number of page reads left at the end of the deterministic windows that the array's controller ended. It is 0 without
    ``coordination.dtwin_reads_typical``."""
    writes_left_mean: float | None
    """Mean number of page writes left at the end of the deterministic windows that the array's controller ended. It is 0 without
    ``coordination.dtwin_writes_typical``."""
    time_left_mean_ms: float | None
    """Mean time left at the end of the deterministic windows that the array's controller ended, in milliseconds. It is 0 without
    ``coordination.dtwin_time_maximum``."""
    ndwin_fraction: float | None
    """Share of their time for which members were in their non-deterministic windows. Only windows that have ended count."""
    dtwin_reads: int
    """Number of page reads that members got in deterministic windows."""
    dtwin_read_mean_us: float | None
    """Mean response time of the members to page reads that they got in deterministic windows, in microseconds."""
    dtwin_read_max_us: float
    """Longest response time of the members to page reads that they got in deterministic windows, in microseconds."""
    ndwin_reads: int
    """Number of page reads that members got in non-deterministic windows."""
    ndwin_read_mean_us: float | None
    """Mean response time of the members to page reads that they got in non-deterministic windows, in microseconds."""
    ndwin_read_max_us: float
    """Longest response time of the members to page reads that they got in non-deterministic windows, in microseconds."""


@dataclass(frozen=True)
class Turns:
    """Counts of garbage collection outside of a member's turn, the window of time in which only this member may collect
    (``coordination.scheme = "windows"``)."""

    broken_contracts: int
    """Number of victim blocks whose collection began outside of the member's turn, because a pool of blocks had come down to
    ``ssd.gc.start`` free blocks. A drive with superblocks instead counts how often it began to collect outside of its turn, because it had
    come down to ``ssd.superblock.floor`` free superblocks."""
    overruns: int
    """Number of turns at whose end garbage collection that had begun in the turn was still in progress. In a turn, only one member may
    collect."""


@dataclass(frozen=True)
class Rotation:
    """Counts of turns to collect with ``coordination.scheme = "rotate"``, in which one member collects at a time."""

    turns: int
    """Number of turns to collect that the controller has given to members."""
    waited_ms: float
    """Total time from the controller's receipt of a member's registration until it gave the member a turn to collect, in milliseconds."""
    cleans_out_of_turn: int
    """Number of victim blocks whose collection began outside of a turn of their member. A pool of blocks had come down to ``ssd.gc.start``
    free blocks. A drive with superblocks instead counts how often it began to collect outside of its turns, because it had come down to
    ``ssd.superblock.floor`` free superblocks."""


@dataclass(frozen=True)
class Collection:
    """Counters, times and shares of garbage collection, over all members."""

    runs: int
    """Number of collections. Each is an uninterrupted sequence of victim blocks that one die collects, or one superblock of a drive with
    superblocks."""
    forced_runs: int
    """Number of collections that the array's controller forced."""
    busy_fraction: float | None
    """Share of their time that all dies spent collecting. For drives with superblocks, these are moves, their parity, and erases."""
    mean_length_us: float | None
    """Mean length of a collection, in microseconds; ``None`` for drives with superblocks, which collect in small steps."""
    synchronised_mean: float | None
    """Mean number of members that collect during the same time slice, over the slices in which at least one member collects."""
    preemptions: int
    """Number of page operations that were served between the steps of a collection."""
    merges: int
    """Number of page operations served from the page register during the move of a page."""
    pipelined: int
    """Number of page operations that overlapped with a step of a collection."""
    messages: dict[str, int]
    """Number of messages between controller and members, by kind."""
    uncoordinated_cleans: UncoordinatedCleans | None
    """Number of victims that members had to collect although the controller had not answered their request (``coordination.notify =
    "soft"``)."""
    turns: Turns | None
    """Counts of garbage collection outside of a member's turn, the window of time in which only this member may collect
    (``coordination.scheme = "windows"``)."""
    rotation: Rotation | None
    """Counts of turns to collect with ``coordination.scheme = "rotate"``, in which one member collects at a time."""
    predictable_latency: PredictableLatency | None
    """Windows of NVMe's predictable latency mode (``coordination.protocol = "nvme"``), over all members. In its deterministic window
    (DTWIN) a member does not collect. In its non-deterministic window (NDWIN) it does, so that reads may be slow."""
    own_runs: int
    """Number of collections that members began by themselves, without being forced by the array's controller."""
    cleans: int
    """Number of victims collected, which are blocks or, in drives with superblocks, superblocks."""
    time_ms: float
    """Time that dies spent collecting, in milliseconds. The collection of a block counts as a whole if it began in the measured time. For
    drives with superblocks, only the part within the measured time counts."""
    slice_us: float
    """Length of the slices of time by which collecting members are counted, in microseconds. Members that collect in the same slice collect
    together."""
    slices_by_members: list[int]
    """Number of time slices in which no member, one, two … members collected."""
    requests_by_members_met: list[int]
    """Number of requests that waited for collections on no member, one, two … members."""
    suspensions: int
    """Number of programs and erases suspended for a read."""
    exhausted: int
    """Number of page writes that waited because no pool of blocks had room for them."""
    exhausted_ms: float
    """Total time that page writes waited because no pool of blocks had room for them, in milliseconds."""
    idle_cleans: int
    """Number of victims (blocks or superblocks) whose collection began because the die or the drive had no other work."""
    state_ms: list[float]
    """Times that dies collected, in milliseconds, in three situations: between steps, any request is served, or only reads, or none. They
    are the states 1, 2 and 3 in section III.D of the paper on preemptive collection (PGC). All are 0 for drives with superblocks."""


@dataclass(frozen=True)
class Member:
    """Results of one member."""

    erases: int
    """Number of blocks erased."""
    host_pages_written: int
    """Number of pages that were sent to the member to be written."""
    host_pages_read: int
    """Number of pages read for the host."""
    gc_pages_moved: int
    """Number of valid pages that collections moved."""
    summary_programs: int
    """Number of summary pages programmed, one for each block that became full (``ssd.summary_page``)."""
    write_amplification: float | None
    """Number of pages programmed divided by the number sent to the member, as in ``flash``."""
    gc_runs: int
    """Number of collections, as in ``gc``."""
    gc_forced_runs: int
    """Number of collections that the array's controller forced."""
    gc_time_ms: float
    """Time that dies spent collecting, in milliseconds, as in ``gc``."""
    gc_busy_fraction: float | None
    """Share of their time that the member's dies spent collecting."""
    gc_any_fraction: float | None
    """Share of the time in which at least one of its dies collected."""
    late_answers: int | None
    """Number of answers to page operations that came late because the member was slow; ``None`` if no member is."""
    late_mean_us: float | None
    """Mean delay of the late answers of this member, in microseconds: the time that its slowness added to each of them."""
    wear: Wear
    """Erases per block, including those of the warm-up."""
    lifetime: Lifetime | None
    """Projected lifetime at this load, as in ``flash``."""
    implied_life: ImpliedLife | None
    """Lifetime computed from write amplification and rated erases, as in ``flash``."""
