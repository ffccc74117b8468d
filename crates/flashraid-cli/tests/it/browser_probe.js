(async () => {
  const settle = () => new Promise((resolve) => setTimeout(resolve, 60));
  const pixels = (canvas) => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const picture = (plot) => [...plot.querySelectorAll("canvas")].map((canvas) => pixels(canvas).reduce((hash, value) => (hash * 31 + value) | 0, 0)).join();
  const colours = (plot) => new Set([...plot.querySelectorAll("canvas")].flatMap((canvas) => {
    const data = pixels(canvas), found = [];
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200) found.push((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    return [...new Set(found)];
  })).size;
  const key = async (plot, name) => { plot.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true })); await settle(); };
  const mouse = (u, type, x) => {
    const box = u.over.getBoundingClientRect();
    const event = new MouseEvent(type, { clientX: box.left + x * box.width, clientY: box.top + box.height / 2, bubbles: true, button: 0, view: window,
      movementX: 5, movementY: 1 });
    (type === "mouseup" ? document : u.over).dispatchEvent(event);
  };
  const log = (u, key) => u.scales[key].distr === 3;
  const charts = [];
  for (const section of document.querySelectorAll(".charts:not(.explored) > .chart")) {
    section.scrollIntoView();
    await settle();
    const plot = section.querySelector(".plot"), u = plot.uplots[0];
    const values = () => (plot.reading ?? []).join("");
    const span = () => (log(u, "x") ? Math.log(u.scales.x.max / u.scales.x.min) : u.scales.x.max - u.scales.x.min);
    const panels = plot.uplots.map((u) => { const box = u.over.getBoundingClientRect(); return [box.left, box.right]; });
    const at = (index) => {
      u.setCursor({ left: u.valToPos(u.data[0][index], "x"), top: 20 });
      return [index, plot.reading];
    };
    const last = u.data[0].length - 1;
    const readings = [0, Math.floor(last / 3), Math.floor(last / 2), last].map(at);
    const positions = u.data[0].map((x) => u.valToPos(x, "x"));
    const scale = { x: [u.scales.x.min, u.scales.x.max, log(u, "x")], y: [u.scales.y.min, u.scales.y.max, log(u, "y")], width: u.over.clientWidth };
    const seen = { id: section.id, data: u.data, panels, readings, positions, scale, colours: colours(plot), zooms: !!section.querySelector(".buttons button") };

    mouse(u, "mouseenter", 0.5);
    mouse(u, "mousemove", 0.5);
    await settle();
    seen.hover_shows_values = /\d/.test(values());
    mouse(u, "mouseleave", 0.5);
    await settle();
    plot.focus();
    await key(plot, "ArrowRight");
    seen.key_shows_values = document.activeElement === plot && /\d/.test(values());
    mouse(u, "mouseleave", 0.5);

    if (seen.zooms) {
      seen.spans = [span()];
      await key(plot, "+"); seen.spans.push(span());
      await key(plot, "0"); seen.spans.push(span());
      mouse(u, "mousemove", 0.4); mouse(u, "mousedown", 0.4); mouse(u, "mousemove", 0.5); mouse(u, "mousemove", 0.6); mouse(u, "mouseup", 0.6);
      await settle(); seen.spans.push(span());
      await key(plot, "0");
      section.querySelector(".buttons button").click();
      await settle(); seen.spans.push(span());
      await key(plot, "0");
    }

    const toggle = section.querySelector(".legend button"), before = picture(plot);
    seen.switched = [];
    toggle.click();
    await settle();
    seen.switched.push(toggle.getAttribute("aria-pressed") === "true");
    seen.looks_other_when_switched_off = picture(plot) !== before;
    toggle.click();
    await settle();
    seen.switched.push(toggle.getAttribute("aria-pressed") === "true");
    charts.push(seen);
  }
  tell({ charts });
})();
