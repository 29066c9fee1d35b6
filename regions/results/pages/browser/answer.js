// SPDX-License-Identifier: MIT
// What is at a point?
// The region: a walk from region to region, each step across a side that has the point beyond it. The side of an edge on
// which a point lies is computed once for both regions beside it, so that they never disagree, and no point is in a gap.
// On an edge or at a vertex the lowest of the touching regions is the answer, as in `Partition.locate`.
// The pattern: that of the root of its connected part, changed along a tree of facets.
// The outputs: affine in a region, from its largest triangle.

const layerStarts = [0];
for (const count of meta.layers) layerStarts.push(layerStarts[layerStarts.length - 1] + count);
const depth = meta.layers.length;

const layerOf = kink => { let l = 0; while (kink >= layerStarts[l + 1]) l++; return l; };
// The number of a region in the partition; the window of a plane has numbers of its own.
const numberOf = r => P.numbers ? P.numbers[r] : r;
const regionOf = number => P.numbers ? P.numbers.indexOf(number) : number < P.R ? number : -1;
const across = (f, r) => P.beside[2 * f] === r ? P.beside[2 * f + 1] : P.beside[2 * f];

function neuronName(kink) {
  if (kink < 0) return "edge of the domain";
  const name = `layer ${layerOf(kink) + 1}, neuron ${meta.units[kink]}`;
  if (meta.branches && meta.branches[kink][1] >= 0) return `${name}, inputs ${meta.branches[kink].join(" and ")}`;
  return name;
}

// Above 0 on the side of region r, 0 on the edge's line; the other sign for the region across. The sign is exact for the
// stored vertices: each product is within 3 units in the last place, and closer cases are computed in integers.
function sideOf(f, r, x, y) {
  const a = P.ends[2 * f], b = P.ends[2 * f + 1];
  const left = (P.x[b] - P.x[a]) * (y - P.y[a]), right = (P.y[b] - P.y[a]) * (x - P.x[a]);
  let side = left - right;
  if (!(Math.abs(side) > 1e-15 * (Math.abs(left) + Math.abs(right)))) side = exactSide(P.x[a], P.y[a], P.x[b], P.y[b], x, y);
  return P.beside[2 * f] === r ? side : -side;
}
function exactSide(...numbers) {
  if (numbers[0] === numbers[4] && numbers[1] === numbers[5] || numbers[2] === numbers[4] && numbers[3] === numbers[5]) return 0;
  const [ax, ay, bx, by, x, y] = toIntegers(numbers), side = (bx - ax) * (y - ay) - (by - ay) * (x - ax);
  return side > 0n ? 1 : side < 0n ? -1 : 0;
}
// Doubles as integers of one power of two.
function toIntegers(numbers) {
  const words = new BigInt64Array(Float64Array.from(numbers).buffer), exponents = [...words].map(w => Math.max(1, Number(w >> 52n & 2047n)));
  const least = Math.min(...exponents);
  return numbers.map((number, i) => {
    const whole = (words[i] & (1n << 52n) - 1n) + (Math.abs(number) < 2 ** -1022 ? 0n : 1n << 52n);
    return (number < 0 ? -whole : whole) << BigInt(exponents[i] - least);
  });
}

// Rounding may leave a point or a line of a thin region: only what is there has it.
function holds(r, x, y) {
  if (hasCorner(r, x, y)) return true;
  let within = false;
  for (let k = P.offsets[r]; k < P.offsets[r + 1]; k++) {
    const side = sideOf(P.facets[k], r, x, y);
    if (side < 0) return false;
    within ||= side > 0;
  }
  return within;
}
// Rounding may also turn a short edge, and then a region is not convex: this counts how often a ray meets its sides.
function surrounds(r, x, y) {
  let inside = false;
  for (let k = P.offsets[r]; k < P.offsets[r + 1]; k++) {
    const f = P.facets[k], up = P.y[P.ends[2 * f + 1]] > y;
    if (P.y[P.ends[2 * f]] > y !== up && sideOf(f, P.beside[2 * f], x, y) > 0 === up) inside = !inside;
  }
  return inside;
}
const isAt = (v, x, y) => P.x[v] === x && P.y[v] === y;
const hasCorner = (r, x, y) => P.corners.subarray(P.offsets[r], P.offsets[r + 1]).some(v => isAt(v, x, y));

// The region of a chart point, or -1.
function locate(x, y, from = 0) {
  const r = P.plane ? walk(x, y, Math.max(0, from)) : onLine(x);
  return r < 0 ? r : lowest(r, x, y);
}

