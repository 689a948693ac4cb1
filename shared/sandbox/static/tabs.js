// Tabs that work by keyboard as people expect: arrows move, Home and End jump.

import { h } from './dom.js';

/** tabs: [{id, label, extra}]. Gives {el, select(id)}; onSelect is told of each choice. */
export function tablist({ label, tabs, selected, onSelect, className = '' }) {
  const buttons = new Map();
  const el = h('div', { class: `tabs ${className}`, role: 'tablist', 'aria-label': label });

  function select(id, focus = false) {
    if (!buttons.has(id)) return;
    for (const [other, button] of buttons) {
      button.setAttribute('aria-selected', String(other === id));
      button.tabIndex = other === id ? 0 : -1;
    }
    if (focus) buttons.get(id).focus();
    onSelect(id);
  }

  for (const tab of tabs) {
    const button = h('button', {
      type: 'button', role: 'tab', data: { tab: tab.id }, 'aria-selected': String(tab.id === selected), tabIndex: tab.id === selected ? 0 : -1,
      on: { click: () => select(tab.id) },
    }, tab.extra, h('span', { text: tab.label }));
    buttons.set(tab.id, button);
    el.append(button);
  }
  el.addEventListener('keydown', (event) => {
    const order = [...buttons.keys()];
    const at = order.indexOf(document.activeElement?.dataset.tab);
    const to = {
      ArrowRight: (at + 1) % order.length, ArrowLeft: (at - 1 + order.length) % order.length, Home: 0, End: order.length - 1,
    }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    select(order[to], true);
  });
  return {
    el, select,
    /** Shows a number beside a tab's label. */
    count(id, n) {
      const label = buttons.get(id).lastElementChild;
      label.textContent = n ? `${tabs.find((x) => x.id === id).label} · ${n}` : tabs.find((x) => x.id === id).label;
    },
  };
}
