// Formatted text. The server sends a tree of known tags; nothing else becomes an
// element, and all words become text.

import { h } from './dom.js';
import { t } from './i18n.js';

const plain = new Set(['b', 'i', 'u', 's', 'code', 'pre', 'p', 'br', 'hr', 'ul', 'ol', 'li', 'span', 'mark',
  'table', 'tr', 'td', 'th']);

/** Makes nodes of a tree. */
export function rich(nodes) {
  return (nodes ?? []).map(node);
}

function node(n) {
  if (!n.t) return n.x ?? '';
  const inside = rich(n.c);
  if (n.t === 'a') {
    return h('a', { href: n.u, target: '_blank', rel: 'noopener noreferrer nofollow' }, inside);
  }
  if (n.t === 'quote') return h('blockquote', null, inside);
  if (/^h[1-6]$/.test(n.t)) return h('p', { class: `heading ${n.t}` }, inside);
  if (n.t === 'table') return h('div', { class: 'scroll-x' }, h('table', null, h('tbody', null, inside)));
  if (n.t === 'spoiler') return spoiler(inside);
  return plain.has(n.t) ? h(n.t, null, inside) : h('span', null, inside);
}

function spoiler(inside) {
  const el = h('span', { class: 'spoiler', role: 'button', tabindex: 0, 'aria-label': t('spoiler') }, inside);
  const show = (event) => {
    if (event.type === 'keydown' && event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    el.classList.add('open');
    el.removeAttribute('aria-label');
  };
  el.addEventListener('click', show);
  el.addEventListener('keydown', show);
  return el;
}
