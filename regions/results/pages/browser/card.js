// SPDX-License-Identifier: MIT
// How does the graphics card hold and draw the regions?
// Vertices, triangles and lines are textures, read by number, so that each vertex is stored once and new colours are one
// small texture. Positions are the sums of two floats, so zooming ends only where doubles end. Regions are fans of
// triangles, in blocks with boxes, so that blocks out of view are not drawn.

const TEX = 4096, BLOCK = 4096;
const canvas = $("map");
let gl = null;

const PLACE = `#version 300 es
precision highp float; precision highp int; precision highp sampler2D; precision highp usampler2D;
uniform sampler2D vertices, heights;
uniform vec4 centre, turn; // turn: cosine and sine of the turn, and of the tilt
uniform float scale;
uniform vec2 halfSize;
uniform vec3 lift; // middle and factor of the heights, factor of the depth
ivec2 at(uint number) { return ivec2(int(number) & 4095, int(number) >> 12); }
vec3 place(uint v) { // pixels from the middle of the picture, and the depth
  vec4 p = texelFetch(vertices, at(v), 0);
  vec2 q = ((p.xy - centre.xy) + (p.zw - centre.zw)) * scale;
  if (turn.w == 0.) return vec3(q, 0.);
  float z = (texelFetch(heights, at(v), 0).r - lift.x) * lift.y * scale;
  vec2 r = vec2(turn.x * q.x - turn.y * q.y, turn.y * q.x + turn.x * q.y);
  return vec3(r.x, r.y * turn.z + z * turn.w, (r.y * turn.w - z * turn.z) * lift.z);
}
`;

// What a vertex of a face hands to its pixels, for each kind of face: declarations and statements.
const CARRIED = {
  flat: ["flat out uint region;", "region = q.w;"],
  value: ["uniform sampler2D values; out float value;", "value = texelFetch(values, at(v), 0).r;"],
  scores: [
    `uniform sampler2D scores; uniform int groups, rows; out vec4 g0, g1, g2, g3;
    vec4 group(uint v, int g) {
      return g < groups ? texelFetch(scores, at(v) + ivec2(0, g * rows), 0) : vec4(-3e38);
    }`,
    "g0 = group(v, 0); g1 = group(v, 1); g2 = group(v, 2); g3 = group(v, 3);",
  ],
};
// Outputs are affine in a region, so the distance to the border with another class is no estimate.
const SCORES = `in vec4 g0, g1, g2, g3;
uniform int count;
uniform vec3 rim;
uniform float thick;
int best, second;
float lead, away; // ahead of the second score; pixels to the nearest border
float[16] flat4(vec4 a, vec4 b, vec4 c, vec4 d) {
  return float[16](a.x,a.y,a.z,a.w,b.x,b.y,b.z,b.w,c.x,c.y,c.z,c.w,d.x,d.y,d.z,d.w);
}
void compare() {
  float z[16] = flat4(g0, g1, g2, g3);
  float zx[16] = flat4(dFdx(g0), dFdx(g1), dFdx(g2), dFdx(g3)), zy[16] = flat4(dFdy(g0), dFdy(g1), dFdy(g2), dFdy(g3));
  best = 0;
  for (int i = 1; i < count; i++) if (z[i] > z[best]) best = i;
  lead = 3e38; away = 3e38;
  for (int i = 0; i < count; i++) if (i != best) {
    float ahead = z[best] - z[i];
    lead = min(lead, ahead);
    away = min(away, ahead / max(length(vec2(zx[best] - zx[i], zy[best] - zy[i])), 1e-30));
  }
}
float rimShare() { return .9 * (1. - smoothstep(.5 * thick, .5 * thick + 1., away)); }
`;
const BAR = "uniform sampler2D bar; uniform vec2 range; vec4 fromBar(float v) { return vec4(texture(bar, vec2((v - range.x) * range.y, .5)).rgb, 1.); }";
// Pixels of each kind of face: what is carried, declarations and statements.
const PIXELS = {
  flat: ["flat", "flat in uint region; uniform sampler2D paint;", "ink = texelFetch(paint, ivec2(int(region) & 4095, int(region) >> 12), 0);"],
  one: ["flat", "uniform vec4 only;", "ink = only;"],
  value: ["value", `in float value; ${BAR}`, "ink = fromBar(value);"],
  level: ["value", "in float value; uniform float level, thick; uniform vec3 rim;",
    `float away = abs(value - level) / max(length(vec2(dFdx(value), dFdy(value))), 1e-30);
    float a = .9 * (1. - smoothstep(.5 * thick, .5 * thick + 1., away)); ink = vec4(rim * a, a);`],
  class: ["scores", `${SCORES} uniform vec3 colours[16];`, "compare(); ink = vec4(mix(colours[best], rim, rimShare()), 1.);"],
  lead: ["scores", SCORES + BAR, "compare(); ink = fromBar(lead);"],
  borders: ["scores", SCORES, "compare(); float a = rimShare(); ink = vec4(rim * a, a);"],
};

