// What charts are asked for, and how the address says it:
// #/charts?from=2026-01-01&to=2026-02-01&tz=Europe/Moscow&messenger=vk&category=billing.
// As in the API, days are those of the zone, from is included, to is not.

/** Periods that have a name; all of them end today. */
export const presets = ['week', 'month', 'quarter', 'year'];

const lengths = { week: [-7, 0], month: [-30, 0], quarter: [0, -3], year: [0, -12] }; // days, months

/** The day that it is in a zone: "2026-01-31". */
export const today = (zone) => new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' }).format(new Date());

/** Another day: so many days and months later. Of a short month it is the last. */
export function shift(day, days, months = 0) {
  const [y, m, d] = day.split('-').map(Number);
  const last = new Date(Date.UTC(y, m + months, 0)).getUTCDate();
  return new Date(Date.UTC(y, m - 1 + months, Math.min(d, last) + days)).toISOString().slice(0, 10);
}

/** The first day of a named period, and the one after its last. */
export function period(preset, zone) {
  const to = shift(today(zone), 1);
  return { from: shift(to, ...lengths[preset]), to };
}

/** The name of a period, or "own". */
export const presetOf = ({ from, to, tz }) => presets.find((name) => {
  const named = period(name, tz);
  return named.from === from && named.to === to;
}) ?? 'own';

/** Whether a text is a day of this century or one of the next. */
export function isDay(text) {
  if (!/^2\d{3}-\d\d-\d\d$/.test(text ?? '')) return false;
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

/** Whether a text names a zone, as the API takes it. */
export function isZone(name) {
  try {
    return Boolean(/^[A-Z]/.test(name ?? '') && new Intl.DateTimeFormat('en', { timeZone: name }));
  } catch {
    return false;
  }
}

/** Reads the address; what is no value of its field counts as not said. */
export function read(query, { zone, messengers, categories }) {
  const said = new URLSearchParams(query ?? '');
  const one = (name, values) => (values.includes(said.get(name)) ? said.get(name) : '');
  const tz = isZone(said.get('tz')) ? said.get('tz') : zone;
  const to = isDay(said.get('to')) ? said.get('to') : period('month', tz).to;
  const from = isDay(said.get('from')) && said.get('from') < to ? said.get('from') : shift(to, ...lengths.month);
  return { from, to, tz, messenger: one('messenger', messengers), category: one('category', categories.map((c) => c.key)) };
}

/** Writes the address; the zone of the deployment need not be said. */
export function write({ from, to, tz, messenger, category }, { zone }) {
  const said = new URLSearchParams({ from, to, ...(tz !== zone && { tz }), ...(messenger && { messenger }), ...(category && { category }) });
  return `#/charts?${said.toString().replaceAll('%2F', '/')}`;
}

/** The filters that a metric knows, of those that can be left out. */
const knows = (metric, name) => metric.parameters.includes(name);

/** What the API is asked for one metric. */
export function questionOf(metric, { from, to, tz, ...optional }, locale) {
  const set = Object.entries(optional).filter(([name, value]) => value && knows(metric, name));
  return `metrics/${encodeURIComponent(metric.name)}?${new URLSearchParams({ from, to, tz, ...Object.fromEntries(set), locale })}`;
}

/** The filters that are set but that a metric does not know. */
export const ignored = (metric, { messenger, category }) => Object.entries({ messenger, category })
  .filter(([name, value]) => value && !knows(metric, name)).map(([name]) => name);
