// A message as each messenger shows it.

import { call, explain } from './api.js';
import { fill, h, later } from './dom.js';
import { errorWords } from './fields.js';
import { languageName } from './format.js';
import { t } from './i18n.js';
import { fromHTML, fromText } from './rich.js';

const pause = 350; // milliseconds without typing

/**
 * Shows what content() is, asked anew after each changed(). Gives {el, changed(),
 * show(locale), stop()}.
 */
export function preview(content) {
  const phones = h('div', { class: 'phones' });
  const choice = h('div', { class: 'segments small', role: 'group', 'aria-label': t('preview.language') });
  let views = [];
  let problem = ''; // instead of views, or above them
  let locale = '';
  let asked = 0;

  async function ask() {
    const body = content();
    const mine = ++asked;
    if (!Object.keys(body.texts).length) return answer([], t('preview.empty'));
    try {
      const { previews } = await call('POST', 'preview', body);
      if (mine === asked) answer(previews, '');
    } catch (error) {
      if (mine === asked) answer(views, error.errors?.length ? errorWords(error.errors[0]) : explain(error));
    }
    return undefined;
  }

  function answer(next, why) {
    views = next;
    problem = why;
    draw();
  }

  function draw() {
    const languages = [...new Set(views.map((v) => v.locale))];
    const at = languages.includes(locale) ? locale : languages[0];
    choice.hidden = languages.length < 2;
    fill(choice, languages.map((l) => h('button', { type: 'button', class: 'segment', 'aria-pressed': String(l === at), text: languageName(l), on: { click: () => { locale = l; draw(); } } })));
    fill(phones, problem && h('p', { class: 'hint', text: problem }), views.filter((v) => v.locale === at).map(phone));
  }

  const changed = later(ask, pause);
  ask();
  return {
    el: h('section', { class: 'preview', 'aria-label': t('preview.title') }, h('div', { class: 'side-head' }, h('h2', { text: t('preview.title') }), choice), phones),
    changed,
    show(l) {
      locale = l;
      draw();
    },
    stop: changed.stop,
  };
}

/** One message in one messenger. */
function phone(view) {
  return h('figure', { class: 'phone', data: { messenger: view.messenger } },
    h('figcaption', null, h('span', { class: `brand ${view.messenger}` }), t(view.messenger)),
    view.error && h('p', { class: 'alert bad', text: t(view.code === 'too_many' ? 'wrong.buttons.many' : `wrong.${view.code}`) }),
    (!view.error || view.code === 'bad_markup') // which is shown as it would come out
      && h('div', { class: 'wall' },
        h('div', { class: 'bubble', lang: view.locale }, view.html ? fromHTML(view.html) : fromText(view.text)),
        (view.buttons ?? []).map((row) => h('div', { class: 'key-row' }, row.map((b) => h('span', { class: 'key', lang: view.locale, title: b.url }, b.label, b.url && h('span', { class: 'key-link', 'aria-hidden': 'true', text: '↗' })))))));
}
