// The tracker: a list of tickets and one of them.

import { face, pill, priority } from './badges.js';
import { fill, h, keyed } from './dom.js';
import { brief, exact } from './format.js';
import { count, number, t } from './i18n.js';
import { icon } from './icons.js';
import { past } from './past.js';
import { ticket } from './ticket.js';

const pause = 200; // milliseconds of rest after which what was typed is looked for

/** Makes the pane. */
export function desk(page) {
  const { state, live, chosen } = page;
  const section = h('section', { class: 'desk', 'aria-label': t('desk') });
  if (!state.tracker) return fill(section, h('p', { class: 'nothing', text: t('no.tracker') }));

  let rows = [];
  let timer = 0;
  const find = h('input', {
    type: 'search', placeholder: t('find.short'), 'aria-label': t('find.tickets'),
    on: { input: () => { clearTimeout(timer); timer = setTimeout(look, pause); } },
  });
  const queue = h('select', { 'aria-label': t('queue'), on: { change: () => { chosen.set('queue', queue.value); look(); } } },
    h('option', { value: '', text: t('all') }), state.tracker.queues.map((q) => h('option', { value: q.key, text: q.key })));
  queue.value = chosen.get('queue');
  const list = h('ul', { class: 'rows', 'aria-label': t('tickets') });
  const none = h('div', { class: 'nothing' });
  const shown = h('p', { class: 'shown soft', hidden: true });
  const sync = keyed(list, (row) => rowOf(row, state.tracker, open));
  const view = ticket(page, () => open(''));
  const history = past(live);
  const wanted = () => find.value.trim();

  function draw() {
    sync(rows.map((r) => ({ ...r, current: r.key === chosen.get('ticket') })));
    none.hidden = rows.length > 0;
    const any = Boolean(wanted() || queue.value);
    fill(none, icon('inbox', 34), h('strong', { text: t(any ? 'nothing.found' : 'no.tickets') }), !any && h('span', { text: t('no.tickets.hint') }));
  }

  /** Follows the tickets in which what was typed is found; there may be too many to have them all. */
  function look() {
    live.set('tickets', wanted() || queue.value ? `found/${queue.value || '-'}/${wanted()}` : 'tickets', (pane) => {
      rows = (pane?.items ?? []).sort((a, b) => (a.updated_at < b.updated_at ? 1 : -1));
      const total = pane?.head?.total ?? 0;
      shown.hidden = total <= rows.length;
      shown.textContent = t('tickets.shown', { shown: number(rows.length), total: number(total) });
      draw();
      if (rows.length && beside.matches && !chosen.get('ticket')) open(rows[0].key);
    });
  }

  function open(key) {
    chosen.set('ticket', key);
    section.classList.toggle('reading', Boolean(key));
    draw();
    view.open(key);
  }

  page.renamed = (key) => open(key);
  const beside = matchMedia('(min-width: 1151px)'); // a ticket is shown beside the list (desk.css)
  look();
  fill(section,
    h('div', { class: 'list' }, h('div', { class: 'filters' }, h('label', { class: 'search' }, icon('search', 18), find), queue, history.tools), history.line, none, list, shown),
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
