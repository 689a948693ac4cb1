// One ticket: its head, what can be done with it, its comments and history.

import { act } from './api.js';
import { kept } from './choice.js';
import { commentBox } from './commentbox.js';
import { pill, priority } from './badges.js';
import { fill, h, keyed } from './dom.js';
import { entry } from './entry.js';
import { files } from './files.js';
import { exact, moment, named } from './format.js';
import { has, t } from './i18n.js';
import { icon } from './icons.js';
import { rich } from './rich.js';
import { tablist } from './tabs.js';
import { ask, field } from './toast.js';

/** Makes the view; open(key) shows another ticket, '' none. back is called by its button. */
export function ticket(page, back) {
  const { live } = page;
  const catalogue = page.state.tracker;
  let key = '';
  let head = null;
  let entries = [];
  let tab = 'comment';
  let sending = false; // a comment of one's own is on its way and will be wanted in view

  const env = {
    catalogue, page, sending: (now) => { sending = now; },
    path: () => `tickets/${key}`, as: () => whom.value, reply: page.state.reply,
  };
  const whom = h('select', { 'aria-label': t('as'), title: t('as'), on: { change: () => { kept.set('agent', whom.value); drawList(); } } },
    catalogue.agents.map((a) => h('option', { value: a.login, text: a.name })));
  if (catalogue.agents.some((a) => a.login === kept.get('agent'))) whom.value = kept.get('agent');
  const box = commentBox(env, h('div', { class: 'whom' }, whom));
  const top = h('div', { class: 'ticket-head' });
  const list = h('div', { class: 'entries' });
  const tabs = tablist({
    label: t('ticket'), className: 'underlined', selected: tab, onSelect: choose,
    tabs: [{ id: 'comment', label: t('comments') }, { id: 'change', label: t('history') }],
  });
  let sync = keyed(list, (e) => entry(e, env));
  const empty = h('p', { class: 'nothing', text: t('no.comments') });
  const body = h('div', { class: 'ticket-body' }, top, tabs.el, empty, list);
  const none = h('div', { class: 'nothing' });
  const el = h('article', { class: 'ticket', 'aria-label': t('ticket') }, none, body,
    h('footer', { class: 'ticket-foot' }, box.el));

  /** Shows the other list, from its beginning: both are below a long head. */
  function choose(id) {
    tab = id;
    drawList();
    body.scrollTop = top.offsetHeight + 14;
  }

  function drawList() {
    const shown = entries.filter((e) => e.kind === tab);
    sync(shown.map((e) => ({ ...e, as: whom.value })));
    empty.hidden = tab !== 'comment' || shown.length > 0 || !head;
  }

  function show(pane) {
    const first = !head;
    const before = entries.length;
    const low = body.scrollHeight - body.scrollTop - body.clientHeight < 160;
    head = pane?.head ?? null;
    entries = (pane?.items ?? []).sort((a, b) => (a.at === b.at ? a.id.localeCompare(b.id, 'en', { numeric: true }) : a.at < b.at ? -1 : 1));
    blank();
    if (!head) return;
    if (head.key !== key) page.renamed(head.key); // it was moved by somebody
    drawHead();
    drawList();
    tabs.count('comment', entries.filter((e) => e.kind === 'comment').length);
    if (!first && (low || sending) && entries.length > before) {
      body.scrollTop = body.scrollHeight;
      sending = false;
    }
  }

  let drawn = '';

  /** Draws the head anew only if it changed, and leaves the focus where it was. */
  function drawHead() {
    const json = JSON.stringify(head);
    if (json === drawn) return;
    drawn = json;
    const focused = top.contains(document.activeElement) && (document.activeElement.dataset.name ?? 'step');
    fill(top, ticketHead(head, env, back));
    if (focused) (top.querySelector(`[data-name="${focused}"]`) ?? top.querySelector('.steps button'))?.focus({ preventScroll: true });
  }

  function blank() {
    el.classList.toggle('blank', !head);
    fill(none, icon('chat', 34), h('strong', { text: key && head === null ? t('ticket.gone') : t('choose.ticket') }), !key && h('span', { text: t('choose.ticket.hint') }),
      key && h('button', { type: 'button', class: 'button', text: t('back'), on: { click: back } }));
  }

  return {
    el,
    open(next) {
      if (next === key && next) return;
      const moved = head && next && head.key === next; // the same one under its new key
      key = next;
      if (!moved) {
        head = null;
        entries = [];
        fill(list);
        sync = keyed(list, (e) => entry(e, env));
        box.reset();
      }
      el.classList.toggle('blank', !head);
      if (key) fill(none);
      else blank();
      live.set('ticket', key ? env.path() : null, show);
    },
  };
}

