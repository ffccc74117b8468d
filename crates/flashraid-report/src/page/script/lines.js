// Lines over a quantity, in steps or joined.

// Points of several lines over one common list of x, in order. An x at which a line jumps is there twice, before and after.
function aligned(series, steps) {
  const times = new Map();
  for (const { points } of series) {
    for (let i = 0; i < points.length;) {
      let next = i + 1;
      while (next < points.length && points[next][0] === points[i][0]) next++;
      times.set(points[i][0], Math.max(times.get(points[i][0]) ?? 1, steps ? 2 : next - i));
      i = next;
    }
  }
  const xs = [...times.keys()].sort((a, b) => a - b).flatMap((x) => new Array(times.get(x)).fill(x));
  const columns = series.map(({ points }) => {
    const column = new Array(xs.length).fill(undefined), last = points[points.length - 1][0];
    let next = 0;
    for (let i = 0; i < xs.length;) {
      const x = xs[i], count = times.get(x);
      const here = [];
      while (next < points.length && points[next][0] === x) here.push(points[next++][1]);
      if (steps) {
        // What held before, and what holds from here on.
        if (x > points[0][0] && x <= last) column[i] = column[i - 1];
        else if (here.length > 1) column[i] = here[0];
        if (x >= points[0][0] && x <= last) column[i + 1] = here.length ? here[here.length - 1] : column[i];
      } else here.forEach((value, index) => { column[i + index] = value; });
      i += count;
    }
    return column;
  });
  return [xs, ...columns];
}

// The last known value at or before an index: points of different lines need not share their x. Of a jump it is the value after it.
const valueAt = (xs, column, index) => {
  while (xs[index + 1] === xs[index]) index++;
  while (index >= 0 && column[index] == null) index--;
  return column[index];
};

