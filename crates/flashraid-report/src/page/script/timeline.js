// Requests of a window of time above lanes of the members: collections and destages of each, die by die.
function timeline(chart) {
  const parts = frame(chart);
  const full = [chart.window_ms.start, chart.window_ms.end];
  const x = chart.requests.map((request) => request[0]);
  const column = (write) => chart.requests.map((request) => (request[2] === write ? request[1] : null));
  const shown = { own: true, forced: true, destages: true };
  const group = [], follow = link("time, ms", group, full);
  const sync = (u, key) => {
    if (key === "x") follow(u);
    if (key === "x") for (const other of group) {
      if (other !== u && (other.scales.x.min !== u.scales.x.min || other.scales.x.max !== u.scales.x.max)) other.setScale("x", { min: u.scales.x.min, max: u.scales.x.max });
    }
  };
  // Reads are dots, writes crosses.
  const marks = (write) => (u, series, from, to) => {
    const path = new Path2D(), size = 3 * devicePixelRatio;
    for (let i = from; i <= to; i++) {
      const value = u.data[series][i];
      if (value == null) continue;
      const left = u.valToPos(u.data[0][i], "x", true), top = u.valToPos(value, "y", true);
      if (write) {
        path.moveTo(left - size, top - size); path.lineTo(left + size, top + size);
        path.moveTo(left - size, top + size); path.lineTo(left + size, top - size);
      } else { path.moveTo(left + size, top); path.arc(left, top, size * 0.8, 0, 2 * Math.PI); }
    }
    return { stroke: path, fill: write ? null : path };
  };
  const atCursor = (u) => {
    const left = u.cursor.left;
    if (left == null || left < 0) { read(parts, u, "", []); return; }
    const at = u.posToVal(left, "x"), index = group[0].cursor.idx;
    const during = chart.collections.filter((collection) => collection[2] <= at && at < collection[3]);
    const members = (forced) => new Set(during.filter((collection) => collection[4] === forced).map((collection) => collection[0])).size;
    const request = index == null ? null : chart.requests[index];
    const response = (write) => (request && request[2] === write ? quantity(request[1], null, chart.unit) : "");
    const destaging = new Set(chart.destages.filter(([, begun, , done]) => begun <= at && at < done).map(([member]) => member)).size;
    const texts = [response(false), response(true), ...[members(false), members(true), destaging].map((count) => counted(count, "member"))];
    read(parts, u, `time: ${number(at)} ms`, texts.slice(0, parts.entries.length));
  };
  const cursor = { drag: { x: true, y: false }, points: { show: false }, sync: { key: chart.id, setSeries: false } };
  const width = widthOf(parts.plot), PADDING = [10, 18, 0, 0];
  const upper = new uPlot({
    width, height: 230, padding: PADDING, legend: { show: false }, cursor,
    scales: { x: { time: false, range: (u, min, max) => [min ?? full[0], max ?? full[1]] }, y: { range: (u, min, max) => [0, (max ?? 1) * 1.08] } },
    axes: [axis(null, { values: () => [], size: 8 }), upwards(`response, ${chart.unit}`)],
    series: [{}, { label: "read", stroke: () => colour(READ), fill: () => colour(READ), paths: marks(false), points: { show: false } },
      { label: "write", stroke: () => colour(WRITE), width: 1.2, paths: marks(true), points: { show: false } }],
    hooks: { setScale: [sync], setCursor: [atCursor] },
  }, [x, column(false), column(true)], parts.plot);
  const laneHeight = (chart.members === 1 ? Math.min(320, Math.max(40, chart.dies * 16)) : 34) + (chart.destages.length ? 14 : 0);
  // Destages have the upper part of a lane.
  const below = chart.destages.length ? 0.42 : 0.08;
  const lanes = (u) => {
    const { ctx, bbox } = u, lane = bbox.height / chart.members, row = (lane * (0.92 - below)) / chart.dies;
    const bar = (from, to, top, height) => {
      const left = u.valToPos(from, "x", true), right = u.valToPos(to, "x", true);
      ctx.fillRect(left, bbox.top + top, Math.max(1, right - left), Math.max(1, height));
    };
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const forced of [false, true]) {
      if (!shown[forced ? "forced" : "own"]) continue;
      ctx.fillStyle = colour(forced ? FORCED : OWN);
      for (const [member, die, start, end, kind] of chart.collections) {
        if (kind !== forced || end < u.scales.x.min || start > u.scales.x.max) continue;
        bar(start, end, lane * (member + below) + row * die, row);
      }
    }
    if (shown.destages) {
      ctx.fillStyle = colour(DESTAGE);
      for (const [member, begun, ended, done] of chart.destages) {
        if (done < u.scales.x.min || begun > u.scales.x.max) continue;
        bar(begun, ended, lane * (member + 0.1), lane * 0.24);
        if (done > ended) bar(ended, done, lane * (member + 0.2), lane * 0.04);
      }
    }
    ctx.restore();
  };
  const lower = new uPlot({
    width, height: laneHeight * chart.members + 60, padding: PADDING, legend: { show: false }, cursor: { ...cursor, y: false },
    scales: { x: { time: false, range: (u, min, max) => [min ?? full[0], max ?? full[1]] }, y: { dir: -1, range: [0, chart.members] } },
    axes: [across({ label: "time, ms" }), axis(null, { size: LEFT, splits: () => [...Array(chart.members).keys()].map((member) => member + 0.5),
      values: (u, splits) => splits.map((lane) => `SSD ${lane - 0.5}`), grid: { show: false }, ticks: { show: false } })],
    series: [{}, { points: { show: false }, paths: () => null }],
    hooks: { draw: [lanes], setScale: [sync], setCursor: [atCursor] },
  }, [full, [0, 0]], parts.plot);
  group.push(upper, lower);
  group.forEach((u) => u.setScale("x", { min: full[0], max: full[1] }));
  // A double click shows everything, not only what the data span.
  group.forEach((u) => u.over.addEventListener("dblclick", () => group.forEach((u) => u.setScale("x", { min: full[0], max: full[1] }))));
  const redraw = () => lower.redraw();
  const legend = (name, place, action) => entry(parts, name, (style) => { style.background = colour(place); }, action);
  legend("● read", READ, (show) => upper.setSeries(1, { show }));
  legend("× write", WRITE, (show) => upper.setSeries(2, { show }));
  legend("collection of the member's own", OWN, (show) => { shown.own = show; redraw(); });
  legend("forced by the controller", FORCED, (show) => { shown.forced = show; redraw(); });
  if (chart.destages.length) legend("destage; thin: waits for the others", DESTAGE, (show) => { shown.destages = show; redraw(); });
  navigation(parts, group, full, false);
  keep(parts, group);
}
