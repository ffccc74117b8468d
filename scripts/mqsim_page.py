"""Makes docs/beside-mqsim.md of the results that scripts/mqsim keeps."""

BLOCKS, PAGES_PER_BLOCK = 1024, 64


def greedy(pages, alpha):
    """Write amplification of greedy collection under uniform writes: the mean-field fixed point (Desnoyers, ACM TOS 2014)."""
    harmonic = 0.0
    for level in range(pages, 0, -1):
        most = pages * (harmonic + 1 / level) / (pages - level + 1)
        if alpha <= most:
            share = (alpha * (pages - level) - pages * harmonic) / (pages / level - alpha)
            return pages / (pages - level + min(max(share, 1e-300), 1.0))
        harmonic += 1 / level
    return 1.0


def oldest_first(alpha):
    """Write amplification of first in, first out (Desnoyers, SYSTOR 2012)."""
    from math import log1p

    low, high = 0.0, 1.0
    for _ in range(100):
        middle = (low + high) / 2
        if -log1p(-middle) < alpha * middle:
            low = middle
        else:
            high = middle
    return 1 / low


def amplification(flash):
    return (flash["written"] + flash["moved"]) / flash["written"]


def moved_per_erase(flash):
    return flash["moved"] / flash["erases"]


def data_blocks(free, open_blocks):
    """Blocks that hold data while so many are free and, on average, half of each open one is."""
    return BLOCKS - free - open_blocks


def expected(of, free, open_blocks, reserved):
    """Theory's amplification with the blocks that are free or open taken from the spare area."""
    alpha = data_blocks(free, open_blocks) / (BLOCKS - reserved)
    return oldest_first(alpha) if of == "fifo" else greedy(PAGES_PER_BLOCK, alpha)


class Rows:
    """The table of the page, and which rows hold."""

    def __init__(self):
        self.lines, self.missed = [], []

    def add(self, case, what, mqsim, ours, theory, tolerance, holds, remark=""):
        """`holds`: true, false, or None where nothing has to agree."""
        verdict = {True: "yes", False: "**no**", None: "–"}[holds]
        if holds is False:
            self.missed.append((case, what))
        self.lines.append(f"| {case} | {what} | {mqsim} | {ours} | {theory} | {tolerance} | {verdict}{remark} |")


def near(one, other, share):
    return abs(one - other) <= share * abs(other)


def percent(one, other):
    return f"{(one / other - 1) * 100:+.1f} %"


def queues(rows, cases):
    for name, of in (("Q1", "read"), ("Q2", "write")):
        found = cases["Q1"][name]
        constant = found["constant_ns"]
        rows.add(
            name, f"single {of}s, µs", f"{found['mqsim_us']:.3f}", f"{found['ours_us']:.3f}", f"{found['theory_us']:.3f}",
            f"each within 20 ns after one constant ({constant:.0f} ns)", found["spread_ns"] <= 20,
        )
    for load in (0.5, 0.8):
        found = cases[f"Q3 {load}"]
        mqsim, ours, theory = found["mqsim_us"], found["ours_us"] - found["ours_constant_ns"] / 1000, found["theory_us"]
        rows.add(
            "Q3", f"one die, load {load}: mean of reads, µs", f"{mqsim:.2f}", f"{ours:.2f}", f"{theory:.2f}", "0.5 %; theory 1 %",
            near(ours, mqsim, 0.005) and near(ours, theory, 0.01) and near(mqsim, theory, 0.01),
        )
        largest, ours_largest = found["mqsim_max_us"], found["ours_max_us"]
        rows.add("Q3", f"the same: longest, µs", f"{largest:.1f}", f"{ours_largest:.1f}", "", "1 %", near(ours_largest, largest, 0.01))
    for depth in (4, 8, 16, 32):
        found = cases[f"Q4 {depth}"]
        rows.add(
            "Q4", f"four dies on a channel, {depth} at a time: reads/s", f"{found['mqsim_rate']:.0f}", f"{found['ours_rate']:.0f}", "",
            "1 %", near(found["ours_rate"], found["mqsim_rate"], 0.01), f" ({percent(found['ours_rate'], found['mqsim_rate'])})",
        )
        first = found["commands_first_rate"]
        rows.add(
            "Q4", "the same, with MQSim's commands before data", f"{first:.0f}", f"{found['ours_rate']:.0f}", "", "1 %",
            near(found["ours_rate"], first, 0.01), f" ({percent(found['ours_rate'], first)})",
        )
    found = cases["Q5"]
    rows.add("Q5", "reads of 32 KiB over 8 channels: mean, µs", f"{found['mqsim_us']:.2f}", f"{found['ours_us']:.2f}", "", "2 %", near(found["ours_us"], found["mqsim_us"], 0.02))


