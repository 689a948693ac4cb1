// The input of a chat: text, files, editing and answering.

import { act, formOf } from './api.js';
import { chips, takeFiles } from './attach.js';
import { drafts } from './choice.js';
import { h } from './dom.js';
import { t } from './i18n.js';
import { icon } from './icons.js';
import { menu } from './menu.js';
import { words } from './message.js';
import { picture, voice } from './samples.js';
import { area } from './area.js';

/** Makes the input; path() is of the chat, messenger() its messenger. */
export function composer({ path, messenger }) {
  let editing = null;
  let replyTo = null;
  let as = '';
  const text = area({ label: t('message'), onSubmit: submit, onInput: () => drafts.set(path(), text.value) });
  const tray = chips();
  const mode = h('div', { class: 'mode', hidden: true });
  const send = h('button', { type: 'submit', class: 'send', 'aria-label': t('send'), title: t('send') }, icon('send', 22));
  const picker = h('input', { type: 'file', multiple: true, hidden: true, tabIndex: -1, 'aria-hidden': 'true' });

  picker.addEventListener('change', () => {
    tray.add([...picker.files]);
    picker.value = '';
    text.focus();
  });

  function pick(kind) {
    as = kind;
    picker.accept = kind === 'photo' ? 'image/*' : '';
    picker.click();
  }

  const now = (fields, files = []) => act('POST', `${path()}/messages`, formOf(fields, files));

  const attachments = menu({
    label: t('attach'), picture: 'attach', up: true, actions: () => [
      { label: t('photo.choose'), icon: 'photo', run: () => pick('photo') },
      { label: t('file'), icon: 'file', run: () => pick('document') },
      { label: t('photo.sample'), icon: 'photo', run: async () => now({ as: 'photo' }, [await picture(0)]) },
      { label: t('album.sample'), icon: 'photo', run: async () => now({ as: 'photo' }, await Promise.all([1, 2, 3].map(picture))) },
      { label: t('voice'), icon: 'voice', run: async () => now({ as: 'voice' }, [await voice()]) },
      { label: t('location'), icon: 'pin', run: () => now({ location: JSON.stringify({ latitude: 55.75152, longitude: 37.61811, title: '' }) }) },
      ...(messenger() === 'telegram' ? [{ label: t('contact'), icon: 'person', run: () => now({ contact: JSON.stringify({ name: t('you'), phone: '+79990000001' }) }) }] : []),
    ],
  });

  function setMode(label, m) {
    mode.hidden = !m;
    if (!m) return;
    mode.replaceChildren(icon(editing ? 'edit' : 'reply', 18),
      h('span', null, h('strong', { text: label }), h('small', { text: words(m.text ?? []).slice(0, 80) })),
      h('button', { type: 'button', class: 'ghost', 'aria-label': t('cancel'), on: { click: () => { if (editing) text.set(''); leave(); } } }, icon('close', 18)));
  }

  function leave() {
    editing = null;
    replyTo = null;
    setMode('', null);
    text.focus();
  }

  async function submit() {
    const value = text.value;
    if (!value.trim() && (editing || !tray.files().length)) return;
    send.disabled = true;
    const done = editing
      ? await act('PATCH', `${path()}/messages/${editing.id}`, { text: value })
      : await now({ text: value, as: tray.files().length ? as : '', reply_to: replyTo?.id }, tray.files());
    send.disabled = false;
    if (done === undefined) return;
    as = '';
    text.set('');
    drafts.delete(path());
    tray.clear();
    leave();
  }

  const el = h('form', {
    class: 'composer', on: {
      submit: (event) => {
        event.preventDefault();
        submit();
      },
    },
  }, mode, tray.el, h('div', { class: 'composer-row' }, attachments, text.el, send), picker);
  takeFiles(el, (list) => {
    as = '';
    tray.add(list);
  });

  return {
    el,
    edit(m) {
      replyTo = null;
      editing = m;
      setMode(t('editing'), m);
      text.set(m.plain);
      text.focus();
    },
    reply(m) {
      editing = null;
      replyTo = m;
      setMode(t('replying'), m);
      text.focus();
    },
    reset() {
      editing = null;
      replyTo = null;
      as = '';
      setMode('', null);
      tray.clear();
      text.set(drafts.get(path()) ?? '');
    },
  };
}
