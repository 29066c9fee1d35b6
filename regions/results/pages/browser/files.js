// SPDX-License-Identifier: MIT
// How is the picture saved?
// As pixels: the canvas, in the size of the view. As vectors: the polygons in view, cut at the borders of classes where
// faces show classes, then the lines of each layer with the widths and strengths that the picture has.

const MOST_POLYGONS = 50000;

function saveAs(blob, name) {
  const link = make("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function savePicture() {
  const paper = make("canvas"), [x, y] = P.plane ? [(width - canvas.width) / 2, (height - canvas.height) / 2] : [0, 0];
  Object.assign(paper, { width, height });
  if (P.plane) {
    if (!isDrawn()) { if (!job) startJob(); work(Infinity); }
    present();
  } else drawLine();
  const pen = paper.getContext("2d");
  pen.drawImage(canvas, Math.round(x), Math.round(y));
  if (P.plane && !view.tilt) drawDots(canvasPen(pen));
  saveAs(await new Promise(done => { paper.toBlob(done); }), "regions.png");
}

function vectors() {
  const parts = [];
  parts.push(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width / dpr}" height="${height / dpr}">`);
  parts.push(`<rect width="100%" height="100%" fill="${css(back())}"/>`);
  if (P.plane) planeVectors(parts); else drawOn(vectorPen(parts));
  if (P.plane && !view.tilt) drawDots(vectorPen(parts));
  parts.push("</svg>");
  return parts.join("");
}

function planeVectors(parts) {
  const at = (X, Y) => toScreen(X, Y).map(v => (v * dpr).toFixed(2));
  const seen = (x0, y0, x1, y1) => inView([x0, y0, x1, y1], view, width, height);
  const borders = [], classes = state.faces === "class", regions = [];
  for (let r = 0; r < P.R && regions.length < MOST_POLYGONS; r++) {
    const box = emptyBox();
    for (let k = P.offsets[r]; k < P.offsets[r + 1]; k++) extend(P, box, P.corners[k]);
    if (seen(...box)) regions.push(r);
  }
  const polygon = (corners, colour) => {
    const points = corners.map(([X, Y]) => at(X, Y).join()).join(" ");
    parts.push(`<polygon points="${points}" fill="${css(colour)}" stroke="${css(colour)}" stroke-width="${.3 * dpr}"/>`);
  };
  for (const r of regions) {
    if (classes || state.borders) {
      for (const [c, corners, between] of classPieces(r)) {
        if (classes) polygon(corners, classColour(c));
        borders.push(...between);
      }
    }
    if (!classes && state.faces !== "none") {
      polygon([...P.corners.subarray(P.offsets[r], P.offsets[r + 1])].map(v => [P.X[v], P.Y[v]]), faceColour(r));
    }
  }
  const styles = lineStyle(view, width, height), paths = styles.map(() => []);
  for (let f = 0; f < P.F; f++) {
    const a = P.ends[2 * f], b = P.ends[2 * f + 1], l = lineLayer(f), [ax, ay, bx, by] = [P.X[a], P.Y[a], P.X[b], P.Y[b]];
    if (styles[l].strength <= FAINT || !seen(Math.min(ax, bx), Math.min(ay, by), Math.max(ax, bx), Math.max(ay, by))) continue;
    paths[l].push(`M${at(ax, ay).join(" ")}L${at(bx, by).join(" ")}`);
  }
  const path = (lines, { colour, strength, wide }) => {
    if (!lines.length) return;
    parts.push(`<path d="${lines.join("")}" fill="none" stroke="${css(colour)}" stroke-opacity="${strength.toFixed(3)}" stroke-width="${wide.toFixed(2)}" stroke-linecap="round"/>`);
  };
  for (const l of drawnOrder()) path(paths[l], styles[l]);
  const lines = borders.map(([ax, ay, bx, by]) => `M${at(ax, ay).join(" ")}L${at(bx, by).join(" ")}`);
  path(lines, { colour: onDark() ? [1, 1, 1] : [.1, .1, .12], strength: .9, wide: 1.6 * dpr });
}
