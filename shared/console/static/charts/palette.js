// How lines and bars are told apart: by colour, and by dashes, marks and hatching for
// those who do not see colours. The colours themselves are in charts.css.

import { h } from '../dom.js';

const dashes = [[], [7, 4], [2, 3], [10, 3, 2, 3], [5, 2], [1, 4], [12, 4], [3, 6]];
const marks = ['circle', 'rect', 'triangle', 'rectRot', 'star', 'crossRot', 'rectRounded', 'cross'];
const hatches = ['', 'up', 'dots', 'level', 'down', 'upright', 'grid', 'wide'];

/** The page's colours as they are now: with the browser they may be light or dark. */
export function theme() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: of('ink'), soft: of('soft'), line: of('line'), panel: of('panel'), font: of('font'), rest: of('skip-fill'),
    series: dashes.map((_, i) => of(`series-${i}`)),
  };
}

/**
 * Gives how each line looks: {colour, dash, mark, hatch}. A line keeps its look while
 * it is remembered in places (a Map by the lines' names), whatever the filters are.
 */
export function looks(lines, places, colours = theme()) {
  const taken = new Map(); // place -> name
  for (const { name } of lines) if (places.has(name) && !taken.has(places.get(name))) taken.set(places.get(name), name);
  return lines.map(({ name, rest }) => {
    if (rest) return { colour: colours.rest, dash: [], mark: 'circle', hatch: '' };
    if (taken.get(places.get(name)) !== name) {
      places.set(name, dashes.findIndex((_, i) => !taken.has(i)));
      taken.set(places.get(name), name);
    }
    const i = places.get(name);
    return { colour: colours.series[i], dash: dashes[i], mark: marks[i], hatch: hatches[i] };
  });
}

const tile = 8; // px
const strokes = {
  up: [[0, 8, 8, 0], [-2, 2, 2, -2], [6, 10, 10, 6]], down: [[0, 0, 8, 8], [-2, 6, 2, 10], [6, -2, 10, 2]],
  level: [[0, 4, 8, 4]], upright: [[4, 0, 4, 8]], grid: [[0, 4, 8, 4], [4, 0, 4, 8]], wide: [[0, 1, 8, 1], [0, 5, 8, 5]],
};

/** What a bar is filled with: its colour, with hatching in the colour of the panel. */
export function filling({ colour, hatch }, panel) {
  if (!hatch) return colour;
  const scale = Math.max(1, Math.round(devicePixelRatio));
  const canvas = h('canvas', { width: tile * scale, height: tile * scale });
  const pen = canvas.getContext('2d');
  pen.scale(scale, scale);
  pen.fillStyle = colour;
  pen.fillRect(0, 0, tile, tile);
  pen.globalAlpha = 0.5;
  pen.fillStyle = panel;
  pen.strokeStyle = panel;
  pen.lineWidth = 1.4;
  if (hatch === 'dots') for (const [x, y] of [[2, 2], [6, 6]]) pen.fillRect(x - 1, y - 1, 2, 2);
  pen.beginPath();
  for (const [x, y, toX, toY] of strokes[hatch] ?? []) {
    pen.moveTo(x, y);
    pen.lineTo(toX, toY);
  }
  pen.stroke();
  const pattern = pen.createPattern(canvas, 'repeat');
  pattern.setTransform(new DOMMatrix().scale(1 / scale));
  return pattern;
}