function walk(x, y, from) {
  const most = 50 + 20 * Math.sqrt(P.R);
  let r = from, chance = 12345; // chance keeps the walk from going in circles
  for (let step = 0; step < most; step++) {
    const first = P.offsets[r], count = P.offsets[r + 1] - first;
    chance = (chance * 1103515245 + 12345) & 0x7fffffff;
    let next = -2;
    for (let i = 0; i < count && next < 0; i++) {
      const f = P.facets[first + (i + chance) % count];
      if (sideOf(f, r, x, y) < 0) next = across(f, r);
    }
    if (next === -2 && holds(r, x, y)) return r;
    for (let i = 0; i < count && next === -2; i++) next = Math.max(next, across(P.facets[first + (i + chance) % count], r));
    if (next === -1) {
      if (P.complete && !P.folded) return -1; // the domain is convex
      break;
    }
    r = next;
  }
  for (const has of [holds, surrounds]) for (let q = 0; q < P.R; q++) if (has(q, x, y)) return q;
  return -1;
}

const fromLeft = () => P.byLeft ||=
  Int32Array.from(P.size.keys()).sort((a, b) => P.x[P.corners[2 * a]] - P.x[P.corners[2 * b]]);
function onLine(x) {
  const byLeft = fromLeft();
  let low = 0, high = P.R;
  while (high - low > 1) {
    const middle = low + high >> 1;
    if (P.x[P.corners[2 * byLeft[middle]]] <= x) low = middle; else high = middle;
  }
  const r = byLeft[low], left = P.x[P.corners[2 * r]], right = P.x[P.corners[2 * r + 1]];
  const first = low === 0 && !meta.ends[0], last = low === P.R - 1 && !meta.ends[1];
  return (left <= x || first) && (x <= right || last) ? r : -1;
}

// The lowest region that has the point, of those that touch each other there.
function lowest(start, x, y) {
  const seen = new Set([start]), open = [start];
  let least = start;
  if (!P.complete && hasCorner(start, x, y)) { // others may touch in this vertex only
    for (let r = 0; r < P.R; r++) if (!seen.has(r) && hasCorner(r, x, y)) { seen.add(r); open.push(r); }
  }
  while (open.length) {
    const r = open.pop();
    if (numberOf(r) < numberOf(least)) least = r;
    for (let k = P.offsets[r]; k < P.offsets[r + 1]; k++) {
      const f = P.facets[k], touches = P.plane ? sideOf(f, r, x, y) === 0 : isAt(P.ends[2 * f], x, y);
      const other = touches ? across(f, r) : -1;
      if (other >= 0 && !seen.has(other) && (!P.plane || holds(other, x, y))) {
        seen.add(other);
        open.push(other);
      }
    }
  }
  return least;
}

// Answer for all regions of three dimensions, of which P has those in a plane.
function inWhole(answer) {
  const now = P;
  P = now.whole;
  try { return answer(); } finally { P = now; }
}

// `parent[r]` is the facet towards the root of the connected part of region r, or -1 - (number of the root). `order` has
// each region after the one across this facet.
function growTrees() {
  const parent = new Int32Array(P.R), queue = new Int32Array(P.R), reached = new Uint8Array(P.R);
  let head = 0, tail = 0;
  P.roots.forEach((root, i) => { parent[root] = -1 - i; reached[root] = 1; queue[tail++] = root; });
  while (head < tail) {
    const r = queue[head++];
    for (let k = P.offsets[r]; k < P.offsets[r + 1]; k++) {
      const f = P.facets[k], other = across(f, r);
      if (other >= 0 && !reached[other]) { reached[other] = 1; parent[other] = f; queue[tail++] = other; }
    }
  }
  P.parent = parent;
  P.order = queue;
}

// A number of 30 bits for each region, equal for equal patterns, at all steps of a training.
function patternHashes() {
  if (P.whole) { const all = P.whole.hashes ||= inWhole(patternHashes); return P.numbers.map(r => all[r]); }
  if (!P.parent) growTrees();
  const mixed = kink => { // the finaliser of MurmurHash3, by Austin Appleby
    let z = Math.imul(kink + 1, 0x9e3779b9);
    z = Math.imul(z ^ z >>> 16, 0x85ebca6b);
    z = Math.imul(z ^ z >>> 13, 0xc2b2ae35);
    return z ^ z >>> 16;
  };
  const own = Int32Array.from({ length: layerStarts[depth] }, (_, kink) => mixed(kink)), hashes = new Int32Array(P.R);
  for (const r of P.order) {
    const f = P.parent[r];
    if (f < 0) {
      const bits = pattern(r);
      own.forEach((hash, kink) => { if (isOn(bits, kink)) hashes[r] ^= hash; });
    } else {
      hashes[r] = hashes[across(f, r)] ^ own[P.kinks[f]];
      for (const kink of P.extraOf.get(f) || []) hashes[r] ^= own[kink];
    }
  }
  return hashes.map(hash => hash >>> 2);
}

function pattern(r) {
  if (P.whole) { const number = numberOf(r); return inWhole(() => pattern(number)); }
  if (!P.parent) growTrees();
  const changed = [];
  let f = P.parent[r];
  for (; f >= 0; f = P.parent[r]) {
    changed.push(P.kinks[f], ...P.extraOf.get(f) || []);
    r = across(f, r);
  }
  const width = P.patterns.length / P.roots.length, root = -1 - f;
  const bits = P.patterns.slice(root * width, (root + 1) * width);
  for (const kink of changed) bits[kink >> 3] ^= 1 << (kink & 7);
  return bits;
}

