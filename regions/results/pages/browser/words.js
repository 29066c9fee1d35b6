// SPDX-License-Identifier: MIT
// What does the panel say?
// Text comes from files of strangers, so it is only ever set as text content.

function make(tag, text, kind) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}
const many = n => n.toLocaleString("en");
const counted = (n, name) => `${many(n)} ${name}${n === 1 ? "" : "s"}`;
const escaped = text => text.replace(/[&<>]/g, c => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[c]);

function short(x, digits = 6) {
  if (!isFinite(x) || !x) return String(x);
  const rounded = Number(x.toPrecision(digits)), size = Math.abs(rounded);
  return size < 1e-4 || size >= 1e9 ? rounded.toExponential() : String(rounded);
}
// A length (power 1), or an area (power 2), of the page in units of the input space.
function sized(x, power) {
  const whole = x * meta.unit ** power;
  if (!x || isFinite(whole) && whole) return short(whole);
  const log = Math.log10(x) + power * Math.log10(meta.unit), exponent = Math.floor(log);
  return `${(10 ** (log - exponent)).toPrecision(4)}e${exponent}`;
}
// A part of a curve has no length here, because its coordinate is the parameter.
const sizeName = () => P.plane ? "area" : meta.curve ? "share of the curve" : "length";
const noun = meta.curve ? "piece" : "region";
const sizeText = r => !P.plane && endless(r) ? "unbounded" : sized(P.size[r], P.plane ? 2 : 1);
function endless(r) {
  return [0, 1].some(i => !meta.ends[i] && P.kinks[P.facets[2 * r + i]] < 0 && cornerAlong(r, i ^ (meta.frame[0] < 0)) === P.corners[2 * r + i]);
}
// Outputs are stored in single precision: as many digits as are right.
const outputText = z => short(z * meta.factor, 6);
function outputTexts(outputs) {
  const most = Math.max(...outputs.map(Math.abs)) * meta.factor;
  if (!most || !isFinite(most) || most >= 1e9 || most < 1e-4) return [...outputs].map(z => short(z * meta.factor, 5));
  const digits = Math.max(0, 4 - Math.floor(Math.log10(most)));
  return [...outputs].map(z => (z * meta.factor).toFixed(digits));
}
const slopeText = g => short(g * meta.factor / meta.unit, 5);

// Coordinates as people know them: of the inputs if there are as many as dimensions, else of the chart.
function shownPoint(x, y) {
  if (solid) return [0, 1, 2].map(k => k === P.axis ? P.at : k === others(P.axis)[0] ? x : y);
  if (!meta.inputs) return P.plane ? [x, y] : [x];
  const [origin, directions] = meta.inputs;
  return origin.map((o, i) => o + x * directions[0][i] + (P.plane ? y * directions[1][i] : 0));
}
function chartPoint(shown) {
  if (solid) return others(P.axis).map(k => shown[k]);
  if (!meta.inputs) return P.plane ? shown : [shown[0], 0];
  const [origin, directions] = meta.inputs, [u, v] = shown.map((s, i) => s - origin[i]);
  if (!P.plane) return [u / directions[0][0], 0];
  const [[a, b], [c, d]] = directions, det = a * d - b * c;
  return [(u * d - v * c) / det, (v * a - u * b) / det];
}
const pointName = () => meta.inputs ? "input" : meta.curve ? "t" : "point";
const coordinates = numbers => numbers.map(each => short(each)).join(", ");

function fill(box, rows) {
  const list = make("dl");
  for (const [name, value] of rows) list.append(make("dt", name), make("dd", value));
  box.replaceChildren(list);
}

// For people who do not see the picture; not at every move of the pointer.
const say = words => { $("said").textContent = words; };

function describeAll() {
  const total = P.size.reduce((a, b) => a + b, 0), bounded = P.plane ? !P.numbers || solid : meta.ends.every(Boolean);
  const rows = [[noun + "s", many(P.found)]];
  if (P.numbers && P.plane) rows.push([solid ? "in this plane" : "in this window", many(P.R)]);
  rows.push([P.plane ? "edges" : "kinks", many(P.plane ? P.F : P.kinks.reduce((n, k) => n + (k >= 0), 0))]);
  if (bounded && !meta.curve) rows.push([sizeName(), sized(total, P.plane ? 2 : 1)]);
  if (!P.complete) rows.push(["partial result", "regions are missing"]);
  if (meta.outputs.length < meta.n_out) rows.push(["outputs shown", `${meta.outputs.length} of ${many(meta.n_out)}`]);
  fill($("info"), rows);
  $("info").append(make("p", `Point at a ${noun}, or tap it, for its class and outputs. Click ${P.plane ? "an edge" : "a kink"} for its neuron.`));
  nameChoice("");
  lightLamps(null);
}

// On a narrow window the button that opens the panel says what is chosen.
let regionChosen = "";
function nameChoice(region = regionChosen) {
  regionChosen = region;
  const chosen = [state.kink === null ? "" : neuronName(state.kink), region].filter(Boolean).join("; ");
  $("fold").textContent = chosen || `Tap a ${noun} or ${P.plane ? "an edge" : "a kink"}; open for choices`;
}