function faceShaders(kind) {
  const [carried, declared, coloured] = PIXELS[kind], [outs, filled] = CARRIED[carried];
  return [`${PLACE}
uniform usampler2D triangles;
${outs}
void main() {
  int t = gl_VertexID / 3, c = gl_VertexID - 3 * t;
  uvec4 q = texelFetch(triangles, at(uint(t)), 0);
  uint v = c == 0 ? q.x : c == 1 ? q.y : q.z;
  ${filled}
  vec3 p = place(v);
  gl_Position = vec4(p.xy / halfSize, p.z, 1.);
}`, `#version 300 es
precision highp float; precision highp int; precision highp sampler2D;
out vec4 ink;
${declared}
void main() { ${coloured} }`];
}

// Lines are quads, with their own smoothing. `styles` has a colour and, in its second row, a width for each layer; a
// width in `only` replaces all styles.
const LINES = [`${PLACE}
uniform usampler2D edges;
uniform sampler2D styles;
uniform vec4 onlyInk;
uniform float onlyWide;
flat out vec4 colour;
flat out float reach;
out float apart;
void main() {
  int e = gl_VertexID / 6, c = gl_VertexID - 6 * e;
  uvec4 q = texelFetch(edges, at(uint(e)), 0);
  vec3 A = place(q.x), B = place(q.y);
  vec2 d = B.xy - A.xy;
  float n = length(d);
  d = n > 0. ? d / n : vec2(1., 0.);
  bool one = onlyWide > 0.;
  float wide = one ? onlyWide : texelFetch(styles, ivec2(int(q.w), 1), 0).r;
  vec4 own = one ? onlyInk : texelFetch(styles, ivec2(int(q.w), 0), 0);
  int corner = c == 0 ? 0 : c == 1 || c == 4 ? 1 : c == 2 || c == 3 ? 2 : 3;
  reach = .5 * max(wide, 1.);
  apart = ((corner & 1) == 0 ? -1. : 1.) * (reach + .5);
  colour = own * vec4(1., 1., 1., min(wide, 1.));
  vec3 end = corner < 2 ? A : B;
  gl_Position = vec4((end.xy + vec2(-d.y, d.x) * apart) / halfSize, end.z - (turn.w == 0. ? 0. : 4e-4), 1.);
}`, `#version 300 es
precision highp float;
flat in vec4 colour;
flat in float reach;
in float apart;
out vec4 ink;
void main() {
  float a = colour.a * clamp(reach + .5 - abs(apart), 0., 1.);
  ink = vec4(colour.rgb * a, a);
}`];

let FORMATS = null;
function openCard() {
  const asked = { antialias: false, alpha: false, preserveDrawingBuffer: false, powerPreference: "high-performance" };
  gl = canvas.getContext("webgl2", asked);
  if (!gl) throw new Error("this browser does not give WebGL 2, which draws the regions");
  gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
  gl.bindVertexArray(gl.createVertexArray());
  FORMATS = {
    rgba32ui: [gl.RGBA32UI, gl.RGBA_INTEGER, gl.UNSIGNED_INT, 4],
    rgba32f: [gl.RGBA32F, gl.RGBA, gl.FLOAT, 4],
    r32f: [gl.R32F, gl.RED, gl.FLOAT, 1],
    rgba8: [gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE, 4],
  };
}

function program([vertex, fragment]) {
  const made = gl.createProgram();
  for (const [type, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(made));
  const at = {};
  for (let i = 0; i < gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS); i++) {
    const { name } = gl.getActiveUniform(made, i);
    at[name.replace(/\[0\]$/, "")] = gl.getUniformLocation(made, name);
  }
  return { made, at };
}
const programs = {};
const programOf = kind => programs[kind] ||= program(kind === "lines" ? LINES : faceShaders(kind));

