// How the library is to draw.

import { t } from '../i18n.js';
import { durationTicks, tick, value } from './values.js';

const letter = 6.8; // px, about
const roomy = 420; // px from which a bar has room for more than its value

/** plan: {shaped, type, flat, stacked, colours, width()}. */
export function options(plan) {
  const { shaped, flat, colours } = plan;
  const keys = keyAxis(plan);
  const values = valueAxis(plan);
  return {
    responsive: true, maintainAspectRatio: false, indexAxis: flat ? 'y' : 'x',
    animation: matchMedia('(prefers-reduced-motion: reduce)').matches ? false : { duration: 300, onComplete: ({ chart }) => chart.resize() }, // a change of size in the last frame is lost else
    font: { family: colours.font, size: 12 }, color: colours.soft,
    interaction: { mode: 'index', intersect: false, axis: flat ? 'y' : 'x' },
    layout: { padding: () => ({ top: 4, right: flat ? valueRoom(plan) : 4 }) },
    scales: flat ? { x: { ...values, display: false }, y: keys } : { x: keys, y: values },
    plugins: { legend: { display: false }, tooltip: tooltip(plan) },
  };
}

/** The room that values take behind their bars, by their letters. */
function valueRoom(plan) {
  const longest = Math.max(...plan.shaped.lines.flatMap((l) => l.points.map((_, i) => barLabel(l, i, plan).length)));
  return Math.round((longest + (plan.stacked ? 2 : 0)) * letter) + 12; // a whole is longer than its parts
}

/** What stands behind a bar: its value, and of how many it is made. */
export function barLabel(line, i, { width }) {
  const counted = line.points[i] !== null && width() >= roomy && line.counts[0];
  return value(line.points[i], line.unit) + (counted ? ` (${value(counted[i], '')})` : '');
}

function keyAxis(plan) {
  const { shaped, flat, stacked, colours } = plan;
  const room = flat ? valueRoom(plan) : 0;
  const letters = () => Math.max(12, Math.floor(((plan.width() - room) * 0.38) / letter));
  const cut = (name) => (name.length > letters() ? `${name.slice(0, letters() - 1)}…` : name);
  return {
    stacked, grid: { display: false }, border: { color: colours.line },
    ticks: {
      color: flat ? colours.ink : colours.soft, font: { family: colours.font, size: 12 }, maxRotation: 0, autoSkip: !flat, autoSkipPadding: 14,
      ...(flat && { callback: (_, i) => cut(shaped.keys[i].name) }),
    },
  };
}

function valueAxis({ shaped, flat, stacked, colours }) {
  const { unit } = shaped.lines[0];
  const points = shaped.lines.flatMap((l) => l.points).filter((p) => p !== null);
  const durations = !flat && unit === 'seconds' && durationTicks(Math.max(1, ...points));
  return {
    stacked, beginAtZero: true, grid: { color: colours.line, drawTicks: false }, border: { display: false },
    ...(durations && { max: durations.max }), ...(unit === 'stars' && { max: 5 }),
    ticks: {
      color: colours.soft, font: { family: colours.font, size: 12 }, padding: 8, maxTicksLimit: 6, precision: unit === 'share' ? 3 : 0,
      ...(durations && { stepSize: durations.stepSize }), callback: (n) => tick(n, unit),
    },
  };
}

function tooltip({ shaped, stacked, colours }) {
  const { lines, keys, countTitles } = shaped;
  return {
    backgroundColor: '#23282f', titleColor: '#fff', bodyColor: '#fff', footerColor: '#fff', borderColor: 'rgb(255 255 255 / 16%)', borderWidth: 1,
    titleFont: { family: colours.font, size: 13 }, bodyFont: { family: colours.font, size: 13 }, footerFont: { family: colours.font, size: 13 },
    padding: 10, cornerRadius: 9, usePointStyle: true, boxPadding: 5, caretSize: 5,
    itemSort: (a, b) => a.datasetIndex - b.datasetIndex,
    filter: ({ raw }) => raw !== null && !(stacked && raw === 0 && lines.length > 1),
    callbacks: {
      title: ([item]) => item && keys[item.dataIndex].name,
      label: ({ datasetIndex, raw }) => ` ${lines[datasetIndex].name}: ${value(raw, lines[datasetIndex].unit)}`,
      footer: (items) => notes(items, { lines, countTitles, stacked }),
    },
  };
}

/** What stands below the values: how many they are made of, or what they add up to. */
function notes(items, { lines, countTitles, stacked }) {
  if (!items.length) return [];
  const i = items[0].dataIndex;
  if (stacked && lines.length > 1) return [t('charts.total', { n: value(items.reduce((sum, { raw }) => sum + raw, 0), lines[0].unit) })];
  const shown = items.map(({ datasetIndex }) => lines[datasetIndex]);
  return countTitles.map((title, n) => `${title}: ${[...new Set(shown.map((l) => value(l.counts[n][i], '')))].join(' · ')}`);
}
