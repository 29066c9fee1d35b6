// SPDX-License-Identifier: MIT
// How does a plane cut regions of three dimensions?
// `solid` has the regions. The plane is where coordinate `axis` of the chart has the value `at`. It cuts the outline of a
// facet in two edges or none, so it cuts the facet in a segment, and the segments of a region form its polygon. The result
// is a partition of a plane, `P`, with the same arrays as one that was read, and the numbers of its regions in `solid`.
// The plane keeps away from vertices, so each vertex is safely on one side: rounding decides nothing.

let solid = null, cuts = 0;
// The least distance from the plane to a vertex, as a share of the width.
const AWAY = 2 ** -40, SLIDES = 1000, SAMPLES = 5;
const others = axis => [0, 1, 2].filter(k => k !== axis);
const along = axis => solid.vertices.subarray(axis * solid.V, (axis + 1) * solid.V);

async function readSolid(bytes) {
  const { index, regions: R, vertices: V, facets: F, found, complete, panels } = meta.steps[0];
  const part = { R, V, F, found, complete, panels };
  await unpackInto(part, bytes, index);
  part.offsets = prefixes(part.counts);
  part.starts = prefixes(part.around);
  part.beside = new Int32Array(2 * F).fill(-1);
  for (let r = 0; r < R; r++) {
    for (let k = part.offsets[r]; k < part.offsets[r + 1]; k++) {
      const f = part.facets[k];
      part.beside[2 * f + (part.beside[2 * f] >= 0)] = r;
    }
  }
  part.alsoOf = pairs(part.also);
  part.extraOf = pairs(part.extra);
  part.sorted = [];
  return part;
}
function prefixes(counts) {
  const found = new Int32Array(counts.length + 1);
  counts.forEach((count, i) => { found[i + 1] = found[i] + count; });
  return found;
}

// The first plane, and the planes from which the ranges of colours are taken.
function openSolid(read) {
  solid = read;
  const axis = 2, { low, high } = ends(axis), marked = meta.points[0];
  for (let i = 0; i < SAMPLES; i++) parts.push(cut(axis, low + (high - low) * (i + .5) / SAMPLES));
  P = cut(axis, marked ? marked.at[axis] : low / 2 + high / 2);
}

// The coordinates of all vertices, in order.
const sortedAlong = axis => solid.sorted[axis] ||= along(axis).slice().sort();
function ends(axis) {
  const sorted = sortedAlong(axis);
  return { low: sorted[0], high: sorted[sorted.length - 1] };
}

// The value nearest to `at` that is away from all vertices.
function awayFromVertices(axis, at) {
  const sorted = sortedAlong(axis), { low, high } = ends(axis), away = (high - low) * AWAY;
  const wanted = Math.min(Math.max(at, low + 2 * away), high - 2 * away);
  let first = 0, end = sorted.length - 1; // the first vertex that is above the plane, or less than `away` below
  while (first < end) {
    const middle = first + end >> 1;
    if (sorted[middle] < wanted - away) first = middle + 1; else end = middle;
  }
  if (sorted[first] > wanted + away) return wanted;
  let below = first, above = first;
  while (below > 0 && sorted[below] - sorted[below - 1] <= 4 * away) below--;
  while (above + 1 < sorted.length && sorted[above + 1] - sorted[above] <= 4 * away) above++;
  const down = below > 0 ? sorted[below] - 2 * away : -Infinity, up = above + 1 < sorted.length ? sorted[above] + 2 * away : Infinity;
  const nearest = wanted - down < up - wanted ? down : up;
  return isFinite(nearest) ? nearest : wanted;
}

function cut(axis, wanted) {
  Object.assign(meta, { frame: meta.planes[axis].frame, centre: meta.planes[axis].centre, unit: meta.planes[axis].unit });
  const at = awayFromVertices(axis, wanted), height = along(axis), { V, outlines, starts } = solid;
  const number = new Map(), from = [], to = []; // of the edges that are cut
  const vertexOn = (u, v) => {
    const low = Math.min(u, v), high = Math.max(u, v), key = low * V + high;
    let found = number.get(key);
    if (found === undefined) { number.set(key, found = from.length); from.push(low); to.push(high); }
    return found;
  };
  const segment = new Int32Array(solid.F).fill(-1), whole = [], ends = [];
  for (let f = 0; f < solid.F; f++) {
    let last = outlines[starts[f + 1] - 1], count = 0;
    for (let k = starts[f]; k < starts[f + 1]; k++) {
      const v = outlines[k];
      if (height[v] > at !== height[last] > at) { if (count < 2) ends.push(vertexOn(last, v)); count++; }
      last = v;
    }
    if (count) { segment[f] = whole.length; whole.push(f); }
  }
  const rings = ringsOf(segment, ends), part = { ...rings, ...onEdges(axis, at, from, to), step: ++cuts, axis, at, whole: solid };
  const facets = Int32Array.from(whole), R = rings.counts.length, F = facets.length;
  Object.assign(part, { R, V: from.length, F, found: solid.found, complete: solid.complete, panels: [], plane: true });
  part.kinks = Int32Array.from(facets, f => solid.kinks[f]);
  part.alsoOf = new Map([...facets.keys()].filter(i => solid.alsoOf.has(facets[i])).map(i => [i, solid.alsoOf.get(facets[i])]));
  if (solid.maps) part.maps = Int32Array.from(rings.numbers, r => solid.maps[r]);
  orient(part);
  adjoin(part);
  place(part);
  part.size = sizes(part);
  return part;
}