def collecting(rows, name, found, of="greedy", depth=1):
    """Rows of one run of overwrites: as imported, and with our threshold where MQSim's pool floats."""
    reserved = found["reserved"]
    theirs = found["mqsim"]
    share = f"{reserved / BLOCKS:.1%} reserved"
    short = name.split()[0]
    for threshold, ours, rate in (
        (f"start {found['start']}, as imported", found["ours"], found["ours_rate"]),
        (f"start {found['float']['start']}, where MQSim's pool floats ({found['pool']:.1f} free)", found["float"]["ours"], found["float"]["ours_rate"]),
    ):
        floats = ours is found["float"]["ours"]
        free = found["float"]["start"] if floats else found["start"]
        # MQSim keeps three blocks open, flashraid two; of each of those that fill, half is free on average.
        theory_ours = expected(of, free + 0.5, 1.0, reserved)
        theory_theirs = expected(of, found["pool"], 2.0, reserved)
        if short in ("Q6", "Q8"):
            allowed = 0.02 if short == "Q6" else 0.03
            mine, other = amplification(ours), amplification(theirs)
            holds = near(mine, other, allowed)
            in_theory = of == "rga" or (near(mine, theory_ours, 0.03) and near(other, theory_theirs, 0.03))
            theory = "" if of == "rga" else f"{theory_theirs:.3f}; {theory_ours:.3f}"
            rows.add(
                name, f"{share}, {threshold}: write amplification", f"{other:.3f}", f"{mine:.3f}", theory, f"{allowed:.0%}{'' if of == 'rga' else '; theory 3 %'}",
                (holds and in_theory) if floats else (holds and in_theory), f" ({percent(mine, other)})",
            )
            if short == "Q6":
                rows.add(name, "the same: erases", f"{theirs['erases']}", f"{ours['erases']}", "", "2 %", near(ours["erases"], theirs["erases"], 0.02), f" ({percent(ours['erases'], theirs['erases'])})")
                rows.add(name, "the same: pages a victim", f"{moved_per_erase(theirs):.2f}", f"{moved_per_erase(ours):.2f}", "", "2 %", near(moved_per_erase(ours), moved_per_erase(theirs), 0.02), f" ({percent(moved_per_erase(ours), moved_per_erase(theirs))})")
        else:
            rows.add(name, f"{share}, {threshold}: writes/s", f"{found['mqsim_rate']:.0f}", f"{rate:.0f}", "", "3 %", near(rate, found["mqsim_rate"], 0.03), f" ({percent(rate, found['mqsim_rate'])})")


