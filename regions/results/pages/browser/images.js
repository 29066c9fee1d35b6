// SPDX-License-Identifier: MIT
// How are the images of a curve after each layer drawn?
// One beside the other, as `curve_images.py` projects them. A piece has one colour in all images, from the begin of the
// curve to its end, and a dot at each of its kinks. The part of the curve in view is shown, so zooming works as for the
// outputs. Points less than half a pixel apart are not drawn.

const SHADES = 96, MOST_DOTS = 400, NEAR_CURVE = 14;
const showsImages = () => state.images;
const alongRamp = t => RAMPS[theme].rising(.3 + .7 * t);
const imagePoint = (i, v) => [P.images[2 * i * P.V + v], P.images[(2 * i + 1) * P.V + v]];

// Where each image is on the canvas, and how its points get there.
function panelsInView(seen = regionsInView()) {
  const n = P.panels.length, beside = stage.clientWidth > 760 ? ($("panel").offsetWidth + 20) * dpr : 0;
  const top = 62 * dpr, w = width - beside, h = height - top - (beside ? 8 * dpr : $("panel").offsetHeight + 16 * dpr);
  let columns = 1, most = 0;
  for (let c = 1; c <= n; c++) {
    const side = Math.min(w / c, h / Math.ceil(n / c) - 40 * dpr);
    if (side > most) { most = side; columns = c; }
  }
  const rows = Math.ceil(n / columns), cell = [w / columns, Math.max(h, 120 * dpr) / rows];
  return P.panels.map((panel, i) => {
    const x0 = (i % columns) * cell[0] + 12 * dpr, y0 = top + Math.floor(i / columns) * cell[1] + 40 * dpr;
    const room = [cell[0] - 24 * dpr, cell[1] - 52 * dpr], box = [Infinity, Infinity, -Infinity, -Infinity];
    for (const r of seen) for (const v of path(r)) {
      imagePoint(i, v).forEach((z, k) => { box[k] = Math.min(box[k], z); box[k + 2] = Math.max(box[k + 2], z); });
    }
    const span = k => box[k + 2] - box[k] || 1e-30, own = [0, 1].map(k => room[k] / span(k));
    const scale = panel.units === 1 ? own : own.fill(Math.min(...own));
    const middle = [(box[0] + box[2]) / 2, (box[1] + box[3]) / 2];
    const to = ([x, y]) => [x0 + room[0] / 2 + (x - middle[0]) * scale[0], y0 + room[1] / 2 - (y - middle[1]) * scale[1]];
    return { ...panel, i, x0, y0, room, at: v => to(imagePoint(i, v)), to };
  });
}

function imagesOn(pen) {
  const seen = regionsInView(), along = shareOf(seen);
  pen.box(0, 0, width, height, back());
  for (const panel of panelsInView(seen)) {
    const { x0, y0, room, at } = panel;
    pen.text(x0, y0 - 26 * dpr, panel.name + (panel.units === 1 ? " over t" : `, ${many(panel.units)} units`), "start", true);
    if (panel.share !== null) pen.text(x0, y0 - 12 * dpr, projected(panel, room[0] / dpr));
    for (const [points, t] of runs(seen, along, at)) pen.line(points, alongRamp(t), 2 * dpr);
    drawKinks(pen, seen, panel);
    for (const r of [state.pinned, state.hover]) if (r >= 0) pen.line(thin([...path(r)].map(at)), ink(), 4.5 * dpr);
    for (const [name, X] of namedPlaces()) {
      const [px, py] = panel.to(imageAt(panel.i, X));
      pen.dot(px, py, 4 * dpr, ink());
      pen.text(px + 6 * dpr, py - 5 * dpr, name);
    }
  }
}
function projected({ units, share }, wide) {
  const directions = wide > 200 ? `2 principal directions of ${many(units)}` : `2 of ${many(units)} directions`;
  return `${directions}: ${percent(share)}${wide > 300 ? " of the variance" : ""}`;
}
const percent = share => share > 1 - 1e-12 ? "100%" : `${Math.min(99, Math.floor(100 * share))}%`;

// The vertices of a region from left to right.
function path(r) {
  if (!meta.curve) return [cornerAlong(r, 0), cornerAlong(r, 1)];
  const [a, b] = P.corners.subarray(2 * r, 2 * r + 2);
  return Array.from({ length: b - a + 1 }, (_, k) => a + k);
}
function shareOf(seen) {
  const ends = seen.length ? [P.X[cornerAlong(seen[0], 0)], P.X[cornerAlong(seen[seen.length - 1], 1)]] : [0, 1];
  return r => (P.X[cornerAlong(r, 0)] / 2 + P.X[cornerAlong(r, 1)] / 2 - ends[0]) / (ends[1] - ends[0] || 1);
}

