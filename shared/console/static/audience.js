// Who gets it.

import { h } from './dom.js';
import { checks, field, group, select } from './fields.js';
import { languageName } from './format.js';
import { t } from './i18n.js';
import { locales } from './model.js';

const roles = ['customer', 'agent', 'admin', 'analyst', 'operator'];

export function audiencePart(form, changed) {
  const a = form.audience;
  const named = (values, name) => values.map((v) => [v, name(v)]);
  const input = (key, props) => h('input', { type: 'text', autocomplete: 'off', value: a[key], ...props, on: { input: (e) => { set(key, e.target.value); changed(); } } });
  const set = (key, value) => {
    a[key] = value;
    if (key === 'customers') delete a.lost; // entered again, or left out on purpose
  };
  const day = (name, end) => field({
    label: t(`audience.${end}`), className: 'day',
    control: h('input', { type: 'date', value: a[name][end], on: { change: (e) => { a[name][end] = e.target.value; changed(); } } }),
  });
  const days = (name) => group({ label: t(`audience.${name}`), pointer: `/audience/${name}`, className: 'days' }, h('div', { class: 'pair' }, day(name, 'from'), day(name, 'to')));

  const more = h('details', { class: 'more-criteria', open: narrowed(a) },
    h('summary', { text: t('audience.more') }),
    h('div', { class: 'criteria' },
      group({ label: t('audience.roles'), pointer: '/audience/roles', className: 'wide' }, checks({ options: named(roles, (r) => t(`role.${r}`)), values: a.roles, on: changed })),
      field({ label: t('audience.tags'), pointer: '/audience/tags', hint: t('audience.tags.hint'), control: input('tags', { spellcheck: false }) }),
      field({
        label: t('audience.ticket'), pointer: '/audience/open_ticket',
        control: select({ options: [['', t('audience.ticket.any')], ['yes', t('audience.ticket.yes')], ['no', t('audience.ticket.no')]], value: a.openTicket, on: (v) => { a.openTicket = v; changed(); } }),
      }),
      days('registered'), days('seen'),
      field({ label: t('audience.customers'), pointer: '/audience/customers', hint: t('audience.customers.hint'), className: 'wide', control: input('customers', { inputMode: 'numeric' }) })));
  more.addEventListener('reveal', () => { more.open = true; });
  return group({ label: t('audience.title'), pointer: '/audience', className: 'part', hint: t('audience.hint') },
    h('div', { class: 'criteria' },
      group({ label: t('audience.messengers'), pointer: '/audience/messengers' }, checks({ options: named(['telegram', 'vk'], t), values: a.messengers, on: changed })),
      group({ label: t('audience.locales'), pointer: '/audience/locales' }, checks({ options: named(locales, languageName), values: a.locales, on: changed }))),
    more);
}

/** Whether a criterion is set that is among those less often used. */
const narrowed = (a) => Boolean(a.roles.length || a.tags || a.openTicket || a.customers || a.lost || [a.registered, a.seen].some((s) => s.from || s.to));
