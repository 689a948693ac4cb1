// The texts of a message: one per language, in Markdown, with a few buttons for it.

import { fill, h } from './dom.js';
import { field, group, select } from './fields.js';
import { languageInside, languageName } from './format.js';
import { t } from './i18n.js';
import { icon } from './icons.js';
import { locales } from './model.js';
import { tabs } from './tabs.js';

/** changed() is called after each change, onLocale(locale) when another one is shown. */
export function textsPart(form, changed, onLocale) {
  const fallback = h('div', { class: 'fallback' });
  let row;

  function mark() {
    const written = locales.filter((l) => form.texts[l]?.trim());
    for (const l of locales) row.buttons.get(l).classList.toggle('written', written.includes(l));
    if (written.length > 1 && !written.includes(form.fallback)) form.fallback = written[0];
    if (fallback.dataset.for === written.join()) return;
    fallback.dataset.for = written.join();
    fill(fallback, written.length > 1 && field({
      label: t('texts.fallback'), pointer: '/fallback', className: 'inline',
      control: select({ options: written.map((l) => [l, languageName(l)]), value: form.fallback, on: (v) => { form.fallback = v; changed(); } }),
    }));
  }

  const items = locales.map((l) => {
    const area = h('textarea', { rows: 9, value: form.texts[l] ?? '', lang: l, placeholder: t('texts.placeholder'), on: { input: () => { form.texts[l] = area.value; mark(); changed(); } } });
    area.addEventListener('keydown', (event) => {
      const mark = (event.ctrlKey || event.metaKey) && !event.altKey && { KeyB: 'bold', KeyI: 'italic', KeyK: 'link' }[event.code];
      if (!mark) return;
      event.preventDefault();
      put(area, mark);
    });
    return { id: l, label: languageName(l), panel: h('div', null, field({ label: t('texts.label', { language: languageInside(l) }), control: area, pointer: `/texts/${l}`, className: 'bare', hint: t('texts.hint') })), area };
  });
  const first = locales.find((l) => form.texts[l]?.trim()) ?? locales[0];
  let current = first;
  const tools = h('div', { class: 'tools', role: 'group', 'aria-label': t('texts.tools') }, ['bold', 'italic', 'link', 'list'].map((kind) => h('button', {
    class: 'ghost', type: 'button', title: t(`texts.${kind}`), 'aria-label': t(`texts.${kind}`),
    on: { click: () => put(items.find((i) => i.id === current).area, kind) },
  }, icon(kind, 17))));
  row = tabs({ label: t('texts.languages'), items, selected: first, className: 'underlined', onSelect: (l) => { current = l; onLocale(l); } });
  mark();
  return group({ label: t('texts.title'), pointer: '/texts', className: 'part' },
    h('div', { class: 'texts-head' }, row.list, tools), items.map((i) => i.panel), fallback);
}

const marks = { bold: ['**', '**'], italic: ['*', '*'], link: ['[', '](https://)'], list: ['- ', ''] };

/** Puts a mark around what is selected, so that it can be undone as typing can. */
function put(area, kind) {
  const [before, after] = marks[kind];
  const { selectionStart: from, selectionEnd: to, value } = area;
  area.focus();
  let text = before + value.slice(from, to) + after;
  if (kind === 'list') {
    const start = value.lastIndexOf('\n', from - 1) + 1;
    area.setSelectionRange(start, to);
    text = value.slice(start, to).split('\n').map((line) => before + line).join('\n');
  }
  // The only way that keeps the history of changes.
  if (!document.execCommand('insertText', false, text)) {
    area.setRangeText(text);
    area.dispatchEvent(new Event('input'));
  }
  if (kind === 'link') {
    const end = from + text.length - 1;
    area.setSelectionRange(end - 'https://'.length, end);
  } else if (from === to && after) area.setSelectionRange(from + before.length, from + before.length);
}
