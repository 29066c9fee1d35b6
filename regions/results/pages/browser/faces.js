// SPDX-License-Identifier: MIT
// Which colour does each face have?
// The *field* is what is drawn as output, landscape, slope and height: an output, or an output minus another one. Faces
// have one colour for each region (`flatPaint`), or are coloured by the shader from the field (`value`), from all outputs
// (`class`, `lead`). The range of colours is that of the whole picture, at all steps of a training, or of the part in view.

const state = {
  faces: "none", images: false, lines: "layer", output: 0, minus: -1, level: null, borders: false, fit: null,
  hover: -1, pinned: -1, keptAt: null, kink: null, edge: -1,
};
// A landscape is light in both themes, so what is drawn on it is dark.
const onDark = () => dark() && state.faces !== "relief";
const FIELD_FACES = ["value", "difference", "relief", "slope"];
const outputCount = () => meta.outputs.length;
const scoreCount = () => signs ? 2 : outputCount();

// Score c at vertex v: the class is the largest score.
const score = (c, v) => signs ? (c ? P.values[v] : 0) : P.values[c * P.V + v];

// What took long to compute, for this step or for all, the last used at the end. Textures that are in use stay, because
// each step needs at most four numbers at a time for a range of all steps.
const mostKept = () => 20 + 4 * parts.length;
const kept = new Map();
const cachedAs = (words, compute, drop = () => {}) => cachedUnder(`${words}, step ${P.step}`, compute, drop);
const cachedRange = (words, compute) => cachedUnder(`${words}, ${state.fit ? [P.step, ...state.fit] : "all"}`, compute, () => {});
function cachedUnder(name, compute, drop) {
  const found = kept.get(name) || { value: compute(), drop };
  kept.delete(name);
  kept.set(name, found);
  if (kept.size > mostKept()) {
    const [oldest, { value, drop }] = kept.entries().next().value;
    kept.delete(oldest);
    drop(value);
  }
  return found.value;
}

const fieldKey = () => `${state.output} - ${state.minus}`;
function field() {
  if (state.minus < 0) return valuesOf(state.output);
  return cachedAs(`field ${fieldKey()}`, () => {
    const a = valuesOf(state.output), b = valuesOf(state.minus);
    return a.map((value, v) => value - b[v]);
  });
}
function fieldName() {
  const name = outputName(state.output);
  return state.minus < 0 ? name : `${name} minus ${outputName(state.minus)}`;
}

// Whether a vertex or a region is in the part of the picture whose colours are fitted.
const fitKey = () => state.fit ? state.fit.join(" ") : "all";
const inBox = (box, X, Y) => X >= box[0] && X <= box[2] && Y >= box[1] && Y <= box[3];
const fitsVertex = v => !state.fit || inBox(state.fit, P.X[v], P.Y[v]);
function fitsRegion(r) {
  if (!state.fit) return true;
  for (let k = P.offsets[r]; k < P.offsets[r + 1]; k++) if (fitsVertex(P.corners[k])) return true;
  return holds(r, ...toChart((state.fit[0] + state.fit[2]) / 2, (state.fit[1] + state.fit[3]) / 2));
}

// Two quantiles of a sample of numbers()[i], for those i that are asked for.
function quantiles(numbers, asked, low, high) {
  const found = [], take = step => {
    const all = numbers();
    for (let i = 0; i < all.length; i += step(all.length)) if (isFinite(all[i]) && asked(i)) found.push(all[i]);
  };
  if (state.fit) take(() => 1); else forEachStep(() => take(n => Math.max(1, Math.floor(n * parts.length / 20000))));
  if (!found.length) return state.fit ? quantilesOfAll(numbers, low, high) : [0, 1];
  found.sort((a, b) => a - b);
  return [found[Math.floor(found.length * low)], found[Math.min(found.length - 1, Math.floor(found.length * high))]];
}
function quantilesOfAll(numbers, low, high) {
  const fit = state.fit;
  state.fit = null;
  try { return quantiles(numbers, () => true, low, high); } finally { state.fit = fit; }
}

