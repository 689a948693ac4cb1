// The list of jobs: those that wait for a person, unless the address says others.

import { call } from '../api.js';
import { busy, fill, h } from '../dom.js';
import { count, t } from '../i18n.js';
import { icon } from '../icons.js';
import { poll } from '../poll.js';
import { decide } from './acts.js';
import { replayAll } from './bulk.js';
import { filterBar } from './filters.js';
import { healthPanel } from './health.js';
import { newest } from './newest.js';
import { questionOf, read, review, write } from './query.js';
import { listed, nothing } from './row.js';
import { explainJobs } from './words.js';

const size = 50; // jobs on a page
const pace = 15000; // milliseconds between looks

/** Fills the page: {sub, side, body}. Gives {move(query), stop()}. */
export function show({ sub, side, body }, query) {
  let filters = read(query);
  let shown = [];
  let next = 0;
  let drawn = '';
  let touched = []; // ids of those that were dealt with here: they stay in sight
  let asking = new AbortController();
  const bar = filterBar((some) => { location.hash = write({ ...read(''), ...some }); });
  const rows = h('ul', { class: 'rows' });
  const more = h('button', { class: 'button more', type: 'button', text: t('list.more'), data: { act: 'more' }, on: { click: () => busy(more, append) } });
  const list = h('section', { class: 'list-body job-list', 'aria-label': t('jobs.title'), tabIndex: -1 });
  const all = h('button', { class: 'button', type: 'button', hidden: true, data: { act: 'all' }, on: { click: () => busy(all, () => replayAll(filters, look.poke)) } },
    icon('repeat', 16), h('span', { text: t('jobs.all') }));

  const ask = (extra) => call('GET', questionOf(filters, extra), undefined, { signal: asking.signal });

  async function load() {
    const { signal } = asking;
    try {
      const answer = await newest(filters, Math.max(size, shown.length), { signal });
      shown = await withTouched(answer.jobs, signal);
      next = answer.next;
    } catch (error) {
      if (!signal.aborted && list.ariaBusy) failed(error);
      throw error;
    }
    draw();
    return pace;
  }

  /** Adds those that were dealt with, as they are now, if they still are. */
  async function withTouched(jobs, signal) {
    const gone = touched.filter((id) => !jobs.some((job) => job.id === id));
    const added = await Promise.all(gone.map((id) => one(id, signal)));
    return [...jobs, ...added.filter(Boolean)].sort((a, b) => b.id - a.id);
  }

  async function one(id, signal) {
    try {
      return await call('GET', `jobs/${id}`, undefined, { signal });
    } catch (error) {
      if (error.status !== 404) throw error;
      touched = touched.filter((other) => other !== id); // it was deleted, with a customer or by its age
      return null;
    }
  }

  async function append() {
    try {
      const answer = await ask({ limit: size, before: next });
      next = answer.next ?? 0;
      shown = [...shown, ...answer.jobs];
    } catch (error) {
      if (!asking.signal.aborted) failed(error, true);
      return;
    }
    const { length } = rows.children;
    draw();
    rows.children[length]?.querySelector('a').focus(); // what was asked for
  }

  /** Says why there is nothing new; below what there is, if it stays true. */
  function failed(error, below = false) {
    list.ariaBusy = null;
    drawn = '';
    sub.textContent = '';
    const alert = h('p', { class: 'alert bad', role: 'alert' }, h('span', { text: explainJobs(error) }),
      h('button', { class: 'button small', type: 'button', data: { act: 'again' }, on: { click: () => { list.focus(); start(); } } }, icon('repeat', 15), h('span', { text: t('jobs.again') })));
    if (below) list.append(alert);
    else fill(list, alert);
  }

  function draw() {
    list.ariaBusy = null;
    const now = JSON.stringify([shown, next]);
    if (now === drawn) return; // the focus stays where it is
    drawn = now;
    const had = list.contains(document.activeElement) && document.activeElement;
    const { job: at } = had ? had.closest('.job-row')?.dataset ?? {} : {};
    more.hidden = !next;
    all.hidden = filters.state !== review || !shown.some((job) => job.state === review);
    sub.textContent = shown.length ? count(next ? 'jobs.shown.more' : 'jobs.shown', shown.length) : '';
    if (shown.length) fill(list, fill(rows, shown.map(row)), more);
    else fill(list, nothing(filters));
    if (had && had !== document.activeElement) refocus(rows.querySelector(`[data-job="${at}"]`), had.dataset.act);
  }

  /** Gives the focus back to what was drawn anew: its button, if that is still there, else near. */
  function refocus(li, act) {
    const near = act === 'more' && !more.hidden ? more : list;
    (li?.querySelector(`[data-act="${act}"]`) ?? li?.querySelector('a') ?? near).focus({ preventScroll: true });
  }

  /** A row; what can be repeated can be so from here. */
  function row(job) {
    const changed = (after) => {
      if (!after) return look.poke();
      touched.push(after.id);
      shown = shown.map((other) => (other.id === after.id ? after : other));
      return draw();
    };
    return listed(job, () => decide('replay', job, changed));
  }

  /** Shows that it loads: what was there before is dimmed. */
  function wait() {
    list.ariaBusy = 'true';
    drawn = '';
    sub.textContent = t('loading');
    if (!rows.children.length || !list.contains(rows)) fill(list, h('div', { class: 'job-skeleton' }));
  }

  function start() {
    asking.abort();
    asking = new AbortController();
    wait();
    look.poke();
  }

  const health = healthPanel();
  sub.setAttribute('role', 'status');
  fill(side, all);
  fill(body, h('div', { class: 'jobs-inside' }, health.el, h('div', null, bar.el, list)));
  bar.show(filters);
  wait();
  const look = poll(load);
  return {
    move(query) {
      filters = read(query);
      shown = [];
      touched = [];
      bar.show(filters);
      start();
    },
    stop() {
      look.stop();
      health.stop();
      bar.stop();
      asking.abort();
    },
  };
}
