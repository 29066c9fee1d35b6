// SPDX-License-Identifier: MIT
// How is a training shown?
// The page has a partition for each step, and `P` is the one that is shown. All steps have the same domain and neurons,
// so the view, the choices of the panel, the chosen neuron and the kept place stay from step to step. Colours have one
// scale for all steps (`quantiles` in `faces.js`).

const STEP_TIME = 450; // milliseconds
let playing = false, stepShown = 0;
const inSteps = () => parts.length > 1 && !solid;
const stepName = part => `${part.name}: ${counted(part.found, "region")}`;

function showStep(number) {
  if (number === P.step || !parts[number]) return;
  show(parts[number]);
  stepShown = performance.now();
  nameStep();
}

// Show another partition; what was chosen stays chosen.
function show(part) {
  if (job) { gl.deleteTexture(job.styles); job = null; }
  if (P.plane) release(P);
  P = part;
  if (P.plane) upload();
  state.hover = state.edge = -1;
  pointer = pointerAt;
  if (state.pinned >= 0) state.pinned = locateOnPage(...state.keptAt);
  choose(state.kink);
  restyle();
  outline();
  if (state.pinned >= 0) describe(state.pinned, ...state.keptAt); else describeAll();
}

function nameStep() {
  $("step").value = P.step;
  $("step").setAttribute("aria-valuetext", stepName(P));
  $("step-name").textContent = stepName(P);
}

function toStep(number) {
  play(false);
  showStep(Math.min(Math.max(number, 0), parts.length - 1));
  say(stepName(P));
}

// Start or stop; at the end it starts again from the first step.
function play(on) {
  if (on && still()) { say("Motion is reduced on this system; the slider shows each step."); return; }
  if (playing === on) return;
  playing = on;
  $("play").setAttribute("aria-pressed", String(on));
  $("play").textContent = on ? "Pause" : "Play";
  if (on && P.step === parts.length - 1) showStep(0);
}

// The next step, once this one has been seen for a while.
function playOn(now) {
  if (!playing || now - stepShown < STEP_TIME || P.plane && !isDrawn()) return;
  if (P.step < parts.length - 1) showStep(P.step + 1);
  if (P.step === parts.length - 1) play(false);
}

function startSteps() {
  $("steps").hidden = !inSteps();
  if (!inSteps()) return;
  document.documentElement.dataset.steps = "";
  $("play").hidden = still();
  $("step").max = parts.length - 1;
  $("step").addEventListener("input", ({ target }) => { play(false); showStep(Number(target.value)); });
  $("play").addEventListener("click", () => play(!playing));
  nameStep();
}
