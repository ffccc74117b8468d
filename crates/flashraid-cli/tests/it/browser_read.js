// Reads back what the charts of a page show, without touching them otherwise.
(async () => {
  const settle = () => new Promise((resolve) => setTimeout(resolve, 40));
  const charts = [], contents = JSON.parse(document.getElementById("charts-data").textContent).flat();
  for (const section of document.querySelectorAll(".chart")) {
    const plot = section.querySelector(".plot"), u = plot.uplots[0];
    const log = (key) => u.scales[key].distr === 3;
    const outputs = () => [...section.querySelectorAll(".legend output")].map((output) => output.textContent);
    const at = async (index) => {
      u.setCursor({ left: u.valToPos(u.data[0][index], "x"), top: 20 });
      await settle();
      const tip = section.querySelector(".tip");
      return [index, outputs(), tip.hidden ? null : tip.textContent];
    };
    const last = u.data[0].length - 1, readings = [];
    for (const index of [...new Set([0, Math.floor(last / 3), Math.floor(last / 2), last])]) readings.push(await at(index));
    const seen = {
      id: section.id, title: section.querySelector("h2").textContent, data: u.data, readings,
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
    if (seen.content.kind === "bars" && !seen.content.stacked) {
      const canvas = u.ctx.canvas, ratio = devicePixelRatio, bottom = u.bbox.top + u.bbox.height, wide = 0.8 / seen.content.series.length;
      seen.bars = seen.content.series.map((series, index) => u.data[0].map((group) => {
        const at = Math.round(u.valToPos(group - 0.4 + wide * (index + 0.3), "x", true));
        const column = u.ctx.getImageData(at, 0, 1, canvas.height).data;
        const colour = (y) => column.slice(4 * y, 4 * y + 4).join(), foot = colour(Math.round(bottom) - 2);
        let y = Math.round(bottom) - 2;
        while (y > u.bbox.top && colour(y - 1) === foot) y--;
        return (bottom - y) / ratio;
      }));
    }
    charts.push(seen);
  }
  const sections = [...document.querySelectorAll("section.table")];
  tell({
    charts, headline: document.querySelector(".headline")?.textContent, tiles: [...document.querySelectorAll(".tiles dd")].map((tile) => tile.textContent),
    again: document.querySelector("details.text pre")?.textContent,
    markdown: sections.map((section) => flashraid.markdown(section)), csv: sections.map((section) => flashraid.csv(section)),
    contents: [...document.querySelectorAll("nav a")].filter((link) => !document.getElementById(link.getAttribute("href").slice(1))).length,
  });
})();
