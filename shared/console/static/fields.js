// Labelled fields, and what the API finds wrong with them. A field knows by which
// pointer the API calls it (data-pointer); errors find their fields by it.

import { fill, h, uid } from './dom.js';
import { has, language, t } from './i18n.js';

/** A control with its label, a hint, and room for an error. */
export function field({ label, control, pointer, hint, className = '' }) {
  control.id ||= uid('field');
  const note = uid('note');
  control.setAttribute('aria-describedby', note);
  return h('div', { class: `field ${className}`, data: pointer ? { pointer } : {} },
    h('label', { htmlFor: control.id, text: label }), control, h('p', { id: note, class: 'note' }, h('span', { class: 'hint', text: hint ?? '' })));
}

/** Several controls with one label. */
export function group({ label, pointer, hint, className = '' }, ...controls) {
  const note = uid('note');
  return h('fieldset', { class: `field ${className}`, data: pointer ? { pointer } : {}, 'aria-describedby': note },
    h('legend', { text: label }), controls, h('p', { id: note, class: 'note' }, h('span', { class: 'hint', text: hint ?? '' })));
}

/** A choice of one. options: [[value, label]]; on(value). */
export function radios({ name, options, value, on, className = 'segments' }) {
  const id = uid(name);
  return h('div', { class: className }, options.map(([v, label]) => h('label', { class: 'segment' },
    h('input', { type: 'radio', name: id, value: v, checked: v === value, on: { change: () => on(v) } }), h('span', { text: label }))));
}

/** A choice of any. values is changed in place. */
export function checks({ options, values, on }) {
  const change = (v) => (event) => {
    if (event.target.checked) values.push(v);
    else values.splice(values.indexOf(v), 1);
    on();
  };
  return h('div', { class: 'checks' }, options.map(([v, label]) => h('label', { class: 'check' },
    h('input', { type: 'checkbox', value: v, checked: values.includes(v), on: { change: change(v) } }), h('span', { text: label }))));
}

export function select({ options, value, on }) {
  return h('select', { on: { change: (event) => on(event.target.value) } },
    options.map(([v, label]) => h('option', { value: v, text: label, selected: String(v) === String(value) })));
}

/**
 * Shows errors at their fields and moves the focus to the first. Gives those that
 * belong to none. Who hides a field hears 'reveal' and shows it.
 */
export function showErrors(form, errors) {
  clearErrors(form);
  const lost = [];
  for (const error of errors) {
    const el = place(form, error.pointer);
    if (el) mark(el, error);
    else lost.push(error);
  }
  const wrong = [...form.querySelectorAll('[data-wrong]')];
  for (const el of [...wrong].reverse()) el.dispatchEvent(new CustomEvent('reveal', { bubbles: true })); // of two tabs the first stays open
  const [first] = wrong;
  if (first) {
    controlOf(first)?.focus();
    first.scrollIntoView({ block: 'nearest' });
  }
  return lost;
}

/** Forgets errors: all of a form's, or those of a part that is being mended. */
export function clearErrors(part) {
  const all = part.querySelectorAll('[data-wrong]');
  for (const el of part.matches?.('[data-wrong]') ? [part, ...all] : all) {
    delete el.dataset.wrong;
    controlOf(el)?.removeAttribute('aria-invalid');
    for (const message of el.querySelectorAll('.wrong')) message.remove();
  }
}

const controlOf = (el) => el.querySelector('input:not([hidden]), textarea, select, button');

/** The field of a pointer, or of the nearest thing that holds it. */
function place(form, pointer) {
  for (let p = pointer; p; p = p.slice(0, p.lastIndexOf('/'))) {
    const el = form.querySelector(`[data-pointer="${CSS.escape(p)}"]`);
    if (el) return el;
  }
  return null;
}

function mark(el, error) {
  el.dataset.wrong = '';
  controlOf(el)?.setAttribute('aria-invalid', 'true');
  const note = [...el.children].find((c) => c.classList.contains('note')) ?? el.querySelector('.note');
  note.prepend(h('span', { class: 'wrong', text: errorWords(error) }));
}

/** Says what is wrong, in the page's language: by what it is about, else by its code. */
export function errorWords({ pointer, code, message }) {
  const about = pointer.replace(/^\/texts\/.+/, '/texts/*').replace(/\/\d+/, '/*').replace(/\/labels\/.*/, '/labels');
  for (let p = about; p; p = p.slice(0, p.lastIndexOf('/'))) {
    for (const key of [`wrong${p}.${code}`, `wrong${p}`]) if (has(key)) return t(key);
  }
  if (language() === 'en' && message) return message;
  return t(has(`wrong.${code}`) ? `wrong.${code}` : 'wrong.invalid');
}

/** An alert that says in one place what belongs to no field. */
export function alertOf(el, texts) {
  el.hidden = texts.length === 0;
  fill(el, texts.map((text) => h('span', { text })));
}
