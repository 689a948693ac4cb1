// A status, a priority and a person as small marks.

import { h } from './dom.js';
import { initials, named, tint } from './format.js';
import { t } from './i18n.js';
import { icon } from './icons.js';

/** A status as a coloured word. */
export function pill(key, catalogue) {
  const status = catalogue.statuses.find((s) => s.key === key);
  return h('span', { class: `pill ${status?.type || 'custom'}`, text: named(status) || key });
}

/** A priority as a picture. */
export function priority(key, catalogue) {
  const picture = { blocker: 'bolt', critical: 'up', normal: 'equal' }[key] ?? 'lower';
  const name = named(catalogue.priorities.find((p) => p.key === key)) || key;
  return h('span', { class: `priority ${key}`, title: name, role: 'img', 'aria-label': `${t('priority')}: ${name}` }, icon(picture, 16));
}

/** Somebody's picture. */
export function face(name) {
  return h('span', { class: `face small ${tint(name)}`, title: name, role: 'img', 'aria-label': name, text: initials(name) });
}
