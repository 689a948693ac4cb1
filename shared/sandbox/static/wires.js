// The fold with what shall go wrong, and what went over the wire.

import { calls } from './calls.js';
import { faults } from './faults.js';
import { h } from './dom.js';
import { t } from './i18n.js';
import { kept } from './choice.js';

/** Makes the pane. It is followed only while it is open. */
export function wires(page) {
  const left = faults(page);
  const right = calls(page);
  const el = h('details', { class: 'wires', open: kept.get('wires') === 'open' || page.chosen.get('tab') === 'wires' },
    h('summary', null, h('span', { text: t('wires') })), h('div', { class: 'wires-body' }, left.el, right.el));
  const tell = () => {
    left.follow(el.open);
    right.follow(el.open);
  };
  el.addEventListener('toggle', () => {
    kept.set('wires', el.open ? 'open' : '');
    tell();
    if (el.open) el.scrollIntoView({ block: 'end', behavior: 'smooth' });
  });
  tell();
  return el;
}
