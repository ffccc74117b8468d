const repaint = () => drawn.forEach(({ parts, group }) => { group.forEach((u) => u.redraw(false)); parts.entries.forEach((entry) => entry.repaint()); });
const fit = () => drawn.forEach(({ parts, group }) => group.forEach((u) => {
  const width = widthOf(parts.plot);
  if (u.width !== width) u.setSize({ width, height: u.height });
}));
dark.addEventListener("change", repaint);
addEventListener("resize", fit);
addEventListener("beforeprint", () => { printing = true; repaint(); });
addEventListener("afterprint", () => { printing = false; repaint(); });

const kinds = { lines, bars, timeline };
// Draws a chart at the end of an element.
flashraid.draw = (chart, into) => {
  home = into;
  kinds[chart.kind](chart);
};
const homes = document.querySelectorAll(".charts:not(.explored)");
JSON.parse(document.getElementById("charts-data").textContent).forEach((charts, part) => charts.forEach((chart) => flashraid.draw(chart, homes[part])));
const explorers = document.querySelectorAll(".explorer");
JSON.parse(document.getElementById("explorers-data")?.textContent ?? "[]").forEach((data, index) => explore(data, explorers[index]));
// What the address asks for was not there when the page was opened.
if (location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
