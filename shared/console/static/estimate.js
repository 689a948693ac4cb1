// How many would get it, and how long that takes.

import { call, explain } from './api.js';
import { fill, h, later } from './dom.js';
import { errorWords } from './fields.js';
import { number, span } from './format.js';
import { count, t } from './i18n.js';

const pause = 500; // milliseconds without a change

/** asked() gives the audience, kind and rate, or null when they make no sense yet. */
export function estimate(asked) {
  const body = h('div', { class: 'estimate-body', 'aria-live': 'polite' });
  let turn = 0;

  async function ask() {
    const mine = ++turn;
    const what = asked();
    body.setAttribute('aria-busy', 'true');
    let nodes;
    try {
      nodes = what ? numbers(await call('POST', 'audience/estimate', what)) : h('p', { class: 'hint', text: '—' });
    } catch (error) {
      nodes = h('p', { class: 'hint', text: error.errors?.length ? errorWords(error.errors[0]) : explain(error) });
    }
    if (mine !== turn) return;
    body.removeAttribute('aria-busy');
    fill(body, nodes);
  }

  const changed = later(ask, pause);
  ask();
  return { el: h('section', { class: 'estimate', 'aria-label': t('estimate.title') }, h('h2', { text: t('estimate.title') }), body), changed, stop: changed.stop };
}

const numbers = (e) => [
  h('p', { class: 'estimate-number', text: count('people', e.people) }),
  e.people > 0 && h('p', { class: 'soft', text: shares(e) }),
  h('p', { class: 'soft', text: e.people > 0 ? t('estimate.takes', { span: span(e.seconds) }) : t('estimate.nobody') }),
];

/** "Telegram 4 000 · VK 1 012" */
export const shares = (e) => Object.entries(e.messengers).filter(([, n]) => n > 0).map(([m, n]) => `${t(m)} ${number(n)}`).join(' · ');
