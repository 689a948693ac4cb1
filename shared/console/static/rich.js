// Formatted text of Telegram's HTML subset, and plain text with its links. Only known
// tags become elements; whatever else is there becomes text.

import { h } from './dom.js';

const tags = new Set(['b', 'strong', 'i', 'em', 'u', 'ins', 's', 'strike', 'del', 'code', 'pre', 'blockquote', 'tg-spoiler', 'a']);
const token = /<(\/?)([a-z-]+)([^>]*)>|&(#\d+|[a-z]+);|[^<&]+|[<&]/g;
const entities = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** Makes nodes of Telegram's HTML. */
export function fromHTML(html) {
  const root = h('div');
  let at = root;
  for (const [all, closes, name, attributes, entity] of html.matchAll(token)) {
    if (entity) at.append(decode(entity) ?? all);
    else if (!name || !tags.has(name)) at.append(all);
    else if (closes) at = at === root ? root : at.parentNode;
    else {
      const el = name === 'a' ? anchor(unescape(/href="([^"]*)"/.exec(attributes)?.[1] ?? '')) : h(name === 'tg-spoiler' ? 'span' : name, { class: name === 'tg-spoiler' ? 'spoiler' : '' });
      at.append(el);
      at = el;
    }
  }
  return [...root.childNodes];
}

const decode = (entity) => (entity.startsWith('#') ? String.fromCodePoint(Number(entity.slice(1))) : entities[entity]);

const unescape = (text) => text.replace(/&(#\d+|[a-z]+);/g, (all, entity) => decode(entity) ?? all);

/** Makes nodes of plain text: what looks like an address can be followed. */
export function fromText(text) {
  return text.split(/(https?:\/\/[^\s<>"]+[^\s<>".,;:!?)])/).map((part, i) => (i % 2 ? anchor(part, part) : part));
}

function anchor(href, text) {
  const safe = /^(https?|tg|mailto|tel):/i.test(href);
  return h('a', { href: safe ? href : null, target: '_blank', rel: 'noopener noreferrer', text });
}
