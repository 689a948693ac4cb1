// The filters above the charts. They show what the address says; a change goes there.

import { h, later, uid } from '../dom.js';
import { radios, select } from '../fields.js';
import { zone as here } from '../format.js';
import { t } from '../i18n.js';
import { icon } from '../icons.js';
import { isDay, period, presetOf, presets, shift, today } from './query.js';

const typing = 500; // milliseconds until a day that is typed is taken

/** change(filters) is called with what was chosen, null for nothing. Gives {el, show(filters), stop()}. */
export function filterBar({ zone, messengers, categories }, change) {
  let now = null; // {from, to, tz, messenger, category}
  const set = (some) => change({ ...now, ...some });
  const any = (name, options) => choice(t(`charts.${name}`), select({ options: [['', t(`charts.${name}.all`)], ...options], value: '', on: (v) => set({ [name]: v }) }));
  const typed = { from: later(() => takeDays('from'), typing), to: later(() => takeDays('to'), typing) };
  const [from, to] = [dayInput(typed.from), dayInput(typed.to)];
  const named = radios({ name: 'period', options: [...presets, 'own'].map((p) => [p, t(`charts.period.${p}`)]), value: '', on: (p) => (p === 'own' ? from.focus() : set(period(p, now.tz))) });
  const zones = choice(t('charts.zone'), zoneSelect(zone, (tz) => set(moved(now, tz))));
  const messenger = any('messenger', messengers.map((m) => [m, t(m)]));
  const category = any('category', categories.map((c) => [c.key, c.title]));
  const reset = h('button', { class: 'button small', type: 'button', on: { click: () => change(null) } }, icon('close', 15), h('span', { text: t('charts.reset') }));

  /** Takes the days as they are typed; of two that cross, the other one gives way. */
  function takeDays(changed) {
    let [first, last] = [from.value, to.value];
    if (!isDay(first) || !isDay(last)) return;
    if (first > last) [first, last] = changed === 'from' ? [first, first] : [last, last];
    set({ from: first, to: shift(last, 1) });
  }

  function show(filters) {
    now = filters;
    for (const input of named.querySelectorAll('input')) input.checked = input.value === presetOf(now);
    for (const input of [from, to]) input.max = today(now.tz);
    from.value = now.from;
    to.value = shift(now.to, -1);
    put(zones.control, now.tz);
    messenger.control.value = now.messenger;
    category.control.value = now.category;
    reset.hidden = !now.messenger && !now.category && now.tz === zone && presetOf(now) === 'month';
  }

  const el = h('form', { class: 'filters', 'aria-label': t('charts.filters'), on: { submit: (event) => event.preventDefault() } },
    h('div', { class: 'filter period', role: 'group', 'aria-label': t('charts.period') }, h('span', { class: 'filter-name', text: t('charts.period') }), named),
    choice(t('audience.from'), from).el, choice(t('audience.to'), to).el, messenger.el, category.el,
    h('div', { class: 'filters-more' }, zones.el, reset));
  const stop = () => Object.values(typed).forEach((soon) => soon.stop()); // who has left is not brought back
  return { el, show, stop };
}

/** A named period is one of the new zone's days; others stay as they are. */
function moved(filters, tz) {
  const preset = presetOf(filters);
  return { tz, ...(preset !== 'own' && period(preset, tz)) };
}

function choice(name, control) {
  control.id ||= uid('filter');
  return { control, el: h('div', { class: 'filter' }, h('label', { class: 'filter-name', htmlFor: control.id, text: name }), control) };
}

const dayInput = (change) => h('input', { type: 'date', min: '2000-01-01', required: true, on: { change } });

/** Zones: those that are likely first, with how far they are from UTC. */
function zoneSelect(own, on) {
  const likely = [...new Set([own, here(), 'UTC'])];
  const option = (zone, text) => h('option', { value: zone, text });
  return h('select', { on: { change: (event) => on(event.target.value) } },
    likely.map((z) => option(z, z === 'UTC' ? z : `${z} (${offset(z)})`)),
    h('optgroup', { label: t('charts.zones') }, Intl.supportedValuesOf('timeZone').filter((z) => !likely.includes(z)).map((z) => option(z, z))));
}

function put(list, zone) {
  if (![...list.options].some((o) => o.value === zone)) list.append(h('option', { value: zone, text: zone })); // an older name
  list.value = zone;
}

const offset = (zone) => new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeZoneName: 'shortOffset' })
  .formatToParts(new Date()).find((p) => p.type === 'timeZoneName').value.replace('GMT', 'UTC');
