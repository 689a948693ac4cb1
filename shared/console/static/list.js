// All broadcasts, newest first.

import { call, explain } from './api.js';
import { toast } from './dialog.js';
import { busy, fill, h } from './dom.js';
import { exact, number, percent, when } from './format.js';
import { count, t } from './i18n.js';
import { icon } from './icons.js';
import { poll } from './poll.js';
import { may } from './session.js';
import { audienceWords, done, ended, moving, nameOf, pill } from './words.js';

const filters = {
  all: '', running: 'planning,running,pausing,paused,cancelling', scheduled: 'scheduled', draft: 'draft', ended: 'finished,cancelled',
};
const size = 30; // broadcasts on a page
const most = 200; // broadcasts of one call
let filter = 'all'; // stays while one looks at a broadcast and comes back

export function listPage() {
  const rows = h('ul', { class: 'rows', 'aria-busy': 'true' });
  const more = h('button', { class: 'button more', type: 'button', text: t('list.more'), hidden: true });
  const body = h('div', { class: 'list-body' }, rows);
  let shown = []; // broadcasts
  let next = 0;
  let json = '';

  async function load() {
    if (shown.length > most) return 0; // more than one call gives: it stays as it was loaded
    const query = new URLSearchParams({ limit: Math.max(size, shown.length) });
    if (filters[filter]) query.set('state', filters[filter]);
    const asked = filter;
    let answer;
    try {
      answer = await call('GET', `broadcasts?${query}`);
    } catch (error) {
      if (!shown.length) fill(body, h('p', { class: 'alert bad', role: 'alert', text: explain(error) }));
      throw error;
    }
    if (asked !== filter) return 1;
    shown = answer.broadcasts;
    next = answer.next ?? 0;
    draw();
    return shown.some((b) => moving(b.state)) ? 2000 : 15000;
  }

  function draw() {
    const now = JSON.stringify([shown, next]);
    if (now === json) return; // the focus stays where it is
    json = now;
    const focused = document.activeElement?.closest?.('.row')?.getAttribute('href');
    rows.removeAttribute('aria-busy');
    more.hidden = !next;
    if (!shown.length) fill(body, empty());
    else fill(body, fill(rows, shown.map(row)), more);
    if (focused) rows.querySelector(`.row[href="${focused}"]`)?.focus({ preventScroll: true });
  }

  more.addEventListener('click', () => busy(more, async () => {
    const query = new URLSearchParams({ limit: size, before: next });
    if (filters[filter]) query.set('state', filters[filter]);
    try {
      const answer = await call('GET', `broadcasts?${query}`);
      shown = [...shown, ...answer.broadcasts];
      next = answer.next ?? 0;
      draw();
      rows.querySelector(`.row[href="#/${answer.broadcasts[0]?.id}"]`)?.focus();
    } catch (error) {
      toast(explain(error), 'bad');
    }
  }));

  const polling = poll(load);
  const choose = (name) => {
    filter = name;
    shown = [];
    json = '';
    polling.poke();
  };
  return {
    title: t('list.title'),
    el: h('div', { class: 'list' },
      h('div', { class: 'head' }, h('h1', { text: t('list.title'), tabIndex: -1 }),
        may('send') && h('a', { class: 'button primary', href: '#/new' }, icon('plus', 16), t('list.new'))),
      chips(choose), body),
    stop: polling.stop,
  };
}

/** The choice of states. */
function chips(choose) {
  const el = h('div', { class: 'chips', role: 'group', 'aria-label': t('list.filter') });
  for (const name of Object.keys(filters)) {
    el.append(h('button', {
      class: 'chip', type: 'button', 'aria-pressed': String(name === filter), text: t(`list.filter.${name}`),
      on: {
        click: (event) => {
          for (const other of el.children) other.setAttribute('aria-pressed', String(other === event.currentTarget));
          choose(name);
        },
      },
    }));
  }
  return el;
}

function empty() {
  return h('div', { class: 'nothing' }, icon('megaphone', 40),
    h('strong', { text: t(filter === 'all' ? 'list.empty' : 'list.empty.filter') }),
    filter === 'all' && h('p', { text: t(may('send') ? 'list.empty.text' : 'list.empty.watch') }));
}

function row(b) {
  const { counts } = b;
  const time = b.finished_at ?? b.started_at ?? b.start_at ?? b.created_at;
  return h('li', null, h('a', { class: 'row', href: `#/${b.id}` },
    h('span', { class: 'row-main' },
      h('strong', { class: 'row-title', text: nameOf(b) }),
      h('small', { class: 'soft', text: [t(`kind.${b.kind}`), b.relation === 'correction' && t('corrects', { id: b.parent }), audienceWords(b.audience)].filter(Boolean).join(' · ') })),
    pill(b.state),
    h('span', { class: 'row-progress' }, counts.total > 0 ? [
      meter(counts),
      h('small', { class: 'soft', text: progressWords(b) }),
    ] : h('small', { class: 'soft', text: ['draft', 'scheduled', 'planning'].includes(b.state) ? '—' : count('people', 0) })),
    h('time', { class: 'row-time soft', dateTime: time, title: exact(time), text: timeWords(b) })));
}

function timeWords(b) {
  if (b.state === 'scheduled' && b.start_at) return t('list.starts', { when: when(b.start_at) });
  if (b.finished_at) return t('list.ended', { when: when(b.finished_at) });
  if (b.started_at) return t('list.started', { when: when(b.started_at) });
  return t('list.created', { when: when(b.created_at) });
}

/** While it goes on, how far it is; afterwards, how many got it. */
function progressWords({ state, counts }) {
  const total = number(counts.total);
  if (ended(state)) return t('list.sent', { n: number(counts.sent), total });
  return t('progress.of', { done: number(done(counts)), total, percent: percent(done(counts), counts.total) });
}

function meter(counts) {
  const part = (name, n) => h('span', { class: name, style: { width: `${(100 * n) / counts.total}%` } });
  return h('span', { class: 'meter', 'aria-hidden': 'true' }, part('meter-sent', counts.sent), part('meter-rest', done(counts) - counts.sent));
}
