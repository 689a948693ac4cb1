// One message in a chat.

import { act } from './api.js';
import { h } from './dom.js';
import { files } from './files.js';
import { clock, exact } from './format.js';
import { has, t } from './i18n.js';
import { icon } from './icons.js';
import { menu } from './menu.js';
import { press } from './press.js';
import { rich } from './rich.js';

/** Makes the element. env: path(), find(id), edit(m), reply(m), jump(id). */
export function message(m, env) {
  const bare = m.files?.length && m.files.every((f) => f.kind === 'image' && f.url) && !m.text?.length && !m.reply_to && !m.forward;
  const bubble = h('div', { class: bare ? 'bubble bare' : 'bubble' },
    m.forward && h('p', { class: 'forward', text: t('forwarded', { name: m.forward }) }),
    m.reply_to && quoted(m.reply_to, env),
    files(m.files),
    place(m.location),
    m.contact && h('p', { class: 'card' }, icon('person'), h('span', null, h('strong', { text: m.contact.name }), h('br'), m.contact.phone)),
    (m.others ?? []).map((what) => h('p', { class: 'other', text: has(`kind.${what}`) ? t(`kind.${what}`) : t('other.content', { what }) })),
    m.text?.length > 0 && h('div', { class: 'text', dir: 'auto' }, rich(m.text)),
    h('span', { class: 'meta' }, m.edited && h('span', { text: t('edited') }), h('time', { dateTime: m.at, title: exact(m.at), text: clock(m.at) })));
  return h('article', {
    class: `message ${m.out ? 'theirs' : 'mine'}${m.joined ? ' joined' : ''}`, data: { id: m.id }, 'aria-label': m.out ? t('bot') : t('you'),
  },
  h('div', { class: 'line' }, bubble, menu({ label: t('message.menu'), className: 'ghost small reveal', size: 16, actions: () => actions(m, env) })),
  m.buttons && h('div', { class: 'below' }, m.buttons.map((row, r) => h('div', { class: 'button-row' }, row.map((b, c) => press(b, { path: env.path, message: m.id, row: r, column: c }))))));
}

function actions(m, env) {
  const list = [{ label: t('reply'), icon: 'reply', run: () => env.reply(m) }];
  if (!m.out) {
    if (m.plain) list.push({ label: t('edit'), icon: 'edit', run: () => env.edit(m) });
    list.push({ label: t('delete'), icon: 'trash', danger: true, run: () => act('DELETE', `${env.path()}/messages/${m.id}`) });
  }
  return list;
}

function quoted(id, env) {
  const other = env.find(id);
  const text = other?.text ? words(other.text).slice(0, 90) : other?.files?.[0]?.name ?? '…';
  return h('button', { type: 'button', class: 'quoted', on: { click: () => env.jump(id) } }, text);
}

/** The words of a tree. */
export function words(nodes) {
  return nodes.map((n) => (n.t === 'br' ? ' ' : n.x ?? words(n.c ?? []))).join('');
}

function place(l) {
  if (!l) return null;
  return h('p', { class: 'card' }, icon('pin'), h('span', null, l.title && [h('strong', { text: l.title }), h('br')], `${l.latitude.toFixed(5)}, ${l.longitude.toFixed(5)}`));
}