def mixed(rows, cases):
    for of, holds_to in (("plain", None), ("mended", 0.05)):
        found = cases["Q9"][of]
        label = "30 % reads, as it is" if of == "plain" else "30 % reads, with fault 1 mended"
        if not found["mqsim"]:
            rows.add("Q9", f"{label}: write amplification", "it does not get so far", f"{amplification(found['ours']):.3f}", "", "–", None)
            continue
        mine, other = amplification(found["ours"]), amplification(found["mqsim"])
        rows.add("Q9", f"{label}: write amplification", f"{other:.3f}", f"{mine:.3f}", "", "5 %" if holds_to else "not expected", near(mine, other, 0.05) if holds_to else None, f" ({percent(mine, other)})")
        rows.add("Q9", f"{label}: requests/s", f"{found['mqsim_rate']:.0f}", f"{found['ours_rate']:.0f}", "", "5 %" if holds_to else "not expected", near(found["ours_rate"], found["mqsim_rate"], 0.05) if holds_to else None, f" ({percent(found['ours_rate'], found['mqsim_rate'])})")
    plain = cases["Q9"]["plain"]
    rows.add("Q9", "collections begun and blocks erased, in all", f"{plain['collections']} and {plain['erases_in_all']}", "", "", "counted", None)
    without, semi = cases["Q10"]["none"], cases["Q10"]["semi"]
    for of in ("read", "write"):
        for label, found in (("", without), (" with preemptible collection", semi)):
            rows.add("Q10", f"70 % reads at half load: mean of {of}s{label}, µs", f"{found[f'mqsim_{of}_us']:.0f}", f"{found[f'ours_{of}_us']:.0f}", "", "", None)
    theirs, ours = semi["mqsim_read_us"] / without["mqsim_read_us"], semi["ours_read_us"] / without["ours_read_us"]
    same = (theirs < 1) == (ours < 1)
    rows.add("Q10", "mean of reads with preemptible collection, as a share of that without", f"{theirs:.3f}", f"{ours:.3f}", "", "direction, order of size", same and 1 / 3 <= theirs / ours <= 3)


def text(kept):
    cases = kept["cases"]
    rows = Rows()
    queues(rows, cases)
    for percentage in (7, 15, 28):
        collecting(rows, f"Q6 {percentage} %", cases[f"Q6 {percentage}"])
    for percentage in (7, 15, 28):
        collecting(rows, f"Q7 {percentage} %", cases[f"Q7 {percentage}"])
    collecting(rows, "Q8 FIFO", cases["Q8 fifo"], of="fifo")
    collecting(rows, "Q8 RGA", cases["Q8 rga"], of="rga")
    mixed(rows, cases)
    return PAGE.format(
        commit=kept["mqsim"], command=kept["command"], table="\n".join(rows.lines), faults=faults(cases), held=sum("| yes" in line for line in rows.lines),
        judged=sum("| yes" in line or "| **no**" in line for line in rows.lines), **numbers(cases)
    ), rows


def numbers(cases):
    """Figures that the text of the page names."""
    seven = cases["Q6 7"]
    looks = cases["floating"]
    # A command that finds its die idle waits for a transfer that is under way: half of one, as often as the channel is busy.
    rate, transfer_us = cases["Q4 4"]["commands_first_rate"], 12.318
    busy = rate * transfer_us / 1e6
    waits = {"command_wait": f"{busy * transfer_us / 2:.1f}", "mean_4": f"{4e6 / rate:.0f}", "busy_4": f"{busy:.0%}"}
    convoy = {f"convoy_{name}": ", ".join(f"{ns / 1000:.1f}" for ns in times) for name, times in cases["convoy"].items()}
    return {
        **convoy, **waits, "unanswered_9": cases["Q9"]["plain"]["unanswered"],
        "looks": f"{looks['looks']:,}", "full": looks["full"], "last_full": f"{looks['last_full'] + 1:,}", "free_later": f"{looks['free_later']:.1f}",
        "pool_7": f"{cases['Q6 7']['pool']:.1f}", "pool_15": f"{cases['Q6 15']['pool']:.1f}", "pool_28": f"{cases['Q6 28']['pool']:.1f}",
        "waf_7_mqsim": f"{amplification(seven['mqsim']):.2f}", "waf_7_ours": f"{amplification(seven['ours']):.2f}",
        "constant_read": f"{cases['Q1']['Q1']['constant_ns']:.0f}", "constant_write": f"{cases['Q1']['Q2']['constant_ns']:.0f}",
    }


