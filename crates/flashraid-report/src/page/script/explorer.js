// The points of a study one at a time: a control for each varied key; figures and charts of the chosen point beside those of its baseline.
const SEGMENTS_MAX = 8, SEGMENTS_LENGTH_MAX = 70;
const CHOSEN = 0, BASELINE = 1;

function explore(data, section) {
  const { axes, points } = data, into = section.querySelector(".charts"), at = [...points[data.first].at];
  const [head, body] = ["thead", "tbody"].map((part) => section.querySelector(`.explored.table ${part}`));
  const setters = axes.map((axis, index) => control(axis, at[index], section, `${section.id}-${index}`, (value) => { at[index] = value; show(); }));
  const toBaseline = button(section.querySelector(".controls"), "To the baseline", "Choose the point that this one is compared with", () => {
    const chosen = find();
    if (chosen < 0) return;
    at.splice(0, at.length, ...points[points[chosen].baseline].at);
    setters.forEach((set, index) => set(at[index]));
    show();
  });

  const find = () => points.findIndex((point) => point.at.every((value, index) => value === at[index]));

  function show() {
    const chosen = find(), conclusion = section.querySelector(".conclusion");
    // What comes is as high as what goes, so that the page stays where it is.
    into.style.minHeight = `${into.offsetHeight}px`;
    discard(into);
    body.replaceChildren();
    head.replaceChildren();
    section.dataset.point = chosen;
    if (chosen < 0) {
      conclusion.textContent = "This combination is not part of the study.";
    } else {
      const { baseline, name, marks } = points[chosen], isBaseline = baseline === chosen;
      toBaseline.disabled = isBaseline;
      conclusion.textContent = data.conclusions[data.conclusion_of[chosen]] ?? "";
      table(chosen, baseline, isBaseline);
      data.charts.forEach((chart) => {
        const chart2 = picked(data, chart, isBaseline ? [chosen] : [baseline, chosen], chosen);
        if (chart2) flashraid.draw(chart2, into);
      });
    }
    into.style.minHeight = "";
  }

  function table(chosen, baseline, isBaseline) {
    const number = (text, more = {}) => make("td", { class: "number", ...more }, text);
    const name = (point) => `${points[point].name}${points[point].marks ? ` ${points[point].marks}` : ""}`;
    const columns = isBaseline ? [`${name(chosen)} (baseline)`] : [`${name(baseline)} (baseline)`, name(chosen), "×"];
    head.append(make("tr", {}, make("th", { scope: "col" }, "figure"),
      ...columns.map((text) => make("th", { scope: "col", class: "number" }, text))));
    let group = "";
    for (const figure of data.figures) {
      if (figure.group !== group) {
        group = figure.group;
        body.append(make("tr", { class: "group" }, make("th", { scope: "rowgroup", colspan: columns.length + 1 }, group)));
      }
      const hint = figure.hint ? { class: "explained", title: figure.hint } : {}, tone = figure.tones[chosen];
      body.append(make("tr", { "data-figure": figure.key }, make("th", { scope: "row" }, make("span", hint, figure.name), " ", make("span", { class: "unit" }, figure.unit)),
        ...(isBaseline ? [] : [number(figure.texts[baseline])]), number(figure.texts[chosen], { "data-chosen": "" }),
        ...(isBaseline ? [] : [number(tone ? make("b", { class: tone }, figure.ratios[chosen]) : figure.ratios[chosen], { "data-ratio": "" })])));
    }
  }

  show();
}

// Buttons side by side where they have room, else a list. Returns what sets it.
function control(axis, value, section, name, choose) {
  const field = make("fieldset", { "data-key": axis.key }, make("legend", axis.hint ? { class: "explained", title: axis.hint } : {}, axis.name));
  section.querySelector(".controls").append(field);
  const isShort = axis.values.length <= SEGMENTS_MAX && axis.values.join("").length <= SEGMENTS_LENGTH_MAX;
  if (!isShort) {
    const select = make("select", { "aria-label": axis.name }, ...axis.values.map((text, index) => make("option", { value: index }, text)));
    const step = (by) => {
      const next = Math.max(0, Math.min(axis.values.length - 1, Number(select.value) + by));
      select.value = next;
      choose(next);
    };
    const row = make("div", { class: "segments" });
    field.append(row);
    button(row, "◀", `The ${axis.name} before`, () => step(-1));
    row.append(select);
    button(row, "▶", `The next ${axis.name}`, () => step(1));
    select.value = value;
    select.addEventListener("change", () => choose(Number(select.value)));
    return (value) => { select.value = value; };
  }
  const inputs = axis.values.map((text, index) => {
    const input = make("input", { type: "radio", name, value: index });
    input.checked = index === value;
    input.addEventListener("change", () => choose(index));
    return [input, make("label", {}, input, make("span", {}, text))];
  });
  field.append(make("div", { class: "segments" }, ...inputs.map(([, label]) => label)));
  return (value) => { inputs[value][0].checked = true; };
}

// Of a chart of all points that of some, or nothing if it has none of them. The baseline comes first.
function picked(data, chart, wanted, chosen) {
  const { look } = chart, role = (point) => (data.points[point].baseline === point && point !== chosen ? BASELINE : CHOSEN);
  if (chart.stacked) {
    const shares = data.shares.length, groups = data.shares.flatMap((_, share) => wanted.map((point) => point * shares + share));
    const series = chart.series.map((part) => ({ ...part, values: groups.map((group) => part.values[group]), half_widths: groups.map(() => null) }));
    const sums = groups.map((_, group) => series.reduce((sum, part) => sum + (part.values[group] ?? 0), 0));
    const names = data.shares.flatMap((share) => wanted.map((point) => (wanted.length > 1 ? `${share}: ${role(point) === BASELINE ? "baseline" : "chosen"}` : share)));
    return most(sums) > 0 ? { ...chart, groups: names, series, look: { ...look, upwards: [0, most(sums) * 1.06] } } : null;
  }
  const places = wanted.map((point) => [point, chart.series.findIndex((series) => series.name === data.points[point].name)]).filter(([, place]) => place >= 0);
  if (!places.length) return null;
  const of = (list) => places.map(([, place]) => list[place]);
  const names = places.map(([point, place]) => look.names[place] + (role(point) === BASELINE ? " (baseline)" : ""));
  const explanations = (look.explanations ?? []).filter((meaning) => names.some((name) => name.includes(` ${meaning[0]}`)));
  return { ...chart, series: of(chart.series), look: { ...look, explanations, colours: places.map(([point]) => role(point)), names, hollow: of(look.hollow) } };
}
