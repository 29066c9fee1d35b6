// SPDX-License-Identifier: MIT
// Which colours does a page have?
// Colours of classes and layers are those of `colors.py`. They can be told apart with the common kinds of colour
// blindness, also as they are mixed here, and tests measure it. Each theme has ramps that run from its background. A
// colour is [red, green, blue] from 0 to 1.

const fromHex = text => [1, 3, 5].map(i => parseInt(text.slice(i, i + 2), 16) / 255);
const css = colour => `rgb(${colour.map(v => Math.round(255 * v)).join(" ")})`;
const mixed = (a, b, t) => a.map((v, i) => v + t * (b[i] - v));

function ramp(colours) {
  return t => {
    const x = Math.min(Math.max(t, 0), 1) * (colours.length - 1), i = Math.min(Math.floor(x), colours.length - 2);
    return mixed(colours[i], colours[i + 1], x - i);
  };
}
const rampOf = names => ramp(names.split(" ").map(fromHex));

const RAMPS = {
  light: {
    rising: rampOf("#fdf7e3 #f6d99a #eeb164 #d97a4e #b24a55 #7c2c5c #451a52"),
    signed: rampOf("#0b3c6f #2a6fab #7fb2d6 #d4e6f1 #f7f5f2 #fbe0c8 #f0a868 #c8641c #7a2f05"),
    layers: ramp(meta.colours.layers.map(fromHex)),
  },
  dark: {
    rising: rampOf("#0a0a1c #1f1147 #4b1a6b #86276f #c23c5f #ee6f45 #fdb44b #fdf1b3"),
    signed: rampOf("#bfe0ff #64aee0 #2d7597 #173f53 #11161d #3d1a0d #7c3018 #c96a3f #ffd0a0"),
    layers: rampOf("#fff6bf #fee068 #ffad6f #e28eab #bc90f0 #636ee9 #126ca9"),
  },
};
if (meta.colours.ramp) {
  for (const ramps of Object.values(RAMPS)) ramps.rising = ramps.signed = ramp(meta.colours.ramp.map(fromHex));
}
const CLASSES = meta.colours.classes.map(fromHex), LIGHT = meta.colours.light.map(fromHex);

let theme = "light";
const dark = () => theme === "dark";
const back = () => fromHex(dark() ? "#0b0d12" : "#fbfaf8");
const inkOn = isDark => fromHex(isDark ? "#e8eaf0" : "#20242c");
const ink = () => inkOn(dark());
// A network with more outputs than there are colours has them in the order of the outputs that are shown, which are fewer.
const classInk = i => CLASSES[signs || meta.n_out > CLASSES.length ? i : meta.outputs[i]];
// Colours that the caller chose are shown as they are.
const classColour = i => meta.colours.plain ? classInk(i) : mixed(back(), classInk(i), dark() ? .7 : .68);
const layerColour = l => RAMPS[theme].layers(depth < 2 ? 0 : l / (depth - 1) * Math.min(1, (depth + 2) / 6));
const neighbourColour = i => mixed(back(), LIGHT[i % LIGHT.length], dark() ? .5 : .62);
