// SPDX-License-Identifier: MIT
// How do the arrays of a partition come out of the page?
// `sections.py` describes how they are packed. `readPartition` unpacks them, and derives which regions are beside each
// facet, where the vertices are on the page, and how large each region is. `P` is the partition in all other files; a
// page of a training has one for each step, in `parts`. `cut.js` reads regions of three dimensions.

const meta = JSON.parse(document.getElementById("header").textContent);
const $ = id => document.getElementById(id);
const log = {};
const KINDS = { u1: Uint8Array, i2: Int16Array, i4: Int32Array, f4: Float32Array, f8: Float64Array };
let P = null, parts = [];

// Do something for each step, as if it were the one that is shown.
function forEachStep(act) {
  const now = P;
  for (P of parts) act();
  P = now;
}

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text), bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

async function inflated(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function unpacked(bytes, section) {
  const planes = await inflated(bytes.subarray(section.at, section.at + section.bytes));
  const size = KINDS[section.kind].BYTES_PER_ELEMENT, n = section.count, whole = size > 1 ? new Uint8Array(n * size) : planes;
  if (planes.length !== n * size) throw new Error("the page is damaged");
  if (size > 1) {
    for (let i = 0, to = 0; i < n; i++) for (let from = i; from < planes.length; from += n) whole[to++] = planes[from];
  }
  const array = new KINDS[section.kind](whole.buffer);
  if (section.new) {
    for (let i = 0, highest = -1; i < n; i++) {
      array[i] = highest + 1 - array[i];
      if (array[i] > highest) highest = array[i];
    }
  }
  return array;
}

async function readPartitions() {
  const texts = $("arrays").textContent.split(" ");
  $("arrays").remove();
  if (meta.planes) { openSolid(await readSolid(bytesOf(texts[0]))); return; }
  for (let step = 0; step < texts.length; step++) parts.push(await readPartition(bytesOf(texts[step]), step));
}

async function readPartition(bytes, step) {
  const { index, regions: R, vertices: V, facets: F, found, complete, panels, name } = meta.steps[step];
  const part = { step, name, R, V, F, found, complete, panels, plane: meta.dimension === 2 };
  await unpackInto(part, bytes, index);
  adjoin(part);
  place(part);
  part.size = sizes(part);
  part.alsoOf = pairs(part.also);
  part.extraOf = pairs(part.extra);
  return part;
}

const unpackInto = (part, bytes, index) =>
  Promise.all(Object.entries(index).map(async ([name, section]) => { part[name] = await unpacked(bytes, section); }));

// The corners of region r are `offsets[r]` to `offsets[r + 1]`. Facet f separates regions `beside[2 f]`, the lower one,
// and `beside[2 f + 1]`, or -1; its ends, `ends[2 f]` and `ends[2 f + 1]`, are counter-clockwise for the lower region.
// On a line a facet is a point, and both ends are the same.
function adjoin(part) {
  const { R, F, plane, corners, facets, counts } = part;
  const offsets = part.offsets = new Int32Array(R + 1);
  for (let r = 0; r < R; r++) offsets[r + 1] = offsets[r] + (plane ? counts[r] : 2);
  const beside = part.beside = new Int32Array(2 * F).fill(-1), ends = part.ends = new Int32Array(2 * F);
  for (let r = 0; r < R; r++) {
    for (let k = offsets[r]; k < offsets[r + 1]; k++) {
      const f = facets[k];
      if (beside[2 * f] >= 0) { beside[2 * f + 1] = r; continue; }
      beside[2 * f] = r;
      ends[2 * f] = corners[k];
      ends[2 * f + 1] = plane ? corners[k + 1 < offsets[r + 1] ? k + 1 : offsets[r]] : corners[k];
    }
  }
}

// `x`, `y` are chart coordinates, `X`, `Y` those of the page.
function place(part) {
  const { V, plane, vertices } = part;
  part.x = vertices.subarray(0, V);
  part.y = plane ? vertices.subarray(V) : new Float64Array(V);
  part.X = new Float64Array(V);
  part.Y = new Float64Array(V);
  const box = part.box = [Infinity, Infinity, -Infinity, -Infinity], { x, y, X, Y } = part;
  const [a, b, c, d] = plane ? meta.frame : [meta.frame[0], 0, 0, 0], [u, w] = plane ? meta.centre : [meta.centre[0], 0];
  for (let v = 0; v < V; v++) { // as `toPage`, without arrays
    X[v] = (x[v] - u) * a + (y[v] - w) * c;
    Y[v] = (x[v] - u) * b + (y[v] - w) * d;
    extend(part, box, v);
  }
}

function extend(part, box, v) {
  const X = part.X[v], Y = part.Y[v];
  if (X < box[0]) box[0] = X;
  if (Y < box[1]) box[1] = Y;
  if (X > box[2]) box[2] = X;
  if (Y > box[3]) box[3] = Y;
}

function toPage(x, y) {
  if (meta.dimension === 1) return [(x - meta.centre[0]) * meta.frame[0], 0];
  const [a, b, c, d] = meta.frame, u = x - meta.centre[0], v = y - meta.centre[1];
  return [u * a + v * c, u * b + v * d];
}

function toChart(X, Y) {
  if (meta.dimension === 1) return [X / meta.frame[0] + meta.centre[0], 0];
  const [a, b, c, d] = meta.frame, det = a * d - b * c;
  return [(X * d - Y * c) / det + meta.centre[0], (Y * a - X * b) / det + meta.centre[1]];
}

// Areas, or lengths, in units of the page. `folded`: whether rounded vertices turn a thin region around, or flatten it.
function sizes(part) {
  const [a, b, c, d] = meta.frame, turn = a * d - b * c;
  const { R, offsets, corners, X, Y } = part, size = new Float64Array(R);
  for (let r = 0; r < R; r++) {
    const first = offsets[r], last = offsets[r + 1], X0 = X[corners[first]], Y0 = Y[corners[first]];
    if (!part.plane) { size[r] = Math.abs(X[corners[first + 1]] - X0); continue; }
    let sum = 0, px = 0, py = 0;
    for (let k = first + 1; k < last; k++) {
      const qx = X[corners[k]] - X0, qy = Y[corners[k]] - Y0;
      sum += px * qy - py * qx;
      px = qx;
      py = qy;
    }
    size[r] = Math.abs(sum / 2);
    part.folded ||= !(sum * turn > 0);
  }
  return size;
}

function pairs(flat) {
  const found = new Map();
  for (let i = 0; i < flat.length; i += 2) {
    if (!found.has(flat[i])) found.set(flat[i], []);
    found.get(flat[i]).push(flat[i + 1]);
  }
  return found;
}