// What is at a point of the page in region r.
function describe(r, X, Y) {
  if (r < 0) { describeAll(); return; }
  const box = $("info"), rows = [[noun, "#" + numberOf(r)], [sizeName(), sizeText(r)]];
  if (P.plane) rows.push(["corners", String(P.offsets[r + 1] - P.offsets[r])]);
  if (solid) rows.push(["volume", short(solid.volumes[numberOf(r)], 5)]);
  rows.push([pointName(), coordinates(shownPoint(...toChart(X, Y)))]);
  if (P.maps) rows.push(["linear region", "#" + P.maps[r]]);
  const outputs = outputsAt(r, X, Y), texts = outputTexts(outputs), top = topOf(outputs);
  rows.push(["class", className(top)]);
  nameChoice(`${noun} #${numberOf(r)}: ${className(top)}`);
  if (signs) rows.push(["output", texts[0]]);
  if (signs && !meta.curve) rows.push(["slope", slopeText(Math.hypot(...slopes(r, valuesOf(0))))]);
  fill(box, rows);
  if (!signs) box.append(bars(outputs, texts, top));
  if (litRegion !== r || litKink !== state.kink) lightLamps(r);
}

function bars(outputs, texts, top) {
  const lo = Math.min(...outputs), hi = Math.max(...outputs), all = make("div", undefined, "bars");
  outputs.forEach((z, o) => {
    const row = make("div", undefined, o === top ? "top" : ""), bar = make("i");
    bar.style.width = 4 + 96 * (z - lo) / (hi - lo || 1) + "%";
    bar.style.background = css(mixed(back(), classInk(o), .8));
    row.append(make("span", className(o)), bar, make("span", texts[o]));
    all.append(row);
  });
  return all;
}

function spoken(r, X, Y) {
  const outputs = outputsAt(r, X, Y), top = topOf(outputs);
  const value = signs ? `output ${outputTexts(outputs)[0]}` : `class: ${className(top)}`;
  const bits = pattern(r), on = bits.reduce((n, byte) => n + byte.toString(2).replaceAll("0", "").length, 0);
  return `${noun === "region" ? "Region" : "Piece"} ${numberOf(r)}, ${sizeName()} ${sizeText(r)}, ${value}, ${on} of ${layerStarts[depth]} pattern bits on.`;
}

// One lamp for each kink, a row for each layer.
const lamps = [];
let litRegion = -1, litKink = null;
function makeLamps() {
  $("pattern").hidden = !layerStarts[depth];
  meta.layers.forEach((n, l) => {
    if (!n) return;
    const columns = Math.min(n, 32), rows = Math.ceil(n / columns), size = Math.min(7, Math.floor(224 / columns));
    const lamp = make("canvas"), row = make("div"), grid = make("span");
    Object.assign(lamp, { width: columns, height: rows });
    lamp.setAttribute("role", "img");
    lamp.style.width = columns * size + "px";
    lamp.style.height = rows * size + "px";
    grid.style.setProperty("--lamp", size + "px");
    grid.append(lamp);
    row.append(make("em", String(l + 1)), grid);
    $("lamps").append(row);
    const kinkAt = e => {
      const i = Math.floor(e.offsetY / size) * columns + Math.floor(e.offsetX / size);
      return i < n ? layerStarts[l] + i : -1;
    };
    lamp.addEventListener("click", e => { if (kinkAt(e) >= 0) choose(kinkAt(e)); });
    lamp.addEventListener("pointermove", e => { lamp.title = kinkAt(e) >= 0 ? neuronName(kinkAt(e)) : ""; });
    const paper = lamp.getContext("2d");
    lamps.push({ lamp, paper, data: paper.createImageData(columns, rows), n, l });
  });
}
function lightLamps(r) {
  litRegion = r === null ? -1 : r;
  litKink = state.kink;
  const bits = r === null || r < 0 ? null : pattern(r), bytes = colour => colour.map(v => Math.round(255 * v));
  const off = bytes(fromHex(dark() ? "#262b36" : "#e7e5e0")), chosen = bytes(fromHex(dark() ? "#ffffff" : "#d9480f"));
  for (const { lamp, paper, data, n, l } of lamps) {
    const lit = bytes(layerColour(l));
    let on = 0;
    for (let i = 0; i < n; i++) {
      const kink = layerStarts[l] + i, isLit = bits && isOn(bits, kink);
      on += isLit ? 1 : 0;
      data.data.set([...sameNeuron(kink, state.kink ?? -1) ? chosen : isLit ? lit : off, 255], 4 * i);
    }
    paper.putImageData(data, 0, 0);
    lamp.setAttribute("aria-label", `layer ${l + 1}: ` + (bits ? `${on} of ${n} on` : `${n} pattern bits`));
  }
}

