// SPDX-License-Identifier: MIT
// How are data drawn as dots?
// In a plane on a canvas of their own above the map, which is drawn again when the view moves. On a line they are on the
// highest of the curves that are shown. Saved pictures have them too. They have strong colours of their classes, with a
// rim, so that they can be seen on faces of the same class.

const RIM = .7, OF_FACES = .68;
const dotCount = () => meta.dots ? meta.dots.places.length : 0;
const dotClass = i => meta.dots.classes ? meta.dots.classes[i] : null;
const dotRadius = () => .67 * Math.sqrt(clamp(300 / Math.sqrt(dotCount()), 4, 24)) * dpr;
const dotRim = () => dark() ? [0, 0, 0] : [1, 1, 1];

function dotInk(c) {
  const i = c === null ? -1 : signs ? c : meta.outputs.indexOf(c);
  if (i < 0) return dark() ? [.75, .75, .75] : [.33, .33, .33];
  if (dark()) return mixed(classInk(i), [1, 1, 1], .45);
  return classInk(i).map(part => .7 * (meta.colours.plain ? Math.max(1 - (1 - part) / OF_FACES, 0) : part));
}

function dot(pen, px, py, c) {
  pen.dot(px, py, dotRadius() + RIM * dpr, dotRim());
  pen.dot(px, py, dotRadius(), dotInk(c));
}

function drawDots(pen) {
  for (let i = 0; i < dotCount(); i++) {
    const [px, py] = toScreen(...toPage(...meta.dots.places[i])).map(part => part * dpr);
    if (px > -9 && py > -9 && px < width + 9 && py < height + 9) dot(pen, px, py, dotClass(i));
  }
}

function drawDotsOnLine(pen, outputs, yOf) {
  for (let i = 0; i < dotCount(); i++) {
    const [x] = meta.dots.places[i], [X] = toPage(x, 0), r = locate(x, 0);
    if (r < 0) continue;
    const values = outputsAt(r, X, 0);
    dot(pen, columnOf(X), yOf(Math.max(...outputs.map(o => values[o]))), dotClass(i));
  }
}

function placeDots() {
  if (!dotCount() || !P.plane) return;
  const above = $("dots"), seen = !view.tilt;
  above.hidden = !seen;
  if (!seen) return;
  above.width = width; // this also empties it
  above.height = height;
  drawDots(canvasPen(above.getContext("2d")));
}

// Keys of the legend: the classes, unless faces show them, and what the dots are.
function dotKeys() {
  if (!meta.dots) return [];
  const shown = P.plane ? state.faces === "class" : !signs, classes = shown ? [] : [...new Set(meta.dots.classes || [])];
  const keys = classes.sort((a, b) => a - b).map(c => key(dotInk(c), meta.classes[c], "dot"));
  return [...keys, key(dotInk(null), meta.dots.text, "dot")];
}
