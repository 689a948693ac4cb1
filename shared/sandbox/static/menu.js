// A button that opens a short list of actions.

import { h, uid } from './dom.js';
import { icon } from './icons.js';

let opened = null;

document.addEventListener('pointerdown', (event) => {
  if (opened && !opened.root.contains(event.target)) opened.close();
});

/**
 * Makes a menu. actions() gives [{label, icon, run, danger}] anew each time it
 * opens; up: it opens upwards.
 */
export function menu({ label, picture = 'more', actions, className = 'ghost', up = false, size = 20 }) {
  const id = uid('menu');
  const list = h('div', { class: `menu${up ? ' up' : ''}`, role: 'menu', id, hidden: true, 'aria-label': label });
  const button = h('button', {
    type: 'button', class: className, title: label, 'aria-label': label, 'aria-haspopup': 'menu', 'aria-expanded': 'false', 'aria-controls': id,
  }, icon(picture, size));
  const root = h('div', { class: 'menu-root' }, button, list);
  const self = { root, close };

  function close(focus = false) {
    list.hidden = true;
    button.setAttribute('aria-expanded', 'false');
    if (opened === self) opened = null;
    if (focus) button.focus();
  }

  function open() {
    opened?.close();
    list.replaceChildren(...actions().map((a) => h('button', {
      type: 'button', role: 'menuitem', class: a.danger ? 'danger' : '', on: { click: () => { close(true); a.run(); } },
    }, icon(a.icon, 18), h('span', { text: a.label }))));
    list.hidden = false;
    button.setAttribute('aria-expanded', 'true');
    opened = self;
    place(list);
    list.firstElementChild?.focus();
  }

  button.addEventListener('click', () => (list.hidden ? open() : close()));
  root.addEventListener('keydown', (event) => {
    if (list.hidden) return;
    const all = [...list.children];
    const at = all.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape') close(true);
    else if (event.key === 'Tab') close();
    else if (step) all[(at + step + all.length) % all.length].focus();
    else return;
    if (event.key !== 'Tab') event.preventDefault();
    event.stopPropagation();
  });
  return root;
}

/** Keeps an open list inside the window. */
function place(list) {
  list.style.removeProperty('transform');
  const box = list.getBoundingClientRect();
  const margin = 8;
  let shift = 0;
  if (box.right > window.innerWidth - margin) shift = window.innerWidth - margin - box.right;
  if (box.left + shift < margin) shift = margin - box.left;
  if (shift) list.style.setProperty('transform', `translateX(${shift}px)`);
}