def faults(cases):
    lines = []
    plain, mended = cases["F1"]["plain"], cases["F1"]["mended"]
    lines.append(
        "1. **Blocks are lost under reads.** A collection whose victim still has a read or program under way is put off; when that ends, the moves are submitted and the erase is not "
        "(`GC_and_WL_Unit_Base.cpp:56-99`). Blocks are lost one by one, until fewer than ten are free: then writes wait for ever.\n"
        f"   A plane of 64 blocks, a quarter reserved, {plain['requests']:,} requests, of the last half 30 % reads, 32 at a time: {plain['collections']:,} collections, {plain['erases']:,} erases, and {plain['answered']:,} requests answered. "
        f"With the erase submitted: {mended['collections']:,}, {mended['erases']:,} and {mended['answered']:,}."
    )
    found = cases["F2"]
    lines.append(
        "2. **Nothing is suspended.** A `break` is missing after each `suspensionRequired = true` (`TSU_OutofOrder.cpp:305`, `TSU_Priority_OutOfOrder.cpp:408`), so that control falls through to `return false`.\n"
        f"   A read 100 µs into a program of 750 µs takes {found['none_ns']:,} ns without suspension, {found['able_ns']:,} ns with `CMD_Suspension_Support` PROGRAM_ERASE, and {found['mended_ns']:,} ns with the `break`s. "
        f"Then the program is never resumed: {found['mended_answered']} of 6 requests are answered. The three times of suspension and its two switches are also handed on in another order than they are taken (`TSU_OutofOrder.cpp:12`, `TSU_Base.h:25`)."
    )
    found = cases["F3"]
    lines.append(
        "3. **Channel rates are rounded.** `(sim_time_type)(1000 / rate) * 2` (`SSD_Device.cpp:97`) drops what is below a nanosecond.\n   A read of 4 KiB takes "
        + ", ".join(f"{int(found[rate]):,} ns at {rate} MT/s" for rate in sorted(found, key=int))
        + ": 400 runs as 500, and above 1000 the transfer takes no time."
    )
    found = cases["F4"]
    chips, dies = found["two_chips_ns"], found["two_dies_ns"]
    lines.append(
        "4. **Dies of one chip take turns.** `issue_command_to_chip` returns after the first die (`TSU_Base.cpp:123-135`), and a chip that is busy gets no command.\n"
        f"   Two reads at the same time on two chips of a channel: {chips[0]:,} and {chips[1]:,} ns; on two dies of one chip: {dies[0]:,} and {dies[1]:,} ns."
    )
    found = cases["F5"]
    lines.append(
        "5. **IOPS counts requests that were made**, not those that were answered (`IO_Flow_Base.cpp:546`).\n"
        f"   In the case of fault 1 {found['made']:,.0f} requests were made and {found['answered']:,} answered: {found['iops']:,.0f} IOPS are reported, {found['answered_per_second']:,.0f} were served."
    )
    return "\n".join(lines)


def write(kept, root):
    page, rows = text(kept)
    (root / "docs" / "beside-mqsim.md").write_text(page)
    for case, what in rows.missed:
        print(f"outside its tolerance: {case}: {what}")