const rowsFor = n => Math.max(1, Math.ceil(n / TEX)), roomFor = n => rowsFor(n) * TEX;

function texture(format, data, width = TEX, smooth = false) {
  const [inner, outer, type, parts] = FORMATS[format], made = gl.createTexture();
  gl.activeTexture(gl.TEXTURE7); // a unit that no drawing uses, because binding would replace its input
  gl.bindTexture(gl.TEXTURE_2D, made);
  gl.texImage2D(gl.TEXTURE_2D, 0, inner, width, data.length / parts / width, 0, outer, type, data);
  for (const key of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) {
    gl.texParameteri(gl.TEXTURE_2D, key, smooth ? gl.LINEAR : gl.NEAREST);
  }
  for (const key of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, key, gl.CLAMP_TO_EDGE);
  return made;
}
const cachedTexture = (name, make) => cachedAs(name, make, made => gl.deleteTexture(made));

function bind(unit, held, where) {
  gl.activeTexture(gl.TEXTURE0 + unit);
  gl.bindTexture(gl.TEXTURE_2D, held);
  gl.uniform1i(where, unit);
}

// Vertices and faces of the partition.
function upload() {
  const { R, V, X, Y } = P, vertices = new Float32Array(roomFor(V) * 4);
  for (let v = 0, o = 0; v < V; v++, o += 4) {
    vertices[o] = X[v];
    vertices[o + 1] = Y[v];
    vertices[o + 2] = X[v] - vertices[o];
    vertices[o + 3] = Y[v] - vertices[o + 1];
  }
  const triangles = new Uint32Array(roomFor(P.corners.length - 2 * R) * 4);
  P.faceBlocks = [];
  let t = 0, block = null;
  for (let r = 0; r < R; r++) {
    const first = P.offsets[r], last = P.offsets[r + 1];
    if (!block || t - block.first >= BLOCK) P.faceBlocks.push(block = { first: t, count: 0, box: emptyBox() });
    for (let k = first; k < last; k++) extend(P, block.box, P.corners[k]);
    for (let k = first + 1; k + 1 < last; k++, t++, block.count++) {
      const o = 4 * t;
      triangles[o] = P.corners[first];
      triangles[o + 1] = P.corners[k];
      triangles[o + 2] = P.corners[k + 1];
      triangles[o + 3] = r;
    }
  }
  P.held = { vertices: texture("rgba32f", vertices), triangles: texture("rgba32ui", triangles) };
  P.straight = lineTable(true);
}
function release(part) { // what the card holds of a step that is no longer shown
  for (const held of [...Object.values(part.held), part.straight.texture, part.every && part.every.texture]) gl.deleteTexture(held);
  part.held = part.straight = part.every = null;
}
const emptyBox = () => [Infinity, Infinity, -Infinity, -Infinity];

// Lines, deep layers first, because what is drawn later lies above; the domain's edges have the layer `depth`, and are
// last. From above, a neuron's edges that go straight on are one line; in a landscape each edge bends.
const lineLayer = f => P.kinks[f] < 0 ? depth : P.layer[P.kinks[f]];
const drawnOrder = () => [...Array(depth).keys()].reverse().concat(depth);

function lineTable(whole) {
  P.layer ||= Uint16Array.from({ length: layerStarts[depth] }, (_, kink) => layerOf(kink));
  const lines = whole ? straightLines() : edgesAsLines(), n = lines.length / 3;
  const count = new Int32Array(depth + 1), next = new Int32Array(depth + 1), edges = new Uint32Array(roomFor(n) * 4);
  for (let i = 0; i < n; i++) count[lineLayer(lines[3 * i])]++;
  let sum = 0;
  for (const l of drawnOrder()) { next[l] = sum; sum += count[l]; }
  for (let i = 0; i < n; i++) {
    const f = lines[3 * i], l = lineLayer(f), o = 4 * next[l]++;
    edges[o] = lines[3 * i + 1];
    edges[o + 1] = lines[3 * i + 2];
    edges[o + 2] = f;
    edges[o + 3] = l;
  }
  const blocks = Array.from({ length: depth + 1 }, (_, l) => lineBlocks(edges, next[l] - count[l], next[l]));
  return { count, blocks, texture: texture("rgba32ui", edges) };
}

