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

  let spoken = ""; // the answer, for readers who can't see the curve
  function tell() {
    const at = where(), here = place(at);
    const value = data.value[here], lower = data.lower[here], upper = data.upper[here];
    inputs.forEach((input, k) => {
      const text = String(data.parameters[k].values[at[k]]);
      input.setAttribute("aria-valuetext", text);
      const output = box.querySelector(`[data-shown="${k}"]`);
      if (output) output.textContent = text;
    });
    const unit = unitOf([value]);
    const shown = [["predicted", `${digits(value / unit[0], 4)} ${unit[1]}`],
      [`${Math.round(data.level * 1000) / 10} % interval`, `${between(lower / unit[0], value / unit[0], upper / unit[0], 3)} ${unit[1]}`]];
    if (data.cores) {
      const hours = data.cores[here] / 3600;
      shown.push(["core-hours", `${digits(value * hours, 3)} (${between(lower * hours, value * hours, upper * hours, 2)})`]);
      if (data.price) shown.push(["cost", `${digits(value * hours * data.price, 3)} ${data.currency}`]);
    }
    spoken = `${data.quantity} ${shown.map((pair) => pair.join(" ")).join(", ")}`;
    answer.replaceChildren(...shown.map(([name, text]) => {
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

  const pen = document.createElement("canvas").getContext("2d");
  const wide = (text) => {
    pen.font = `bold ${getComputedStyle(svg).font}`;
    return pen.measureText(text).width;
  };
  // Without its middle, if it is wider: names differ at both ends.
  const short = (text, most) => {
    let cut = text;
    for (let n = text.length - 1; n > 1 && wide(cut) > most; n -= 1)
      cut = `${text.slice(0, Math.ceil(n / 2))}…${text.slice(text.length - Math.floor(n / 2))}`;
    return cut;
  };
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
    const line = parameter.values.map((v, i) => {
      const spot = place(at.map((one, j) => (j === k ? i : one)));
      return { x: v, y: data.value[spot], low: data.lower[spot], high: data.upper[spot], beyond: data.beyond[spot] === "1" };
    });
    const others = data.parameters.map((p, j) => p.values[at[j]]);
    const points = data.points.filter((point) => others.every((v, j) => j === k || point[j] === v))
      .map((point) => ({ x: point[k], y: point[point.length - 1] }));
    const W = Math.max(300, Math.min(760, svg.parentElement.clientWidth || 640));
    const drawn = typeof parameter.values[0] === "string" ? rows(line, points, at[k], parameter.name, W) : curves(line, points, at[k], parameter.name, W);
    svg.setAttribute("viewBox", `0 0 ${W} ${drawn.height}`);
    svg.setAttribute("aria-label", `${spoken}; ${drawn.told}`);
    svg.replaceChildren(...drawn.parts);
  }

  const titled = (unit) => (unit[1] ? `${data.quantity} (${unit[1]})` : data.quantity);
  const put = (v, unit) => `${digits(v / unit[0], 3)}${unit[1] ? ` ${unit[1]}` : ""}`;

  // A row for each label, with its prediction, interval and measurements.
  function rows(line, points, chosen, name, W) {
    const size = 24, top = 26, bottom = 44, H = top + size * line.length + bottom;
    const names = line.map((p) => short(p.x, W * 0.42)), left = Math.max(...names.map(wide)) + 16, right = 14;
    const seen = [...line.flatMap((p) => [p.y, p.low, p.high]), ...points.map((p) => p.y)].filter(Number.isFinite);
    let [x0, x1] = [Math.min(...seen), Math.max(...seen)];
    const log = x0 > 0 && x1 > 8 * x0, room = log ? (x1 / x0) ** 0.04 : 0.04 * (x1 - x0 || Math.abs(x1) || 1);
    [x0, x1] = log ? [x0 / room, x1 * room] : [x0 >= 0 ? Math.max(0, x0 - room) : x0 - room, x1 + room];
    const X = (v) => left + (log ? Math.log(v / x0) / Math.log(x1 / x0) : (v - x0) / (x1 - x0)) * (W - left - right);
    const Y = (i) => top + size * (i + 0.5), unit = unitOf(line.map((p) => p.y)), parts = [];
    for (const v of ticks(x0 / unit[0], x1 / unit[0], log, Math.max(2, Math.floor((W - left) / 60))).map((t) => t * unit[0])) {
      parts.push(node("line", { x1: X(v), x2: X(v), y1: top, y2: H - bottom, class: "grid" }));
      parts.push(inside(X(v), H - bottom + 17, digits(v / unit[0], 3), W));
    }
    parts.push(node("text", { x: 2, y: 14, class: "axis" }, name));
    parts.push(node("text", { x: (left + W - right) / 2, y: H - 6, "text-anchor": "middle", class: "axis" }, titled(unit)));
    parts.push(node("line", { x1: left, x2: left, y1: top, y2: H - bottom, class: "edge" }));
    parts.push(node("line", { x1: left, x2: W - right, y1: Y(chosen), y2: Y(chosen), class: "mark" }));
    line.forEach((p, i) => {
      const text = node("text", { x: left - 8, y: Y(i) + 4, "text-anchor": "end", ...(i === chosen ? { class: "now" } : {}) }, names[i]);
      if (names[i] !== p.x) text.append(node("title", {}, p.x));
      parts.push(text, node("line", { x1: X(p.low), x2: X(p.high), y1: Y(i), y2: Y(i), class: "bar" }));
      parts.push(node("circle", { cx: X(p.y), cy: Y(i), r: i === chosen ? 6 : 4, class: "here", ...(i === chosen ? { "data-here": "" } : {}) }));
    });
    for (const p of points) parts.push(node("circle", { cx: X(p.y), cy: Y(line.findIndex((one) => one.x === p.x)), r: 3.4, class: "point" }));
    const sorted = [...line].sort((a, b) => a.y - b.y), least = sorted[0], most = sorted[sorted.length - 1];
    return { parts, height: H, told: `along ${name}, least for ${least.x}, ${put(least.y, unit)}, most for ${most.x}, ${put(most.y, unit)}` };
  }
  // A text of an axis, kept inside the picture.
  const inside = (x, y, text, W) => node("text", { x: Math.min(x, W - wide(text) / 2 - 1), y, "text-anchor": "middle" }, text);

  function curves(line, points, chosen, name, W) {
    const H = Math.round(Math.min(380, W * 0.62)), left = 62, right = 12, top = 12, bottom = 44;
    const xs = line.map((p) => p.x), finite = (list) => list.filter(Number.isFinite);
    const ys = finite([...line.map((p) => p.y), ...points.map((p) => p.y)]);
    let [x0, x1] = [Math.min(...xs), Math.max(...xs)];
    let [y0, y1] = [Math.min(...ys), Math.max(...ys)];
    const xlog = x0 > 0 && x1 > 8 * x0, ylog = y0 > 0 && y1 > 8 * y0;
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
    for (const v of ticks(y0 / unit[0], y1 / unit[0], ylog, 7).map((t) => t * unit[0])) {
      parts.push(node("line", { x1: left, x2: W - right, y1: Y(v), y2: Y(v), class: "grid" }));
      parts.push(node("text", { x: left - 7, y: Y(v) + 4, "text-anchor": "end" }, digits(v / unit[0], 3)));
    }
    for (const v of ticks(x0, x1, xlog, Math.floor(W / 75))) parts.push(inside(X(v), H - bottom + 17, digits(v, 4), W));
    parts.push(node("line", { x1: left, x2: W - right, y1: H - bottom, y2: H - bottom, class: "edge" }));
    parts.push(node("text", { x: (left + W - right) / 2, y: H - 6, "text-anchor": "middle", class: "axis" }, name));
    parts.push(node("text", { x: 14, y: (H - bottom) / 2, "text-anchor": "middle", class: "axis", transform: `rotate(-90 14 ${(H - bottom) / 2})` }, titled(unit)));
    const band = [...line.map((p) => [X(p.x), Y(p.high)]), ...line.map((p) => [X(p.x), Y(p.low)]).reverse()];
    const path = (list) => list.map((p, i) => `${i ? "L" : "M"}${p[0].toFixed(1)} ${p[1].toFixed(1)}`).join("");
    parts.push(node("path", { d: `${path(band)}Z`, class: "band" }));
    for (const beyond of [false, true]) {
      let piece = [];
      const flush = () => { if (piece.length > 1) parts.push(node("path", { d: path(piece), class: beyond ? "line beyond" : "line", "data-curve": "" })); piece = []; };
      line.forEach((p, i) => {
        const touches = p.beyond === beyond || (beyond && ((line[i + 1] || p).beyond || (line[i - 1] || p).beyond));
        if (touches) piece.push([X(p.x), Y(p.y)]); else flush();
      });
      flush();
    }
    for (const p of points) parts.push(node("circle", { cx: X(p.x), cy: Y(p.y), r: 3.4, class: "point" }));
    const here = line[chosen], end = line[line.length - 1];
    parts.push(node("line", { x1: X(here.x), x2: X(here.x), y1: top, y2: H - bottom, class: "mark" }));
    parts.push(node("circle", { cx: X(here.x), cy: Y(here.y), r: 6, class: "here", "data-here": "" }));
    return { parts, height: H, told: `along ${name}, from ${put(line[0].y, unit)} at ${digits(line[0].x, 4)} to ${put(end.y, unit)} at ${digits(end.x, 4)}` };
  }

  for (const input of [...inputs, axis]) if (input) input.addEventListener("input", tell);
  addEventListener("resize", () => draw(where()));
  tell();
}
// What is recommended stands in view where a figure is wider than the screen.
for (const mark of document.querySelectorAll(".wide [data-chosen]")) {
  const figure = mark.closest(".wide"), place = mark.getBoundingClientRect();
  if (place.right > figure.getBoundingClientRect().right) figure.scrollLeft = place.right - figure.getBoundingClientRect().right + 40;
}
// What is folded is printed, too.
const folded = () => document.querySelectorAll("details:not([open])");
addEventListener("beforeprint", () => folded().forEach((one) => { one.open = true; one.dataset.folded = ""; }));
addEventListener("afterprint", () => document.querySelectorAll("[data-folded]").forEach((one) => { one.open = false; delete one.dataset.folded; }));

// A table for a spreadsheet: numbers without marks, and an interval in two columns.
const NUMBER = String.raw`[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d+)?`;
const BARE = new RegExp(`^(${NUMBER})( ?%)?[ *✗]*$`), INTERVAL = new RegExp(`^(${NUMBER}) … (${NUMBER})[ *✗]*$`);
const cells = (row) => [...row.cells].map((cell) => cell.innerText.replace(/\s+/g, " ").trim().replace(/^→ /, ""));
const bare = (text) => text.replace(BARE, (_, number, percent = "") => number.replaceAll(",", "") + percent);
function forSpreadsheet(table) {
  const body = [...table.tBodies[0].rows].map(cells), header = table.tHead ? cells(table.tHead.rows[0]) : [];
  const split = (header.length ? header : body[0]).map((_, k) => body.some((row) => INTERVAL.test(row[k])));
  // Intervals of several columns may have one name: the column before tells whose they are.
  const owner = (k) => (header.indexOf(header[k]) === header.lastIndexOf(header[k]) ? "" : `${header[k - 1] || ""} `);
  const named = header.flatMap((name, k) => (split[k] ? ["from", "to"].map((end) => `${owner(k)}${name} ${end}`) : [name]));
  const filled = body.map((row) => row.flatMap((text, k) => (split[k] ? (INTERVAL.exec(text) || [text, text, ""]).slice(1).map(bare) : [bare(text)])));
  return [...(header.length ? [named] : []), ...filled].map((row) => row.join("\t")).join("\n");
}
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = forSpreadsheet(button.closest(".copied").querySelector("table"));
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
