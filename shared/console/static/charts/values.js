// Values and keys of metrics as people read them.

import { span } from '../format.js';
import { locale, t } from '../i18n.js';
import { shift } from './query.js';

const formats = {
  seconds: (n) => (Math.round(n) < 1 ? t('span.s', { n: 0 }) : span(n)),
  share: (n) => n.toLocaleString(locale(), { style: 'percent', maximumFractionDigits: 1 }),
  stars: (n) => n.toLocaleString(locale(), { minimumFractionDigits: 2, maximumFractionDigits: 2 }),
};

/** Units whose values add up, so that nothing is zero. */
export const adds = (unit) => !(unit in formats);

/** A value with its unit; a dash where there is none. */
export function value(n, unit) {
  if (n === null || n === undefined) return '—';
  return formats[unit] ? formats[unit](n) : n.toLocaleString(locale(), { maximumFractionDigits: 1 });
}

/** The same, as short as the axis of a chart needs it. */
export function tick(n, unit) {
  if (unit === 'share') return n.toLocaleString(locale(), { style: 'percent', maximumFractionDigits: 1 });
  if (unit === 'stars') return n.toLocaleString(locale());
  if (unit === 'seconds') return n === 0 ? '0' : span(n);
  return n.toLocaleString(locale(), { notation: n < 10000 ? 'standard' : 'compact', maximumFractionDigits: 1 });
}

const steps = [60, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 432000, 864000]; // seconds

/** Where the ticks of an axis of durations are, so that they are whole: {max, stepSize}. */
export function durationTicks(most) {
  const day = 86400;
  const stepSize = steps.find((s) => most / s <= 5) ?? Math.ceil(most / 5 / day / 10) * 10 * day;
  return { max: Math.max(1, Math.ceil(most / stepSize)) * stepSize, stepSize };
}

const utc = (day) => new Date(`${day}T00:00:00Z`);
const written = (options) => new Intl.DateTimeFormat(locale(), { timeZone: 'UTC', ...options });

const lengths = { day: [1, 0], week: [7, 0], month: [0, 1] }; // days, months

/**
 * Names a bucket by its first day: {name, tick}, in full and as an axis needs it. What
 * lies outside of the period is not in the bucket, and not in its name.
 */
export function bucketNames(day, { from, to, step }) {
  const end = shift(day, ...lengths[step]);
  const [first, last] = [day < from ? from : day, shift(end < to ? end : to, -1)];
  return step === 'month' ? { name: monthName(first), tick: monthTick(first) } : { name: daysName(first, last), tick: written({ day: 'numeric', month: 'short' }).format(utc(first)) };
}

const monthName = (day) => written({ month: 'long', year: 'numeric' }).format(utc(day));
const monthTick = (day) => written({ month: 'short' }).format(utc(day)) + (day.slice(5, 7) === '01' ? ` ${day.slice(0, 4)}` : '');
const daysName = (first, last) => (first === last ? written({ weekday: 'short', day: 'numeric', month: 'long', year: 'numeric' }).format(utc(first)) : periodName(first, last));

/** The period of the charts: "1–31 January 2026". */
export const periodName = (from, last) => written({ day: 'numeric', month: 'long', year: 'numeric' }).formatRange(utc(from), utc(last));

/** A time in a zone. */
export const timeIn = (at, zone) => new Date(at).toLocaleString(locale(), { timeZone: zone, day: 'numeric', month: 'long', hour: '2-digit', minute: '2-digit' });

/** A weekday by its ISO number: 1 is Monday. */
export const weekday = (n, width) => written({ weekday: width }).format(new Date(Date.UTC(2024, 0, Number(n))));

/** The begin of an hour: "09:00". */
export const hour = (n) => `${String(n).padStart(2, '0')}:00`;

/** What a key of a column is called; most have their names from the API. */
export function keyName(column, key) {
  if (column.name === 'weekday') return weekday(key, 'long');
  if (column.name === 'hour') return hour(key);
  return key === null || key === '' ? t('charts.none') : String(key);
}