// The polygons of the regions that are cut: at each of their vertices two segments meet.
function ringsOf(segment, ends) {
  const numbers = [], counts = [], corners = [], facets = [];
  for (let r = 0; r < solid.R; r++) {
    const open = [];
    for (let k = solid.offsets[r]; k < solid.offsets[r + 1]; k++) if (segment[solid.facets[k]] >= 0) open.push(segment[solid.facets[k]]);
    if (!open.length) continue;
    let f = open.pop(), v = ends[2 * f];
    const first = corners.length;
    for (;;) {
      corners.push(v);
      facets.push(f);
      v = ends[2 * f] === v ? ends[2 * f + 1] : ends[2 * f];
      const next = open.findIndex(g => ends[2 * g] === v || ends[2 * g + 1] === v);
      if (next < 0) break;
      [f] = open.splice(next, 1);
    }
    numbers.push(r);
    counts.push(corners.length - first);
  }
  return { numbers: Int32Array.from(numbers), counts: Int32Array.from(counts), corners: Int32Array.from(corners), facets: Int32Array.from(facets) };
}

// The coordinates and outputs where edges meet the plane; both are affine along an edge.
function onEdges(axis, at, from, to) {
  const n = from.length, height = along(axis), shares = Float64Array.from(from, (u, i) => (at - height[u]) / (height[to[i]] - height[u]));
  const between = (row, i) => row[from[i]] + shares[i] * (row[to[i]] - row[from[i]]);
  const vertices = new Float64Array(2 * n), values = new Float32Array(meta.outputs.length * n);
  others(axis).forEach((k, row) => { const numbers = along(k); for (let i = 0; i < n; i++) vertices[row * n + i] = between(numbers, i); });
  for (let o = 0; o < meta.outputs.length; o++) {
    const row = solid.values.subarray(o * solid.V, (o + 1) * solid.V);
    for (let i = 0; i < n; i++) values[o * n + i] = between(row, i);
  }
  return { vertices, values };
}

// Turn the polygons counter-clockwise in the chart.
function orient({ R, V, counts, corners, facets, vertices }) {
  const x = vertices.subarray(0, V), y = vertices.subarray(V);
  for (let r = 0, first = 0; r < R; first += counts[r], r++) {
    const end = first + counts[r], a = corners[first];
    let twice = 0;
    for (let k = first + 1; k + 1 < end; k++) {
      const b = corners[k], c = corners[k + 1];
      twice += (x[b] - x[a]) * (y[c] - y[a]) - (y[b] - y[a]) * (x[c] - x[a]);
    }
    if (twice >= 0) continue;
    corners.subarray(first, end).reverse();
    facets.subarray(first, end - 1).reverse(); // the last one is between the ends
  }
}

// Whether a marked point is not in the plane, as far as the slider can tell.
function isAway(height) {
  const { low, high } = ends(P.axis);
  return Math.abs(height - P.at) > (high - low) / SLIDES;
}

// Show another plane. On the same axis the view and the pinned region stay.
function moveTo(axis, at) {
  const turned = axis !== P.axis;
  if (turned) letGo();
  show(cut(axis, at));
  if (turned) { if (view.tilt) setTilt(true); else { Object.assign(view, homeView()); goal = null; } }
  namePlane();
  placeMarks();
}
function moveBy(slides) {
  const { low, high } = ends(P.axis);
  moveTo(P.axis, P.at + slides * (high - low) / SLIDES);
  say($("height-name").textContent);
}
// A plane through the middle of a region.
function moveToRegion(r) {
  const height = along(P.axis);
  let low = Infinity, high = -Infinity;
  for (let k = solid.offsets[r]; k < solid.offsets[r + 1]; k++) {
    const f = solid.facets[k];
    for (const v of solid.outlines.subarray(solid.starts[f], solid.starts[f + 1])) {
      low = Math.min(low, height[v]);
      high = Math.max(high, height[v]);
    }
  }
  moveTo(P.axis, low / 2 + high / 2);
}

const axisName = axis => meta.planes[axis].name;
function namePlane() {
  const { low, high } = ends(P.axis), digits = 10 ** Math.ceil(5 - Math.log10(high - low));
  $("axis").value = String(P.axis);
  $("height").value = SLIDES * (P.at - low) / (high - low);
  const shown = isFinite(digits) && digits ? Math.round(P.at * digits) / digits : P.at;
  $("height-name").textContent = `${axisName(P.axis)} = ${short(shown)}: ${counted(P.R, "region")}`;
  $("height").setAttribute("aria-valuetext", $("height-name").textContent);
}
function startPlane() {
  $("cutting").hidden = !solid;
  if (!solid) return;
  document.documentElement.dataset.steps = "";
  options("axis", meta.planes.map(({ name }, axis) => [String(axis), name]), String(P.axis));
  $("axis").addEventListener("change", ({ target }) => {
    const { low, high } = ends(Number(target.value));
    moveTo(Number(target.value), low / 2 + high / 2);
  });
  $("height").max = SLIDES;
  $("height").addEventListener("input", ({ target }) => {
    const { low, high } = ends(P.axis);
    moveTo(P.axis, low + (high - low) * Number(target.value) / SLIDES);
  });
  $("search").placeholder = "x, y, z  |  #region  |  layer:neuron";
  namePlane();
}
