// Where an agent writes: for colleagues, or with the prefix for the customer.

import { act, formOf } from './api.js';
import { area } from './area.js';
import { chips, takeFiles } from './attach.js';
import { drafts } from './choice.js';
import { h } from './dom.js';
import { isReply } from './entry.js';
import { t } from './i18n.js';
import { icon } from './icons.js';

/** Makes the box. env: path(), as(), reply (the prefix), catalogue; whom chooses the agent. */
export function commentBox(env, whom) {
  const text = area({ label: t('comment.write'), placeholder: t('comment.hint'), onSubmit: submit, onInput: changed, byControl: true });
  const tray = chips();
  const picker = h('input', { type: 'file', multiple: true, hidden: true, tabIndex: -1, 'aria-hidden': 'true' });
  const toggle = h('button', { type: 'button', class: 'button small toggle', 'aria-pressed': 'false', on: { click: flip } }, icon('reply', 16), h('span', { text: t('to.customer') }));
  const send = h('button', { type: 'submit', class: 'button primary small', title: t('send.keys'), text: t('send') });

  picker.addEventListener('change', () => {
    tray.add([...picker.files]);
    picker.value = '';
  });

  function changed() {
    const reply = isReply(text.value, [], env);
    el.classList.toggle('to-customer', reply);
    toggle.setAttribute('aria-pressed', String(reply));
    toggle.lastElementChild.textContent = t(reply ? 'to.customer.on' : 'to.customer');
    text.el.placeholder = t(reply ? 'reply.hint' : 'comment.hint');
    drafts.set(env.path(), text.value);
  }

  /** Puts the prefix in front, or takes it away. */
  function flip() {
    const rest = text.value.trimStart();
    text.set(isReply(rest, [], env) ? rest.slice(env.reply.length).trimStart() : `${env.reply} ${rest}`);
    changed();
    text.focus();
  }

  async function submit() {
    if (!text.value.trim() && !tray.files().length) return;
    send.disabled = true;
    env.sending(true);
    const done = await act('POST', `${env.path()}/comments`, formOf({ as: env.as(), text: text.value }, tray.files()));
    send.disabled = false;
    if (!done) {
      env.sending(false);
      return;
    }
    text.set('');
    tray.clear();
    changed();
    text.focus();
  }

  const el = h('form', {
    class: 'comment-box', on: {
      submit: (event) => {
        event.preventDefault();
        submit();
      },
    },
  }, text.el, tray.el, h('div', { class: 'box-row' }, toggle,
    h('button', { type: 'button', class: 'ghost', title: t('attach.files'), 'aria-label': t('attach.files'), on: { click: () => picker.click() } }, icon('attach')), whom, send), picker);
  takeFiles(el, (list) => tray.add(list));
  return {
    el,
    reset() {
      tray.clear();
      text.set(drafts.get(env.path()) ?? '');
      changed();
    },
  };
}