function lines(chart) {
  const parts = frame(chart), { colours, across: full, marked, hollow } = chart.look;
  const data = aligned(chart.series, chart.steps);
  const shownBands = chart.bands.map(() => true);
  const placeAt = (series, x) => chart.series[series].points.findIndex((point) => point[0] === x);
  // Of a line with marks the doubt about the point; of any other that about all of it.
  const doubtAt = (series, x) => doubtOf(chart.series[series], marked ? placeAt(series, x) : 0);
  const background = (u) => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    chart.bands.forEach((band, index) => {
      if (!shownBands[index]) return;
      ctx.fillStyle = theme().bands[index % 3];
      for (const { start, end } of band.stretches) {
        const left = u.valToPos(start, "x", true), right = u.valToPos(end, "x", true);
        ctx.fillRect(left, bbox.top, Math.max(1, right - left), bbox.height);
      }
    });
    ctx.restore();
  };
  // Over the grid, which may have a line at the same height.
  const thresholds = (u) => {
    const { ctx, bbox } = u;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = theme().soft;
    ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textAlign = "left";
    ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
    // What was drawn before has left its own.
    [ctx.lineWidth, ctx.lineCap, ctx.lineDashOffset] = [devicePixelRatio, "butt", 0];
    for (const [name, level] of chart.levels) {
      const y = u.valToPos(level, "y", true);
      ctx.beginPath();
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
      ctx.stroke();
      ctx.fillText(name, bbox.left + 6 * devicePixelRatio, y + (y - bbox.top < 16 * devicePixelRatio ? 14 : -4) * devicePixelRatio);
    }
    ctx.restore();
  };
  // Moments with their names, and intervals.
  const foreground = (u) => {
    const { ctx, bbox } = u, ratio = devicePixelRatio;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.font = `${11 * ratio}px system-ui, sans-serif`;
    ctx.textAlign = "left";
    ctx.textBaseline = "middle";
    chart.marks.forEach(([name, at], index) => {
      const x = u.valToPos(at, "x", true), width = ctx.measureText(name).width + 8 * ratio;
      // What happens soon after has its name below; near the right end a name stands before its line. Lines behind it shine through.
      const left = x + width > bbox.left + bbox.width ? x - width : x, y = bbox.top + (9 + 15 * (index % 4)) * ratio;
      ctx.strokeStyle = theme().ink;
      ctx.setLineDash([3 * ratio, 3 * ratio]);
      ctx.lineWidth = ratio;
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      ctx.globalAlpha = 0.8;
      ctx.fillStyle = theme().ground;
      ctx.fillRect(left, y - 7 * ratio, width, 14 * ratio);
      ctx.globalAlpha = 1;
      ctx.fillStyle = theme().ink;
      ctx.fillText(name, left + 4 * ratio, y);
    });
    ctx.setLineDash([]);
    chart.series.forEach((line, index) => {
      const { points, half_widths = [] } = line;
      if (u.series[index + 1].show === false) return;
      if (marked) points.forEach(([x, y], i) => {
        if (doubtOf(line, i)) diamond(ctx, u.valToPos(x, "x", true), u.valToPos(y, "y", true), colour(colours[index]), hollow[index]);
      });
      [ctx.strokeStyle, ctx.lineWidth] = [colour(colours[index]), 1.5 * ratio];
      half_widths.forEach((half, i) => {
        const x = u.valToPos(points[i][0], "x", true), low = points[i][1] - half;
        ctx.beginPath();
        ctx.moveTo(x, u.valToPos(chart.y.log ? Math.max(low, u.scales.y.min) : low, "y", true));
        ctx.lineTo(x, u.valToPos(points[i][1] + half, "y", true));
        ctx.stroke();
      });
    });
    ctx.restore();
  };
  const follow = link(chart.x.label, parts.group = [], full);
  // With everything in view the axis upwards is that of the picture; a part of it gets the room that it needs, with thresholds and intervals.
  const values = data.slice(1).flat().filter((value) => value != null), [low, high] = [least(values), most(values)];
  const ends = chart.series.flatMap(({ points, half_widths = [] }) => half_widths.flatMap((half, i) => [points[i][1] - half, points[i][1] + half]));
  const besides = [...chart.levels.map((level) => level[1]), ...ends].filter((value) => !chart.y.log || value > 0);
  const room = 0.085 * Math.min(4, chart.marks.length);
  const upTo = (u, min, max) => {
    if (min == null || (min <= low && max >= high)) return chart.look.upwards;
    const [from, to] = [Math.min(min, ...besides), Math.max(max, ...besides)], margin = 10 ** Math.max(0.04, Math.log10(to / from) * 0.04);
    return chart.y.log ? [from / margin, to * margin] : [Math.min(0, from), (Math.max(to, 0) * 1.06) / (1 - room) || 1];
  };
  const [first, last] = [data[0][0], data[0][data[0].length - 1]];
  const u = new uPlot({
    width: widthOf(parts.plot), height: HEIGHT, legend: { show: false },
    scales: {
      x: { time: false, distr: chart.x.log ? 3 : 1, range: (u, min, max) => [min === first ? full[0] : min ?? full[0], !(max > min) || max === last ? full[1] : max] },
      y: { distr: chart.y.log ? 3 : 1, range: upTo } },
    axes: [across(chart.x, chart.look.whole), upwards(chart.y.label, chart.y.log)],
    series: [{}, ...chart.series.map((line, index) => ({
      label: line.name, stroke: () => colour(colours[index]), width: 2, dash: DASHES[colours[index] % DASHES.length], spanGaps: true,
      // Doubtful points are drawn apart.
      points: { show: marked, size: 7, fill: () => (hollow[index] ? theme().ground : colour(colours[index])),
        filter: marked && line.doubts ? () => data[0].map((_, at) => at).filter((at) => data[index + 1][at] != null && !doubtAt(index, data[0][at])) : undefined } }))],
    cursor: { drag: { x: true, y: false }, points: { size: 7 } },
    hooks: { drawClear: [background], drawAxes: [thresholds], draw: [foreground], setCursor: [(u) => {
      const index = u.cursor.idx, x = data[0][index];
      const text = (line, series) => quantity(valueAt(data[0], u.data[series + 1], index), line.half_widths?.[placeAt(series, x)], unitOf(chart.y.label), doubtAt(series, x));
      const texts = chart.series.map((line, series) => (index == null ? "" : text(line, series)));
      read(parts, u, index == null ? "" : `${chart.x.label.replace(/, [^,]*$/, "")}: ${quantity(x, null, unitOf(chart.x.label))}`, texts);
    }], setScale: [(u, key) => { if (key === "x") follow(u); }] },
  }, data, parts.plot);
  parts.group.push(u);
  chart.series.forEach((_, index) => entry(parts, chart.look.names[index], (style) => { style.background = colour(colours[index]); },
    (show) => u.setSeries(index + 1, { show })));
  chart.bands.forEach((band, index) => entry(parts, band.name, (style) => { style.background = theme().bands[index % 3]; },
    (show) => { shownBands[index] = show; u.redraw(); }));
  navigation(parts, [u], full, chart.x.log);
  keep(parts, [u]);
}

// Of lists too long to be arguments.
const least = (values) => values.reduce((min, value) => Math.min(min, value), Infinity);
const most = (values) => values.reduce((max, value) => Math.max(max, value), -Infinity);
