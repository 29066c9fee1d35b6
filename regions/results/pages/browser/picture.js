// SPDX-License-Identifier: MIT
// When is what drawn?
// A picture, somewhat larger than the view, is drawn in pieces that fit into frames, and kept. It is copied to the canvas
// once, and while the view moves, the canvas is moved as a whole. A weak card, which took long for the last picture, draws
// the next one when the view rests or the kept one runs out; a fast card draws one in each frame, by the same code.

const view = { x: 0, y: 0, scale: 1, turn: 0, tilt: 0 }; // middle, pixels per unit of the page, angles in 3-D
const MARGIN = 1.2, FAINT = .015;
let goal = null, width = 1, height = 1, dpr = 1;
let stamp = 0; // grows when the kept picture is outdated, whatever the view
let dirty = true;

const inView = (b, v, w, h) => b[2] >= v.x - w / 2 / v.scale && b[0] <= v.x + w / 2 / v.scale &&
  b[3] >= v.y - h / 2 / v.scale && b[1] <= v.y + h / 2 / v.scale;
const sameView = (a, b) => a && Math.abs(a.x - b.x) * b.scale < 1e-3 && Math.abs(a.y - b.y) * b.scale < 1e-3 &&
  Math.abs(a.scale / b.scale - 1) < 1e-6 && a.turn === b.turn && a.tilt === b.tilt;
const toWorld = (px, py) => [view.x + (px * dpr - width / 2) / view.scale, view.y - (py * dpr - height / 2) / view.scale];
const toScreen = (X, Y) => [((X - view.x) * view.scale + width / 2) / dpr, (height / 2 - (Y - view.y) * view.scale) / dpr];

// Strength and width of each layer's lines, by how far apart they are on the screen, as for streets on a map.
function lineStyle(v, w, h) {
  const [lx, ly, hx, hy] = P.box, styles = [];
  const seen = Math.max(1, Math.min((hx - lx) * v.scale, w) * Math.min((hy - ly) * v.scale, h));
  let length = 0;
  for (let l = 0; l < depth; l++) {
    for (const block of P.straight.blocks[l]) length += lengthInView(block, v, w, h);
    const apart = seen / Math.max(length, 1e-9) / dpr, early = 1 - l / Math.max(depth, 1);
    let strength = Math.min(1, Math.max(0, (apart - .8) / 7)) ** .7;
    strength = Math.max(0, (strength - .04) / .96);
    if (state.faces === "none") strength = Math.max(strength, .16 + .12 * early);
    const plain = state.lines === "plain", colour = !plain ? layerColour(l) : onDark() ? [.9, .92, .96] : [.06, .08, .14];
    if (plain) strength *= .27;
    if (state.lines === "none" || !P.straight.count[l]) strength = 0;
    const wide = Math.min(1.7, .5 + .05 * apart) * (.62 + .55 * early) * dpr;
    styles.push({ colour, strength, wide });
  }
  styles.push({ colour: dark() ? [.6, .64, .7] : [.3, .32, .36], strength: .9, wide: 1.25 * dpr });
  return styles;
}

function lengthInView(block, v, w, h) {
  const [lx, ly, hx, hy] = block.box, half = [w / 2 / v.scale, h / 2 / v.scale];
  const part = (low, high, middle, half) => {
    const seen = Math.min(high, middle + half) - Math.max(low, middle - half);
    return high > low ? Math.min(1, Math.max(0, seen) / (high - low)) : seen >= 0 ? 1 : 0;
  };
  return block.length * v.scale * part(lx, hx, v.x, half[0]) * part(ly, hy, v.y, half[1]);
}

function styleTexture(styles) {
  const n = styles.length, data = new Float32Array(8 * n);
  styles.forEach(({ colour, strength, wide }, l) => { data.set([...colour, strength], 4 * l); data[4 * (n + l)] = wide; });
  return texture("rgba32f", data, n);
}

const linesOf = v => v.tilt ? P.every ||= lineTable(false) : P.straight;

// What a picture consists of: ranges of triangles and lines, in the order in which they are drawn.
function plan(v, w, h) {
  const list = [], styles = lineStyle(v, w, h);
  const add = (kind, blocks, each) => {
    for (const block of blocks) {
      if (!v.tilt && !inView(block.box, v, w, h)) continue;
      const last = list[list.length - 1];
      if (last && last.kind === kind && last.first + last.count === block.first) last.count += block.count;
      else list.push({ kind, first: block.first, count: block.count, each });
    }
  };
  if (state.faces !== "none") add(faceKind(), P.faceBlocks, 1);
  if (state.level !== null) add("level", P.faceBlocks, 1);
  if (state.borders && state.faces !== "class") add("borders", P.faceBlocks, 1);
  for (const l of drawnOrder()) if (styles[l].strength > FAINT) add("lines", linesOf(v).blocks[l], 2);
  return { list, styles };
}

