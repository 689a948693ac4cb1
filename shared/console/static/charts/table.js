// The numbers of a chart as a table, for those who do not see it and those who want to
// know exactly.

import { h } from '../dom.js';
import { t } from '../i18n.js';
import { value } from './values.js';

/** A table of what shape() gives. */
export function linesTable({ axis, keys, lines, countTitles }, title) {
  const counted = countTitles.flatMap((name, n) => unlike(lines.map((l) => l.counts[n])).map((i, _, all) => ({ name: all.length > 1 ? `${name} · ${lines[i].name}` : name, unit: '', points: lines[i].counts[n] })));
  const columns = [...lines, ...counted];
  const row = (k, i) => [h('th', { scope: 'row', text: k.name }), columns.map((c) => h('td', { text: value(c.points[i], c.unit) }))];
  return sheet(title, [axis.title, ...columns.map((c) => c.name)], keys.map(row));
}

/** The places of lists that differ: lines of the same rows have the same counts. */
function unlike(lists) {
  const seen = new Map(lists.map((list, i) => [JSON.stringify(list), i]).reverse());
  return [...seen.values()].sort((a, b) => a - b);
}

/** A table of a heat map, with room for its numbers. */
export const matrixTable = (m, title) => sheet(title, [m.titles.join(' / '), ...m.columns.map((c) => c.name)],
  m.rows.map((r) => [h('th', { scope: 'row', text: r.name }), m.columns.map((c) => h('td', { text: value(m.at(r, c), m.unit) }))]));

// Whoever has only a keyboard scrolls what has the focus.
const sheet = (title, heads, rows) => h('div', { class: 'sheet scroll-x', tabIndex: 0, role: 'region', 'aria-label': t('charts.table.of', { name: title }) }, h('table', null,
  h('caption', { class: 'visually-hidden', text: title }),
  h('thead', null, h('tr', null, heads.map((name) => h('th', { scope: 'col', text: name })))),
  h('tbody', null, rows.map((cells) => h('tr', null, cells)))));
