// The page's words, in Russian or English: as chosen here before, else as the browser
// is set.

import { ru } from './ru.js';
import { en } from './en.js';
import { kept } from './kept.js';

const texts = { ru, en };
const key = 'console-language';

let current = choose();

function choose() {
  const chosen = kept.get(key);
  if (chosen in texts) return chosen;
  return /^(ru|be|kk|uk)\b/i.test(navigator.language) ? 'ru' : 'en';
}

export const language = () => current;

export function setLanguage(next) {
  current = next;
  kept.set(key, next);
}

/** Gives a text with {name} filled in. */
export function t(name, values = {}) {
  const text = texts[current][name] ?? texts.en[name] ?? name;
  return text.replace(/\{(\w+)\}/g, (all, k) => values[k] ?? all);
}

/** Whether there is such a text. */
export const has = (name) => name in texts[current];

/** Gives the text name.one, name.few or name.many for a number, which is {n} in it. */
export function count(name, n) {
  const form = new Intl.PluralRules(current).select(n);
  return t(has(`${name}.${form}`) ? `${name}.${form}` : `${name}.other`, { n: n.toLocaleString(locale()) });
}

/** The browser's name of the language, for numbers and times. */
export const locale = () => (current === 'ru' ? 'ru-RU' : 'en-GB');
