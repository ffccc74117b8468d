// Requests of a window of time above lanes of the members: collections and destages of each, die by die. Several arrays stand above each other.
function timeline(chart) {
  const parts = frame(chart);
  const full = [chart.window_ms.start, chart.window_ms.end], isOne = chart.panels.length === 1;
  const shown = { own: true, forced: true, destages: true };
  const group = [], follow = link("time, ms", group, full), uppers = [], lowers = [];
  const longest = most(chart.panels.flatMap((panel) => panel.requests.map((request) => request[1])));
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
  const cursor = { drag: { x: true, y: false }, points: { show: false }, sync: { key: chart.id, setSeries: false } };
  const width = widthOf(parts.plot), PADDING = [10, 18, 0, 0];
  const clipped = (u, draw) => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    draw(ctx, bbox);
    ctx.restore();
  };
  chart.panels.forEach((panel, index) => {
    const place = uppers.length, { slowest } = panel;
    const column = (write) => panel.requests.map((request) => (request[2] === write ? request[1] : null));
    const atCursor = (u) => {
      const left = u.cursor.left;
      if (left == null || left < 0) { read(parts, u, "", []); return; }
      const at = u.posToVal(left, "x"), index = uppers[place].cursor.idx;
      const during = panel.collections.filter((collection) => collection[2] <= at && at < collection[3]);
      const members = (forced) => new Set(during.filter((collection) => collection[4] === forced).map((collection) => collection[0])).size;
      const request = index == null ? null : panel.requests[index];
      const response = (write) => (request && request[2] === write ? quantity(request[1], null, chart.unit) : "");
      const destaging = new Set(panel.destages.filter(([, begun, , done]) => begun <= at && at < done).map(([member]) => member)).size;
      const texts = [response(false), response(true), ...[members(false), members(true), destaging].map((count) => counted(count, "member"))];
      read(parts, u, `${isOne ? "" : `${panel.name}, `}time: ${number(at)} ms`, texts.slice(0, parts.entries.length));
    };
    // From the arrival of the slowest to its end, behind everything, and a ring around it.
    const stretch = (u, { ctx, bbox }) => {
      ctx.fillStyle = theme().bands[1];
      const left = u.valToPos(slowest.from_ms, "x", true), right = u.valToPos(slowest.done_ms, "x", true);
      ctx.fillRect(left, bbox.top, Math.max(1, right - left), bbox.height);
    };
    const behind = (u) => { if (slowest) clipped(u, (ctx, bbox) => stretch(u, { ctx, bbox })); };
    const ring = (u) => {
      if (slowest) clipped(u, (ctx) => {
        [ctx.strokeStyle, ctx.lineWidth] = [theme().ink, 1.5 * devicePixelRatio];
        ctx.beginPath();
        ctx.arc(u.valToPos(slowest.done_ms, "x", true), u.valToPos(slowest.response, "y", true), 7 * devicePixelRatio, 0, 2 * Math.PI);
        ctx.stroke();
      });
    };
    const name = [isOne ? "" : panel.name, slowest?.text ?? ""].filter(Boolean);
    if (name.length) {
      const line = make("p", { class: "panel" }, isOne ? "" : make("b", {}, panel.name), isOne || !slowest ? "" : ". ", slowest?.text ?? "");
      parts.plot.append(line);
    }
    const upper = new uPlot({
      width, height: isOne ? 230 : 180, padding: PADDING, legend: { show: false }, cursor,
      scales: { x: { time: false, range: (u, min, max) => [min ?? full[0], max ?? full[1]] }, y: { range: (u, min, max) => [0, (isOne ? max ?? 1 : longest) * 1.08] } },
      axes: [axis(null, { values: () => [], size: 8 }), upwards(`response, ${chart.unit}`)],
      series: [{}, { label: "read", stroke: () => colour(READ), fill: () => colour(READ), paths: marks(false), points: { show: false } },
        { label: "write", stroke: () => colour(WRITE), width: 1.2, paths: marks(true), points: { show: false } }],
      hooks: { drawClear: [behind], draw: [ring], setScale: [sync], setCursor: [atCursor] },
    }, [panel.requests.map((request) => request[0]), column(false), column(true)], parts.plot);
    const laneHeight = (panel.members === 1 ? Math.min(320, Math.max(40, panel.dies * 16)) : 34) + (panel.destages.length ? 14 : 0);
    // Destages have the upper part of a lane.
    const below = panel.destages.length ? 0.42 : 0.08;
    const lanes = (u) => {
      const { bbox } = u, lane = bbox.height / panel.members, row = (lane * (0.92 - below)) / panel.dies;
      const box = (from, to, top, height) => {
        const left = u.valToPos(from, "x", true), right = u.valToPos(to, "x", true);
        return [left, bbox.top + top, Math.max(1, right - left), Math.max(1, height)];
      };
      const of = ([member, die, start, end]) => box(start, end, lane * (member + below) + row * die, row);
      clipped(u, (ctx) => {
        for (const forced of [false, true]) {
          if (!shown[forced ? "forced" : "own"]) continue;
          ctx.fillStyle = colour(forced ? FORCED : OWN);
          for (const collection of panel.collections) {
            if (collection[4] === forced && collection[3] >= u.scales.x.min && collection[2] <= u.scales.x.max) ctx.fillRect(...of(collection));
          }
        }
        if (shown.destages) {
          ctx.fillStyle = colour(DESTAGE);
          for (const [member, begun, ended, done] of panel.destages) {
            if (done < u.scales.x.min || begun > u.scales.x.max) continue;
            ctx.fillRect(...box(begun, ended, lane * (member + 0.1), lane * 0.24));
            if (done > ended) ctx.fillRect(...box(ended, done, lane * (member + 0.2), lane * 0.04));
          }
        }
        if (slowest?.collection != null) {
          const [left, top, width, height] = of(panel.collections[slowest.collection]), ratio = devicePixelRatio;
          [ctx.strokeStyle, ctx.lineWidth] = [theme().ink, 2 * ratio];
          ctx.strokeRect(left - ratio, top - ratio, width + 2 * ratio, height + 2 * ratio);
        }
      });
    };
    const isLast = index === chart.panels.length - 1, numbers = isLast ? across({ label: "time, ms" }) : axis(null, { values: () => [], size: 8 });
    const lower = new uPlot({
      width, height: laneHeight * panel.members + (isLast ? 60 : 22), padding: PADDING, legend: { show: false }, cursor: { ...cursor, y: false },
      scales: { x: { time: false, range: (u, min, max) => [min ?? full[0], max ?? full[1]] }, y: { dir: -1, range: [0, panel.members] } },
      axes: [numbers, axis(null, { size: LEFT, splits: () => [...Array(panel.members).keys()].map((member) => member + 0.5),
        values: (u, splits) => splits.map((lane) => `SSD ${lane - 0.5}`), grid: { show: false }, ticks: { show: false } })],
      series: [{}, { points: { show: false }, paths: () => null }],
      hooks: { drawClear: [behind], draw: [lanes], setScale: [sync], setCursor: [atCursor] },
    }, [full, [0, 0]], parts.plot);
    uppers.push(upper);
    lowers.push(lower);
    group.push(upper, lower);
  });
  group.forEach((u) => u.setScale("x", { min: full[0], max: full[1] }));
  // A double click shows everything, not only what the data span.
  group.forEach((u) => u.over.addEventListener("dblclick", () => group.forEach((u) => u.setScale("x", { min: full[0], max: full[1] }))));
  const redraw = () => lowers.forEach((lower) => lower.redraw());
  const legend = (name, place, action) => entry(parts, name, (style) => { style.background = colour(place); }, action);
  legend("● read", READ, (show) => uppers.forEach((upper) => upper.setSeries(1, { show })));
  legend("× write", WRITE, (show) => uppers.forEach((upper) => upper.setSeries(2, { show })));
  legend("collection of the member's own", OWN, (show) => { shown.own = show; redraw(); });
  legend("forced by the controller", FORCED, (show) => { shown.forced = show; redraw(); });
  if (chart.panels.some((panel) => panel.destages.length)) legend("destage; thin: waits for the others", DESTAGE, (show) => { shown.destages = show; redraw(); });
  navigation(parts, group, full, false);
  keep(parts, group);
}
