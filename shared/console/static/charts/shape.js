// Turns the rows of a metric into what a chart and a table show: keys along one axis,
// and lines of points over them.

import { adds, bucketNames, keyName } from './values.js';

/**
 * answer: {columns, rows, from, to, step}. Gives {time, axis, keys: [{name, tick}],
 * lines: [{name, unit, points, counts}], split, countTitles}. split: lines are named by
 * their keys, and not by the metric. points has a number or null
 * per key, counts a list per column of counts. Lines of a series are in the order of
 * their size.
 */
export function shape(answer) {
  const { columns, rows } = answer;
  const at = (role) => columns.flatMap((c, i) => (c.role === role ? [i] : []));
  const [x] = [...at('time'), ...at('category')];
  const [series] = at('series');
  const counts = at('count');
  const time = columns[x].role === 'time';
  const places = new Map([...new Set(rows.map((r) => r[x]))].map((key, i) => [key, i]));
  const keys = [...places.keys()].map((key) => (time ? bucketNames(key, answer) : plain(keyName(columns[x], key))));

  const lines = new Map();
  for (const row of rows) {
    for (const v of at('value')) {
      const name = series === undefined ? columns[v].title : keyName(columns[series], row[series]);
      const line = lines.get(name) ?? blank(name, columns[v].unit, keys.length, counts.length);
      lines.set(name, line);
      line.points[places.get(row[x])] = row[v];
      counts.forEach((c, n) => { line.counts[n][places.get(row[x])] = row[c]; });
    }
  }
  const all = [...lines.values()];
  if (series !== undefined) all.sort((a, b) => size(b) - size(a));
  return { time, axis: columns[x], keys, lines: all, split: series !== undefined, countTitles: counts.map((c) => columns[c].title) };
}

const plain = (name) => ({ name, tick: name });
const size = (l) => l.points.reduce((sum, p) => sum + (p ?? 0), 0);

/** A line with nothing in it: of things there are none where no row is. */
const blank = (name, unit, keys, counts) => ({
  name, unit, points: new Array(keys).fill(adds(unit) ? 0 : null), counts: Array.from({ length: counts }, () => new Array(keys).fill(0)),
});

const linesMost = 8; // that can be told apart
const categoriesMost = 100; // that anybody scrolls through

/**
 * Gives as much as a chart can show. Of many lines the small ones are one, if their
 * values add up, else left out; of many categories the last are left out. hidden says
 * how many are.
 */
export function few(shaped, restName) {
  const { keys, lines, time } = shaped;
  const shown = time ? keys.length : Math.min(keys.length, categoriesMost);
  const cut = lines.map((l) => ({ ...l, points: l.points.slice(0, shown), counts: l.counts.map((c) => c.slice(0, shown)) }));
  const some = { ...shaped, keys: keys.slice(0, shown), hidden: keys.length - shown };
  if (lines.length <= linesMost) return { ...some, lines: cut };
  if (!adds(lines[0].unit)) return { ...some, lines: cut.slice(0, linesMost), hidden: some.hidden + lines.length - linesMost };
  const rest = cut.slice(linesMost - 1);
  return { ...some, lines: [...cut.slice(0, linesMost - 1), { ...sumOf(rest), name: restName(rest.length), rest: true }] };
}

/** The line of what several lines add up to. */
function sumOf(lines) {
  const sum = (lists) => lists[0].map((_, i) => lists.reduce((n, list) => n + (list[i] ?? 0), 0));
  return { unit: lines[0].unit, points: sum(lines.map((l) => l.points)), counts: lines[0].counts.map((_, n) => sum(lines.map((l) => l.counts[n]))) };
}

/** Whether there is anything to show. */
export const isEmpty = ({ lines }) => !lines.some((l) => l.points.some((p) => p !== null && p !== 0) || l.counts.some((c) => c.some(Boolean)));