function lineBlocks(edges, first, end) {
  const blocks = [];
  for (let start = first; start < end; start += BLOCK) {
    const block = { first: start, count: Math.min(BLOCK, end - start), box: emptyBox(), length: 0 };
    for (let i = start; i < start + block.count; i++) {
      const a = edges[4 * i], b = edges[4 * i + 1];
      extend(P, block.box, a);
      extend(P, block.box, b);
      block.length += Math.sqrt((P.X[a] - P.X[b]) ** 2 + (P.Y[a] - P.Y[b]) ** 2); // hypot takes far longer
    }
    blocks.push(block);
  }
  return blocks;
}

function edgesAsLines() {
  const lines = new Int32Array(3 * P.F);
  for (let f = 0; f < P.F; f++) {
    lines[3 * f] = f;
    lines[3 * f + 1] = P.ends[2 * f];
    lines[3 * f + 2] = P.ends[2 * f + 1];
  }
  return lines;
}

// Whole lines as [facet, end, end]. A neuron's edges go straight on through a vertex at which no earlier layer bends,
// which the layers decide, without a tolerance.
function straightLines() {
  const { V, F, ends, kinks } = P, least = new Uint16Array(V).fill(65535), slots = new Int32Array(4 * V).fill(-1);
  const rank = f => kinks[f] < 0 ? 0 : P.layer[kinks[f]] + 1;
  for (let i = 0; i < 2 * F; i++) least[ends[i]] = Math.min(least[ends[i]], rank(i >> 1));
  for (let i = 0; i < 2 * F; i++) { // up to four edges of the first layer at each vertex
    const v = ends[i], f = i >> 1;
    if (kinks[f] < 0 || least[v] !== rank(f)) continue;
    let s = 4 * v;
    while (s < 4 * v + 4 && slots[s] >= 0) s++;
    if (s < 4 * v + 4) slots[s] = f; else least[v] = 0;
  }
  const following = (f, v) => {
    if (kinks[f] < 0 || least[v] !== rank(f)) return -1;
    let found = -1;
    for (let s = 4 * v; s < 4 * v + 4; s++) {
      const g = slots[s];
      if (g < 0 || g === f || kinks[g] !== kinks[f]) continue;
      if (found >= 0) return -1;
      found = g;
    }
    return found;
  };
  const done = new Uint8Array(F), lines = new Int32Array(3 * F);
  let n = 0;
  const lastVertex = (f, v) => {
    for (let g = following(f, v); g >= 0 && !done[g]; g = following(f, v)) {
      done[g] = 1;
      v = ends[2 * g] === v ? ends[2 * g + 1] : ends[2 * g];
      f = g;
    }
    return v;
  };
  for (let f = 0; f < F; f++) {
    if (done[f]) continue;
    done[f] = 1;
    lines[n++] = f;
    lines[n++] = lastVertex(f, ends[2 * f]);
    lines[n++] = lastVertex(f, ends[2 * f + 1]);
  }
  return lines.subarray(0, n);
}

function valueTexture() {
  return cachedTexture(`values ${fieldKey()}`, () => {
    const data = new Float32Array(roomFor(P.V));
    data.set(field());
    return texture("r32f", data);
  });
}
function scoreTexture() {
  return P.held.scores ||= (() => {
    const n = scoreCount(), rows = rowsFor(P.V), data = new Float32Array(rows * TEX * 4 * Math.ceil(n / 4)).fill(-3e38);
    for (let c = 0; c < n; c++) {
      for (let v = 0, from = (c >> 2) * rows * TEX; v < P.V; v++) data[4 * (from + v) + (c & 3)] = score(c, v);
    }
    return texture("rgba32f", data);
  })();
}
function barTexture(name, ramp) {
  return cachedTexture(`bar ${name}`, () => {
    const data = new Uint8Array(1024);
    for (let i = 0; i < 256; i++) data.set([...ramp(i / 255).map(v => 255 * v), 255], 4 * i);
    return texture("rgba8", data, 256, true);
  });
}
function paintTexture() {
  return cachedTexture(`${paintName()} on the card`, () => texture("rgba8", cachedAs(paintName(), flatPaint).data));
}
