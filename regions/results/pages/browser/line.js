// SPDX-License-Identifier: MIT
// How is a function on a line drawn?
// The outputs as curves, a row of ticks for the kinks of each layer, and the slopes. A column of pixels has at most four
// points of a curve, so millions of kinks are drawn as fast as hundreds. A pen draws on the canvas or writes vectors.

function canvasPen(x) {
  return {
    line(points, colour, wide) {
      x.strokeStyle = css(colour);
      x.lineWidth = wide;
      x.lineJoin = "round";
      x.beginPath();
      points.forEach(([px, py], i) => i ? x.lineTo(px, py) : x.moveTo(px, py));
      x.stroke();
    },
    box(px, py, w, h, colour, strength = 1) {
      x.fillStyle = css(colour);
      x.globalAlpha = strength;
      x.fillRect(px, py, w, h);
      x.globalAlpha = 1;
    },
    dot(px, py, radius, colour) {
      x.fillStyle = css(colour);
      x.beginPath();
      x.arc(px, py, radius, 0, 2 * Math.PI);
      x.fill();
    },
    text(px, py, words, side = "start", strong = false) {
      x.fillStyle = css(ink());
      x.font = `${strong ? "600 " : ""}${12 * dpr}px system-ui, DejaVu Sans, sans-serif`;
      x.textAlign = side;
      x.fillText(words, px, py);
    },
  };
}

function vectorPen(parts) {
  const place = (...numbers) => numbers.map(n => n.toFixed(2));
  return {
    line(points, colour, wide) {
      const all = points.map(p => place(...p).join()).join(" ");
      parts.push(`<polyline points="${all}" fill="none" stroke="${css(colour)}" stroke-width="${wide}"/>`);
    },
    box(px, py, w, h, colour, strength = 1) {
      const [a, b, c, d] = place(px, py, w, h);
      parts.push(`<rect x="${a}" y="${b}" width="${c}" height="${d}" fill="${css(colour)}" fill-opacity="${strength}"/>`);
    },
    dot(px, py, radius, colour) {
      const [a, b, size] = place(px, py, radius);
      parts.push(`<circle cx="${a}" cy="${b}" r="${size}" fill="${css(colour)}"/>`);
    },
    text(px, py, words, side = "start", strong = false) {
      const [a, b] = place(px, py), size = 12 * dpr, weight = strong ? ` font-weight="600"` : "";
      parts.push(`<text x="${a}" y="${b}" font-size="${size}"${weight} text-anchor="${side}" fill="${css(ink())}" font-family="sans-serif">${escaped(words)}</text>`);
    },
  };
}

function drawLine() {
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
    canvas.style.width = width / dpr + "px";
    canvas.style.height = height / dpr + "px";
  }
  drawOn(canvasPen(canvas.getContext("2d")));
  placeMarks();
  log.first ||= performance.now();
}

const drawOn = pen => showsImages() ? imagesOn(pen) : lineOn(pen);

const columnOf = X => (X - view.x) * view.scale + width / 2;
function regionsInView() {
  const [left] = toWorld(0, 0), [right] = toWorld(width / dpr, 0), ends = r => P.corners.subarray(2 * r, 2 * r + 2);
  return fromLeft().filter(r => {
    const [a, b] = ends(r);
    return Math.max(P.X[a], P.X[b]) >= left && Math.min(P.X[a], P.X[b]) <= right;
  });
}

// Marks have a row of their own above the curves, so that they cover no number; images of points are higher.
const MARK_ROW = 16;
const roomForMarks = () => !marks.length ? 0 : MARK_ROW + (meta.points.some(point => point.image) ? 58 : 10);

// Rows of the picture, in pixels: the curves, the ticks, the slopes.
function rowsOfLine() {
  const top = (74 + roomForMarks()) * dpr, low = height - 34 * dpr, room = low - top, ticks = Math.min(16 * dpr, .14 * room / depth) * depth;
  if (meta.curve) return { top, curves: low - ticks - 24 * dpr, ticks: low - ticks, tick: ticks / depth, slopes: low, low };
  return { top, curves: top + .62 * room, ticks: top + .68 * room, tick: ticks / depth, slopes: top + .68 * room + ticks + .06 * room, low };
}

const chosenOutputs = () => signs || state.faces === "value" ? [state.output] : [...meta.outputs.keys()];
const lineInk = o => signs ? CLASSES[0] : mixed(classInk(o), ink(), dark() ? .1 : .25);