PAGE = """# Beside MQSim

The same drives and the same traces in [MQSim](https://github.com/CMU-SAFARI/MQSim) (Tavakkol et al., FAST 2018) and in flashraid.
`{command}` builds a copy of MQSim's sources, runs both, and writes this page; the results below are of its commit `{commit}`.

## The set-up

- NVMe, no cache, the map in memory, one die a chip and one plane a die, one latency for all pages: array reads of 75 µs, programs of 750 µs, erases of 3.8 ms.
- Channels of 333 MT/s of one byte, 3 ns a byte in both. Pages of 4 KiB, blocks of 64 pages, 1024 blocks a plane; every request is aligned.
- Greedy collection without copy-back, suspension and wear levelling. MQSim's threshold 51 of 1024 is `start = "50 blocks"`, since it collects when fewer are free.
- MQSim's two files are written by `flashraid export --to mqsim`.
- A trace writes every page once, then all twice at random; the rest counts. Where requests come so many at a time, they are all there from the beginning, and MQSim's `Queue_Fetch_Size` or flashraid's `array.controller.outstanding` is their number.
- MQSim tells means, least and greatest only. Its copy has one line more: a `printf` for each request that is done.
- Q3 to Q5: flashraid's `command_overhead` is the 320 ns that MQSim's read command and its data set-up take on the channel.

## Results

{held} of {judged} rows hold. Those that do not are Q4, where MQSim's data go before its commands, and those at 7 % reserve with the threshold as it is imported, where MQSim's pool floats; both are explained below and agree where the cause is taken away.

| case | what | MQSim | flashraid | theory | tolerance | holds |
|---|---|---:|---:|---:|---|---|
{table}

Where theory has two figures, the first is for MQSim's blocks and the second for ours.
Theory is Desnoyers' fixed point for greedy collection and his formula for first in, first out. Free and open blocks are no spare area there: they are taken off first.

## What MQSim does differently, and why it matters

**Its pool floats.** MQSim looks at the number of free blocks only when it takes one (`Flash_Block_Manager.cpp:32`, `:50`), and then starts one collection.
So many collections begin as blocks are taken, whatever the number of free blocks is: nothing brings the pool back once it has fallen. It falls where a look finds ten collections under way, and starts none.
With nearly full victims that happens at once: the pages of one collection fill a block, whose successor starts the next. Of {looks} looks at 7 % reserve {full} found ten under way, the last of them was number {last_full}; in the second half {free_later} blocks were free on average.
In steady state the pool stays where it came to rest: at 15 and 28 % at the threshold ({pool_15} and {pool_28} blocks free on average), at 7 % far below it ({pool_7}).
Blocks that are not kept free are spare area. At 7 % reserve that is most of it: write amplification {waf_7_mqsim} instead of {waf_7_ours}.
The usual reading of a threshold is that collection keeps that many blocks free, as in the papers reproduced here. In flashraid the pool comes back to `start` after every collection, whatever happened before.
With `start` where MQSim's pool floats, both agree as the table says.

**Data go before commands.** When a channel is free, MQSim transfers what waits to leave (`NVM_PHY_ONFI_NVDDR2.cpp:471`), and only then sends commands, though one takes 290 ns and a page 12,288.
A die that has delivered its page then waits for the pages of all the others, until the dies of a channel read at the same time and transfer at the same time. Two reads for each of four dies, all at once, end after {convoy_plain} µs in MQSim, and after {convoy_ours} µs here.
With three lines that send commands first MQSim takes {convoy_commands} µs, and Q4 agrees at depths from 8 on. At depth 4 a read finds its die idle more often, and its command waits where the channel is busy ({busy_4} of the time), {command_wait} of {mean_4} µs on average; here a command needs no channel.

**Three blocks are open in each plane** for each flow: for writes, for moved pages, and for the map, which with an ideal map is never written. flashraid opens two.

**Commands take the channel.** A read command takes 290 ns and its data set-up 30 ns on the channel, a program 361 ns, an erase 220 ns. A single read takes {constant_read} ns more than here, a single write {constant_write} ns: these commands, and the doorbell, fetch, data and completion on the link.

**Reads first.** A die serves reads before writes, and collection before both unless it is preemptible; here commands are served in order of arrival.

## Faults

Each was shown by the case beside it, with MQSim as it is and, where a line mends it, with that line.

{faults}

## What follows for those who use both

- `flashraid import ssdconfig.xml` makes chips dies, takes MQSim's rounded time of a byte, and says so.
- At a reserve that is not much larger than the threshold, set `ssd.gc.start` to the pool that MQSim comes to rest at, not to its threshold.
- Mixed loads can lose blocks on MQSim (fault 1), the more the fewer a plane has: compare its collections with its erases. In Q9, with 1024 blocks, none was lost.
- A few requests at the end of a run get no answer from MQSim: one in each Q7, {unanswered_9} in Q9. Count them before a mean is taken.
"""
