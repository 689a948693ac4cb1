// When it goes out, and how fast.

import { h, uid } from './dom.js';
import { field, group, radios, select } from './fields.js';
import { zoneName } from './format.js';
import { t } from './i18n.js';

export function schedulePart(form, changed) {
  const at = h('input', { type: 'datetime-local', value: form.startAt, on: { input: (e) => { form.startAt = e.target.value; changed(); } } });
  const time = field({ label: t('schedule.at'), control: at, pointer: '/start_at', hint: t('schedule.zone', { zone: zoneName() }) });
  const choose = (value) => {
    form.start = value;
    time.hidden = value !== 'later';
    changed();
  };
  time.hidden = form.start !== 'later';
  time.addEventListener('reveal', () => { time.hidden = false; });
  return group({ label: t('schedule.title'), className: 'part' },
    radios({ name: 'start', value: form.start, options: [['now', t('schedule.now')], ['later', t('schedule.later')]], on: choose }), time,
    hours(form.hours, changed),
    h('div', { class: 'criteria' },
      field({
        label: t('schedule.rate'), pointer: '/rate', hint: t('schedule.rate.hint'),
        control: h('input', { type: 'number', min: 0.1, step: 'any', inputMode: 'decimal', value: form.rate, placeholder: t('schedule.rate.limit'), on: { input: (e) => { form.rate = e.target.validity.badInput ? 'x' : e.target.value; changed(); } } }),
      }),
      field({
        label: t('schedule.urgency'), pointer: '/urgency', hint: t('schedule.urgency.hint'),
        control: select({ options: Array.from({ length: 10 }, (_, n) => [n, t({ 0: 'urgency.least', 9: 'urgency.most' }[n] ?? 'urgency.n', { n })]), value: form.urgency, on: (v) => { form.urgency = Number(v); changed(); } }),
      })));
}

/** The hours of a day in which messages may go out. */
function hours(h24, changed) {
  const set = (key) => (event) => {
    h24[key] = event.target.value;
    changed();
  };
  const zones = uid('zones');
  const inputs = h('div', { class: 'hours-inputs', hidden: !h24.on },
    field({ label: t('hours.from'), control: h('input', { type: 'time', value: h24.from, on: { input: set('from') } }) }),
    field({ label: t('hours.to'), control: h('input', { type: 'time', value: h24.to, on: { input: set('to') } }) }),
    field({ label: t('hours.zone'), className: 'zone', control: h('input', { type: 'text', list: zones, value: h24.zone, spellcheck: false, autocomplete: 'off', on: { input: set('zone') } }) }),
    h('datalist', { id: zones }, (Intl.supportedValuesOf?.('timeZone') ?? []).map((z) => h('option', { value: z }))));
  const toggle = (event) => {
    h24.on = event.target.checked;
    inputs.hidden = !h24.on;
    changed();
  };
  return group({ label: t('hours.title'), pointer: '/hours', className: 'hours', hint: t('hours.hint') },
    h('label', { class: 'check' }, h('input', { type: 'checkbox', checked: h24.on, on: { change: toggle } }), h('span', { text: t('hours.only') })), inputs);
}
