// SPDX-License-Identifier: MIT
// What happens when the page is opened?

function options(id, list, value) {
  for (const [name, text] of list) {
    const option = make("option", text);
    option.value = name;
    $(id).append(option);
  }
  $(id).value = value;
}

function fillPanel() {
  const outputs = [...meta.outputs.keys()].map(o => [String(o), className(o)]);
  const faces = [["class", "class"], ["value", "output"]];
  if (!signs) faces.push(["difference", "difference of two outputs"], ["lead", "lead of the largest"]);
  faces.push(["relief", "output, as a landscape"], ["slope", "slope of the output"], ["area", "area"], ["region", "region"]);
  if (parts.every(part => part.maps)) faces.push(["map", "linear region"]);
  faces.push(["none", "nothing"]);
  state.faces = P.plane ? signs ? "relief" : "class" : "all";
  state.images = Boolean(meta.curve);
  options("views", [["outputs", "outputs"], ["images", "its image after each layer"]], state.images ? "images" : "outputs");
  $("viewed").hidden = !P.panels.length;
  state.lines = state.faces === "relief" ? "plain" : "layer";
  options("faces", faces, state.faces);
  options("lines", [["layer", "by layer"], ["plain", "plain"], ["none", "none"]], state.lines);
  options("output", P.plane ? outputs : [["all", "all"], ...outputs], P.plane ? "0" : "all");
  options("minus", [["-1", "nothing"], ...outputs], "-1");
  if (!P.plane) {
    for (const row of document.querySelectorAll(".plane")) row.hidden = true;
    for (const each of [$("minus"), $("minus").previousElementSibling]) each.hidden = true;
    $("search").placeholder = `number  |  #${noun}  |  layer:neuron`;
  }
}

function resize() {
  const box = stage.getBoundingClientRect();
  dpr = Math.min(devicePixelRatio || 1, 2);
  width = Math.max(1, Math.round(box.width * dpr));
  height = Math.max(1, Math.round(box.height * dpr));
  labelsEnd = box.width > 760 ? $("panel").offsetLeft : box.width;
  $("cross").setAttribute("transform", `translate(${box.width / 2} ${box.height / 2})`);
  placedAt = null;
  dirty = true;
  placeMarks();
}

async function start() {
  $("title").textContent = meta.title;
  const network = meta.network.replace(/^Network\(|\)$/g, ""), count = counted(meta.steps[0].found, noun);
  $("subtitle").textContent = meta.title.startsWith(count) || meta.steps.length > 1 ? network : `${count} \u00b7 ${network}`;
  theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  document.documentElement.dataset.theme = theme;
  $("fold").setAttribute("aria-expanded", String(stage.clientWidth > 760));
  await readPartitions();
  P ||= parts[parts.length - 1];
  if (P.plane) { openCard(); upload(); }
  fillPanel();
  makeLamps();
  makeMarks();
  startSteps();
  startPlane();
  resize();
  Object.assign(view, homeView());
  new ResizeObserver(resize).observe(stage);
  startPointers();
  startKeys();
  startPanel();
  describeAll();
  restyle();
  $("wait").hidden = true;
  requestAnimationFrame(frame);
}
start().catch(error => { $("wait").textContent = "Nothing can be shown: " + error.message; log.error = String(error.stack); });

// For the browser's console, and for tests.
globalThis.look = {
  log, meta, state, view, locate, pattern, numberOf, outputsAt, toPage, toChart, toScreen, facetsOf, choose, fly, setTheme, vectors, toStep, moveTo, colourNumbers,
  imagePlaces(i) {
    const { at } = panelsInView()[i];
    return [...P.X.keys()].map(v => at(v).map(each => each / dpr));
  },
  get part() { return P; },
  get idle() { return Boolean(log.first) && !goal && !job && !playing && (P.plane ? isDrawn() : !dirty); },
  get frames() { return frames; },
};