// Lines of one shade each: [points, share of the way along the curve].
function runs(seen, along, at) {
  const found = [];
  let shade = -1;
  for (const r of seen) {
    const t = along(r), own = Math.floor(t * SHADES), points = [...path(r)].map(at);
    if (own === shade && seen.length > SHADES) found[found.length - 1][0].push(...points);
    else found.push([points, t]);
    shade = own;
  }
  return found.map(([points, t]) => [thin(points), t]);
}
function thin(points) {
  const kept = points.slice(0, 1);
  for (const p of points) {
    const last = kept[kept.length - 1];
    if (Math.abs(p[0] - last[0]) + Math.abs(p[1] - last[1]) > .5 * dpr) kept.push(p);
  }
  if (kept.length < 2 && points.length) kept.push(points[points.length - 1]);
  return kept;
}

// Kinks of the layers up to that of an image, and all of the chosen neuron.
function kinksIn(seen, panel) {
  const found = [];
  seen.forEach((r, i) => {
    for (const side of i ? [1] : [0, 1]) {
      const v = cornerAlong(r, side), k = P.corners[2 * r] === v ? 2 * r : 2 * r + 1, f = P.facets[k];
      if (P.kinks[f] >= 0 && kinksAt(f).some(kink => layerOf(kink) < panel.layer)) found.push([f, v]);
    }
  });
  return found;
}
const kinksAt = f => [P.kinks[f], ...P.alsoOf.get(f) || []];
const isChosen = f => kinksAt(f).some(kink => sameNeuron(kink, state.kink ?? -1));
function drawKinks(pen, seen, panel) {
  const all = kinksIn(seen, panel);
  for (const [f, v] of all) {
    const chosen = isChosen(f);
    if (chosen || all.length <= MOST_DOTS) {
      pen.dot(...panel.at(v), (chosen ? 5 : 2.6) * dpr, chosen ? [.85, .2, 0] : layerColour(layerOf(P.kinks[f])));
    }
  }
}

// The image of a point of the curve.
function imageAt(i, X) {
  const r = onLine(toChart(X, 0)[0]), [a, b] = r < 0 ? [P.corners[0], P.corners[0]] : pairAround(r, X), t = P.X[a] === P.X[b] ? 0 : (X - P.X[a]) / (P.X[b] - P.X[a]);
  const from = imagePoint(i, a), to = imagePoint(i, b);
  return [0, 1].map(k => from[k] + t * (to[k] - from[k]));
}
const namedPlaces = () => meta.points.map(({ name, at }) => [name, toPage(at[0], 0)[0]]);

// What is near a place on the screen in one of the images: the region, its point X, and a facet or -1.
function nearImage(px, py) {
  const x = px * dpr, y = py * dpr, seen = regionsInView(), nothing = { r: -1, X: 0, Y: 0, f: -1 };
  const panel = panelsInView(seen).find(({ x0, y0, room }) =>
    x > x0 - 10 * dpr && x < x0 + room[0] + 10 * dpr && y > y0 - 10 * dpr && y < y0 + room[1] + 10 * dpr);
  if (!panel) return nothing;
  let least = NEAR_CURVE * dpr, best = nothing;
  for (const r of seen) {
    const vertices = path(r);
    for (let k = 0; k + 1 < vertices.length; k++) {
      const [ax, ay] = panel.at(vertices[k]), [bx, by] = panel.at(vertices[k + 1]), dx = bx - ax, dy = by - ay;
      const t = Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1e-300)));
      const away = Math.hypot(x - ax - t * dx, y - ay - t * dy);
      if (away < least) {
        least = away;
        best = { r, X: P.X[vertices[k]] + t * (P.X[vertices[k + 1]] - P.X[vertices[k]]), Y: 0, f: -1 };
      }
    }
  }
  let nearest = NEAR_EDGE * dpr;
  if (best.r >= 0) for (const [f, v] of kinksIn(seen, panel)) {
    const [vx, vy] = panel.at(v), away = Math.hypot(x - vx, y - vy);
    if (away < nearest) { nearest = away; best = { ...best, f }; }
  }
  return best;
}
