// Buttons of the bot's.

import { act } from './api.js';
import { h } from './dom.js';
import { t } from './i18n.js';
import { ask, toast } from './toast.js';

/** Makes a button; where is {path(), message, row, column}, message '' below the input. */
export function press(b, where) {
  if (b.kind === 'link') {
    return h('a', { class: `bot-button ${b.color ?? ''}`, href: b.url || undefined, target: '_blank', rel: 'noopener noreferrer nofollow', text: `${b.label} ↗` });
  }
  const button = h('button', { type: 'button', class: `bot-button ${b.color ?? ''}`, text: b.label, on: { click: run } });

  async function run() {
    if (b.kind === 'other') {
      toast(t('button.other'));
      return;
    }
    if (button.getAttribute('aria-busy') === 'true') return;
    button.setAttribute('aria-busy', 'true');
    const { message, row, column } = where;
    const result = await act('POST', `${where.path()}/press`, { message, row, column });
    button.removeAttribute('aria-busy');
    if (result?.silent) toast(t('bot.silent'), 'bad');
    if (result?.answer) await told(result.answer);
  }
  return button;
}

/** Shows what the bot answered. */
async function told({ text, alert, url }) {
  if (url) {
    const link = h('a', { href: url, target: '_blank', rel: 'noopener noreferrer nofollow', text: url });
    await ask({ title: t('link.title'), body: h('p', { class: 'wrap' }, link), agree: t('close'), inform: true });
  } else if (text && alert) {
    await ask({ title: text, body: null, agree: t('ok'), inform: true });
  } else if (text) {
    toast(text);
  }
}