const faceKind = () => ({ class: "class", value: "value", difference: "value", lead: "lead" })[state.faces] || "flat";

function useView(kind, v, w, h) {
  const { made, at } = programOf(kind), fx = Math.fround(v.x), fy = Math.fround(v.y);
  gl.useProgram(made);
  gl.uniform4f(at.centre, fx, fy, v.x - fx, v.y - fy);
  gl.uniform1f(at.scale, v.scale);
  gl.uniform2f(at.halfSize, w / 2, h / 2);
  gl.uniform4f(at.turn, Math.cos(v.turn), Math.sin(v.turn), Math.cos(v.tilt), Math.sin(v.tilt));
  bind(0, P.held.vertices, at.vertices);
  bind(4, v.tilt ? valueTexture() : P.held.vertices, at.heights);
  if (v.tilt) {
    const { lo, hi } = cachedUnder(`heights ${fieldKey()}`, heightRange, () => {}), size = P.box[2] - P.box[0] + P.box[3] - P.box[1];
    const most = Math.max(P.box[2] - P.box[0], P.box[3] - P.box[1]);
    gl.uniform3f(at.lift, (lo + hi) / 2, .45 * most / (hi - lo || 1), .5 / (v.scale * size));
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
  } else gl.disable(gl.DEPTH_TEST);
  return at;
}
function heightRange() { // of the whole picture, whatever the colours are fitted to
  const fit = state.fit;
  state.fit = null;
  try { return rangeOf(theme); } finally { state.fit = fit; }
}

function drawFaces(kind, v, w, h, first, count) {
  const at = useView(kind, v, w, h), through = kind === "level" || kind === "borders";
  bind(1, P.held.triangles, at.triangles);
  if (at.paint) bind(2, paintTexture(), at.paint);
  if (at.values) bind(2, valueTexture(), at.values);
  if (at.scores) {
    bind(2, scoreTexture(), at.scores);
    gl.uniform1i(at.groups, Math.ceil(scoreCount() / 4));
    gl.uniform1i(at.rows, rowsFor(P.V));
    gl.uniform1i(at.count, scoreCount());
  }
  if (at.bar) {
    const range = kind === "lead" ? leadRange() : fieldRange();
    bind(3, barTexture(range.ramp === RAMPS[theme].signed ? `signed ${theme}` : `rising ${theme}`, range.ramp), at.bar);
    gl.uniform2f(at.range, range.lo, 1 / (range.hi - range.lo || 1));
  }
  if (at.colours) {
    const colours = new Float32Array(48);
    for (let i = 0; i < scoreCount(); i++) colours.set(classColour(i), 3 * i);
    gl.uniform3fv(at.colours, colours);
  }
  if (at.rim) gl.uniform3fv(at.rim, onDark() ? [1, 1, 1] : [.1, .1, .12]);
  if (at.thick) gl.uniform1f(at.thick, 1.6 * dpr);
  if (at.level) gl.uniform1f(at.level, state.level / meta.factor);
  blended(through);
  gl.drawArrays(gl.TRIANGLES, 3 * first, 3 * count);
}

function blended(on) {
  if (!on) { gl.disable(gl.BLEND); return; }
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
}

function drawLines(v, w, h, edges, first, count, styles, only = null) {
  const at = useView("lines", v, w, h);
  bind(1, edges, at.edges);
  bind(2, styles, at.styles);
  gl.uniform1f(at.onlyWide, only ? only.wide : 0);
  gl.uniform4f(at.onlyInk, ...only ? only.ink : [0, 0, 0, 0]);
  blended(true);
  gl.drawArrays(gl.TRIANGLES, 6 * first, 6 * count);
}

const pictures = [null, null];
function pictureOf(i, w, h) {
  const old = pictures[i];
  if (old && old.w === w && old.h === h) return old;
  if (old) { gl.deleteFramebuffer(old.frame); gl.deleteTexture(old.held); gl.deleteRenderbuffer(old.near); }
  const held = texture("rgba8", new Uint8Array(w * h * 4), w, true), frame = gl.createFramebuffer();
  gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, held, 0);
  const near = gl.createRenderbuffer();
  gl.bindRenderbuffer(gl.RENDERBUFFER, near);
  gl.renderbufferStorage(gl.RENDERBUFFER, gl.DEPTH_COMPONENT24, w, h);
  gl.framebufferRenderbuffer(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.RENDERBUFFER, near);
  return pictures[i] = { held, frame, near, w, h, view: null, stamp: -1 };
}

