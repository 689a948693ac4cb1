// The filters above the list of jobs. They show what the address says; a change goes there.

import { h, later, uid } from '../dom.js';
import { t } from '../i18n.js';
import { icon } from '../icons.js';
import { chosen, fields, states } from './query.js';
import { kinds, kindWords } from './words.js';

const typing = 600; // milliseconds until a text that is typed is taken

/** change(filters) is called with what was chosen. Gives {el, show(filters), stop()}. */
export function filterBar(change) {
  let now = null;
  const set = (some) => change({ ...now, ...some });
  const controls = { kind: kindSelect((kind) => set({ kind })) };
  const soon = later(() => set(Object.fromEntries(fields.map((name) => [name, controls[name].value.trim()]))), typing);
  for (const name of fields.slice(1)) controls[name] = h('input', { type: 'search', autocomplete: 'off', spellcheck: false, on: { input: soon } });
  const chips = stateChips((state) => set({ state }));
  const reset = h('button', { class: 'button small', type: 'button', title: t('jobs.reset'), on: { click: () => change({ state: now.state }) } }, icon('close', 15), h('span', { class: 'wide-only', text: t('jobs.reset') }));

  function show(filters) {
    now = filters;
    chips.show(filters.state);
    known(controls.kind, filters.kind);
    for (const name of fields) if (controls[name].value.trim() !== filters[name]) controls[name].value = filters[name];
    reset.classList.toggle('idle', !Object.keys(chosen(filters)).length); // its place is kept: nothing moves
  }

  const labelled = (name) => {
    controls[name].id = uid('filter');
    return h('div', { class: 'job-filter' }, h('label', { htmlFor: controls[name].id, text: t(`jobs.by.${name}`) }), controls[name]);
  };
  const el = h('div', null, h('div', { class: 'job-states' }, chips.el, reset),
    h('form', { class: 'job-filters', role: 'search', 'aria-label': t('jobs.filters'), on: { submit: (event) => event.preventDefault() } }, fields.map(labelled)));
  return { el, show, stop: soon.stop };
}

/** The choice of states. */
function stateChips(choose) {
  const buttons = states.map((state) => h('button', { class: 'chip', type: 'button', data: { state }, text: t(`jobs.state.${state}`), on: { click: () => choose(state) } }));
  return {
    el: h('div', { class: 'chips', role: 'group', 'aria-label': t('jobs.states') }, buttons),
    show: (state) => buttons.forEach((b) => b.setAttribute('aria-pressed', String(b.dataset.state === state))),
  };
}

/** Kinds, and before those of one group the group as a whole. */
function kindSelect(on) {
  const option = (value, text) => h('option', { value, text });
  const groups = Object.entries(Object.groupBy(kinds, (kind) => `${kind.split('.')[0]}.`));
  return h('select', { on: { change: (event) => on(event.target.value) } }, option('', t('jobs.kind.any')),
    groups.map(([group, list]) => (list.length === 1 ? option(list[0], kindWords(list[0]))
      : h('optgroup', { label: t(`jobs.group.${group}`) }, option(group, t('jobs.group.all', { name: t(`jobs.group.${group}`) })), list.map((kind) => option(kind, kindWords(kind)))))));
}

/** Chooses a kind, also one that the list does not know. */
function known(list, kind) {
  if (![...list.options].some((o) => o.value === kind)) list.append(h('option', { value: kind, text: kind }));
  list.value = kind;
}