// Choose the neuron of a kink, or none: its whole line lights up.
function choose(kink) {
  state.kink = kink;
  const box = $("neuron"), facets = kink === null ? [] : facetsOf(kink);
  box.hidden = kink === null;
  if (P.plane) bend(facets);
  if (kink !== null) {
    const length = facets.reduce((sum, f) => {
      const a = P.ends[2 * f], b = P.ends[2 * f + 1];
      return sum + Math.hypot(P.X[a] - P.X[b], P.Y[a] - P.Y[b]);
    }, 0);
    const name = neuronName(kink), none = facets.length ? "" : ": it bends nowhere here";
    fill(box, [["neuron", name + none], [P.plane ? "edges" : "kinks", many(facets.length)], ...P.plane ? [["length", sized(length, 1)]] : []]);
    box.prepend(make("h2", P.plane ? "Bent line" : "Kinks"));
    say(`Chosen: ${name}${none}, ${counted(facets.length, P.plane ? "edge" : "kink")}.`);
  }
  nameChoice();
  lightLamps(state.hover >= 0 ? state.hover : state.pinned);
  dirty = true;
}

function legend() {
  const box = $("legend");
  box.replaceChildren();
  if (showsImages()) {
    box.append(barKey(alongRamp, ["begin", "end"], "along the curve"));
  } else if (!P.plane) {
    if (!signs) chosenOutputs().forEach(o => box.append(key(lineInk(o), className(o), "stroke")));
  } else if (state.faces === "class") {
    for (let i = 0; i < scoreCount(); i++) box.append(key(classColour(i), className(i)));
  } else if (state.faces === "value" || state.faces === "difference") {
    const { ramp, lo, hi } = fieldRange();
    box.append(barKey(ramp, [lo, hi].map(outputText), fieldName()));
  } else if (state.faces === "lead") {
    const { ramp, hi } = leadRange();
    box.append(barKey(ramp, ["0", outputText(hi)], "lead of the largest"));
  } else if (outputCount() || !FIELD_FACES.includes(state.faces)) {
    const { bar } = cachedAs(paintName(), flatPaint);
    if (bar) box.append(barKey(bar.ramp, bar.ends, bar.label));
  }
  if (!showsImages()) box.append(...dotKeys());
  const used = [...Array(depth).keys()].filter(l => meta.layers[l]);
  if (state.lines === "layer" || !P.plane) {
    if (used.length <= 12) used.forEach(l => box.append(key(layerColour(l), `layer ${l + 1}`, "stroke")));
    else box.append(barKey(t => RAMPS[theme].layers(t), ["layer 1", `${depth}`], ""));
  }
  $("fields").hidden = signs || showsImages() || P.plane && !FIELD_FACES.includes(state.faces) && !view.tilt && state.level === null;
  $("fitted").hidden = ["class", "region", "map", "none"].includes(state.faces);
  $("bordered").hidden = state.faces === "class";
  $("bordered").parentElement.hidden = !P.plane || $("fitted").hidden && $("bordered").hidden;
}
function key(colour, text, kind) {
  const whole = make("span"), mark = make("b", undefined, kind);
  mark.style.background = css(colour);
  whole.append(mark, text);
  return whole;
}
function barKey(colours, ends, label) {
  const whole = make("div", undefined, "bar"), bar = make("canvas"), below = make("i");
  Object.assign(bar, { width: 256, height: 1 });
  const paper = bar.getContext("2d");
  for (let i = 0; i < 256; i++) { paper.fillStyle = css(colours(i / 255)); paper.fillRect(i, 0, 1, 1); }
  below.append(make("span", ends[0]), make("span", label), make("span", ends[1]));
  whole.append(bar, below);
  return whole;
}

const marks = [];
let labelsEnd = 0; // where the panel begins, or the window ends
function makeMarks() {
  for (const { name, at, image } of meta.points) {
    const mark = make("div"), label = make("figure");
    if (image) { const picture = make("img"); picture.src = image; picture.alt = ""; label.append(picture); }
    label.append(make("span", name));
    mark.append(label);
    $("marks").append(mark);
    marks.push([mark, at]);
  }
  $("marks").classList.toggle("few", marks.length <= 30);
}
function placeMarks() {
  placeDots();
  $("marks").hidden = Boolean(view.tilt) || showsImages();
  for (const [mark, at] of marks) {
    const [px, py] = toScreen(...toPage(...solid ? others(P.axis).map(k => at[k]) : [at[0], at[1] || 0]));
    mark.classList.toggle("away", Boolean(solid) && isAway(at[P.axis]));
    mark.style.transform = `translate(${px}px, ${P.plane ? py : rowsOfLine().top / dpr - MARK_ROW}px)`;
    mark.classList.toggle("left", px + 70 > labelsEnd);
  }
  placeScale();
  $("scale").hidden = $("marks").hidden || !isFinite(scaleLength);
}
let scaleShown = "", scaleLength = NaN;
function placeScale() {
  if (scaleShown === `${view.scale} ${dpr}`) return; // new text would be laid out again
  scaleShown = `${view.scale} ${dpr}`;
  const target = 120 * dpr / view.scale * meta.unit, power = 10 ** Math.floor(Math.log10(target));
  scaleLength = [5, 2, 1].find(k => k * power <= target) * power;
  $("scale").firstElementChild.style.width = scaleLength / meta.unit * view.scale / dpr + "px";
  $("scale").lastElementChild.textContent = short(scaleLength);
}