const LONG = 60; // milliseconds
let began = 0, took = 0, firstFence = null; // of the last picture
let front = 0, job = null, fence = null, budget = 300000, lastFrame = 0, moving = 0, frames = 0;
const pictureSize = () => [Math.round(width * MARGIN), Math.round(height * MARGIN)];

function startJob() {
  const [w, h] = pictureSize(), picture = pictureOf(1 - front, w, h), v = { ...view }, { list, styles } = plan(v, w, h);
  began = performance.now();
  job = { picture, v, w, h, list, styles: styleTexture(styles), at: 0, done: 0, stamp };
  const [r, g, b] = back();
  gl.bindFramebuffer(gl.FRAMEBUFFER, picture.frame);
  gl.viewport(0, 0, w, h);
  gl.clearColor(r, g, b, 1);
  gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
}

// Draw up to so many triangles of the picture that is being made; return whether it is done.
function work(most) {
  const { picture, v, w, h, list, styles } = job;
  gl.bindFramebuffer(gl.FRAMEBUFFER, picture.frame);
  gl.viewport(0, 0, w, h);
  while (job.at < list.length && most > 0) {
    const { kind, first, count, each } = list[job.at], take = Math.min(count - job.done, Math.max(1, Math.floor(most / each)));
    if (kind === "lines") drawLines(v, w, h, linesOf(v).texture, first + job.done, take, styles);
    else drawFaces(kind, v, w, h, first + job.done, take);
    most -= take * each;
    job.done += take;
    if (job.done >= count) { job.at++; job.done = 0; }
  }
  if (job.at < list.length) return false;
  gl.deleteTexture(styles);
  picture.view = v;
  picture.stamp = job.stamp;
  front = 1 - front;
  job = null;
  return true;
}

let shown = null, placedAt = null;
function present() {
  const p = pictures[front];
  if (!p || !p.view) return;
  if (canvas.width !== p.w || canvas.height !== p.h) {
    canvas.width = p.w;
    canvas.height = p.h;
    canvas.style.width = p.w / dpr + "px";
    canvas.style.height = p.h / dpr + "px";
  }
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  gl.clear(gl.COLOR_BUFFER_BIT); // without it the browser empties the canvas at the first drawing after the copy
  gl.viewport(0, 0, p.w, p.h);
  gl.bindFramebuffer(gl.READ_FRAMEBUFFER, p.frame);
  gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, null);
  gl.blitFramebuffer(0, 0, p.w, p.h, 0, 0, p.w, p.h, gl.COLOR_BUFFER_BIT, gl.NEAREST);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  if (!p.view.tilt) highlight(p.view, p.w, p.h);
  shown = p;
  placeCanvas();
}

function placeCanvas() {
  if (!shown) return;
  const v = shown.view, z = view.scale / v.scale, rest = z === 1 ? Math.round : x => x;
  const x = (v.x - view.x) * view.scale + width / 2 - z * shown.w / 2;
  const y = (view.y - v.y) * view.scale + height / 2 - z * shown.h / 2;
  canvas.style.transform = `translate(${rest(x) / dpr}px, ${rest(y) / dpr}px) scale(${z})`;
}

let bent = null; // the line of the chosen neuron, on the card
function highlight(v, w, h) {
  const r = state.pinned;
  if (r >= 0) {
    const at = useView("one", v, w, h), strength = onDark() ? .38 : .33;
    bind(1, P.held.triangles, at.triangles);
    gl.uniform4f(at.only, ...inkOn(onDark()).map(c => c * strength), strength);
    blended(true);
    gl.drawArrays(gl.TRIANGLES, 3 * (P.offsets[r] - 2 * r), 3 * (P.offsets[r + 1] - P.offsets[r] - 2));
  }
  if (!bent) return;
  const glow = onDark() ? [1, .95, .7] : [1, .35, .05], core = onDark() ? [1, 1, 1] : [.78, .12, 0];
  for (const [colour, strength, wide] of [[glow, .16, 13], [glow, .34, 7], [core, 1, 2.4]]) {
    drawLines(v, w, h, bent.texture, 0, bent.count, P.held.vertices, { ink: [...colour, strength], wide: wide * dpr });
  }
}
function bend(facets) {
  if (bent) gl.deleteTexture(bent.texture);
  bent = null;
  if (!facets.length) return;
  const edges = new Uint32Array(roomFor(facets.length) * 4);
  facets.forEach((f, i) => edges.set([P.ends[2 * f], P.ends[2 * f + 1], f, 0], 4 * i));
  bent = { texture: texture("rgba32ui", edges), count: facets.length };
}