function lineOn(pen) {
  const seen = regionsInView(), rows = rowsOfLine(), outputs = chosenOutputs();
  const range = heightsOf(outputs), yOf = z => rows.curves - (z - range.lo) / (range.hi - range.lo) * (rows.curves - rows.top);
  pen.box(0, 0, width, height, back());
  for (const r of [state.pinned, state.hover]) if (r >= 0) shade(pen, r, rows);
  if (range.lo < 0 && range.hi > 0) pen.line([[0, yOf(0)], [width, yOf(0)]], mixed(back(), ink(), .25), dpr);
  for (const [, [X]] of marks) pen.line([[columnOf(X), rows.top], [columnOf(X), rows.low]], mixed(back(), ink(), .4), dpr);
  drawTicks(pen, seen, rows);
  const vertices = meta.curve ? [...seen].flatMap(path) : null;
  for (const o of outputs) {
    const values = valuesOf(o), at = v => [columnOf(P.X[v]), yOf(values[v])];
    const point = vertices ? i => at(vertices[i]) : i => at(cornerAlong(seen[i >> 1], i & 1));
    pen.line(thinned(vertices ? vertices.length : seen.length * 2, point), lineInk(o), 1.8 * dpr);
  }
  if (!meta.curve) drawSlopes(pen, seen, rows, outputs);
  drawDotsOnLine(pen, outputs, yOf);
  for (const z of [range.lo, (range.lo + range.hi) / 2, range.hi]) pen.text(6 * dpr, yOf(z) + 4 * dpr, outputText(z));
}

function shade(pen, r, rows) {
  const [a, b] = [0, 1].map(i => columnOf(P.X[P.corners[2 * r + i]])).sort((p, q) => p - q);
  pen.box(a, rows.top, Math.max(dpr, b - a), rows.low - rows.top, ink(), .12);
}

const clamp = (x, low, high) => Math.min(Math.max(x, low), high);
function heightsOf(outputs) { // at all steps of a training
  let lo = Infinity, hi = -Infinity;
  const [left] = toWorld(0, 0), [right] = toWorld(width / dpr, 0);
  for (const o of outputs) forEachStep(() => {
    const values = valuesOf(o);
    for (const r of regionsInView()) {
      for (const v of path(r)) {
        const z = P.X[v] < left || P.X[v] > right ? valueAt(r, values, clamp(P.X[v], left, right)) : values[v];
        if (z < lo) lo = z;
        if (z > hi) hi = z;
      }
    }
  });
  if (!(lo < hi)) { lo = Math.min(lo, 1e9) - 1; hi = lo + 2; }
  return { lo, hi };
}

// The left or the right end of a region on the screen.
function cornerAlong(r, right) {
  const [a, b] = P.corners.subarray(2 * r, 2 * r + 2), turned = P.X[a] > P.X[b];
  return right === Number(turned) ? a : b;
}

// The points of a curve with at most four in each column of pixels: the first, lowest, highest and last.
function thinned(n, point) {
  const found = [];
  let column = null, first, low, high, last;
  const flush = () => { if (column !== null) found.push(first, low, high, last); };
  for (let i = 0; i < n; i++) {
    const p = point(i), here = Math.floor(p[0]);
    if (here !== column) { flush(); column = here; first = low = high = p; }
    if (p[1] < low[1]) low = p;
    if (p[1] > high[1]) high = p;
    last = p;
  }
  flush();
  return found;
}

function drawTicks(pen, seen, rows) {
  const drawn = new Set();
  for (const r of seen) {
    for (let k = 2 * r; k < 2 * r + 2; k++) {
      const f = P.facets[k], kink = P.kinks[f];
      if (kink < 0) continue;
      const l = layerOf(kink), px = Math.round(columnOf(P.X[P.corners[k]])), chosen = sameNeuron(kink, state.kink ?? -1);
      if (!chosen && drawn.has(l * 1e6 + px)) continue;
      drawn.add(l * 1e6 + px);
      pen.box(px, chosen ? rows.top : rows.ticks + l * rows.tick, (chosen ? 2 : 1) * dpr,
        chosen ? rows.low - rows.top : rows.tick - dpr, chosen ? [.85, .2, 0] : layerColour(l));
    }
  }
  pen.text(6 * dpr, rows.ticks - 3 * dpr, "kinks, by layer");
}

function drawSlopes(pen, seen, rows, outputs) {
  const steep = (r, o) => slopes(r, valuesOf(o))[0];
  let most = 0;
  for (const o of outputs) forEachStep(() => { for (const r of regionsInView()) most = Math.max(most, Math.abs(steep(r, o))); });
  const middle = (rows.slopes + rows.low) / 2, half = (rows.low - rows.slopes) / 2;
  for (const o of outputs) {
    pen.line(thinned(seen.length * 2, i => {
      const r = seen[i >> 1];
      return [columnOf(P.X[cornerAlong(r, i & 1)]), middle - steep(r, o) / (most || 1) * half];
    }), lineInk(o), dpr);
  }
  pen.text(6 * dpr, rows.slopes - 3 * dpr, "slopes");
}
