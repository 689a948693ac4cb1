// What the form holds, and what the API takes: the form has words and days where the
// API has lists and times.

import { localInput, zone } from './format.js';

/** The languages that texts may be in. */
export const locales = document.documentElement.dataset.locales.split(' ');

const span = () => ({ from: '', to: '' }); // days, both included

/** A form that nobody has filled in. */
export const emptyForm = () => ({
  title: '', kind: 'news', texts: {}, fallback: '', buttons: [],
  audience: { messengers: [], locales: [], roles: [], tags: '', registered: span(), seen: span(), openTicket: '', customers: '' },
  start: 'now', startAt: '', hours: { on: false, from: '09:00', to: '21:00', zone: zone() }, urgency: 0, rate: '',
});

/** The form of a broadcast. */
export function formOf(b) {
  const a = b.audience;
  return {
    title: b.title ?? '', kind: b.kind, texts: { ...b.texts }, fallback: b.fallback ?? '',
    buttons: (b.buttons ?? []).map((x) => ({ labels: { ...x.labels }, url: x.url })),
    audience: {
      messengers: a.messengers ?? [], locales: a.locales ?? [], roles: a.roles ?? [], tags: (a.tags ?? []).join(', '),
      registered: days(a.registered), seen: days(a.seen),
      openTicket: a.open_ticket === true ? 'yes' : a.open_ticket === false ? 'no' : '', customers: (a.customers ?? []).join(', '),
    },
    start: b.start_at ? 'later' : 'now', startAt: b.start_at ? localInput(b.start_at) : '',
    hours: b.hours ? { on: true, ...b.hours } : emptyForm().hours, urgency: b.urgency ?? 0, rate: b.rate ? String(b.rate) : '',
  };
}

const dayMilliseconds = 24 * 60 * 60 * 1000;

function days(s) {
  const day = (at, shift) => (at ? localInput(new Date(at).getTime() - shift).slice(0, 10) : '');
  return s ? { from: day(s.from, 0), to: day(s.to, dayMilliseconds / 2) } : span();
}

/** The texts and buttons of a form, without what is empty. */
export function contentOf(form) {
  const texts = Object.fromEntries(locales.filter((l) => form.texts[l]?.trim()).map((l) => [l, form.texts[l]]));
  const written = Object.keys(texts);
  const content = { texts };
  if (written.length > 1) content.fallback = written.includes(form.fallback) ? form.fallback : written[0];
  if (form.buttons.length) {
    content.buttons = form.buttons.map((b) => ({
      url: b.url.trim(), labels: Object.fromEntries(locales.filter((l) => b.labels[l]?.trim()).map((l) => [l, b.labels[l].trim()])),
    }));
  }
  return content;
}

/** Whom a form names. errors: what the API could not even be asked. */
export function audienceOf({ audience: a }, errors = []) {
  const out = {};
  for (const list of ['messengers', 'locales', 'roles']) if (a[list].length) out[list] = a[list];
  const tags = words(a.tags);
  if (tags.length) out.tags = tags;
  for (const name of ['registered', 'seen']) {
    const { from, to } = a[name];
    if (from || to) out[name] = { ...(from && { from: midnight(from, 0) }), ...(to && { to: midnight(to, 1) }) };
  }
  if (a.openTicket) out.open_ticket = a.openTicket === 'yes';
  const customers = words(a.customers);
  if (a.lost) errors.push({ pointer: '/audience/customers', code: 'lost' });
  else if (customers.some((c) => !/^[1-9]\d{0,14}$/.test(c))) errors.push({ pointer: '/audience/customers', code: 'invalid' });
  else if (customers.length) out.customers = customers.map(Number);
  return out;
}

const words = (text) => text.split(/[\s,;]+/).filter(Boolean);

function midnight(day, shift) {
  const [y, m, d] = day.split('-').map(Number);
  return new Date(y, m - 1, d + shift).toISOString(); // a day's end has no fixed distance from its begin
}

/** The broadcast of a form, and what is wrong with it that the API cannot see. */
export function specOf(form, now = Date.now()) {
  const errors = [];
  const spec = { kind: form.kind, ...contentOf(form), audience: audienceOf(form, errors) };
  if (form.title.trim()) spec.title = form.title.trim();
  if (form.start === 'later') {
    const at = new Date(form.startAt);
    if (!form.startAt || Number.isNaN(at.getTime())) errors.push({ pointer: '/start_at', code: 'required' });
    else if (at < now) errors.push({ pointer: '/start_at', code: 'past' });
    else spec.start_at = at.toISOString();
  }
  if (form.hours.on) spec.hours = { from: form.hours.from, to: form.hours.to, zone: form.hours.zone.trim() };
  if (form.urgency) spec.urgency = Number(form.urgency);
  const rate = Number(String(form.rate).replace(',', '.'));
  if (form.rate !== '' && !(rate > 0)) errors.push({ pointer: '/rate', code: 'invalid' });
  else if (rate) spec.rate = rate;
  return { spec, errors };
}

/** As much of a form's content as can be shown while it is being written. */
export function previewOf(form) {
  const { texts, fallback, buttons = [] } = contentOf(form);
  const whole = buttons.filter((b) => isAddress(b.url) && Object.keys(texts).every((l) => fits(b.labels[l] ?? b.labels[fallback])));
  return { kind: form.kind, texts, ...(fallback && { fallback }), ...(whole.length && { buttons: whole }) };
}

const fits = (label) => Boolean(label) && [...label].length <= 40;

function isAddress(text) {
  try {
    return new URL(text).protocol === 'https:';
  } catch {
    return false;
  }
}
