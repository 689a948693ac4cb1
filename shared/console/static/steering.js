// What can be done with a broadcast, in the state that it is in.

import { call, explain } from './api.js';
import { ask, toast } from './dialog.js';
import { busy, h } from './dom.js';
import { field } from './fields.js';
import { number } from './format.js';
import { count, t } from './i18n.js';
import { icon } from './icons.js';
import { may } from './session.js';
import { done, ended } from './words.js';

/**
 * Gives the buttons for the state of a broadcast; now() is the broadcast as it is when
 * one of them is pressed, changed(broadcast) is told what came of it.
 */
export function steering(b, now, changed) {
  const act = (name, pic, run, cls = '') => h('button', { class: `button ${cls}`, type: 'button', data: { act: name }, on: { click: run } }, icon(pic, 16), h('span', { text: t(`act.${name}`) }));
  const link = (name, pic, href) => h('a', { class: 'button', href, data: { act: name } }, icon(pic, 16), h('span', { text: t(`act.${name}`) }));
  const post = (name) => (event) => busy(event.currentTarget, async () => {
    try {
      changed(await call('POST', `broadcasts/${b.id}/${name}`));
    } catch (error) {
      toast(explain(error), 'bad');
      call('GET', `broadcasts/${b.id}`).then(changed, () => {});
    }
  });
  const { state } = b;
  return [
    state === 'draft' && may('send') && link('edit', 'edit', `#/${b.id}/edit`),
    state === 'running' && may('steer') && act('pause', 'pause', post('pause')),
    ['paused', 'pausing'].includes(state) && may('send') && act('resume', 'play', post('resume'), 'primary'),
    !ended(state) && !['draft', 'cancelling'].includes(state) && may('send') && act('rate', 'speed', () => askRate(now(), changed)),
    ended(state) && b.counts.sent + b.counts.uncertain > 0 && may('send') && link('correct', 'edit', `#/${b.id}/correct`),
    may('send') && b.relation !== 'correction' && state !== 'draft' && link('copy', 'copy', `#/new/from/${b.id}`),
    !ended(state) && state !== 'cancelling' && may('steer') && act('cancel', 'stop', () => askCancel(now(), changed), 'quiet-danger'),
  ];
}

async function askRate(b, changed) {
  const input = h('input', { type: 'number', min: 0.1, step: 'any', inputMode: 'decimal', value: b.rate || '', placeholder: t('schedule.rate.limit') });
  let next;
  const done = await ask({
    title: t('rate.ask'), agree: t('rate.agree'), explain: (e) => (e.errors?.length ? t('wrong/rate') : explain(e)),
    body: field({ label: t('schedule.rate'), control: input, hint: t('schedule.rate.hint') }),
    act: async () => {
      if (input.validity.badInput || (input.value !== '' && !(Number(input.value) > 0))) throw new Error(t('wrong/rate'));
      next = await call('PATCH', `broadcasts/${b.id}`, { rate: Number(input.value) });
    },
  });
  if (done) changed(next); // only now: the window gives the focus back to a button that has to be there
}

async function askCancel(b, changed) {
  const open = b.counts.total - done(b.counts);
  let next;
  const agreed = await ask({
    title: t(b.state === 'draft' ? 'cancel.draft' : 'cancel.ask'), agree: t('cancel.agree'), decline: t('cancel.keep'), danger: true, explain,
    body: h('p', { text: ['draft', 'scheduled', 'planning'].includes(b.state) ? t('cancel.nothing') : t('cancel.text', { sent: count('people.got', b.counts.sent), open: count('people.not', open) }) }),
    act: async () => { next = await call('POST', `broadcasts/${b.id}/cancel`); },
  });
  if (!agreed) return;
  changed(next);
  toast(t('cancel.done', { n: number(next.counts.sent) }));
}
