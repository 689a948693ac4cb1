// The page's words: Russian first, English on demand. The choice is kept in the
// address, so that it can be shared, and on this machine.

import { ru } from './ru.js';
import { en } from './en.js';

const texts = { ru, en };
const key = 'sandbox-language';

let current = choose();

function choose() {
  const asked = new URLSearchParams(location.search).get('lang');
  if (asked in texts) return asked;
  try {
    const kept = localStorage.getItem(key);
    if (kept in texts) return kept;
  } catch { /* storage may be forbidden */ }
  return 'ru';
}

export const language = () => current;

export function setLanguage(next) {
  current = next;
  try {
    localStorage.setItem(key, next);
  } catch { /* storage may be forbidden */ }
}

/** Gives a text with {name} filled in. */
export function t(name, values = {}) {
  const text = texts[current][name] ?? texts.en[name] ?? name;
  return text.replace(/\{(\w+)\}/g, (all, k) => values[k] ?? all);
}

/** Writes a number as people do. */
export const number = (n) => n.toLocaleString(current);

/** Whether there is such a text. */
export const has = (name) => name in texts[current];

/** Gives the text name.one, name.few or name.many for a number. */
export function count(name, n) {
  const form = new Intl.PluralRules(current).select(n);
  return t(has(`${name}.${form}`) ? `${name}.${form}` : `${name}.other`, { n });
}
