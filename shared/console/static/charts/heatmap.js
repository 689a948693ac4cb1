// A heat map: a table whose cells are coloured, so that it reads without colours too.

import { h } from '../dom.js';
import { t } from '../i18n.js';
import { keyName, value, weekday } from './values.js';

/** The table of a metric with two categories and a value: {rows, columns, titles, unit, most, at(row, column)}. */
export function matrix({ columns, rows }) {
  const [down, across] = columns.flatMap((c, i) => (c.role === 'category' ? [i] : []));
  const v = columns.findIndex((c) => c.role === 'value');
  const cells = new Map(rows.map((r) => [JSON.stringify([r[down], r[across]]), r[v]]));
  const keys = (column) => [...new Set(rows.map((r) => r[column]))].map((key) => ({ key, name: keyName(columns[column], key), ...brief(columns[column], key) }));
  return {
    rows: keys(down), columns: keys(across), titles: [columns[down].title, columns[across].title],
    unit: columns[v].unit, most: Math.max(0, ...rows.map((r) => r[v] ?? 0)),
    at: (row, column) => cells.get(JSON.stringify([row.key, column.key])) ?? 0,
  };
}

/** How a key is written where there is little room. */
function brief(column, key) {
  if (column.name === 'weekday') return { short: weekday(key, 'short') };
  return column.name === 'hour' ? { short: String(key) } : {};
}

/** From where on a colour wants the other ink: in the dark it does earlier. */
const heat = (share) => (share > 0.66 ? 'hot warm' : share > 0.57 ? 'warm' : '');

/** Gives {el, draw(), stop()}, as graph() does. table: {rows, columns, ...}; caption: what it is of. */
export function heatmap(m, { title }) {
  const reading = h('p', { class: 'heat-reading soft', text: t('charts.heat.hint') });
  const cell = (row, column) => {
    const n = m.at(row, column);
    const share = m.most ? n / m.most : 0;
    return h('td', { class: heat(share), style: { '--heat-share': `${Math.round(8 + 92 * share) * (n ? 1 : 0)}%` }, data: { said: t('charts.point', { name: `${row.name}, ${column.name}`, value: value(n, m.unit) }) } },
      h('span', { text: value(n, m.unit) }));
  };
  const table = h('table', { class: 'heat' },
    h('caption', { class: 'visually-hidden', text: title }),
    h('thead', null, h('tr', null, h('td'), m.columns.map((c) => h('th', { scope: 'col', abbr: c.name, text: c.short ?? c.name })))),
    h('tbody', null, m.rows.map((r) => h('tr', null, h('th', { scope: 'row', abbr: r.name, text: r.short ?? r.name }), m.columns.map((c) => cell(r, c))))));
  table.addEventListener('pointerover', (event) => {
    const said = event.target.closest('td')?.dataset.said;
    if (said) reading.textContent = said;
  });
  const scale = h('div', { class: 'heat-scale', 'aria-hidden': 'true' }, h('span', { text: '0' }), h('i'), h('span', { text: value(m.most, m.unit) }));
  return { el: h('div', { class: 'graph' }, table, h('div', { class: 'heat-foot' }, reading, scale)), draw() {}, stop() {} };
}