function ticketHead(head, env, back) {
  const { catalogue } = env;
  return [
    h('div', { class: 'ticket-top' },
      h('button', { type: 'button', class: 'ghost back', 'aria-label': t('back'), on: { click: back } }, icon('back')),
      priority(head.priority, catalogue), h('span', { class: 'key', text: head.key }),
      head.messenger && h('span', { class: `brand small ${head.messenger}`, role: 'img', 'aria-label': t(head.messenger) }),
      head.aliases?.length && h('small', { class: 'soft', text: t('formerly', { keys: head.aliases.join(', ') }) }),
      h('small', { class: 'soft end', text: `${head.author} · ${moment(head.created_at)}`, title: exact(head.created_at) })),
    h('h2', { text: head.summary, dir: 'auto' }),
    h('div', { class: 'steps' }, pill(head.status, catalogue),
      head.resolution && h('span', { class: 'soft', title: t('resolution'), text: `${t('resolution')}: ` + named(catalogue.resolutions.find((r) => r.key === head.resolution)) }),
      (head.steps ?? []).map((s) => h('button', { type: 'button', class: 'button small', data: { to: s.to }, text: named(s), on: { click: () => step(s, env) } }))),
    h('div', { class: 'properties' },
      property('assignee', head.assignee ?? '-', [{ key: '-', ru: t('nobody'), en: t('nobody') }, ...catalogue.agents.map((a) => ({ key: a.login, ru: a.name, en: a.name }))], env),
      property('priority', head.priority, catalogue.priorities, env),
      property('type', head.type, catalogue.types.filter((x) => catalogue.queues.find((q) => q.key === head.queue)?.types.includes(x.key)), env),
      property('queue', head.queue, catalogue.queues.map((q) => ({ key: q.key, ru: `${q.key} · ${q.name}`, en: `${q.key} · ${q.name}` })), env)),
    customer(head.fields),
    h('section', { class: 'description', 'aria-label': t('description') },
      head.description?.length ? h('div', { class: 'rich', dir: 'auto' }, rich(head.description)) : h('p', { class: 'soft', text: t('no.description') }),
      files(head.files)),
  ];
}

/** A choice that changes the ticket at once. */
function property(name, value, options, env) {
  const select = h('select', { data: { name } }, options.map((o) => h('option', { value: o.key, text: named(o) })));
  if (!options.some((o) => o.key === value)) select.append(h('option', { value, text: value }));
  select.value = value;
  select.addEventListener('change', async () => {
    const wanted = select.value;
    select.value = value; // until the server says so
    if (name === 'queue') await move(wanted, env);
    else await act('PATCH', env.path(), { as: env.as(), [name]: wanted });
  });
  return field(t(name), select);
}

async function move(queue, env) {
  if (!await ask({ title: t('move.title', { queue }), body: h('p', { text: t('move.hint') }), agree: t('move') })) return;
  const moved = await act('PATCH', env.path(), { as: env.as(), queue });
  if (moved) env.page.renamed(moved.key);
}

async function step(s, env) {
  let resolution = '';
  if (s.resolution) {
    const select = h('select', null, env.catalogue.resolutions.map((r) => h('option', { value: r.key, text: named(r) })));
    resolution = await ask({ title: named(s), body: field(t('resolution.title'), select), agree: named(s), fields: () => select.value });
    if (!resolution) return;
  }
  await act('PATCH', env.path(), { as: env.as(), status: s.to, resolution });
}

const order = ['supportName', 'supportNickname', 'supportMessenger', 'supportCategory', 'supportLocale', 'supportRating', 'supportRemark', 'supportUser', 'supportChat', 'supportBot'];

/** Who wrote the ticket, in a line; all fields when it is opened. */
function customer(fields) {
  const rank = (key) => (order.includes(key) ? order.indexOf(key) : order.length);
  const shown = Object.entries(fields ?? {}).filter(([, value]) => value).sort(([a], [b]) => rank(a) - rank(b));
  if (!shown.length) return null;
  const { supportName, supportNickname, supportMessenger, supportRating } = fields;
  const line = [supportName, supportNickname && `@${supportNickname}`, supportMessenger && (has(supportMessenger) ? t(supportMessenger) : supportMessenger), supportRating && `${t('field.supportRating')}: ${supportRating}`];
  return h('details', { class: 'customer', open: kept.get('customer') === 'open', on: { toggle: (event) => kept.set('customer', event.target.open ? 'open' : '') } },
    h('summary', null, h('span', { class: 'soft', text: `${t('fields')}: ` }), line.filter(Boolean).join(' · ')),
    h('dl', null, shown.map(([key, value]) => h('div', null, h('dt', { text: has(`field.${key}`) ? t(`field.${key}`) : key }), h('dd', { text: value, dir: 'auto' })))));
}
