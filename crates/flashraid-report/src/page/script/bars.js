// Groups of values: bars from zero, or dots on a logarithmic axis, where the length of a bar would mean nothing.
const DOT = 4.5;
// Strength of the colour of a doubtful bar.
const PALE = 0.45;

function bars(chart) {
  const parts = frame(chart), { colours, hollow: hollows } = chart.look, groups = chart.groups.length, isDots = chart.y.log;
  let u;
  const shown = () => chart.series.map((_, index) => index).filter((index) => u.series[index + 1].show !== false);
  // Of a group: all in one place, one on the other, or side by side.
  const slot = (series, visible) => {
    const width = chart.stacked ? 0.6 : 0.8 / visible.length;
    return { width, left: chart.stacked ? -0.3 : -0.4 + width * visible.indexOf(series) };
  };
  const placeOf = (series, group) => colours[chart.by_group ? group : series];
  const isHollow = (series, group) => hollows[chart.by_group ? group : series];
  const marks = (u) => {
    const { ctx } = u, ratio = devicePixelRatio, visible = shown();
    ctx.save();
    ctx.setLineDash([]);
    const sums = chart.groups.map(() => 0);
    for (const series of visible) {
      const { width, left } = slot(series, visible), { values, half_widths } = chart.series[series];
      values.forEach((value, group) => {
        if (value == null) return;
        const at = (share) => u.valToPos(group + left + width * share, "x", true), y = (value) => u.valToPos(value, "y", true);
        const paint = colour(placeOf(series, group)), half = half_widths[group], hollow = isHollow(series, group);
        const isDoubtful = doubtOf(chart.series[series], group) !== "";
        [ctx.fillStyle, ctx.strokeStyle, ctx.lineWidth] = [hollow ? theme().ground : paint, paint, 2 * ratio];
        const interval = (style) => {
          if (half == null) return;
          [ctx.strokeStyle, ctx.lineWidth] = [style, (isDots ? 2 : 1.5) * ratio];
          ctx.beginPath();
          ctx.moveTo(at(0.5), y(Math.max(value - half, u.scales.y.min)));
          ctx.lineTo(at(0.5), y(value + half));
          ctx.stroke();
        };
        ctx.beginPath();
        if (isDots) {
          interval(paint);
          if (isDoubtful) {
            diamond(ctx, at(0.5), y(value), paint, hollow);
            return;
          }
          ctx.beginPath();
          ctx.arc(at(0.5), y(value), DOT * ratio, 0, 2 * Math.PI);
          ctx.fill();
          if (hollow) ctx.stroke();
          return;
        }
        const foot = y(chart.stacked ? sums[group] : 0), top = y((chart.stacked ? sums[group] : 0) + value);
        ctx.rect(at(0.04), top, at(0.96) - at(0.04), foot - top);
        if (isDoubtful && !hollow) {
          // Lines of the grid do not shine through.
          ctx.fillStyle = theme().ground;
          ctx.fill();
          [ctx.fillStyle, ctx.globalAlpha] = [paint, PALE];
        }
        ctx.fill();
        ctx.globalAlpha = 1;
        if (hollow || isDoubtful) ctx.stroke();
        if (!chart.stacked) interval(theme().ink);
        sums[group] += value;
      });
    }
    ctx.restore();
  };
  // Between groups.
  const separators = (u) => {
    const { ctx, bbox } = u;
    if (chart.series.length < 2 || chart.stacked) return;
    ctx.save();
    [ctx.strokeStyle, ctx.lineWidth] = [theme().line, devicePixelRatio];
    for (let group = 1; group < groups; group++) {
      const x = Math.round(u.valToPos(group - 0.5, "x", true)) + 0.5;
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  };
  const names = chart.by_group ? chart.look.names : chart.groups;
  // Names that would overlap are turned.
  const longest = Math.max(...names.map((name) => name.length));
  const turned = longest * 7 > (widthOf(parts.plot) - 80) / groups, foot = turned ? 24 + longest * 4.2 : 30;
  u = new uPlot({
    width: widthOf(parts.plot), height: HEIGHT + foot - 30, legend: { show: false },
    scales: { x: { time: false, range: [-0.6, groups - 0.4] }, y: { distr: isDots ? 3 : 1, range: () => chart.look.upwards } },
    axes: [axis(null, { splits: () => names.map((_, group) => group), values: () => names, grid: { show: false }, rotate: turned ? 35 : 0, size: foot }),
      upwards(chart.y.label, isDots)],
    series: [{}, ...chart.series.map((series) => ({ label: series.name, paths: () => null, points: { show: false } }))],
    cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
    hooks: { drawAxes: [separators], draw: [marks], setCursor: [(u) => {
      const group = u.cursor.idx;
      const unit = unitOf(chart.y.label);
      const texts = chart.series.map((series) => (group == null ? "" : quantity(series.values[group], series.half_widths[group], unit, doubtOf(series, group))));
      read(parts, u, group == null ? "" : names[group], texts);
    }] },
  }, [chart.groups.map((_, group) => group), ...chart.series.map((series) => series.values)], parts.plot);
  chart.series.forEach((series, index) => entry(parts, chart.by_group ? series.name : chart.look.names[index], (style) => { style.background = colour(placeOf(index, 0)); },
    (show) => { u.setSeries(index + 1, { show }); u.redraw(true); }));
  parts.plot.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const group = Math.max(0, Math.min(groups - 1, (u.cursor.idx ?? (by > 0 ? -1 : groups)) + by));
    u.setCursor({ left: u.valToPos(group, "x"), top: 10 });
  });
  keep(parts, [u]);
}
