window.problems = [];
addEventListener("error", (event) => problems.push(String(event.message)), true);
addEventListener("unhandledrejection", (event) => problems.push(String(event.reason)));
addEventListener("securitypolicyviolation", (event) => problems.push(`${event.violatedDirective} ${event.blockedURI}`));
for (const name of ["error", "warn"]) console[name] = (...what) => problems.push(what.join(" "));

// The texts of each canvas since it was last cleared: what, where its middle or end lies, how wide it is.
window.texts = new WeakMap();
{
  const context = CanvasRenderingContext2D.prototype, { clearRect, fillText } = context;
  context.clearRect = function (...box) { texts.set(this.canvas, []); clearRect.apply(this, box); };
  context.fillText = function (text, x, y, ...more) {
    const at = this.getTransform().transformPoint({ x, y });
    if (texts.has(this.canvas)) texts.get(this.canvas).push([String(text), at.x, at.y, this.measureText(text).width]);
    fillText.call(this, text, x, y, ...more);
  };
}

// Of all texts of the page, those that are hardest to read: least contrast with what is behind them (WCAG), smallest on the screen.
window.legibility = () => {
  const channels = (text) => (text.match(/[\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
  const luminance = (rgb) => {
    const [red, green, blue] = rgb.map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const rgba = channels(getComputedStyle(at).backgroundColor);
      if (rgba.length === 3 || rgba[3] === 1) return rgba;
    }
    return [255, 255, 255];
  };
  let contrast = [Infinity, ""], size = [Infinity, ""];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const element = node.parentElement, text = node.data.trim();
    if (!text || element.closest("script, style, noscript, .skip") || !element.checkVisibility()) continue;
    const style = getComputedStyle(element), pixels = Number.parseFloat(style.fontSize) * (element.getScreenCTM ? element.getScreenCTM().a : 1);
    if (pixels < size[0]) size = [pixels, text];
    // What pictures have behind their texts is not known to the style sheet.
    if (element.closest("svg")) continue;
    const [one, other] = [luminance(channels(style.color).slice(0, 3)), luminance(behind(element).slice(0, 3))];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (ratio < contrast[0]) contrast = [ratio, text];
  }
  return { contrast, size };
};

// Hands what a probe found to the page around this one, with what has to hold of every page.
window.tell = (found) => parent.postMessage(JSON.stringify({
  ...found, problems, requests: performance.getEntriesByType("resource").length, width: innerWidth,
  dark: matchMedia("(prefers-color-scheme: dark)").matches, overflow: Math.max(0, document.documentElement.scrollWidth - innerWidth), ...legibility(),
}), "*");
