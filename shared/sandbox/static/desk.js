// The tracker: a list of tickets and one of them.

import { face, pill, priority } from './badges.js';
import { fill, h, keyed } from './dom.js';
import { brief, exact } from './format.js';
import { count, t } from './i18n.js';
import { icon } from './icons.js';
import { ticket } from './ticket.js';

/** Makes the pane. */
export function desk(page) {
  const { state, live, chosen } = page;
  const section = h('section', { class: 'desk', 'aria-label': t('desk') });
  if (!state.tracker) return fill(section, h('p', { class: 'nothing', text: t('no.tracker') }));

  let rows = [];
  const find = h('input', { type: 'search', placeholder: t('find.tickets'), 'aria-label': t('find.tickets'), on: { input: draw } });
  const queue = h('select', { 'aria-label': t('queue'), on: { change: () => { chosen.set('queue', queue.value); draw(); } } },
    h('option', { value: '', text: t('all') }), state.tracker.queues.map((q) => h('option', { value: q.key, text: q.key })));
  queue.value = chosen.get('queue');
  const list = h('ul', { class: 'rows', 'aria-label': t('tickets') });
  const none = h('div', { class: 'nothing' });
  const sync = keyed(list, (row) => rowOf(row, state.tracker, open));
  const view = ticket(page, () => open(''));

  function draw() {
    const wanted = find.value.trim().toLowerCase();
    const seen = rows.filter((r) => (!queue.value || r.queue === queue.value)
      && (!wanted || [r.key, r.summary, r.customer, r.assignee].join(' ').toLowerCase().includes(wanted)));
    sync(seen.map((r) => ({ ...r, current: r.key === chosen.get('ticket') })));
    none.hidden = seen.length > 0;
    fill(none, icon('inbox', 34), h('strong', { text: t(rows.length ? 'nothing.found' : 'no.tickets') }), !rows.length && h('span', { text: t('no.tickets.hint') }));
  }

  function open(key) {
    chosen.set('ticket', key);
    section.classList.toggle('reading', Boolean(key));
    draw();
    view.open(key);
  }

  page.renamed = (key) => open(key);
  live.set('tickets', 'tickets', (pane) => {
    rows = (pane?.items ?? []).sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1));
    draw();
  });
  fill(section,
    h('div', { class: 'list' }, h('div', { class: 'filters' }, h('label', { class: 'search' }, icon('search', 18), find), queue), none, list),
    view.el);
  open(chosen.get('ticket'));
  return section;
}

function rowOf(r, catalogue, open) {
  const agent = catalogue.agents.find((a) => a.login === r.assignee);
  return h('li', null, h('button', { type: 'button', class: 'row', data: { key: r.key }, 'aria-current': r.current ? 'true' : undefined, on: { click: () => open(r.key) } },
    h('span', { class: 'row-top' }, priority(r.priority, catalogue), h('span', { class: 'key', text: r.key }),
      r.messenger && h('span', { class: `brand small ${r.messenger}`, role: 'img', 'aria-label': t(r.messenger) }),
      h('time', { dateTime: r.updated_at, title: exact(r.updated_at), text: brief(r.updated_at) })),
    h('span', { class: 'row-summary', text: r.summary }),
    h('span', { class: 'row-end' }, pill(r.status, catalogue), r.customer && h('span', { class: 'row-customer', text: r.customer }),
      r.comments > 0 && h('span', { class: 'row-comments', title: count('comments', r.comments) }, icon('chat', 14), String(r.comments)),
      agent ? face(agent.name) : null)));
}