const isOn = (bits, kink) => bits[kink >> 3] >> (kink & 7) & 1;

const cross = (a, b, c) => (P.X[b] - P.X[a]) * (P.Y[c] - P.Y[a]) - (P.Y[b] - P.Y[a]) * (P.X[c] - P.X[a]);

// Three corners of a region with much room between them; on a line its two ends.
function triangle(r) {
  const first = P.offsets[r], last = P.offsets[r + 1], a = P.corners[first];
  if (!P.plane) return [a, P.corners[first + 1]];
  let best = first + 1, most = -1;
  for (let k = first + 1; k + 1 < last; k++) {
    const room = Math.abs(cross(a, P.corners[k], P.corners[k + 1]));
    if (room > most) { most = room; best = k; }
  }
  return [a, P.corners[best], P.corners[best + 1]];
}

// The slopes along X and Y of an affine function on a region, from its values at the vertices.
function slopes(r, values) {
  const [a, b, c] = triangle(r), up = values[b] - values[a];
  if (!P.plane) return [P.X[b] === P.X[a] ? 0 : up / (P.X[b] - P.X[a]), 0];
  const room = cross(a, b, c), far = values[c] - values[a];
  const found = [
    (up * (P.Y[c] - P.Y[a]) - far * (P.Y[b] - P.Y[a])) / room,
    (far * (P.X[b] - P.X[a]) - up * (P.X[c] - P.X[a])) / room,
  ];
  return found.every(isFinite) ? found : [0, 0]; // a region as thin as the spacing of doubles
}

const valuesOf = o => P.values.subarray(o * P.V, (o + 1) * P.V);

// Two neighbouring vertices of region r of a line, with a point between them; a curve has vertices inside its regions.
function pairAround(r, X) {
  let [low, high] = P.corners.subarray(2 * r, 2 * r + 2);
  if (!meta.curve) return [low, high];
  while (high - low > 1) {
    const middle = low + high >> 1;
    if (P.X[middle] <= X) low = middle; else high = middle;
  }
  return [low, high];
}
function valueAt(r, values, X) {
  const [a, b] = pairAround(r, X), wide = P.X[b] - P.X[a];
  return values[a] + (wide ? (X - P.X[a]) / wide * (values[b] - values[a]) : 0);
}

// All outputs at a point of the page in region r.
function outputsAt(r, X, Y) {
  if (meta.curve) return Float64Array.from(meta.outputs.keys(), o => valueAt(r, valuesOf(o), X));
  const a = triangle(r)[0];
  return Float64Array.from(meta.outputs.keys(), o => {
    const values = valuesOf(o), [gx, gy] = slopes(r, values);
    return values[a] + gx * (X - P.X[a]) + gy * (Y - P.Y[a]);
  });
}

function middle(r) {
  let X = 0, Y = 0;
  const first = P.offsets[r], last = P.offsets[r + 1];
  for (let k = first; k < last; k++) { X += P.X[P.corners[k]]; Y += P.Y[P.corners[k]]; }
  return [X / (last - first), Y / (last - first)];
}

// The class: the largest output, the first of equals; of one output, whether it is above 0.
const signs = meta.n_out === 1;
const topOf = outputs => signs ? Number(outputs[0] > 0) : outputs.indexOf(Math.max(...outputs));
const className = i => meta.classes[signs ? i : meta.outputs[i]];
const outputName = o => signs ? "output" : className(o);

// The edge of region r that is nearest to a point of the page, and its distance.
function nearestEdge(r, X, Y) {
  let best = -1, least = Infinity;
  for (let k = P.offsets[r]; k < P.offsets[r + 1]; k++) {
    const f = P.facets[k], a = P.ends[2 * f], b = P.ends[2 * f + 1], dx = P.X[b] - P.X[a], dy = P.Y[b] - P.Y[a];
    const square = dx * dx + dy * dy || 1e-300;
    const t = Math.min(1, Math.max(0, ((X - P.X[a]) * dx + (Y - P.Y[a]) * dy) / square));
    const d = Math.hypot(X - P.X[a] - t * dx, Y - P.Y[a] - t * dy);
    if (d < least) { least = d; best = f; }
  }
  return [best, least];
}

// The facets at which a neuron bends, as the first or a further kink; a neuron is a kink's layer and unit.
const sameNeuron = (a, b) => a >= 0 && b >= 0 && layerOf(a) === layerOf(b) && meta.units[a] === meta.units[b];
function facetsOf(kink) {
  const own = new Uint8Array(layerStarts[depth]), found = [];
  for (let k = 0; k < own.length; k++) own[k] = Number(sameNeuron(k, kink));
  for (let f = 0; f < P.F; f++) {
    if (P.kinks[f] >= 0 && own[P.kinks[f]] || (P.alsoOf.get(f) || []).some(k => own[k])) found.push(f);
  }
  return found;
}
