// Buttons with links below a message.

import { fill, h } from './dom.js';
import { clearErrors, field, group } from './fields.js';
import { languageInside } from './format.js';
import { t } from './i18n.js';
import { icon } from './icons.js';
import { locales } from './model.js';

const most = 5;
const labelMost = 40; // characters

export function buttonsPart(form, changed) {
  const rows = h('div', { class: 'link-rows' });
  const add = h('button', { class: 'button small', type: 'button', on: { click: append } }, icon('plus', 15), h('span', { text: t('buttons.add') }));
  const part = group({ label: t('buttons.title'), pointer: '/buttons', className: 'part', hint: t('buttons.hint') }, rows, add);

  function append() {
    form.buttons.push({ labels: {}, url: '' });
    draw();
    changed();
    rows.lastElementChild.querySelector('input').focus();
  }

  function remove(i) {
    form.buttons.splice(i, 1);
    draw();
    changed();
    (rows.children[Math.min(i, form.buttons.length - 1)]?.querySelector('input') ?? add).focus();
  }

  function draw() {
    clearErrors(part); // they are about rows that may be others now
    add.hidden = form.buttons.length >= most;
    fill(rows, form.buttons.map((b, i) => h('div', { class: 'link-row', role: 'group', 'aria-label': t('buttons.one', { n: i + 1 }) },
      locales.map((l) => field({
        label: t('buttons.label', { language: languageInside(l) }), pointer: `/buttons/${i}/labels/${l}`,
        control: h('input', { type: 'text', maxLength: labelMost, value: b.labels[l] ?? '', lang: l, on: { input: (e) => { b.labels[l] = e.target.value; changed(); } } }),
      })),
      field({
        label: t('buttons.url'), pointer: `/buttons/${i}/url`, className: 'link-url',
        control: h('input', { type: 'url', inputMode: 'url', value: b.url, placeholder: 'https://', on: { input: (e) => { b.url = e.target.value; changed(); } } }),
      }),
      h('button', { class: 'ghost', type: 'button', title: t('buttons.remove'), 'aria-label': t('buttons.remove'), on: { click: () => remove(i) } }, icon('trash', 17)))));
  }

  draw();
  return part;
}
