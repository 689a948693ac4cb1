// Tabs, by the pattern of the ARIA authoring practices: arrows move, Tab goes inside.

import { h, uid } from './dom.js';

/**
 * Makes a row of tabs over panels. items: [{id, label, panel}]. Gives {list, select,
 * buttons}; a panel inside of which something is to be revealed is selected.
 */
export function tabs({ label, items, selected, onSelect = () => {}, className = '' }) {
  const buttons = new Map();
  const select = (id) => {
    for (const item of items) {
      const chosen = item.id === id;
      const button = buttons.get(item.id);
      button.setAttribute('aria-selected', String(chosen));
      button.tabIndex = chosen ? 0 : -1;
      item.panel.hidden = !chosen;
    }
    onSelect(id);
  };
  const list = h('div', { class: `tabs ${className}`, role: 'tablist', 'aria-label': label });
  for (const item of items) {
    const id = uid('tab');
    item.panel.id ||= uid('panel');
    item.panel.setAttribute('role', 'tabpanel');
    item.panel.setAttribute('aria-labelledby', id);
    item.panel.addEventListener('reveal', () => select(item.id));
    const button = h('button', { id, type: 'button', role: 'tab', 'aria-controls': item.panel.id, data: { tab: item.id }, on: { click: () => select(item.id) } }, h('span', { text: item.label }));
    buttons.set(item.id, button);
    list.append(button);
  }
  list.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const all = [...buttons.values()];
    const at = all.indexOf(document.activeElement);
    const to = step ? (at + step + all.length) % all.length : { Home: 0, End: all.length - 1 }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    all[to].focus();
    all[to].click();
  });
  select(selected);
  return { list, select, buttons };
}
