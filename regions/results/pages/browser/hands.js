// SPDX-License-Identifier: MIT
// What do pointer, wheel, keys and the panel do?

const stage = $("stage");
const pointers = new Map();
const NEAR_EDGE = 6; // pixels
let travelled = 0, pinch = null, pointer = null, pointerAt = null, described = 0, later = 0;

const pixels = distance => distance * view.scale / dpr;
const locateOnPage = (X, Y, from) => locate(...toChart(X, Y), from);
const here = e => { const box = stage.getBoundingClientRect(); return [e.clientX - box.left, e.clientY - box.top]; };

// The facet within a few pixels of a point in region r, or -1.
function edgeNear(r, X, Y) {
  const [f, distance] = nearestEdge(r, X, P.plane ? Y : 0);
  return pixels(distance) < NEAR_EDGE ? f : -1;
}

// What is at a place on the screen: the region, the point of the page, and the facet within a few pixels, or -1.
function under(px, py) {
  if (showsImages()) return nearImage(px, py);
  const [X, Y] = toWorld(px, py), r = locateOnPage(X, Y, state.hover);
  return { r, X, Y, f: r < 0 ? -1 : edgeNear(r, X, Y) };
}

function followPointer() {
  if (!pointer) return;
  const [px, py] = pointer, tip = $("tip");
  pointer = null;
  if (view.tilt) { tip.hidden = true; return; }
  const { r, X, Y, f } = under(px, py);
  if (r !== state.hover) {
    state.hover = r;
    outline();
    if (!P.plane) dirty = true;
  }
  if (state.pinned < 0) describeSoon(r, X, Y);
  tip.hidden = r < 0;
  if (r < 0) return;
  const outputs = outputsAt(r, X, Y);
  tip.replaceChildren();
  if (f >= 0) tip.append(make("b", neuronName(P.kinks[f])));
  else tip.append(make("b", `${noun} #${numberOf(r)}`), ` ${signs ? outputTexts(outputs)[0] : className(topOf(outputs))}`);
  const left = px + 24 + tip.offsetWidth > stage.clientWidth, up = py + 26 + tip.offsetHeight > stage.clientHeight;
  tip.style.transform = `translate(${left ? px - 10 - tip.offsetWidth : px + 14}px, ${up ? py - 10 - tip.offsetHeight : py + 16}px)`;
}
function describeSoon(r, X, Y) { // the panel takes long to lay out: some times a second are enough
  clearTimeout(later);
  const now = performance.now(), act = () => { described = performance.now(); describe(r, X, Y); };
  if (now - described > 80) act(); else later = setTimeout(() => { if (state.hover === r && state.pinned < 0) act(); }, 90);
}

function keep(r, X, Y) {
  state.pinned = r;
  state.keptAt = [X, Y];
  state.edge = -1;
  dirty = true;
  outline();
  describe(r, X, Y);
  if (r >= 0) say(spoken(r, X, Y));
}

function touchedAt(px, py, byFinger) {
  const { r, X, Y, f } = under(px, py);
  if (r < 0) { choose(null); keep(-1); return; }
  if (f >= 0 && P.kinks[f] >= 0) {
    if (byFinger) keep(r, X, Y); // no pointer shows it before
    choose(P.kinks[f]);
    return;
  }
  if (state.pinned === r) { choose(null); keep(-1); } else keep(r, X, Y);
}

function startPointers() {
  stage.addEventListener("pointerdown", e => {
    stage.setPointerCapture(e.pointerId);
    pointers.set(e.pointerId, here(e));
    travelled = 0;
    goal = null;
    if (pointers.size === 2) pinch = { distance: fingers().distance, scale: view.scale };
  });
  stage.addEventListener("pointermove", e => {
    const last = pointers.get(e.pointerId), now = here(e);
    if (!last) { pointer = pointerAt = now; return; }
    drag(e, now[0] - last[0], now[1] - last[1], now);
  });
  stage.addEventListener("pointerup", e => {
    pointers.delete(e.pointerId);
    stage.classList.remove("drag");
    if (travelled <= 3 && !view.tilt) touchedAt(...here(e), e.pointerType === "touch");
  });
  stage.addEventListener("pointercancel", e => pointers.delete(e.pointerId));
  stage.addEventListener("pointerleave", () => {
    pointer = pointerAt = null;
    $("tip").hidden = true;
    state.hover = -1;
    outline();
    if (!P.plane) dirty = true;
    if (state.pinned < 0) describeAll();
  });
  stage.addEventListener("wheel", e => {
    e.preventDefault();
    const turned = Math.max(-120, Math.min(120, e.deltaY * (e.deltaMode ? 30 : 1)));
    let [px, py] = here(e);
    if (showsImages()) { // about the point of the curve under the pointer, or its middle
      const { r, X } = nearImage(px, py);
      px = (r < 0 ? width / 2 : columnOf(X)) / dpr;
    }
    zoomAbout(px * dpr - width / 2, height / 2 - py * dpr, Math.exp(-turned * (e.ctrlKey ? .01 : .0022)));
  }, { passive: false });
}