// Ends and colours of the bar for a field; if both signs matter, 0 is in the middle.
function fieldRange(look = theme) {
  return cachedRange(`range ${fieldKey()} ${look}`, () => rangeOf(look));
}
function rangeOf(look) {
  const [lo, hi] = quantiles(field, fitsVertex, .002, .998), { rising, signed } = RAMPS[look];
  if (lo < 0 && hi > 0 && Math.min(-lo, hi) > .05 * Math.max(-lo, hi)) {
    const most = Math.max(-lo, hi);
    return { lo: -most, hi: most, ramp: signed };
  }
  return { lo, hi, ramp: rising };
}

// How far the largest score leads, at each vertex.
function leads() {
  return cachedAs("leads", () => {
    const lead = new Float32Array(P.V);
    for (let v = 0; v < P.V; v++) {
      let best = -Infinity, next = -Infinity;
      for (let c = 0; c < scoreCount(); c++) {
        const z = score(c, v);
        if (z > best) { next = best; best = z; } else if (z > next) next = z;
      }
      lead[v] = best - next;
    }
    return lead;
  });
}
function leadRange() {
  return cachedRange(`lead range ${theme}`, () => {
    const [, hi] = quantiles(leads, fitsVertex, 0, .998);
    return { lo: 0, hi, ramp: RAMPS[theme].rising };
  });
}

function mean(values, r) {
  let sum = 0;
  const first = P.offsets[r], last = P.offsets[r + 1];
  for (let k = first; k < last; k++) sum += values[P.corners[k]];
  return sum / (last - first);
}

const paintName = () => `paint ${state.faces} ${theme} ${fieldKey()} ${fitKey()}`;

// Colours of the regions, and the legend's bar: { data: bytes [R, 4], bar }.
function flatPaint() {
  const data = new Uint8Array(roomFor(P.R) * 4).fill(255);
  const put = (r, c) => { for (let i = 0; i < 3; i++) data[4 * r + i] = Math.round(255 * c[i]); };
  const bar = FLAT[state.faces](put) || null;
  return { data, bar };
}

const FLAT = {
  area(put) {
    const logsOf = () => P.size.map(a => Math.log10(Math.max(a, 1e-300))), logs = logsOf();
    const [lo, hi] = cachedRange("areas", () => quantiles(logsOf, fitsRegion, .01, .995)), { rising } = RAMPS[theme];
    for (let r = 0; r < P.R; r++) put(r, rising(1 - (logs[r] - lo) / (hi - lo || 1)));
    const ends = [lo, hi].map(each => sized(10 ** each, 2));
    return { ramp: t => rising(1 - t), ends, label: "area (log)" };
  },
  slope(put) {
    const steep = steepness(), { rising } = RAMPS[theme];
    const [lo, hi] = cachedRange(`slopes ${fieldKey()}`, () => quantiles(steepness, fitsRegion, .01, .99));
    for (let r = 0; r < P.R; r++) put(r, rising((steep[r] - lo) / (hi - lo || 1)));
    return { ramp: rising, ends: [lo, hi].map(slopeText), label: "slope" };
  },
  relief(put) { // lit from the upper left
    const values = field(), range = fieldRange("light"), light = [-.55, .55, .63];
    const steep = gradients(), steepest = cachedRange(`light ${fieldKey()}`, () => quantiles(steepness, fitsRegion, .5, .9))[1] || 1;
    for (let r = 0; r < P.R; r++) {
      const gx = -.95 * steep[2 * r] / steepest, gy = -.95 * steep[2 * r + 1] / steepest;
      const size = Math.sqrt(gx * gx + gy * gy + 1);
      const shade = Math.max(0, (gx * light[0] + gy * light[1] + light[2]) / size);
      const colour = range.ramp((mean(values, r) - range.lo) / (range.hi - range.lo || 1));
      put(r, colour.map(v => Math.min(1, v * (.45 + .72 * shade))));
    }
    return { ramp: range.ramp, ends: [range.lo, range.hi].map(outputText), label: fieldName() + ", lit" };
  },
  region(put) {
    const numbers = cachedAs("numbers of colours", () => colourNumbers());
    for (let r = 0; r < P.R; r++) put(r, neighbourColour(numbers[r]));
  },
  map(put) {
    const numbers = cachedAs("numbers of colours", () => colourNumbers()), first = new Map();
    for (let r = 0; r < P.R; r++) {
      if (!first.has(P.maps[r])) first.set(P.maps[r], numbers[r]);
      put(r, neighbourColour(first.get(P.maps[r])));
    }
  },
  none(put) {
    for (let r = 0; r < P.R; r++) put(r, back());
  },
};

