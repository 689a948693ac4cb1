// A chart that the library draws: lines and bars over time, bars by category.

import { h } from '../dom.js';
import { t } from '../i18n.js';
import { barValues } from './barvalues.js';
import { legend } from './legend.js';
import { Chart } from './library.js';
import { options } from './options.js';
import { filling, looks, theme } from './palette.js';
import { readable } from './reading.js';

const crowded = 14; // marks on a line
const tight = 10; // px of a bar, with the gap beside it, below which there is no gap

/**
 * Makes a chart of what shape() and few() give. kind: "line", "bar" or "stacked";
 * title: what the chart is called; places: see looks(). Gives {el, draw(), stop()}:
 * it is drawn once el is in the page, which gives it its size.
 */
export function graph(shaped, { kind, title, places }) {
  const flat = !shaped.time;
  const type = kind === 'line' && shaped.time ? 'line' : 'bar';
  const stacked = kind === 'stacked';
  const canvas = h('canvas', { role: 'img', tabIndex: 0, 'aria-label': t('charts.canvas', { name: title }) });
  const frame = h('div', { class: 'chart-frame' }, canvas);
  if (flat) frame.style.setProperty('height', `${rowHeight(stacked ? 1 : shaped.lines.length) * shaped.keys.length + 8}px`);
  const key = h('div', { class: 'legend-room' });
  const said = h('p', { class: 'visually-hidden', 'aria-live': 'polite' });
  const el = h('div', { class: `graph ${flat ? 'flat' : ''}` }, key, h('div', { class: 'chart-room' }, frame), said);
  let chart = null;

  function draw() {
    const colours = theme();
    const all = looks(shaped.lines, places, colours);
    const plan = { shaped, type, flat, stacked, colours, width: () => frame.clientWidth };
    const toggle = (i, on) => {
      chart.setDatasetVisibility(i, on);
      chart.update();
    };
    if (shaped.split || shaped.lines.length > 1) key.replaceChildren(legend(shaped.lines, all, { type, colours, toggle })); // first, since it takes room
    chart = new Chart(canvas, {
      type, data: { labels: shaped.keys.map((k) => k.tick), datasets: shaped.lines.map((line, i) => dataset(line, all[i], plan)) },
      options: options(plan), plugins: flat ? [barValues(plan)] : [],
    });
    readable(canvas, said, chart, shaped, flat);
  }

  return { el, draw, stop: () => chart?.destroy() };
}

const rowHeight = (bars) => Math.max(28, 18 * bars + 12); // px of one category

function dataset(line, look, { type, stacked, colours, shaped, width }) {
  const common = { label: line.name, data: line.points };
  if (type === 'line') {
    return {
      ...common, order: -shaped.lines.indexOf(line), // dashes above what is drawn through
      borderColor: look.colour, backgroundColor: look.colour, borderWidth: 2, borderDash: look.dash, pointStyle: look.mark,
      pointRadius: ({ dataIndex }) => markRadius(line.points, dataIndex), pointHoverRadius: 5, pointBorderColor: look.colour, pointBackgroundColor: look.colour, tension: 0,
    };
  }
  const dense = shaped.time && width() / shaped.keys.length < tight;
  return {
    ...common, backgroundColor: filling(look, colours.panel), borderColor: colours.panel, borderWidth: stacked && !dense ? 1 : 0, borderSkipped: false,
    borderRadius: dense ? 0 : 3, maxBarThickness: shaped.time ? 34 : 18, categoryPercentage: dense ? 1 : 0.82, barPercentage: dense ? 1 : 0.92, pointStyle: 'rect',
  };
}

/** A mark on each point, on some where there are many, and on those without neighbours. */
function markRadius(points, i) {
  const every = Math.ceil(points.length / crowded);
  const alone = points[i - 1] === null && points[i + 1] === null;
  return points.length <= 31 || i % every === 0 || alone ? 3 : 0;
}