function fingers() {
  const [a, b] = [...pointers.values()];
  return { distance: Math.hypot(a[0] - b[0], a[1] - b[1]), x: (a[0] + b[0]) / 2, y: (a[1] + b[1]) / 2 };
}

function drag(e, dx, dy, now) {
  pointers.set(e.pointerId, now);
  travelled += Math.abs(dx) + Math.abs(dy);
  if (pointers.size === 2) {
    const { distance, x, y } = fingers(), [X, Y] = toWorld(x, y);
    view.scale = within(pinch.scale * distance / pinch.distance);
    view.x = X - (x * dpr - width / 2) / view.scale;
    view.y = Y + (y * dpr - height / 2) / view.scale;
  }
  if (view.tilt && !e.shiftKey) {
    view.turn += dx * .006;
    view.tilt = Math.min(1.5, Math.max(.02, view.tilt - dy * .005));
  } else {
    view.x -= dx * dpr / view.scale / pointers.size;
    if (P.plane) view.y += dy * dpr / view.scale / pointers.size;
  }
  if (travelled > 3) {
    stage.classList.add("drag");
    $("tip").hidden = true;
    state.hover = -1;
    outline();
  }
  moving = performance.now();
  placeMarks();
}

const spread = () => Math.max(P.box[2] - P.box[0], P.box[3] - P.box[1]);
const within = scale => Math.min(Math.max(scale, .3 * Math.min(width, height) / spread()), 1e14 * Math.min(width, height) / spread());

// Zoom by a factor about a place, in pixels from the middle.
function zoomAbout(px, py, factor) {
  const scale = within((goal && goal.anchor ? goal.scale : view.scale) * factor);
  goal = { scale, anchor: [px, P.plane ? py : 0, view.x + px / view.scale, view.y + (P.plane ? py / view.scale : 0)] };
}
function fly(x, y, scale, time = 700) {
  goal = { began: performance.now(), time: still() ? 1 : time, from: { ...view }, to: { x, y: P.plane ? y : 0, scale: within(scale) } };
}

// Everything, beside the panel where there is room.
function homeView() {
  const shown = meta.view.length ? meta.view.map(x => toPage(x)[0]).sort((a, b) => a - b) : [P.box[0], P.box[2]];
  const panel = $("panel").offsetWidth + 16, beside = stage.clientWidth > 760 ? panel * dpr : 0;
  const below = (beside ? ($("steps").offsetHeight || $("cutting").offsetHeight) : $("panel").offsetHeight + 16) * dpr, above = ($("subtitle").getBoundingClientRect().bottom + 4) * dpr;
  const w = shown[1] - shown[0], h = P.box[3] - P.box[1], room = Math.max(height - above - below, .3 * height);
  const scale = Math.min(.94 * (width - beside) / w, h ? .95 * room / h : Infinity);
  return {
    x: (shown[0] + shown[1]) / 2 + beside / 2 / scale,
    y: P.plane ? (P.box[1] + P.box[3]) / 2 + (above - below) / 2 / scale : 0,
    scale,
  };
}
function goHome() {
  const { x, y, scale } = homeView();
  if (view.tilt) setTilt(false);
  fly(x, y, scale);
}

function setTilt(on) {
  Object.assign(view, homeView(), { tilt: on ? .95 : 0, turn: on ? .5 : 0 });
  if (on) view.scale *= .72;
  goal = null;
  moving = performance.now();
  $("tilt").setAttribute("aria-pressed", String(on));
  outline();
  placeMarks();
  restyle();
}

function setTheme(name) {
  theme = name;
  document.documentElement.dataset.theme = name;
  restyle();
  if (state.pinned >= 0) describe(state.pinned, ...middle(state.pinned)); else describeAll();
}

// The keyboard walks over the regions: from the one in the middle of the view, over its edges, across them.
function keepMiddle() {
  const r = locateOnPage(view.x, view.y, state.pinned);
  if (r >= 0) keep(r, view.x, P.plane ? view.y : 0); else say("There is no region in the middle.");
}
function nextEdge() {
  if (state.pinned < 0) { keepMiddle(); if (state.pinned < 0) return; }
  const facets = [...P.facets.subarray(P.offsets[state.pinned], P.offsets[state.pinned + 1])];
  state.edge = facets[(facets.indexOf(state.edge) + 1) % facets.length];
  outline();
  const kink = P.kinks[state.edge];
  choose(kink < 0 ? null : kink);
  say(kink < 0 ? "The domain ends here." : `${neuronName(kink)}; g goes across.`);
}
function crossEdge() {
  const r = state.edge < 0 ? -1 : across(state.edge, state.pinned);
  if (r < 0) { say("There is no region across."); return; }
  const [X, Y] = middle(r);
  keep(r, X, Y);
  fly(X, Y, view.scale, 300);
}
function letGo() {
  choose(null);
  keep(-1);
}

