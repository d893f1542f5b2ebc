"use strict";
// Sliders of a page of evenly: look up the prediction for where they stand, and draw the curve through it.
for (const box of document.querySelectorAll("[data-explorer]")) {
  const data = JSON.parse(box.querySelector("script").textContent);
  const sizes = data.parameters.map((p) => p.values.length);
  const inputs = data.parameters.map((p, k) => box.querySelector(`[data-parameter="${k}"]`));
  const axis = box.querySelector("[data-along]");
  const answer = box.querySelector("[data-answer]");
  const svg = box.querySelector("svg");
  const PREFIXES = {
    s: [[1e-9, "ns"], [1e-6, "µs"], [1e-3, "ms"], [1, "s"], [60, "min", 300], [3600, "h", 10800], [86400, "d", 259200]],
    B: [[1, "B"], [1024, "KiB"], [1048576, "MiB"], [1073741824, "GiB"], [1099511627776, "TiB"]],
    J: [[1e-3, "mJ"], [1, "J"], [1e3, "kJ"], [1e6, "MJ"]],
  };

  const digits = (value, n) => {
    if (!Number.isFinite(value)) return "–";
    if (value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-4)) return value.toExponential(n - 1).replace(/\.?0+e/, "e");
    return String(Number(value.toPrecision(n)));
  };
  const prefix = (values) => {
    const largest = Math.max(...values.map(Math.abs).filter(Number.isFinite), 0) * (1 + 1e-12);
    const units = PREFIXES[data.unit] || [[1, data.unit === "1" ? "" : data.unit]];
    return units.filter((u) => largest >= (u[2] || u[0])).pop() || units[0];
  };
  // One unit everywhere, that of the text beside, or of the curve on which the sliders stand first, unless it makes
  // unreadable numbers.
  const unitOf = (values) => {
    const largest = Math.max(...values.map(Math.abs).filter(Number.isFinite), 0);
    return largest >= home[0] / 100 && largest < home[0] * 1e5 ? home : prefix(values);
  };
  const place = (at) => at.reduce((sum, i, k) => sum * sizes[k] + i, 0);
  const where = () => inputs.map((input) => Number(input.value));
  const first = where(), along = Number(axis ? axis.value : 0), start = data.value[place(first)];
  const curve = data.parameters[along].values.map((_, i) => data.value[place(first.map((one, j) => (j === along ? i : one)))]);
  const home = (PREFIXES[data.unit] || []).find((unit) => unit[1] === data.written) ||
    (start < 0.2 * prefix(curve)[0] ? prefix([start]) : prefix(curve));
  // With as few digits as keep the value between its bounds.
  const between = (low, value, high, fewest) => {
    let n = fewest;
    while (n < 6 && !(low.toPrecision(n) - value < 0 && high.toPrecision(n) - value > 0)) n += 1;
    return `${digits(low, n)} … ${digits(high, n)}`;
  };

  function tell() {
    const at = where(), here = place(at);
    const value = data.value[here], lower = data.lower[here], upper = data.upper[here];
    inputs.forEach((input, k) => {
      const text = String(data.parameters[k].values[at[k]]);
      input.setAttribute("aria-valuetext", text);
      const shown = box.querySelector(`[data-shown="${k}"]`);
      if (shown) shown.textContent = text;
    });
    const unit = unitOf([value]);
    const rows = [["predicted", `${digits(value / unit[0], 4)} ${unit[1]}`],
      [`${Math.round(data.level * 1000) / 10} % interval`, `${between(lower / unit[0], value / unit[0], upper / unit[0], 3)} ${unit[1]}`]];
    if (data.cores) {
      const hours = data.cores[here] / 3600;
      rows.push(["core-hours", `${digits(value * hours, 3)} (${between(lower * hours, value * hours, upper * hours, 2)})`]);
      if (data.price) rows.push(["cost", `${digits(value * hours * data.price, 3)} ${data.currency}`]);
    }
    answer.replaceChildren(...rows.map(([name, text]) => {
      const div = document.createElement("div"), dt = document.createElement("dt"), dd = document.createElement("dd");
      dt.textContent = name;
      dd.textContent = text;
      div.append(dt, dd);
      return div;
    }));
    answer.dataset.value = value;
    answer.dataset.lower = lower;
    answer.dataset.upper = upper;
    box.querySelector("[data-failed]").hidden = data.failed[here] !== "1";
    box.querySelector("[data-beyond]").hidden = data.beyond[here] !== "1";
    draw(at);
  }

  const node = (name, attributes, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  };
  const ticks = (low, high, log, most) => {
    const found = [];
    if (log) {
      const decades = Math.log10(high / low), steps = decades > 3 ? [1] : decades > 1.2 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 8];
      for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e++)
        for (const step of steps) found.push(step * 10 ** e);
    } else {
      const raw = (high - low) / most || 1, size = 10 ** Math.floor(Math.log10(raw));
      const step = [1, 2, 5, 10].map((s) => s * size).find((s) => s >= raw);
      for (let v = Math.ceil(low / step) * step; v <= high + step / 1e6; v += step) found.push(Number(v.toPrecision(12)));
    }
    const kept = found.filter((v) => v >= low * (1 - 1e-9) && v <= high * (1 + 1e-9));
    const thin = Math.ceil(kept.length / most);
    return kept.filter((_, i) => i % thin === 0);
  };

  function draw(at) {
    const k = Number(axis ? axis.value : 0), parameter = data.parameters[k];
    const labels = typeof parameter.values[0] === "string";
    const line = parameter.values.map((v, i) => {
      const spot = place(at.map((one, j) => (j === k ? i : one)));
      return { x: labels ? i : v, y: data.value[spot], low: data.lower[spot], high: data.upper[spot], beyond: data.beyond[spot] === "1" };
    });
    const others = data.parameters.map((p, j) => p.values[at[j]]);
    const points = data.points.filter((point) => others.every((v, j) => j === k || point[j] === v))
      .map((point) => ({ x: labels ? parameter.values.indexOf(point[k]) : point[k], y: point[point.length - 1] }));
    const W = Math.max(300, Math.min(760, svg.parentElement.clientWidth || 640)), H = Math.round(Math.min(380, W * 0.62));
    const left = 62, right = 12, top = 12, bottom = 44;
    const xs = line.map((p) => p.x), finite = (list) => list.filter(Number.isFinite);
    const ys = finite([...line.map((p) => p.y), ...points.map((p) => p.y)]);
    let [x0, x1] = [Math.min(...xs), Math.max(...xs)];
    let [y0, y1] = [Math.min(...ys), Math.max(...ys)];
    const xlog = !labels && x0 > 0 && x1 > 8 * x0, ylog = y0 > 0 && y1 > 8 * y0;
    const room = finite([...line.map((p) => p.low), ...line.map((p) => p.high)]);
    // An interval that reaches far beyond the curve must not flatten it.
    y0 = Math.max(Math.min(y0, ...room), ylog ? y0 / 4 : y0 - 0.5 * (y1 - y0));
    y1 = Math.min(Math.max(y1, ...room), ylog ? y1 * 4 : y1 + (y1 - y0));
    if (y0 === y1) { y0 *= 0.9; y1 *= 1.1; }
    if (x0 === x1) { x0 -= 0.5; x1 += 0.5; }
    if (!ylog) y0 = Math.max(0, y0);
    const scale = (v, a, b, log) => (log ? Math.log(v / a) / Math.log(b / a) : (v - a) / (b - a));
    const X = (v) => left + scale(v, x0, x1, xlog) * (W - left - right);
    const Y = (v) => H - bottom - Math.max(-0.02, Math.min(1.02, scale(Math.max(v, ylog ? y0 / 10 : v), y0, y1, ylog))) * (H - top - bottom);
    const unit = unitOf(ys);
    const parts = [];
    svg.setAttribute("viewBox", `0 0 ${W} ${H}`);
    for (const v of ticks(y0 / unit[0], y1 / unit[0], ylog, 7).map((t) => t * unit[0])) {
      parts.push(node("line", { x1: left, x2: W - right, y1: Y(v), y2: Y(v), class: "grid" }));
      parts.push(node("text", { x: left - 7, y: Y(v) + 4, "text-anchor": "end" }, digits(v / unit[0], 3)));
    }
    const named = labels ? parameter.values.map((text, i) => [i, text]) : ticks(x0, x1, xlog, Math.floor(W / 75)).map((v) => [v, digits(v, 4)]);
    for (const [v, text] of named) parts.push(node("text", { x: X(v), y: H - bottom + 17, "text-anchor": "middle" }, text));
    parts.push(node("line", { x1: left, x2: W - right, y1: H - bottom, y2: H - bottom, class: "edge" }));
    parts.push(node("text", { x: (left + W - right) / 2, y: H - 6, "text-anchor": "middle", class: "axis" }, parameter.name));
    parts.push(node("text", { x: 14, y: (H - bottom) / 2, "text-anchor": "middle", class: "axis", transform: `rotate(-90 14 ${(H - bottom) / 2})` }, unit[1] ? `${data.quantity} (${unit[1]})` : data.quantity));
    const band = [...line.map((p) => [X(p.x), Y(p.high)]), ...line.map((p) => [X(p.x), Y(p.low)]).reverse()];
    const path = (list) => list.map((p, i) => `${i ? "L" : "M"}${p[0].toFixed(1)} ${p[1].toFixed(1)}`).join("");
    if (!labels) parts.push(node("path", { d: `${path(band)}Z`, class: "band" }));
    else for (const p of line) parts.push(node("line", { x1: X(p.x), x2: X(p.x), y1: Y(p.low), y2: Y(p.high), class: "bar" }));
    for (const beyond of labels ? [] : [false, true]) {
      let piece = [];
      const flush = () => { if (piece.length > 1) parts.push(node("path", { d: path(piece), class: beyond ? "line beyond" : "line", "data-curve": "" })); piece = []; };
      line.forEach((p, i) => {
        const touches = p.beyond === beyond || (beyond && ((line[i + 1] || p).beyond || (line[i - 1] || p).beyond));
        if (touches) piece.push([X(p.x), Y(p.y)]); else flush();
      });
      flush();
    }
    if (labels) for (const p of line) parts.push(node("circle", { cx: X(p.x), cy: Y(p.y), r: 4, class: "here" }));
    for (const p of points) parts.push(node("circle", { cx: X(p.x), cy: Y(p.y), r: 3.4, class: "point" }));
    const here = line[at[k]];
    parts.push(node("line", { x1: X(here.x), x2: X(here.x), y1: top, y2: H - bottom, class: "mark" }));
    parts.push(node("circle", { cx: X(here.x), cy: Y(here.y), r: 6, class: "here", "data-here": "" }));
    const title = node("title", {}, `${answer.textContent}; the curve goes from ${digits(line[0].y, 3)} to ${digits(line[line.length - 1].y, 3)} ${data.unit}`);
    svg.replaceChildren(title, ...parts);
  }

  for (const input of [...inputs, axis]) if (input) input.addEventListener("input", tell);
  addEventListener("resize", () => draw(where()));
  tell();
}
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const rows = [...button.closest(".copied").querySelectorAll("tr")];
    const text = rows.map((row) => [...row.cells].map((cell) => cell.textContent).join("\t")).join("\n");
    try { await navigator.clipboard.writeText(text); button.textContent = "copied"; } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      button.textContent = document.execCommand("copy") ? "copied" : "select the table and copy it";
      area.remove();
    }
  });
}
