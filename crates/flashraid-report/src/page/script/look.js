// Colours, dashes and numbers. The pieces of this folder are put into one function, so that they share their names and nobody else sees them.

// Eight colours that stay apart for all kinds of colour vision, lighter on dark ground, and the greys of yardsticks; dashes tell lines apart without them.
const LIGHT = { ink: "#1c1f23", soft: "#5b6470", line: "#e1e4e8", ground: "#ffffff",
  series: ["#1c4fb6", "#d73e19", "#229684", "#8d386a", "#d39f16", "#2ab2f2", "#3b1b5c", "#9a56ff", "#5b6470", "#98a1ab", "#3f4750", "#5c6571", "#99a2ac", "#404851"],
  bands: ["#56b4e955", "#e69f0066", "#d55e0077"] };
const DARK = { ink: "#e4e7eb", soft: "#a7b0bb", line: "#2b3139", ground: "#15181c",
  series: ["#58aaff", "#f77838", "#2febb3", "#c393a7", "#fac63d", "#4078a1", "#ffffff", "#a04ff2", "#a7b0bb", "#747e89", "#d3d9df", "#a8b1bc", "#757f8a", "#d4dae0"],
  bands: ["#56b4e944", "#e69f0055", "#d55e0077"] };
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 2], [14, 4], [3, 6], [12, 3, 2, 3, 2, 3], [2, 2], [2, 5], [2, 2, 6, 2], [6, 2, 2, 2, 2, 2], [6, 6], [1, 8]];
// Places in the palette of what timelines draw, as in all other charts.
const READ = 5, WRITE = 1, OWN = 4, FORCED = 0, DESTAGE = 2;
const dark = matchMedia("(prefers-color-scheme: dark)");
let printing = false;
const theme = () => (dark.matches && !printing ? DARK : LIGHT);
const colour = (place) => theme().series[place % theme().series.length];
// Symbols of doubt about a value of a line or series: one text for each value, or one for all of them.
const doubtOf = ({ doubts = [] }, index) => (doubts.length === 1 ? doubts[0] : doubts[index]) ?? "";

const number = (value) => (value == null ? "–" : Number(value.toPrecision(4)).toLocaleString("en", { maximumSignificantDigits: 4 }));
// What stands after the last comma of an axis' name is its unit.
const unitOf = (label) => (label.includes(", ") ? label.split(", ").pop() : "");
// A value, half of its interval, its unit, and symbols of doubt.
const quantity = (value, half, unit, doubt = "") =>
  (value == null ? "–" : number(value) + (half == null ? "" : ` ±${number(half)}`) + (unit && ` ${unit}`) + (doubt && ` ${doubt}`));
// The diamond that stands for a doubtful value in place of a dot; of a yardstick its outline, as large as the whole of others.
const diamond = (ctx, x, y, paint, isHollow) => {
  const ratio = devicePixelRatio, half = (isHollow ? 4.2 : 5.5) * ratio;
  ctx.beginPath();
  [[0, -half], [half, 0], [0, half], [-half, 0]].forEach(([right, down], corner) => ctx[corner ? "lineTo" : "moveTo"](x + right, y + down));
  ctx.closePath();
  [ctx.fillStyle, ctx.strokeStyle, ctx.lineWidth] = [isHollow ? theme().ground : paint, paint, 1.5 * ratio];
  ctx.fill();
  if (isHollow) ctx.stroke();
};
const counted = (count, what) => `${number(count)} ${what}${count === 1 ? "" : "s"}`;

const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
};
