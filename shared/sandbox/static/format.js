// Times, sizes and names as people read them.

import { language, t } from './i18n.js';

const locale = () => (language() === 'ru' ? 'ru-RU' : 'en-GB');

export const clock = (at) => new Date(at).toLocaleTimeString(locale(), { hour: '2-digit', minute: '2-digit' });

export const exact = (at) => new Date(at).toLocaleString(locale(), { dateStyle: 'medium', timeStyle: 'medium' });

/** A day and the clock. */
export const moment = (at) => new Date(at).toLocaleString(locale(), { dateStyle: 'medium', timeStyle: 'short' });

export const precise = (at) => new Date(at).toLocaleTimeString(locale(), {
  hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3,
});

/** A day as a heading. */
export function day(at) {
  const date = new Date(at);
  const days = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(at).setHours(0, 0, 0, 0)) / 86400000);
  if (days === 0) return t('today');
  if (days === 1) return t('yesterday');
  return date.toLocaleDateString(locale(), { day: 'numeric', month: 'long' });
}

/** A time in a list: the clock today, else the day. */
export function brief(at) {
  const date = new Date(at);
  if (date.toDateString() === new Date().toDateString()) return clock(at);
  return date.toLocaleDateString(locale(), { day: 'numeric', month: 'short' });
}

export function size(bytes) {
  if (!bytes) return '';
  const units = t('units').split(' ');
  let n = 0;
  let value = bytes;
  while (value >= 1000 && n < units.length - 1) {
    value /= 1024;
    n += 1;
  }
  return `${value.toLocaleString(locale(), { maximumFractionDigits: value < 10 && n > 0 ? 1 : 0 })} ${units[n]}`;
}

/** Up to two letters for a picture of somebody. */
export function initials(name) {
  return (name ?? '').split(/\s+/).map((word) => [...word].find((c) => /\p{L}|\p{N}/u.test(c))).filter(Boolean).slice(0, 2).join('').toUpperCase();
}

/** One of eight colours that stays with the name. */
export function tint(name) {
  let sum = 0;
  for (const c of name ?? '') sum = (sum * 31 + c.codePointAt(0)) >>> 0;
  return `tint-${sum % 8}`;
}

/** A name in the page's language, of a dictionary's entry. */
export const named = (entry) => entry?.[language()] ?? entry?.en ?? '';
