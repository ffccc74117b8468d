// Reads back what the charts of a page show, without touching them otherwise.
(async () => {
  const settle = () => new Promise((resolve) => setTimeout(resolve, 40));
  const words = ({ ctx, bbox }) => new Uint32Array(ctx.getImageData(bbox.left, bbox.top, bbox.width, bbox.height).data.buffer);
  const rgba = (word) => [word & 255, (word >> 8) & 255, (word >> 16) & 255, word >>> 24];
  // Stretches [from, to) of the cells that fulfil a condition.
  const stretches = (length, is) => {
    const found = [];
    for (let at = 0, from = 0; at < length; at = from) {
      while (at < length && !is(at)) at++;
      from = at;
      while (from < length && is(from)) from++;
      if (from > at) found.push([at, from]);
    }
    return found;
  };
  // What each entry of the legend adds to the picture: the pixels that change with it while all others are off, down each column of lines and
  // along each row of a timeline; and the dashed lines that are always there. Axes stay as they were with everything on.
  const switched = async (section, panels) => {
    const entries = [...section.querySelectorAll(".legend button")], isTimeline = panels.length > 1;
    for (const u of panels) {
      const { min, max } = u.scales.y;
      u.scales.y.range = () => [min, max];
    }
    const press = async (...of) => { of.forEach((entry) => entry.click()); await settle(); };
    await press(...entries);
    const bare = panels.map(words), drawn = [];
    for (const [index, entry] of entries.entries()) {
      await press(entry);
      const panel = isTimeline && index > 1 ? 1 : 0, { width, height } = panels[panel].bbox, now = words(panels[panel]);
      const differs = (x, y) => now[y * width + x] !== bare[panel][y * width + x];
      const runs = isTimeline
        ? [...Array(height).keys()].map((y) => stretches(width, (x) => differs(x, y)))
        : [...Array(width).keys()].map((x) => stretches(height, (y) => differs(x, y)));
      const colours = new Map();
      now.forEach((word, at) => { if (word !== bare[panel][at]) colours.set(word, (colours.get(word) ?? 0) + 1); });
      const [colour] = [...colours].reduce((most, one) => (one[1] > most[1] ? one : most), [0, 0]);
      drawn.push({ name: entry.querySelector(".name").textContent, swatch: getComputedStyle(entry.querySelector(".swatch")).backgroundColor, colour: rgba(colour), runs });
      await press(entry);
    }
    const { width, height } = panels[0].bbox, isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    // Ink, unlike the lines of the grid, stands out from the ground.
    const isInk = (x, y) => {
      const [red, green, blue, alpha] = rgba(bare[0][y * width + x]), light = 0.3 * red + 0.59 * green + 0.11 * blue;
      return alpha > 60 && (isDark ? light > 110 : light < 150);
    };
    const share = (length, is) => [...Array(length).keys()].filter(is).length / length;
    const upright = [...Array(width).keys()].filter((x) => share(height, (y) => isInk(x, y)) > 0.3);
    const level = [...Array(height).keys()].filter((y) => share(width, (x) => isInk(x, y)) > 0.3);
    await press(...entries);
    return { drawn, upright, level, ratio: devicePixelRatio };
  };
  // Of bars the intervals: where the middle of a bar looks otherwise than beside it; nothing where it looks the same.
  const whiskers = (u, content) => {
    const all = words(u), { left, top, width, height } = u.bbox, wide = 0.8 / content.series.length;
    return content.series.map((_, index) => u.data[0].map((group) => {
      const at = (share) => Math.floor(u.valToPos(group - 0.4 + wide * (index + share), "x", true) - left);
      const [middle, side] = [at(0.5), at(0.8)];
      if (side - middle < 3) return "narrow";
      const colour = (x, y) => rgba(all[y * width + x]);
      const differs = (y) => colour(middle, y).some((value, channel) => Math.abs(value - colour(side, y)[channel]) > 30);
      const found = stretches(height, differs);
      return found.length ? [found[0][0], found[found.length - 1][1]] : null;
    }));
  };
  const charts = [], contents = JSON.parse(document.getElementById("charts-data").textContent).flat();
  for (const section of document.querySelectorAll(".charts:not(.explored) > .chart")) {
    const plot = section.querySelector(".plot"), u = plot.uplots[0];
    const log = (key) => u.scales[key].distr === 3;
    const at = async (index) => {
      u.setCursor({ left: u.valToPos(u.data[0][index], "x"), top: 20 });
      await settle();
      const tip = section.querySelector(".tip");
      return [index, plot.reading, tip.hidden ? null : tip.textContent];
    };
    const last = u.data[0].length - 1, readings = [];
    for (const index of [...new Set([0, Math.floor(last / 3), Math.floor(last / 2), last])]) readings.push(await at(index));
    const seen = {
      id: section.id, title: section.querySelector("h2").textContent, data: u.data, readings,
      doubts: [...section.querySelectorAll("p.doubt")].map((text) => text.textContent),
      titles: [...section.querySelectorAll(".legend button")].map((button) => button.title),
      names: [...section.querySelectorAll(".legend .name")].map((name) => name.textContent),
      labels: u.axes.map((axis) => axis.label), positions: u.data[0].map((x) => u.valToPos(x, "x")),
      heights: u.data.slice(1).map((column) => column.map((y) => (y == null ? null : u.valToPos(y, "y")))),
      scale: { x: [u.scales.x.min, u.scales.x.max, log("x")], y: [u.scales.y.min, u.scales.y.max, log("y")], width: u.over.clientWidth, height: u.over.clientHeight },
      panels: plot.uplots.map((u) => { const box = u.over.getBoundingClientRect(); return [box.left, box.right]; }),
      picture: document.getElementById(`picture-${section.id}`)?.textContent ?? "",
      content: contents.find((chart) => chart.id === section.id),
    };
    // Of bars that stand on each other the stretches of one colour down the middle of each group, in pixels of the page from the bottom of the plot.
    if (seen.content.stacked) {
      const canvas = u.ctx.canvas, ratio = devicePixelRatio, bottom = u.bbox.top + u.bbox.height;
      seen.stretches = u.data[0].map((group) => {
        const column = u.ctx.getImageData(Math.round(u.valToPos(group, "x", true)), 0, 1, canvas.height).data;
        const colour = (y) => column.slice(4 * y, 4 * y + 4).join();
        const stretches = [];
        for (let y = Math.round(bottom) - 2, from = y; y >= u.bbox.top; y--) {
          if (y > u.bbox.top && colour(y) === colour(from)) continue;
          stretches.push([colour(from), (from - y) / ratio]);
          from = y;
        }
        return stretches;
      });
    }
    // Of bars side by side the height of the colour in the middle of each, from the bottom of the plot; intervals are drawn there, too, hence beside it.
    // Of yardsticks, which have only an outline, its side.
    const isDots = seen.content.kind === "bars" && seen.content.y.log;
    if (seen.content.kind === "bars" && !seen.content.stacked && !isDots) {
      const canvas = u.ctx.canvas, ratio = devicePixelRatio, bottom = u.bbox.top + u.bbox.height, wide = 0.8 / seen.content.series.length;
      seen.bars = seen.content.series.map((series, index) => u.data[0].map((group) => {
        const isHollow = (seen.content.yardsticks ?? []).includes(seen.content.by_group ? seen.content.groups[group] : series.name);
        const at = Math.round(u.valToPos(group - 0.4 + wide * (index + (isHollow ? 0.04 : 0.3)), "x", true));
        const column = u.ctx.getImageData(at, 0, 1, canvas.height).data;
        let y = Math.round(bottom) - (isHollow ? 5 : 2);
        const colour = (y) => column.slice(4 * y, 4 * y + 4).join(), foot = colour(y);
        while (y > u.bbox.top && colour(y - 1) === foot) y--;
        return (bottom - y) / ratio;
      }));
    }
    // Texts of each panel in pixels from the corner of its plot.
    seen.texts = plot.uplots.map(({ ctx, bbox }) => texts.get(ctx.canvas).map(([text, x, y, width]) => [text, x - bbox.left, y - bbox.top, width]));
    if (seen.content.kind === "bars" && !isDots) seen.whiskers = whiskers(u, seen.content);
    else Object.assign(seen, await switched(section, plot.uplots));
    charts.push(seen);
  }
  const sections = [...document.querySelectorAll("section.table:not(.explored)")];
  tell({
    charts, headline: document.querySelector(".headline")?.textContent, tiles: [...document.querySelectorAll(".tiles dd")].map((tile) => tile.textContent),
    again: document.querySelector("details.text pre")?.textContent,
    markdown: sections.map((section) => flashraid.markdown(section)), csv: sections.map((section) => flashraid.csv(section)),
    contents: [...document.querySelectorAll("nav a")].filter((link) => !document.getElementById(link.getAttribute("href").slice(1))).length,
  });
})();
