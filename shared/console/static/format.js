// Numbers, times and spans as people read them.

import { language, locale, t } from './i18n.js';

export const number = (n) => n.toLocaleString(locale());

/** Messages a second. */
export const speed = (n) => n.toLocaleString(locale(), { maximumFractionDigits: n < 10 ? 1 : 0 });

export const percent = (part, whole) => `${whole ? Math.floor((100 * part) / whole) : 0} %`;

export const clock = (at) => new Date(at).toLocaleTimeString(locale(), { hour: '2-digit', minute: '2-digit' });

/** A time as near as it needs to be: "today, 12:30", else the day, with another year the year. */
export function when(at) {
  const date = new Date(at);
  const days = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(at).setHours(0, 0, 0, 0)) / 86400000);
  const near = { 0: 'today', 1: 'yesterday', '-1': 'tomorrow' }[days];
  if (near) return `${t(near)}, ${clock(at)}`;
  const year = date.getFullYear() === new Date().getFullYear() ? undefined : 'numeric';
  return date.toLocaleString(locale(), { day: 'numeric', month: 'short', year, hour: '2-digit', minute: '2-digit' });
}

export const exact = (at) => new Date(at).toLocaleString(locale(), { dateStyle: 'long', timeStyle: 'medium' });

/** "3 h 20 min", in two units at most. */
export function span(seconds) {
  if (seconds < 60) return t('span.s', { n: Math.max(1, Math.round(seconds)) });
  const minutes = Math.round(seconds / 60);
  const [big, rest, names] = minutes < 60 ? [minutes, 0, ['min', 'min']]
    : minutes < 1440 ? [Math.floor(minutes / 60), minutes % 60, ['h', 'min']]
      : [Math.floor(minutes / 1440), Math.floor((minutes % 1440) / 60), ['d', 'h']];
  const first = t(`span.${names[0]}`, { n: big });
  return rest ? `${first} ${t(`span.${names[1]}`, { n: rest })}` : first;
}

/** The zone in which this browser shows times. */
export const zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The zone and how far it is from UTC at a time. */
export function zoneName(at = new Date()) {
  const part = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'shortOffset' }).formatToParts(at).find((p) => p.type === 'timeZoneName');
  return `${zone()} (${(part?.value ?? '').replace('GMT', 'UTC')})`;
}

/** A language in the page's language, as it is written inside of a sentence. */
export const languageInside = (code) => new Intl.DisplayNames([language()], { type: 'language' }).of(code) ?? code;

/** The same, alone. */
export function languageName(code) {
  const name = languageInside(code);
  return name.charAt(0).toLocaleUpperCase(language()) + name.slice(1);
}

/** A time as an input of type datetime-local has it. */
export function localInput(at) {
  const d = new Date(at);
  return new Date(d - d.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
}
