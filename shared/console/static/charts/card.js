// One metric: what it is, its chart or its table, what of the filters it does not know.

import { call } from '../api.js';
import { toast } from '../dialog.js';
import { busy, fill, h, uid } from '../dom.js';
import { language, t } from '../i18n.js';
import { icon } from '../icons.js';
import { emptiness, failure, words } from './failure.js';
import { ignored, questionOf, shift } from './query.js';
import { viewOf } from './view.js';

/**
 * ask(call, signal) makes a call when it is its turn; told(answer) hears of each answer.
 * Gives {el, show(filters), redraw(), stop()}. The card's data-state says how far it is:
 * "loading", "drawn", "empty" or "failed".
 */
export function card(metric, { ask, told }) {
  const parts = frame(metric, { turn: draw, download });
  const places = new Map(); // of lines in the palette
  let filters = null;
  let question = '';
  let calling = new AbortController();
  let answer = null;
  let view = null;
  let waits = false; // for an answer to another question than the one that is shown

  async function load() {
    calling.abort();
    const mine = new AbortController();
    calling = mine;
    if (!answer) fill(parts.body, h('div', { class: 'skeleton' })); // else what was there stays, faded
    waits = true;
    parts.state('loading');
    try {
      const next = await ask(() => call('GET', question, undefined, { signal: mine.signal }), mine.signal);
      if (mine.signal.aborted) return; // something else was asked since
      waits = false;
      answer = next;
      told(answer);
      draw();
    } catch (error) {
      if (mine.signal.aborted) return;
      waits = false;
      answer = null;
      put('failed', null, failure(error, again));
    }
  }

  function again() {
    parts.el.focus(); // the button goes
    load();
  }

  function draw() {
    if (!answer) return;
    const next = viewOf(metric, answer, { asTable: parts.asTable(), places });
    if (next) put('drawn', next);
    else put('empty', null, emptiness());
  }

  /** Shows a view, or what stands in its place. */
  function put(state, next, instead) {
    view?.stop();
    view = next;
    fill(parts.body, next ? next.el : instead);
    next?.draw();
    note();
    parts.state(waits ? 'loading' : state);
  }

  function note() {
    const left = ignored(metric, filters).map((name) => t(`charts.ignored.${name}`));
    if (view?.hidden) left.push(t('charts.hidden', { n: view.hidden }));
    parts.note.textContent = left.join(' ');
  }

  async function download() {
    try {
      save(await call('GET', `${question}&format=csv`, undefined, { file: true }), `${metric.name} ${filters.from} ${shift(filters.to, -1)}.csv`);
    } catch (error) {
      toast(words(error)[0], 'bad');
    }
  }

  return {
    el: parts.el,
    show(next) {
      filters = next;
      const asked = questionOf(metric, filters, language());
      note();
      if (asked === question && parts.el.dataset.state !== 'failed') return;
      question = asked;
      load();
    },
    redraw: draw,
    stop() {
      calling.abort();
      view?.stop();
    },
  };
}

/** The card without its contents. turn() is called when it turns from chart to table or back. */
function frame(metric, { turn, download }) {
  const id = uid('metric');
  const body = h('div', { class: 'chart-body' });
  const note = h('p', { class: 'chart-note soft' });
  const table = tool('table', 'charts.table', () => {
    table.setAttribute('aria-pressed', String(!asTable()));
    turn();
  }, { 'aria-pressed': 'false' });
  const file = tool('download', 'charts.csv', () => busy(file, download));
  const asTable = () => table.getAttribute('aria-pressed') === 'true';
  const el = h('section', { class: 'card chart', 'aria-labelledby': id, tabIndex: -1, data: { metric: metric.name, state: 'loading' } },
    h('div', { class: 'chart-head' }, h('h2', { id, text: metric.title }), h('div', { class: 'chart-tools' }, table, file)),
    body, h('div', { class: 'chart-foot' }, h('details', { class: 'chart-what' }, h('summary', { text: t('charts.what') }), h('p', { class: 'soft', text: metric.description })), note));
  return {
    el, body, note, asTable,
    state(next) {
      el.dataset.state = next;
      el.setAttribute('aria-busy', String(next === 'loading'));
    },
  };
}

const tool = (picture, name, click, more) => h('button', { class: 'ghost', type: 'button', title: t(name), 'aria-label': t(name), on: { click }, ...more }, icon(picture, 17));

function save(blob, name) {
  const address = URL.createObjectURL(blob);
  h('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000); // a browser may ask where to
}
