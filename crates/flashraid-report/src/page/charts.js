// Draws the charts of the page from the JSON in it, with uPlot (MIT licence).
"use strict";
(() => {
  const charts = JSON.parse(document.getElementById("charts-data").textContent);
  let home;

  // Eight colours that stay apart for all kinds of colour vision, lighter on dark ground; dashes tell lines apart without them.
  const LIGHT = { ink: "#1c1f23", soft: "#5b6470", line: "#e1e4e8", ground: "#ffffff", own: "#c98600", forced: "#0072b2",
    read: "#2f8fc4", write: "#d55e00", destage: "#009e73",
    series: ["#1c4fb6", "#d73e19", "#229684", "#8d386a", "#d39f16", "#2ab2f2", "#3b1b5c", "#9a56ff"], bands: ["#56b4e955", "#e69f0066", "#d55e0077"] };
  const DARK = { ink: "#e4e7eb", soft: "#a7b0bb", line: "#2b3139", ground: "#15181c", own: "#f0b73f", forced: "#5cb8f0",
    read: "#a6d8f5", write: "#ff9a4d", destage: "#3fcf9f",
    series: ["#58aaff", "#f77838", "#2febb3", "#c393a7", "#fac63d", "#4078a1", "#ffffff", "#a04ff2"], bands: ["#56b4e944", "#e69f0055", "#d55e0077"] };
  const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 2], [14, 4], [3, 6], [12, 3, 2, 3, 2, 3]];
  // Most points of a line that are marked each.
  const MARKED_MAX = 40;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let printing = false;
  const theme = () => (dark.matches && !printing ? DARK : LIGHT);
  const colour = (index) => theme().series[index % theme().series.length];
  const number = (value) => (value == null ? "–" : Number(value.toPrecision(4)).toLocaleString("en", { maximumSignificantDigits: 4 }));

  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };

  const drawn = [];

  // The frame of a chart: heading, buttons, plot, legend whose entries are switches and show the values at the cursor.
  function frame(chart, hint) {
    const buttons = make("div", { class: "buttons" });
    const plot = make("div", { class: "plot", tabindex: "0", role: "application", "aria-label": `${chart.title}. ${hint}` });
    const tip = make("div", { class: "tip", "aria-hidden": "true" });
    tip.hidden = true;
    const legend = make("div", { class: "legend" });
    const where = make("output", { class: "where" });
    legend.append(where);
    const exports = make("div", { class: "export" });
    const picture = document.getElementById(`picture-${chart.id}`);
    if (picture) {
      button(exports, "SVG", "Save this chart as an SVG file", () => flashraid.save(picture.textContent, `${chart.id}.svg`, "image/svg+xml"));
      button(exports, "PNG", "Save this chart as a PNG file", () => flashraid.savePicture(picture.textContent, `${chart.id}.png`));
    }
    home.append(make("section", { class: chart.kind === "timeline" ? "chart wide" : "chart", id: chart.id },
      make("header", {}, make("h2", {}, chart.title), buttons), plot, legend, make("footer", {}, make("p", { class: "hint" }, hint), exports)));
    plot.append(tip);
    return { buttons, plot, legend, where, tip };
  }

  // What the legend shows at the cursor, beside the cursor.
  function showTip({ tip, legend, where, plot }, u) {
    const { left, top } = u.cursor;
    tip.hidden = !where.textContent || left == null || left < 0;
    if (tip.hidden) return;
    const entries = [...legend.querySelectorAll("button[aria-pressed=true]")].filter((entry) => entry.querySelector("output").textContent);
    tip.replaceChildren(make("b", {}, where.textContent), ...entries.map((entry) => {
      const name = entry.querySelector(".name").textContent;
      return make("div", {}, entry.querySelector(".swatch").cloneNode(), `${name} `, make("span", {}, entry.querySelector("output").textContent));
    }));
    const box = u.over.getBoundingClientRect(), around = plot.getBoundingClientRect();
    const x = box.left - around.left + left, room = around.width - x - 16;
    tip.style.left = `${Math.max(0, tip.offsetWidth > room ? x - tip.offsetWidth - 12 : x + 12)}px`;
    tip.style.top = `${Math.max(0, box.top - around.top + Math.min(Math.max(0, top - 20), Math.max(0, box.height - tip.offsetHeight)))}px`;
  }

  function button(parent, text, name, action) {
    const element = make("button", { type: "button", "aria-label": name, title: name }, text);
    element.addEventListener("click", action);
    parent.append(element);
    return element;
  }

  // A legend entry that switches something on and off; returns where its value is shown.
  function toggle(legend, name, paint, action) {
    const swatch = make("span", { class: "swatch" });
    const value = make("output");
    const element = make("button", { type: "button", "aria-pressed": "true" }, swatch, make("span", { class: "name" }, name), " ", value);
    element.addEventListener("click", () => {
      const shown = element.getAttribute("aria-pressed") !== "true";
      element.setAttribute("aria-pressed", shown);
      action(shown);
    });
    legend.append(element);
    const repaint = () => paint(swatch.style);
    repaint();
    return { value, repaint };
  }

  // Room for the numbers and the name of a vertical axis; panels above each other share it, named or not.
  const LEFT = 82, LABEL = 24;
  const axis = (label, more = {}) => ({
    label, labelSize: LABEL, labelFont: "13px system-ui, sans-serif", font: "12px system-ui, sans-serif",
    stroke: () => theme().soft, grid: { stroke: () => theme().line, width: 1 }, ticks: { stroke: () => theme().line, width: 1 }, ...more });
  // Five digits and a comma is what there is room for; 400,000 is 400 k.
  const numeral = (value) => {
    const [unit, scale] = Math.abs(value) >= 1e9 ? [" G", 1e9] : Math.abs(value) >= 1e6 ? [" M", 1e6] : Math.abs(value) >= 1e5 ? [" k", 1e3] : ["", 1];
    return Number((value / scale).toPrecision(6)).toLocaleString("en", { maximumSignificantDigits: 6 }) + unit;
  };
  const upwards = (label, log) => axis(label, {
    size: LEFT - LABEL, values: (u, splits) => splits.map((value) => (value == null ? "" : numeral(value))),
    ...(log ? { filter: (u, splits) => ofDecades(splits) } : {}) });
  // Of a logarithmic axis the numbers that are written: powers of ten; where there are few, halves and doubles of them, too, or all.
  const ofDecades = (splits) => {
    const digit = (value) => Math.round((value / 10 ** Math.floor(Math.log10(value) + 1e-9)) * 1e6) / 1e6;
    const written = [[1], [1, 2, 5], null].map((digits) => splits.map((value) => (digits === null || digits.includes(digit(value)) ? value : null)));
    return written.find((values) => values.filter((value) => value !== null).length > 2) ?? written[2];
  };
  const widthOf = (plot) => Math.max(250, plot.clientWidth);
  const HEIGHT = 260;

  // Charts over time move together, in seconds; each keeps to what it has.
  const linked = [];
  function link(label, group, full) {
    const seconds = { "time, s": 1, "time, ms": 1e-3 }[label];
    if (!seconds) return () => {};
    const own = { home, group, full, seconds, follows: null };
    linked.push(own);
    return (u) => {
      const { min, max } = u.scales.x;
      if (!own.group.length || min == null) return;
      // What another chart has asked for is not passed on.
      if (own.follows && own.follows[0] === min && own.follows[1] === max) return;
      own.follows = null;
      const from = min * seconds, to = max * seconds, whole = min <= full[0] && max >= full[1];
      for (const other of linked) {
        if (other === own || other.home !== own.home) continue;
        const min = whole ? other.full[0] : Math.max(other.full[0], from / other.seconds), max = whole ? other.full[1] : Math.min(other.full[1], to / other.seconds);
        if (!(min < max)) continue;
        other.follows = [min, max];
        other.group.forEach((chart) => chart.setScale("x", { min, max }));
      }
    };
  }

  // Zoom by keys and buttons; dragging and double clicks are uPlot's own. `group` moves together.
  function navigation(parts, group, full, log) {
    const forth = (value) => (log ? Math.log10(value) : value), back = (value) => (log ? 10 ** value : value);
    const show = (min, max) => group.forEach((u) => u.setScale("x", { min: back(min), max: back(max) }));
    const reset = () => show(forth(full[0]), forth(full[1]));
    const limits = () => [forth(group[0].scales.x.min), forth(group[0].scales.x.max), forth(full[0]), forth(full[1])];
    const zoom = (factor) => {
      const [min, max, least, most] = limits();
      const left = group[0].cursor.left;
      const centre = left >= 0 ? forth(group[0].posToVal(left, "x")) : (min + max) / 2;
      show(Math.max(least, centre - (centre - min) * factor), Math.min(most, centre + (max - centre) * factor));
    };
    const pan = (share) => {
      const [min, max, least, most] = limits();
      const by = Math.max(least - min, Math.min(most - max, (max - min) * share));
      show(min + by, max + by);
    };
    const step = (by) => {
      const u = group[0], x = u.data[0];
      let index = u.cursor.idx == null ? (by > 0 ? -1 : x.length) : u.cursor.idx;
      const from = x[index];
      do index += by; while (x[index] < u.scales.x.min || x[index] === from);
      if (!(x[index] >= u.scales.x.min && x[index] <= u.scales.x.max)) return;
      group.forEach((u) => u.setCursor({ left: u.valToPos(x[index], "x"), top: u.over.clientHeight / 2 }));
    };
    button(parts.buttons, "+", "Zoom in", () => zoom(0.5));
    button(parts.buttons, "−", "Zoom out", () => zoom(2));
    button(parts.buttons, "◀", "Earlier or smaller", () => pan(-0.3));
    button(parts.buttons, "▶", "Later or larger", () => pan(0.3));
    button(parts.buttons, "Reset", "Show everything", reset);
    const keys = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "0": reset, Escape: reset, Home: () => pan(-1e9), End: () => pan(1e9) };
    parts.plot.addEventListener("keydown", (event) => {
      const arrow = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      const action = arrow ? () => (event.shiftKey ? pan(arrow * 0.3) : step(arrow)) : keys[event.key];
      if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      action();
    });
  }

  // Between the numbers of an axis whose values are whole: half a member is none.
  const WHOLE = [...Array(13).keys()].flatMap((power) => [1, 2, 5].map((step) => step * 10 ** power));
  const HINT = "Drag to zoom, double-click to reset; keys: arrows read values, Shift and arrows move, + − 0 zoom.";

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
    const parts = frame(chart, HINT);
    const data = aligned(chart.series, chart.steps);
    const shownBands = chart.bands.map(() => true);
    let values = [];
    const halfAt = (series, x) => {
      const { points, half_widths = [] } = chart.series[series], index = points.findIndex((point) => point[0] === x);
      return half_widths[index] == null ? "" : ` ±${number(half_widths[index])}`;
    };
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
    // What the axis has to cover besides the lines.
    const ends = chart.series.flatMap(({ points, half_widths = [] }) => half_widths.flatMap((half, i) => [points[i][1] - half, points[i][1] + half]));
    const levels = [...chart.levels.map((level) => level[1]), ...(chart.y.cover ?? []), ...ends].filter((value) => !chart.y.log || value > 0);
    const across = [...data[0], ...(chart.x.cover ?? []), ...chart.marks.map((mark) => mark[1])];
    const [least, most] = [Math.min(...across), Math.max(...across)];
    // Marked points and the jumps at both ends need room.
    const marked = !chart.steps && data[0].length <= MARKED_MAX;
    const margin = marked || chart.steps ? (chart.x.log ? Math.log10(most / least) : most - least) * 0.03 : 0;
    const full = !(most > least) ? [least, least + 1] : chart.x.log ? [least / 10 ** margin, most * 10 ** margin] : [least - margin, most + margin];
    const intervals = (u) => {
      const { ctx, bbox } = u;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      const ratio = devicePixelRatio;
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
      ctx.lineWidth = 1.5 * devicePixelRatio;
      chart.series.forEach(({ points, half_widths = [] }, index) => {
        if (u.series[index + 1].show === false) return;
        ctx.strokeStyle = colour(index);
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
    const group = [], follow = link(chart.x.label, group, full);
    const upToDecade = (max, min) => 10 ** Math.ceil(Math.log10(max > min ? max : max * 1.01) - 1e-9);
    // The names of moments stand above the lines.
    const room = 0.085 * Math.min(4, chart.marks.length);
    const upTo = (u, min, max) => (chart.y.log
      ? [10 ** Math.floor(Math.log10(Math.min(min ?? 1, ...levels))), upToDecade(Math.max(max ?? 10, ...levels), Math.min(min ?? 1, ...levels))]
      : [Math.min(0, min ?? 0, ...levels), (Math.max(max ?? 1, ...levels) * 1.05) / (1 - room) || 1]);
    const u = new uPlot({
      width: widthOf(parts.plot), height: HEIGHT, legend: { show: false },
      scales: {
        x: { time: false, distr: chart.x.log ? 3 : 1, range: (u, min, max) => [min === data[0][0] ? full[0] : min ?? full[0], !(max > min) || max === data[0][data[0].length - 1] ? full[1] : max] },
        y: { distr: chart.y.log ? 3 : 1, range: upTo } },
      axes: [{ ...upwardsAcross(chart.x), ...(chart.x.log || !data[0].every(Number.isInteger) ? {} : { incrs: WHOLE }) }, upwards(chart.y.label, chart.y.log)],
      series: [{}, ...chart.series.map((line, index) => ({
        label: line.name, stroke: () => colour(index), width: 2, dash: DASHES[index % DASHES.length], spanGaps: true, points: { show: marked, size: 7, fill: () => colour(index) } }))],
      cursor: { drag: { x: true, y: false }, points: { size: 7 } },
      hooks: { drawClear: [background], drawAxes: [thresholds], draw: [intervals], setCursor: [(u) => {
        const index = u.cursor.idx;
        parts.where.textContent = index == null ? "" : `${chart.x.label}: ${number(data[0][index])}`;
        values.forEach(({ value }, series) => { value.textContent = index == null ? "" : number(valueAt(data[0], u.data[series + 1], index)) + halfAt(series, data[0][index]); });
        showTip(parts, u);
      }], setScale: [(u, key) => { if (key === "x") follow(u); }] },
    }, data, parts.plot);
    group.push(u);
    values = chart.series.map((line, index) => toggle(parts.legend, line.name, (style) => { style.background = colour(index); }, (show) => u.setSeries(index + 1, { show })));
    const bands = chart.bands.map((band, index) => toggle(parts.legend, band.name, (style) => { style.background = theme().bands[index % 3]; },
      (show) => { shownBands[index] = show; u.redraw(); }));
    navigation(parts, [u], full, chart.x.log);
    keep(parts, [u], [...values, ...bands]);
  }

  const upwardsAcross = (quantity) => ({ ...upwards(quantity.label, quantity.log), size: 34, labelSize: 22 });

  function bars(chart) {
    const parts = frame(chart, "Hover or use the arrow keys to read values; the entries below switch series on and off.");
    const groups = chart.groups.length;
    const shown = () => chart.series.map((_, index) => index).filter((index) => !u || u.series[index + 1].show !== false);
    const all = chart.series.flatMap((series) => series.values).filter((value) => value != null);
    const floor = Math.min(...all, ...(chart.y.cover ?? [])) / 2;
    let u, values = [];
    // Of a group: all in one place, one on the other, or side by side.
    const slot = (series) => { const visible = shown(); return chart.stacked ? [0.6, -0.3] : [0.8 / visible.length, -0.4 + (0.8 / visible.length) * visible.indexOf(series)]; };
    const below = (series, group) => (chart.stacked ? shown().filter((other) => other < series).reduce((sum, other) => sum + (chart.series[other].values[group] ?? 0), 0) : 0);
    const paths = (u, seriesIndex) => {
      const path = new Path2D();
      const [width, offset] = slot(seriesIndex - 1);
      const bottom = u.valToPos(chart.y.log ? u.scales.y.min : 0, "y", true);
      u.data[seriesIndex].forEach((value, group) => {
        if (value == null) return;
        const left = u.valToPos(group + offset + width * 0.04, "x", true), right = u.valToPos(group + offset + width * 0.96, "x", true);
        const under = below(seriesIndex - 1, group), foot = under ? u.valToPos(under, "y", true) : bottom;
        const top = u.valToPos(under + value, "y", true);
        path.rect(left, top, right - left, foot - top);
      });
      return { stroke: null, fill: path };
    };
    const intervals = (u) => {
      const { ctx } = u;
      ctx.save();
      ctx.strokeStyle = theme().ink;
      ctx.lineWidth = 1.5 * devicePixelRatio;
      for (const series of shown()) {
        const [width, offset] = slot(series);
        chart.series[series].half_widths.forEach((half, group) => {
          if (half == null) return;
          const value = chart.series[series].values[group], x = u.valToPos(group + offset + width / 2, "x", true);
          ctx.beginPath();
          ctx.moveTo(x, u.valToPos(Math.max(value - half, chart.y.log ? floor : 0), "y", true));
          ctx.lineTo(x, u.valToPos(value + half, "y", true));
          ctx.stroke();
        });
      }
      ctx.restore();
    };
    const most = () => Math.max(...shown().flatMap((series) => chart.series[series].values.map((value, group) => below(series, group) + (value ?? 0) + (chart.series[series].half_widths[group] ?? 0))), ...(chart.y.cover ?? []), 1e-12);
    // Names that would overlap are turned.
    const longest = Math.max(...chart.groups.map((name) => name.length));
    const turned = () => longest * 7 > (widthOf(parts.plot) - 80) / groups;
    u = new uPlot({
      width: widthOf(parts.plot), height: HEIGHT, legend: { show: false },
      scales: { x: { time: false, range: [-0.6, groups - 0.4] }, y: chart.y.log ? { distr: 3, range: () => [10 ** Math.floor(Math.log10(floor)), most() * 1.3] } : { range: () => [0, most() * 1.08] } },
      axes: [axis(null, { splits: () => chart.groups.map((_, group) => group), values: () => chart.groups, grid: { show: false },
        rotate: turned() ? 35 : 0, size: turned() ? 24 + longest * 4.2 : 30 }), upwards(chart.y.label, chart.y.log)],
      series: [{}, ...chart.series.map((series, index) => ({ label: series.name, fill: () => colour(index), paths, points: { show: false } }))],
      cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
      hooks: { draw: [intervals], setCursor: [(u) => {
        const group = u.cursor.idx;
        parts.where.textContent = group == null ? "" : chart.groups[group];
        values.forEach(({ value }, series) => {
          const half = group == null ? null : chart.series[series].half_widths[group];
          value.textContent = group == null ? "" : number(chart.series[series].values[group]) + (half == null ? "" : ` ±${number(half)}`);
        });
        showTip(parts, u);
      }] },
    }, [chart.groups.map((_, group) => group), ...chart.series.map((series) => series.values)], parts.plot);
    values = chart.series.map((series, index) => toggle(parts.legend, series.name, (style) => { style.background = colour(index); },
      (show) => { u.setSeries(index + 1, { show }); u.redraw(true); }));
    parts.plot.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!by) return;
      event.preventDefault();
      const group = Math.max(0, Math.min(groups - 1, (u.cursor.idx ?? (by > 0 ? -1 : groups)) + by));
      u.setCursor({ left: u.valToPos(group, "x"), top: 10 });
    });
    keep(parts, [u], values);
  }

  function timeline(chart) {
    const parts = frame(chart, HINT + ` A lane for each member, in it ${chart.destages.length ? "destages above " : ""}a row for each die.`);
    const full = [chart.window_ms.start, chart.window_ms.end];
    const x = chart.requests.map((request) => request[0]);
    const column = (write) => chart.requests.map((request) => (request[2] === write ? request[1] : null));
    const shown = { own: true, forced: true, destages: true };
    let values = [];
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
    const read = (u) => {
      const left = u.cursor.left;
      if (left == null || left < 0) { parts.where.textContent = ""; values.forEach(({ value }) => { value.textContent = ""; }); showTip(parts, u); return; }
      const at = u.posToVal(left, "x"), index = group[0].cursor.idx;
      const during = chart.collections.filter((collection) => collection[2] <= at && at < collection[3]);
      const members = (forced) => new Set(during.filter((collection) => collection[4] === forced).map((collection) => collection[0])).size;
      parts.where.textContent = `${number(at)} ms`;
      const request = index == null ? null : chart.requests[index];
      const response = (write) => (request && request[2] === write ? `${number(request[1])} ${chart.unit}` : "");
      const destaging = new Set(chart.destages.filter(([, begun, , done]) => begun <= at && at < done).map(([member]) => member)).size;
      [response(false), response(true), `${members(false)} members`, `${members(true)} members`, `${destaging} members`]
        .slice(0, values.length).forEach((text, index) => { values[index].value.textContent = text; });
      showTip(parts, u);
    };
    const cursor = { drag: { x: true, y: false }, points: { show: false }, sync: { key: chart.id, setSeries: false } };
    const width = widthOf(parts.plot), PADDING = [10, 18, 0, 0];
    const upper = new uPlot({
      width, height: 230, padding: PADDING, legend: { show: false }, cursor,
      scales: { x: { time: false, range: (u, min, max) => [min ?? full[0], max ?? full[1]] }, y: { range: (u, min, max) => [0, (max ?? 1) * 1.08] } },
      axes: [axis(null, { values: () => [], size: 8 }), upwards(`response, ${chart.unit}`)],
      series: [{}, { label: "read", stroke: () => theme().read, fill: () => theme().read, paths: marks(false), points: { show: false } },
        { label: "write", stroke: () => theme().write, width: 1.2, paths: marks(true), points: { show: false } }],
      hooks: { setScale: [sync], setCursor: [read] },
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
        ctx.fillStyle = theme()[forced ? "forced" : "own"];
        for (const [member, die, start, end, kind] of chart.collections) {
          if (kind !== forced || end < u.scales.x.min || start > u.scales.x.max) continue;
          bar(start, end, lane * (member + below) + row * die, row);
        }
      }
      if (shown.destages) {
        ctx.fillStyle = theme().destage;
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
      axes: [upwardsAcross({ label: "time, ms" }), axis(null, { size: LEFT, splits: () => [...Array(chart.members).keys()].map((member) => member + 0.5),
        values: (u, splits) => splits.map((lane) => `SSD ${lane - 0.5}`), grid: { show: false }, ticks: { show: false } })],
      series: [{}, { points: { show: false }, paths: () => null }],
      hooks: { draw: [lanes], setScale: [sync], setCursor: [read] },
    }, [full, [0, 0]], parts.plot);
    group.push(upper, lower);
    group.forEach((u) => u.setScale("x", { min: full[0], max: full[1] }));
    // A double click shows everything, not only what the data span.
    group.forEach((u) => u.over.addEventListener("dblclick", () => group.forEach((u) => u.setScale("x", { min: full[0], max: full[1] }))));
    const redraw = () => lower.redraw();
    values = [
      toggle(parts.legend, "● read", (style) => { style.background = theme().read; }, (show) => upper.setSeries(1, { show })),
      toggle(parts.legend, "× write", (style) => { style.background = theme().write; }, (show) => upper.setSeries(2, { show })),
      toggle(parts.legend, "collection of the member's own", (style) => { style.background = theme().own; }, (show) => { shown.own = show; redraw(); }),
      toggle(parts.legend, "forced by the controller", (style) => { style.background = theme().forced; }, (show) => { shown.forced = show; redraw(); }),
    ];
    if (chart.destages.length) {
      values.push(toggle(parts.legend, "destage; thin: waits for the others", (style) => { style.background = theme().destage; }, (show) => { shown.destages = show; redraw(); }));
    }
    navigation(parts, group, full, false);
    keep(parts, group, values);
  }

  // Charts follow the width of the page, the colour scheme and the printer.
  function keep(parts, group, entries) {
    parts.plot.uplots = group;
    drawn.push({ parts, group, entries });
  }
  const repaint = () => drawn.forEach(({ group, entries }) => { group.forEach((u) => u.redraw(false)); entries.forEach(({ repaint }) => repaint()); });
  const fit = () => drawn.forEach(({ parts, group }) => group.forEach((u) => {
    const width = widthOf(parts.plot);
    if (u.width !== width) u.setSize({ width, height: u.height });
  }));
  dark.addEventListener("change", repaint);
  addEventListener("resize", fit);
  addEventListener("beforeprint", () => { printing = true; repaint(); });
  addEventListener("afterprint", () => { printing = false; repaint(); });

  const kinds = { lines, bars, timeline };
  const homes = document.querySelectorAll(".charts");
  charts.forEach((part, index) => {
    home = homes[index];
    for (const chart of part) kinds[chart.kind](chart);
  });
  // What the address asks for was not there when the page was opened.
  if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
})();
