// The frame of a chart: heading, buttons, plot, legend whose entries are switches, and what the cursor reads.
let home;
const drawn = [];

function frame(chart) {
  const zoom = make("div", { class: "buttons" }), tools = make("div", { class: "tools" }, zoom);
  const plot = make("div", { class: "plot", tabindex: "0", role: "application", "aria-label": `${chart.title}. ${HINT}` });
  const tip = make("output", { class: "tip" });
  tip.hidden = true;
  const legend = make("div", { class: "legend" });
  legend.hidden = true;
  const picture = document.getElementById(`picture-${chart.id}`);
  if (picture) {
    const exports = make("div", { class: "export" });
    button(exports, "SVG", "Save this chart as an SVG file", () => flashraid.save(picture.textContent, `${chart.id}.svg`, "image/svg+xml"));
    button(exports, "PNG", "Save this chart as a PNG file", () => flashraid.savePicture(picture.textContent, `${chart.id}.png`));
    tools.append(exports);
  }
  home.append(make("section", { class: chart.kind === "timeline" ? "chart wide" : "chart", id: chart.id },
    make("header", {}, make("h2", {}, chart.title), tools), plot, legend, ...(chart.look.explanations ?? []).map((text) => make("p", { class: "doubt" }, text))));
  plot.append(tip);
  return { buttons: zoom, plot, legend, tip, entries: [], explanations: chart.look.explanations ?? [] };
}

// Says what the cursor reads: where it is, a text for each entry, and what the symbols in these texts mean, beside it. Nothing without a place.
function read({ tip, plot, entries, explanations }, u, where, texts) {
  const { left, top } = u.cursor;
  plot.reading = [where, ...texts];
  tip.hidden = !where || left == null || left < 0;
  if (tip.hidden) return;
  const shown = entries.map((entry, index) => [entry, texts[index]]).filter(([entry, text]) => entry.isShown() && text);
  const meanings = explanations.filter((meaning) => [where, ...texts].some((text) => text.includes(` ${meaning[0]}`)));
  tip.replaceChildren(make("b", {}, where), ...shown.map(([{ name, swatch }, text]) => make("div", {}, swatch.cloneNode(), `${name} `, make("span", {}, text))),
    ...meanings.map((meaning) => make("small", {}, meaning)));
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

// An entry of the legend, which switches something on and off. A single entry says nothing that the heading does not.
function entry(parts, name, paint, action) {
  const swatch = make("span", { class: "swatch" });
  const element = make("button", { type: "button", "aria-pressed": "true" }, swatch, make("span", { class: "name" }, name));
  const meanings = parts.explanations.filter((meaning) => name.includes(` ${meaning[0]}`));
  if (meanings.length) element.title = meanings.join(" ");
  const isShown = () => element.getAttribute("aria-pressed") === "true";
  element.addEventListener("click", () => {
    element.setAttribute("aria-pressed", !isShown());
    action(isShown());
  });
  parts.legend.append(element);
  const repaint = () => paint(swatch.style);
  repaint();
  parts.entries.push({ name, swatch, isShown, repaint });
  parts.legend.hidden = parts.entries.length < 2;
}

// Charts follow the width of the page, the colour scheme and the printer.
function keep(parts, group) {
  parts.plot.uplots = group;
  drawn.push({ parts, group });
}

// Removes the charts of an element, and all that is kept of them.
function discard(into) {
  for (const { parts, group } of drawn.filter(({ parts }) => into.contains(parts.plot))) {
    group.forEach((u) => u.destroy());
    drawn.splice(drawn.findIndex((known) => known.parts === parts), 1);
  }
  for (let index = linked.length - 1; index >= 0; index--) if (linked[index].home === into) linked.splice(index, 1);
  into.replaceChildren();
}

const widthOf = (plot) => Math.max(250, plot.clientWidth);
const HEIGHT = 320;
const HINT = "Drag to zoom, double-click to reset; keys: arrows read values, Shift and arrows move, + − 0 zoom.";

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
const UPWARDS_MAX = 7, ACROSS_MAX = 10;
const upwards = (label, log, most = () => UPWARDS_MAX, whole = false) => axis(label, {
  size: LEFT - LABEL, values: (u, splits) => splits.map((value) => (value == null ? "" : numeral(value))), filter: (u, splits) => splits,
  splits: (u, index, min, max) => (log ? logarithmicTicks(min, max) : linearTicks(min, max, most(u), whole)) });
// A narrow page has room for fewer numbers.
const roomAcross = (u) => Math.max(3, Math.min(ACROSS_MAX, Math.floor((u.width - 100) / 85)));
const across = (quantity, whole = false) => ({ ...upwards(quantity.label, quantity.log, roomAcross, whole), size: 34, labelSize: 22 });

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

// Zoom by keys and buttons; dragging and double clicks are the library's own. `group` moves together.
function navigation(parts, group, full, log) {
  const forth = (value) => (log ? Math.log10(value) : value), back = (value) => (log ? 10 ** value : value);
  const show = (min, max) => group.forEach((u) => u.setScale("x", { min: back(min), max: back(max) }));
  const reset = () => group.forEach((u) => u.setScale("x", { min: full[0], max: full[1] }));
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
