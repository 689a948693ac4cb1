// What a broadcast says.

import { h } from './dom.js';
import { languageName } from './format.js';
import { t } from './i18n.js';
import { locales } from './model.js';
import { preview } from './preview.js';
import { may } from './session.js';

/** As the messengers show it, or its source for those who may only watch. */
export function content(b) {
  if (may('send')) {
    const { kind, texts, fallback, buttons } = b;
    return h('div', { class: 'card' }, preview(() => ({ kind, texts, ...(fallback && { fallback }), ...(buttons?.length && { buttons }) })).el);
  }
  return h('section', { class: 'card source', 'aria-label': t('texts.title') }, h('h2', { text: t('texts.title') }),
    locales.filter((l) => b.texts[l]).map((l) => [h('h3', { class: 'soft', text: languageName(l) }), h('p', { class: 'source-text', lang: l, text: b.texts[l] })]),
    (b.buttons ?? []).map((x) => h('p', { class: 'soft wrap', text: `${Object.values(x.labels).join(' / ')} → ${x.url}` })));
}