// The region under the pointer, the chosen edge of the kept one, and the middle of the view.
function outline() {
  const points = r => [...P.corners.subarray(P.offsets[r], P.offsets[r + 1])].map(v => toScreen(P.X[v], P.Y[v]).join());
  const flat = P.plane && !view.tilt;
  put($("hovered"), flat && state.hover >= 0 ? points(state.hover).join(" ") : "");
  const ends = state.edge >= 0 ? [P.ends[2 * state.edge], P.ends[2 * state.edge + 1]] : [];
  $("over").classList.toggle("used", flat && (state.hover >= 0 || ends.length > 0) || Boolean($("cross").getAttribute("d")));
  put($("edge"), flat ? ends.map(v => toScreen(P.X[v], P.Y[v]).join()).join(" ") : "");
}
function put(shape, points) { // nothing that stays the same, because the whole layer would be painted again
  if (shape.getAttribute("points") !== points) shape.setAttribute("points", points);
}

function stepTowardsGoal(now, gap) {
  let done;
  if (goal.anchor) { // a place on the screen that stays
    const k = 1 - Math.exp(-gap / 70), scale = still() ? goal.scale : view.scale * (goal.scale / view.scale) ** k;
    const [px, py, X, Y] = goal.anchor;
    done = Math.abs(Math.log(goal.scale / scale)) < 1e-3;
    view.scale = done ? goal.scale : scale;
    view.x = X - px / view.scale;
    view.y = Y - py / view.scale;
  } else {
    const { from, to } = goal, t = Math.min(1, (now - goal.began) / goal.time), u = t * t * (3 - 2 * t);
    done = t === 1;
    view.scale = from.scale * (to.scale / from.scale) ** u;
    const m = done ? 1 : from.scale === to.scale ? u : (1 / from.scale - 1 / view.scale) / (1 / from.scale - 1 / to.scale);
    view.x = from.x + m * (to.x - from.x);
    view.y = from.y + m * (to.y - from.y);
  }
  moving = now;
  if (done) goal = null;
  placeMarks();
}
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// Whether the kept picture still covers most of the view.
function covers() {
  if (!shown) return false;
  const v = shown.view, z = view.scale / v.scale;
  return z > .6 && z < 3 && Math.abs(view.x - v.x) * view.scale < z * shown.w / 2 - .35 * width &&
    Math.abs(view.y - v.y) * view.scale < z * shown.h / 2 - .35 * height;
}
const isDrawn = () => {
  const p = pictures[front], [w, h] = pictureSize();
  return p && p.stamp === stamp && sameView(p.view, view) && p.w === w && p.h === h;
};

function frame(now) {
  requestAnimationFrame(frame);
  const gap = now - lastFrame;
  lastFrame = now;
  frames++;
  if (goal) stepTowardsGoal(now, gap);
  playOn(now);
  followPointer();
  const busy = now - moving < 150;
  if (state.fit && !busy && !goal) fitToView();
  if (!P.plane) { if (dirty || !sameView(placedAt, view)) drawLine(); placedAt = { ...view }; dirty = false; return; }
  if (fence) {
    const done = gl.clientWaitSync(fence, 0, 0) !== gl.TIMEOUT_EXPIRED;
    if (done) {
      gl.deleteSync(fence);
      fence = null;
      if (!job) took = now - began;
    }
    budget = Math.min(5e6, Math.max(4000, budget * (done && gap < 20 ? 1.3 : gap > 100 ? .25 : gap > 30 || !done ? .7 : .97)));
  }
  const wait = busy && !view.tilt && (budget < 9000 || took > LONG) && covers();
  if (!job && !wait && !isDrawn()) startJob();
  if (job && !fence && !wait) {
    if (work(!pictures[front] ? 1e9 : busy ? budget : budget * 4)) dirty = true;
    fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
  }
  if (dirty) { present(); dirty = false; }
  if (shown && !sameView(placedAt, view)) { placeCanvas(); outline(); placedAt = { ...view }; }
  if (!log.first && shown) { // the card may still draw
    firstFence ||= gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    if (gl.clientWaitSync(firstFence, 0, 0) !== gl.TIMEOUT_EXPIRED) log.first = performance.now();
  }
}

// New colours: a new picture and a new legend.
function restyle() {
  stamp++;
  dirty = true;
  stage.classList.toggle("light", !onDark());
  legend();
  placeDots();
}
function fitToView() {
  const w = width / 2 / view.scale, h = height / 2 / view.scale, box = [view.x - w, view.y - h, view.x + w, view.y + h];
  if (box.some((each, i) => each !== state.fit[i])) { state.fit = box; restyle(); }
}
