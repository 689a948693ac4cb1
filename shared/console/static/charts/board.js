// The page of charts, once its files are there: what metrics there are, the filters, and
// a card for each metric. The address holds the filters: a change goes there, and comes
// back by move(), as it does with the browser's buttons.

import { call } from '../api.js';
import { fill, h } from '../dom.js';
import { language, t } from '../i18n.js';
import { card } from './card.js';
import { failure } from './failure.js';
import { filterBar } from './filters.js';
import { lane } from './lane.js';
import { read, write } from './query.js';
import { timeIn } from './values.js';

const most = 3; // queries at a time
const fresh = 3 * 60 * 60 * 1000; // milliseconds after which what was loaded is old

/** Fills the page: {title, until, body}. Gives {move(query), stop()}; query as in chartsPage. */
export function board({ title, until, body }, query) {
  const left = new AbortController();
  let asked = query;
  let shown = null;

  async function load() {
    fill(body, skeleton());
    try {
      const catalogue = await call('GET', `metrics?${new URLSearchParams({ locale: language() })}`, undefined, { signal: left.signal });
      shown = charts(catalogue, until);
      fill(body, shown.el);
      shown.move(asked);
    } catch (error) {
      if (!left.signal.aborted) fill(body, h('div', { class: 'card' }, failure(error, again)));
    }
  }

  function again() {
    title.focus(); // the button goes
    load();
  }

  load();
  return {
    move(next) {
      asked = next;
      shown?.move(next);
    },
    stop() {
      left.abort();
      shown?.stop();
    },
  };
}

const skeleton = () => h('div', { class: 'charts-inside', 'aria-busy': 'true' }, h('p', { class: 'visually-hidden', role: 'status', text: t('loading') }),
  h('div', { class: 'filters' }, h('div', { class: 'skeleton' })), h('div', { class: 'grid' }, [1, 2, 3, 4].map(() => h('div', { class: 'card chart' }, h('div', { class: 'chart-body' }, h('div', { class: 'skeleton' }))))));

/** The filters and the cards. */
function charts(catalogue, until) {
  const ask = lane(most);
  const told = ({ loaded_until: at }) => fill(until, loaded(at, catalogue.zone));
  const cards = catalogue.metrics.map((metric) => card(metric, { ask, told }));
  const filters = filterBar(catalogue, (next) => { location.hash = next ? write(next, catalogue) : '#/charts'; });
  const grid = h('div', { class: 'grid' }, cards.map((c) => c.el));
  spread([...grid.children], catalogue.metrics);
  told(catalogue);

  const dark = matchMedia('(prefers-color-scheme: dark)');
  const redraw = () => cards.forEach((c) => c.redraw());
  dark.addEventListener('change', redraw);
  return {
    el: h('div', { class: 'charts-inside' }, filters.el, grid),
    move(query) {
      const next = read(query, catalogue);
      filters.show(next);
      for (const c of cards) c.show(next);
    },
    stop() {
      dark.removeEventListener('change', redraw);
      filters.stop();
      for (const c of cards) c.stop();
    },
  };
}

/** Two cards in a row, a heat map alone. Of an odd number one has a row, best one over time. */
function spread(cards, metrics) {
  const overTime = (el) => metrics[cards.indexOf(el)].columns[0].role === 'time';
  let run = []; // between two heat maps
  const widen = () => {
    if (run.length % 2) (run.find(overTime) ?? run.at(-1)).classList.add('wide');
    run = [];
  };
  cards.forEach((el, i) => {
    if (metrics[i].chart !== 'heatmap') return run.push(el);
    el.classList.add('wide');
    return widen();
  });
  widen();
}

/** Until when there is data. */
function loaded(at, zone) {
  if (!at) return t('charts.until.never');
  const text = t('charts.until', { when: timeIn(at, zone) });
  return Date.now() - new Date(at) > fresh ? h('span', { class: 'pill warn', text }) : text;
}
