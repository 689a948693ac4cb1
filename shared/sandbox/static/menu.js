// A button that opens a short list of actions.

import { h, uid } from './dom.js';
import { icon } from './icons.js';

let opened = null;

document.addEventListener('pointerdown', (event) => {
  if (opened && !opened.root.contains(event.target)) opened.close();
});
document.addEventListener('scroll', () => opened?.place(), true);
window.addEventListener('resize', () => opened?.place());

/**
 * Makes a menu. actions() gives [{label, icon, run, danger}] anew each time it
 * opens; up: it opens upwards.
 */
export function menu({ label, picture = 'more', actions, className = 'ghost', up = false, size = 20 }) {
  const id = uid('menu');
  const list = h('div', { class: 'menu', role: 'menu', id, hidden: true, 'aria-label': label });
  const button = h('button', {
    type: 'button', class: className, title: label, 'aria-label': label, 'aria-haspopup': 'menu', 'aria-expanded': 'false', 'aria-controls': id,
  }, icon(picture, size));
  const root = h('div', { class: 'menu-root' }, button, list);
  const self = { root, close, place: () => place(list, button, up) };

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
    self.place();
    list.firstElementChild?.focus({ preventScroll: true });
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

const gap = 5; // pixels between a button and its list
const margin = 8; // pixels between a list and the window's edge

/**
 * Puts an open list beside its button, above or below it, wherever it fits: what
 * scrolls or is cut off around the button does not cut off the list.
 */
function place(list, button, up) {
  const at = button.getBoundingClientRect();
  const { width, height } = list.getBoundingClientRect();
  const above = at.top - gap - height;
  const below = at.bottom + gap;
  const fitsBelow = below + height <= window.innerHeight - margin;
  const top = above >= margin && (up || !fitsBelow) ? above : below;
  const left = up || at.left < window.innerWidth / 3 ? at.left : at.right - width;
  list.style.setProperty('top', `${Math.max(margin, Math.min(top, window.innerHeight - margin - height))}px`);
  list.style.setProperty('left', `${Math.max(margin, Math.min(left, window.innerWidth - margin - width))}px`);
}