// The slopes of the field along X and Y in each region, and how steep it is there.
function gradients() {
  return cachedAs(`gradients ${fieldKey()}`, () => {
    const values = field(), found = new Float64Array(2 * P.R);
    for (let r = 0; r < P.R; r++) [found[2 * r], found[2 * r + 1]] = slopes(r, values);
    return found;
  });
}
function steepness() {
  return cachedAs(`steepness ${fieldKey()}`, () => {
    const found = gradients(), steep = new Float64Array(P.R);
    for (let r = 0; r < P.R; r++) steep[r] = Math.hypot(found[2 * r], found[2 * r + 1]);
    return steep;
  });
}

// A number from 0 to 7 for each region; neighbours differ unless more than eight of them meet. The pattern chooses the
// number, and who may choose first, so that a region that stays in a training nearly always keeps its colour.
function colourNumbers() {
  const numbers = new Int8Array(P.R).fill(-1), hashes = patternHashes();
  const order = Float64Array.from(hashes, (hash, r) => hash * 2 ** 23 + r).sort();
  for (const each of order) {
    const r = each % 2 ** 23;
    let used = 0;
    for (let k = P.offsets[r]; k < P.offsets[r + 1]; k++) {
      const other = across(P.facets[k], r);
      if (other >= 0 && numbers[other] >= 0) used |= 1 << numbers[other];
    }
    let number = hashes[r] % 8;
    for (let i = 0; i < 8 && used >> number & 1; i++) number = (number + 1) % 8;
    numbers[r] = number;
  }
  return numbers;
}

// The colour of a region in a vector picture, where faces by class are cut instead.
function faceColour(r) {
  if (state.faces === "value" || state.faces === "difference" || state.faces === "lead") {
    const lead = state.faces === "lead", range = lead ? leadRange() : fieldRange();
    return range.ramp((mean(lead ? leads() : field(), r) - range.lo) / (range.hi - range.lo || 1));
  }
  const { data } = cachedAs(paintName(), flatPaint);
  return [0, 1, 2].map(i => data[4 * r + i] / 255);
}

// The parts of region r by class: [class, corners [X, Y], borders [X, Y, X, Y]].
function classPieces(r) {
  const n = scoreCount(), ring = [];
  for (let k = P.offsets[r]; k < P.offsets[r + 1]; k++) {
    const v = P.corners[k];
    ring.push({ X: P.X[v], Y: P.Y[v], z: Array.from({ length: n }, (_, c) => score(c, v)), beyond: -1 });
  }
  const highest = c => Math.max(...ring.map(corner => corner.z[c])), lowest = c => Math.min(...ring.map(corner => corner.z[c]));
  const all = [...Array(n).keys()], floor = Math.max(...all.map(lowest)), candidates = all.filter(c => highest(c) >= floor);
  const found = [];
  for (const c of candidates) {
    let piece = ring;
    for (const other of candidates) if (other !== c && piece.length) piece = clipped(piece, c, other);
    if (piece.length < 3) continue;
    const borders = piece.flatMap((corner, i) => {
      const next = piece[(i + 1) % piece.length];
      return corner.beyond > c ? [[corner.X, corner.Y, next.X, next.Y]] : [];
    });
    found.push([c, piece.map(({ X, Y }) => [X, Y]), borders]);
  }
  return found;
}

// The part of a ring where score c is above another one; equal scores belong to the lower class.
function clipped(ring, c, other) {
  const lead = corner => corner.z[c] - corner.z[other];
  const most = Math.max(...ring.map(lead)), least = Math.min(...ring.map(lead));
  if (most <= 0 && !(c < other && least === 0)) return [];
  const found = [];
  ring.forEach((corner, i) => {
    const next = ring[(i + 1) % ring.length], here = lead(corner), there = lead(next);
    if (here > 0 || here === 0 && there >= 0) found.push(corner);
    else if (here === 0) found.push({ ...corner, beyond: other });
    if (here > 0 && there < 0 || here < 0 && there > 0) {
      const t = here / (here - there), between = (a, b) => a + t * (b - a);
      found.push({
        X: between(corner.X, next.X), Y: between(corner.Y, next.Y), z: corner.z.map((z, i) => between(z, next.z[i])),
        beyond: here > 0 ? other : corner.beyond,
      });
    }
  });
  return found;
}
