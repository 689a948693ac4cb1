// The customer's phone: which messenger, which customer, and the chat.

import { act } from './api.js';
import { chat } from './chat.js';
import { chooseFromCrowd, makeCrowd } from './crowd.js';
import { fill, h } from './dom.js';
import { t } from './i18n.js';
import { icon } from './icons.js';
import { initials, tint } from './format.js';
import { menu } from './menu.js';
import { tablist } from './tabs.js';
import { ask, field } from './toast.js';

/** Makes the pane. */
export function phone(page) {
  const { state, live, chosen } = page;
  const section = h('section', { class: 'phone', 'aria-label': t('phone') });
  if (!state.messengers.length) {
    return fill(section, h('p', { class: 'nothing', text: t('no.messenger') }));
  }
  let messenger = chosen.get('m');
  if (!state.messengers.some((m) => m.id === messenger)) messenger = state.messengers[0].id;

  const device = h('div', { class: 'device' });
  const who = h('select', { 'aria-label': t('customer'), on: { change: () => choose(who.value) } });
  const face = h('span', { class: 'face', 'aria-hidden': 'true' });
  const view = chat(page);
  let people = [];
  let crowd = 0; // people made up, who are not all listed

  function choose(id) {
    chosen.set(messenger, id);
    who.value = id;
    const person = people.find((p) => p.id === id);
    face.className = `face ${tint(person?.name)}`;
    face.textContent = initials(person?.name);
    view.open(messenger, id);
  }

  function list(pane) {
    people = pane?.items ?? [];
    crowd = pane?.head.crowd ?? 0;
    find.hidden = !crowd;
    const at = people.some((p) => p.id === chosen.get(messenger)) ? chosen.get(messenger) : people[0]?.id ?? '';
    fill(who, people.map((p) => h('option', { value: p.id, text: p.name, title: p.username ? `@${p.username}` : '' })));
    choose(at);
  }

  function select(id) {
    messenger = id;
    device.dataset.messenger = id;
    chosen.set('m', id === state.messengers[0].id ? '' : id);
    people = [];
    find.hidden = true;
    view.open(id, chosen.get(id)); // not the other messenger's chat until the list is there
    live.set('people', `chats/${id}`, list);
  }

  async function show(asked) {
    const id = await asked;
    if (!id) return;
    chosen.set(messenger, id);
    if (people.some((p) => p.id === id)) choose(id); // else the list is on its way
  }

  const tabs = tablist({
    label: t('messenger'), className: 'messengers', selected: messenger, onSelect: select,
    tabs: state.messengers.map((m) => ({ id: m.id, label: t(m.id), extra: h('span', { class: `brand ${m.id}`, 'aria-hidden': 'true' }) })),
  });
  const tool = (name, picture, run) => h('button', { class: 'ghost', type: 'button', title: t(name), 'aria-label': t(name), on: { click: run } }, icon(picture));
  const find = tool('crowd.search', 'search', () => show(chooseFromCrowd(messenger, crowd)));
  find.hidden = true;
  device.append(
    h('div', { class: 'device-top' }, tabs.el,
      h('div', { class: 'who' }, face, who,
        find, tool('customer.add', 'plus', () => show(addPerson(messenger))),
        menu({ label: t('chat.menu'), actions: () => actions(messenger, view) }))),
    view.el);
  select(messenger);
  return fill(section, device);
}

/** What a customer can do besides writing. */
function actions(messenger, view) {
  const path = view.path();
  if (!path) return [];
  const blocked = view.person()?.state === 'blocked';
  const telegram = messenger === 'telegram';
  return [
    { label: telegram ? t('start.again') : t('start.again.vk'), icon: 'play', run: () => act('POST', `${path}/start`, { payload: '' }) },
    { label: t('deeplink'), icon: 'link', run: () => deepLink(path) },
    {
      label: telegram ? t(blocked ? 'unblock' : 'block') : t(blocked ? 'allow' : 'deny'), icon: 'block', danger: !blocked,
      run: () => act('POST', `${path}/block`, { on: !blocked }),
    },
    { label: t('crowd.menu'), icon: 'people', run: () => makeCrowd(messenger) },
  ];
}

async function deepLink(path) {
  const input = h('input', { type: 'text', maxLength: 64, pattern: '[A-Za-z0-9_\\-]*', placeholder: 'order_1042', autocomplete: 'off' });
  const payload = await ask({ title: t('deeplink.title'), body: field(t('deeplink.payload'), input), agree: t('open'), fields: () => input.value });
  if (payload !== null) await act('POST', `${path}/start`, { payload });
}

async function addPerson(messenger) {
  const text = (required) => h('input', { type: 'text', maxLength: 64, required, autocomplete: 'off' });
  const first = text(true);
  const last = text(false);
  const nick = text(false);
  const lang = h('select', null, h('option', { value: 'ru', text: t('russian') }), h('option', { value: 'en', text: t('english') }));
  const person = await ask({
    title: t('customer.add'), agree: t('add'),
    body: [field(t('first.name'), first), field(t('last.name'), last), field(t('username'), nick), field(t('customer.language'), lang)],
    fields: () => ({ first_name: first.value, last_name: last.value, username: nick.value, language: lang.value }),
  });
  return person && (await act('POST', `chats/${messenger}`, person))?.id;
}
