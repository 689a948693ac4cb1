// Writing a broadcast, changing a draft, or writing a correction to those whom a
// broadcast has reached.

import { call, explain } from './api.js';
import { audiencePart } from './audience.js';
import { buttonsPart } from './buttons.js';
import { fill, h } from './dom.js';
import { estimate } from './estimate.js';
import { alertOf, clearErrors, errorWords, field, group, radios, showErrors } from './fields.js';
import { t } from './i18n.js';
import { icon } from './icons.js';
import { emptyForm, formOf, previewOf, specOf } from './model.js';
import { preview } from './preview.js';
import { schedulePart } from './schedule.js';
import { sending } from './sending.js';
import { textsPart } from './texts.js';
import { dropUnsent, keepUnsent, unsent } from './unsent.js';
import { nameOf } from './words.js';

/**
 * The page. draft: the id of a draft to be changed; from: a broadcast to begin with;
 * correct: the broadcast whose recipients get this.
 */
export function composePage({ draft, from, correct }) {
  const el = h('div', { class: 'compose' }, h('p', { class: 'loading', text: t('loading') }));
  let left = false;
  const page = {
    title: t(correct ? 'compose.correct' : draft ? 'compose.edit' : 'compose.new'), el,
    stop: () => { left = true; },
  };
  load({ draft, from, correct }).then((it) => {
    if (!it || left) return;
    const composed = compose(it, page.title);
    page.stop = composed.stop;
    fill(el, composed.el);
    if (document.activeElement === document.body) composed.el.querySelector('h1').focus();
  }, (error) => fill(el, h('p', { class: 'alert bad', role: 'alert', text: explain(error) })));
  return page;
}

/** Finds what the form begins with, and what was typed before and not sent. */
async function load({ draft, from, correct }) {
  const source = draft ?? from ?? correct;
  const broadcast = source ? await call('GET', `broadcasts/${source}`) : null;
  if (draft && broadcast.state !== 'draft') {
    location.replace(`#/${draft}`);
    return null;
  }
  let form = broadcast ? formOf(broadcast) : emptyForm();
  if (from) Object.assign(form, { start: 'now', startAt: '' });
  if (correct) form = { ...emptyForm(), kind: broadcast.kind };
  const name = correct ? `correct-${correct}` : draft ? `draft-${draft}` : from ? `from-${from}` : 'new';
  const typed = unsent(name);
  return { name, form: typed ? { ...form, ...typed } : form, restored: Boolean(typed), draft: draft ?? null, correct: correct ? broadcast : null };
}

function compose(it, title) {
  const { form } = it;
  const error = h('div', { class: 'alert bad', role: 'alert', hidden: true });
  const looks = preview(() => previewOf(form));
  const people = it.correct ? null : estimate(() => {
    const { spec, errors } = specOf(form);
    return errors.some((e) => !e.pointer.startsWith('/start_at')) ? null : { kind: spec.kind, audience: spec.audience, ...(spec.rate && { rate: spec.rate }) };
  });
  const changed = () => {
    keepUnsent(it.name, form);
    looks.changed();
    people?.changed();
  };
  const el = h('form', { class: 'compose-form', noValidate: true });
  const wrong = (errors) => {
    const lost = showErrors(el, errors);
    alertOf(error, lost.map(errorWords));
    if (lost.length === errors.length) error.scrollIntoView({ block: 'nearest' });
  };
  const forget = () => dropUnsent(it.name);
  const actions = sending({ it, wrong, refresh: () => alertOf(error, []), fail: (e) => alertOf(error, [explain(e)]), forget });
  el.addEventListener('input', (event) => event.target.closest('[data-wrong]') && clearErrors(event.target.closest('[data-wrong]')));
  el.addEventListener('submit', (event) => {
    event.preventDefault();
    actions.send();
  });
  fill(el,
    h('div', { class: 'compose-main' }, error, it.restored && restored(form, forget), parts(form, it.correct, changed, looks.show)),
    h('aside', { class: 'compose-side' }, looks.el, people?.el, actions.el));
  return {
    el: h('div', null, head(it, title), el),
    stop() {
      looks.stop();
      people?.stop();
      actions.stop();
    },
  };
}

const head = (it, title) => h('div', { class: 'head' },
  h('a', { class: 'ghost', href: it.correct ? `#/${it.correct.id}` : '#/', 'aria-label': t('back'), title: t('back') }, icon('back')),
  h('div', { class: 'head-text' }, h('h1', { text: title, tabIndex: -1 }), it.correct && h('p', { class: 'soft', text: t('compose.correct.of', { name: nameOf(it.correct) }) })));

function parts(form, correct, changed, show) {
  const content = [textsPart(form, changed, show), buttonsPart(form, changed)];
  const name = field({
    label: t('compose.title'), pointer: '/title', hint: t('compose.title.hint'),
    control: h('input', { type: 'text', maxLength: 200, value: form.title, autocomplete: 'off', on: { input: (e) => { form.title = e.target.value; changed(); } } }),
  });
  if (correct) return [h('div', { class: 'card' }, content), h('div', { class: 'card' }, name)];
  const hint = h('p', { class: 'hint', text: t(`kind.${form.kind}.hint`) });
  const choose = (kind) => {
    form.kind = kind;
    hint.textContent = t(`kind.${kind}.hint`);
    changed();
  };
  const kind = group({ label: t('compose.kind'), pointer: '/kind', className: 'part' },
    radios({ name: 'kind', value: form.kind, options: ['news', 'maintenance', 'system'].map((k) => [k, t(`kind.${k}`)]), on: choose }), hint);
  return [
    h('div', { class: 'card' }, kind, content),
    h('div', { class: 'card' }, audiencePart(form, changed)),
    h('div', { class: 'card' }, schedulePart(form, changed), name),
  ];
}

/** Says that something was typed before, and how to begin anew. */
function restored(form, forget) {
  const drop = () => {
    forget();
    window.dispatchEvent(new Event('hashchange'));
  };
  return h('div', { class: 'alert', role: 'status' }, h('span', { text: t(form.audience.lost ? 'compose.restored.part' : 'compose.restored') }),
    h('button', { class: 'button small', type: 'button', text: t('compose.reset'), on: { click: drop } }));
}
