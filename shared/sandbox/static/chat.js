// One chat on the phone: its head, the messages, the buttons below and the input.

import { act } from './api.js';
import { composer } from './composer.js';
import { fill, h, keyed } from './dom.js';
import { day } from './format.js';
import { t } from './i18n.js';
import { message } from './message.js';
import { press } from './press.js';

const near = 120; // pixels from the end within which the view follows new messages

/** Makes the view of a chat; open(messenger, id) shows another one. */
export function chat(page) {
  const { state, live } = page;
  let messenger = '';
  let id = '';
  let head = null;
  let messages = [];
  const path = () => (id ? `chats/${messenger}/${id}` : '');

  const title = h('div', { class: 'chat-title' });
  const log = h('div', { class: 'messages', role: 'log', 'aria-label': t('messages'), tabIndex: 0 });
  const welcome = h('div', { class: 'welcome' });
  const buttons = h('div', { class: 'keyboard', role: 'group', 'aria-label': t('keyboard') });
  const input = composer({ path, messenger: () => messenger });
  const blocked = h('div', { class: 'blocked' });
  const env = {
    path, find: (other) => messages.find((m) => m.id === other),
    edit: (m) => input.edit(m), reply: (m) => input.reply(m),
    jump: (other) => log.querySelector(`[data-id="${CSS.escape(other)}"]`)?.scrollIntoView({ block: 'center', behavior: 'smooth' }),
  };
  let sync = keyed(log, (entry) => (entry.day ? h('div', { class: 'day', text: entry.day }) : message(entry, env)));
  log.addEventListener('load', follow, true); // pictures change the height when they come

  let atEnd = true;
  log.addEventListener('scroll', () => {
    atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < near;
  });

  function follow() {
    if (atEnd) log.scrollTop = log.scrollHeight;
  }

  function show(pane) {
    if (!pane) return;
    const first = !head;
    const before = messages.at(-1)?.id;
    head = pane.head;
    messages = pane.items.sort((a, b) => Number(a.id) - Number(b.id));
    if (first || (messages.at(-1)?.id !== before && !messages.at(-1)?.out)) atEnd = true;
    drawTitle();
    redraw();
    welcome.hidden = messages.length > 0;
    drawKeyboard();
    const stopped = head.person.state === 'blocked';
    blocked.hidden = !stopped;
    input.el.hidden = stopped;
    input.el.classList.remove('waiting');
    buttons.hidden = stopped || !head.keyboard?.length;
    follow();
  }

  /** Draws the messages. One that changed is made anew: the focus goes to its button again, or to the log. */
  function redraw() {
    const inside = log.contains(document.activeElement);
    const id = document.activeElement?.closest('.message')?.dataset.id;
    sync(withDays(messages));
    if (!inside || log.contains(document.activeElement)) return;
    const same = id && log.querySelector(`[data-id="${CSS.escape(id)}"]`);
    (same?.querySelector('.bot-button') ?? log).focus({ preventScroll: true });
  }

  function drawTitle() {
    fill(title, h('span', { class: 'face bot', 'aria-hidden': 'true', text: [...head.bot][0] }),
      h('div', null, h('strong', { text: head.bot }), h('small', { text: t(messenger === 'vk' ? 'community' : 'bot') })));
    fill(blocked, h('p', { text: t(`blocked.${messenger}`) }), h('button', {
      type: 'button', class: 'button primary', text: t(messenger === 'vk' ? 'allow' : 'unblock'),
      on: { click: () => act('POST', `${path()}/block`, { on: false }) },
    }));
    fill(welcome, h('p', { text: t('empty.chat') }), h('button', {
      type: 'button', class: 'button primary start', text: t('start'), on: { click: () => act('POST', `${path()}/start`, { payload: '' }) },
    }));
  }

  function drawKeyboard() {
    fill(buttons, (head.keyboard ?? []).map((row, r) => h('div', { class: 'button-row' }, row.map((b, c) => press(b, { path, message: '', row: r, column: c })))));
  }

  const el = h('div', { class: 'chat' }, title, h('div', { class: 'wall' }, log, welcome), buttons, input.el, blocked);
  return {
    el, path, person: () => head?.person,
    open(nextMessenger, nextID) {
      if (messenger === nextMessenger && id === nextID) return;
      messenger = nextMessenger;
      id = nextID;
      head = null;
      messages = [];
      atEnd = true;
      fill(log);
      sync = keyed(log, (entry) => (entry.day ? h('div', { class: 'day', text: entry.day }) : message(entry, env)));
      const bot = state.messengers.find((m) => m.id === messenger)?.bot ?? '';
      fill(title, h('strong', { text: bot }));
      input.reset();
      input.el.classList.add('waiting'); // whose chat it is must be seen before anything is written
      live.set('chat', id ? path() : null, show);
    },
  };
}

/** Puts days between messages, and joins parts of an album. */
function withDays(messages) {
  const entries = [];
  let last = '';
  messages.forEach((m, n) => {
    const label = day(m.at);
    if (label !== last) entries.push({ id: `day ${label}`, day: label });
    last = label;
    const before = messages[n - 1];
    entries.push({ ...m, joined: Boolean(m.album && before?.album === m.album) });
  });
  return entries;
}
