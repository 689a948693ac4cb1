// A crowd: many customers made up at once, and how to find one of them.

import { act, call } from './api.js';
import { fill, h } from './dom.js';
import { clock } from './format.js';
import { count, t } from './i18n.js';
import { ask, field, toast } from './toast.js';

const most = 100000;
const pause = 200; // milliseconds of rest after which what was typed is looked for

/** Asks how many people are to be made up, and makes them. */
export async function makeCrowd(messenger) {
  const number = h('input', { type: 'number', min: 1, max: most, value: most, required: true, inputMode: 'numeric' });
  const wanted = await ask({
    title: t('crowd.title'), agree: t('crowd.make'), fields: () => Number(number.value),
    body: [h('p', { class: 'soft', text: t('crowd.hint') }), field(t('crowd.count'), number)],
  });
  if (!wanted) return;
  const made = await act('POST', `chats/${messenger}/crowd`, { count: wanted });
  if (made) toast(count('crowd.made', made.added));
}

/** Lets a person choose somebody of the crowd; gives the id, or null. */
export async function chooseFromCrowd(messenger, total) {
  const words = h('input', { type: 'search', autocomplete: 'off', placeholder: t('crowd.words') });
  const list = h('div', { class: 'found', role: 'radiogroup', 'aria-label': t('crowd.found') });
  const none = h('p', { class: 'soft', role: 'status', hidden: true, text: t('nothing.found') });
  let timer = 0;
  let asked = 0;

  async function look() {
    asked += 1;
    const mine = asked;
    const { people } = await call('GET', `chats/${messenger}/crowd?find=${encodeURIComponent(words.value)}`).catch(() => ({ people: [] }));
    if (mine !== asked) return; // something else was typed meanwhile
    none.hidden = people.length > 0;
    fill(list, people.map((p, n) => h('label', { class: 'found-person' },
      h('input', { type: 'radio', name: 'person', value: p.id, required: true, checked: n === 0 }),
      h('span', null, h('strong', { text: p.name }), h('small', { class: 'soft', text: p.last || (p.username ? `@${p.username}` : p.id) })),
      p.last && h('time', { class: 'soft', dateTime: p.at, text: clock(p.at) }))));
  }

  words.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(look, pause);
  });
  await look();
  const id = await ask({
    title: count('crowd.find', total), agree: t('open'), body: [field(t('crowd.who'), words), none, list],
    fields: () => list.querySelector('input:checked')?.value ?? null,
  });
  return id && (await act('POST', `chats/${messenger}/${id}/take`, {})) ? id : null;
}
