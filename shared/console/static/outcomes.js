// Recipients by outcome: the counts, and behind each of them who it was.

import { call, explain } from './api.js';
import { ask, toast } from './dialog.js';
import { busy, fill, h } from './dom.js';
import { exact, number, when } from './format.js';
import { count, has, t } from './i18n.js';
import { icon } from './icons.js';
import { may } from './session.js';
import { done, outcomes } from './words.js';

const size = 50; // recipients on a page

/** Gives {el, show(broadcast)}; reload() is called after something was changed here. */
export function outcomesPart(first, { reload }) {
  let b = first;
  let chosen = '';
  const tiles = h('div', { class: 'tiles', role: 'group', 'aria-label': t('outcomes') });
  const uncertain = h('div');
  const list = h('div', { class: 'recipients' });
  const numbers = {};
  for (const o of outcomes) {
    numbers[o] = h('strong');
    tiles.append(h('button', { class: `tile ${o}`, type: 'button', 'aria-expanded': 'false', data: { outcome: o }, on: { click: () => choose(o) } },
      numbers[o], h('span', { text: t(`outcome.${o}`) })));
  }

  function choose(outcome) {
    chosen = chosen === outcome ? '' : outcome;
    for (const tile of tiles.children) tile.setAttribute('aria-expanded', String(tile.dataset.outcome === chosen));
    fill(list);
    if (chosen) recipients(b.id, chosen, list, () => chosen === outcome);
  }

  async function resend() {
    const done = await ask({
      title: t('resend.ask'), agree: t('resend.agree'), danger: true, explain,
      body: h('p', { text: t('resend.text', { people: count('people.may', b.counts.uncertain) }) }),
      act: async () => {
        const { resent } = await call('POST', `broadcasts/${b.id}/resend-uncertain`);
        toast(count('resend.done', resent));
      },
    });
    if (!done) return;
    if (chosen === 'uncertain') choose('uncertain');
    reload();
  }

  function show(next) {
    b = next;
    el.hidden = done(b.counts) === 0;
    for (const o of outcomes) {
      numbers[o].textContent = number(b.counts[o]);
      const tile = tiles.querySelector(`[data-outcome="${o}"]`);
      tile.disabled = b.counts[o] === 0;
      tile.classList.toggle('some', b.counts[o] > 0);
    }
    const n = b.counts.uncertain;
    const offer = may('send') && ['running', 'paused', 'finished'].includes(b.state);
    if (uncertain.dataset.n === `${n} ${offer}`) return;
    uncertain.dataset.n = `${n} ${offer}`;
    fill(uncertain, n > 0 && h('div', { class: 'alert warn' }, icon('warning'), h('span', { text: count('uncertain.note', n) }),
      offer && h('button', { class: 'button small', type: 'button', on: { click: resend } }, icon('repeat', 15), h('span', { text: t('resend') }))));
  }

  const el = h('section', { class: 'card outcomes', 'aria-label': t('outcomes') }, h('h2', { text: t('outcomes') }), tiles, uncertain, list);
  return { el, show };
}

/** Lists recipients, a page at a time. */
async function recipients(id, outcome, list, wanted) {
  const rows = h('tbody');
  const more = h('button', { class: 'button small', type: 'button', text: t('list.more') });
  const error = h('p', { class: 'alert bad', role: 'alert', hidden: true });
  const odd = outcome !== 'sent';
  let after = '';
  const page = () => busy(more, async () => {
    error.hidden = true;
    try {
      const answer = await call('GET', `broadcasts/${id}/recipients?${new URLSearchParams({ outcome, limit: size, ...(after && { after }) })}`);
      if (!wanted()) return;
      after = answer.next ?? '';
      rows.append(...answer.recipients.map((r) => row(r, odd)));
      more.hidden = !after;
    } catch (e) {
      error.textContent = explain(e);
      error.hidden = false;
    }
  });
  more.addEventListener('click', page);
  await page();
  if (!wanted()) return;
  fill(list, h('table', null,
    h('caption', { class: 'visually-hidden', text: t(`outcome.${outcome}`) }),
    h('thead', null, h('tr', null, ['customer', 'messenger', odd && 'reason', 'at'].filter(Boolean).map((c) => h('th', { scope: 'col', text: t(`recipient.${c}`) })))), rows), error, more);
}

function row(r, odd) {
  return h('tr', null,
    h('td', { text: r.customer ? t('no', { id: r.customer }) : t('recipient.erased') }),
    h('td', null, h('span', { class: `brand small ${r.messenger}` }), t(r.messenger)),
    odd && h('td', { class: 'soft', text: reason(r.error) }),
    h('td', { class: 'soft' }, r.at && h('time', { dateTime: r.at, title: exact(r.at), text: when(r.at) })));
}

/** The platform's own reasons in words; a messenger's as it gave them. */
const reason = (error) => (error ? (has(`reason.${error}`) ? t(`reason.${error}`) : error) : '—');