function startKeys() {
  const step = (dx, dy) => () => fly(view.x + dx * 80 * dpr / view.scale, view.y + dy * 80 * dpr / view.scale, view.scale, 160);
  const zoom = factor => () => zoomAbout(0, 0, factor);
  const acts = {
    "+": zoom(1.6), "=": zoom(1.6), "-": zoom(1 / 1.6), 0: goHome, Home: goHome, Escape: letGo,
    ",": () => solid ? moveBy(-10) : toStep(P.step - 1), ".": () => solid ? moveBy(10) : toStep(P.step + 1), p: () => play(!playing),
    d: () => setTheme(dark() ? "light" : "dark"), e: nextEdge, g: crossEdge, Enter: keepMiddle,
    ArrowLeft: step(-1, 0), ArrowRight: step(1, 0), ArrowUp: step(0, 1), ArrowDown: step(0, -1),
  };
  addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey || ["INPUT", "SELECT", "BUTTON", "SUMMARY"].includes(e.target.tagName)) return;
    if (!acts[e.key] || !inSteps() && ",.p".includes(e.key) && !(solid && e.key !== "p")) return;
    acts[e.key]();
    e.preventDefault();
  });
  const cross = shape => { $("cross").setAttribute("d", shape); outline(); };
  stage.addEventListener("focus", () => { if (stage.matches(":focus-visible")) cross("M-9 0H9M0-9V9"); });
  stage.addEventListener("blur", () => cross(""));
}

// A point, a region or a neuron.
function search(text) {
  const region = text.match(/^#?(\d+)$/), neuron = text.match(/^(\d+)\s*:\s*(\d+)$/), numbers = text.split(/[,\s]+/).map(Number);
  if (neuron) {
    const [l, unit] = [Number(neuron[1]) - 1, Number(neuron[2])];
    const kink = meta.units.findIndex((each, k) => each === unit && layerOf(k) === l);
    if (kink < 0) return `there is no neuron ${unit} in layer ${l + 1}; neurons count from 0, layers from 1`;
    choose(kink);
    return "";
  }
  if (region && (P.plane || text.startsWith("#"))) {
    const number = Number(region[1]);
    if (solid && number < solid.R && regionOf(number) < 0) moveToRegion(number);
    return goTo(regionOf(number), "no region has this number here");
  }
  const wanted = solid ? 3 : P.plane ? 2 : 1;
  if (text && numbers.length === wanted && numbers.every(isFinite)) {
    if (solid) moveTo(P.axis, numbers[P.axis]);
    const [x, y] = chartPoint(numbers);
    return goTo(locate(x, y), "this point is in no region here", toPage(x, y));
  }
  return `write ${["a number", "x, y", "x, y, z"][wanted - 1]}, #region or layer:neuron`;
}
function goTo(r, otherwise, point) {
  if (r < 0) return otherwise;
  const [X, Y] = point || middle(r), size = P.plane ? Math.sqrt(P.size[r]) : P.size[r];
  keep(r, X, Y);
  const close = .25 * Math.min(width, height) / (size || 1e-9);
  fly(X, Y, point ? Math.max(view.scale, Math.min(close, 1e6 * view.scale)) : close);
  return "";
}

function startPanel() {
  const set = (id, change) => $(id).addEventListener("change", e => { change(e.target); restyle(); });
  set("faces", ({ value }) => setFaces(value));
  set("lines", ({ value }) => { state.lines = value; });
  set("output", ({ value }) => { setOutput(value); });
  set("minus", ({ value }) => { state.minus = Number(value); });
  set("views", ({ value }) => { state.images = value === "images"; placeMarks(); });
  set("fit", ({ checked }) => { state.fit = checked ? [] : null; });
  set("borders", ({ checked }) => { state.borders = checked; });
  $("level").addEventListener("change", ({ target }) => {
    const level = target.value.trim() ? Number(target.value) : null, bad = level !== null && !isFinite(level);
    target.setCustomValidity(bad ? "not a number" : "");
    state.level = bad ? null : level;
    restyle();
  });
  $("search").addEventListener("change", ({ target }) => {
    const wrong = search(target.value.trim());
    target.setCustomValidity(wrong);
    if (wrong) { target.reportValidity(); say(wrong); }
  });
  $("search").addEventListener("input", ({ target }) => target.setCustomValidity(""));
  $("theme").addEventListener("click", () => setTheme(dark() ? "light" : "dark"));
  $("home").addEventListener("click", goHome);
  $("tilt").addEventListener("click", () => setTilt(!view.tilt));
  $("png").addEventListener("click", savePicture);
  $("svg").addEventListener("click", () => saveAs(new Blob([vectors()], { type: "image/svg+xml" }), "regions.svg"));
  $("fold").addEventListener("click", () => {
    $("fold").setAttribute("aria-expanded", String($("fold").getAttribute("aria-expanded") !== "true"));
  });
}
function setFaces(value) {
  state.faces = value;
  if (value === "difference" && state.minus < 0) state.minus = state.output ? 0 : 1;
  if (value === "value") state.minus = -1;
  $("minus").value = state.minus;
}
function setOutput(value) {
  if (!P.plane) state.faces = value === "all" ? "all" : "value";
  state.output = value === "all" ? 0 : Number(value);
}
