// The bar that moves: how many have an outcome, how fast it goes, when it ends.

import { fill, h } from './dom.js';
import { clock, number, percent, span, speed, when } from './format.js';
import { t } from './i18n.js';
import { done, ended, outcomes } from './words.js';

const still = 8000; // milliseconds after which it does not just begin

/** Gives {el, show(broadcast, progress)}. */
export function bar() {
  const parts = Object.fromEntries(outcomes.map((o) => [o, h('span', { class: `bar-part ${o}` })]));
  const track = h('div', { class: 'progress', role: 'progressbar', 'aria-label': t('progress'), 'aria-valuemin': '0' }, Object.values(parts));
  const big = h('strong', { class: 'live-number' });
  const of = h('span', { class: 'soft' });
  const speedEl = h('span', { class: 'live-speed' });
  const said = h('p', { class: 'visually-hidden', role: 'status', 'aria-live': 'polite' });
  let spoken = '';
  let moved = { n: -1, at: 0 }; // when the count last changed

  /** Screen readers hear changes of the state and each tenth, not every second. */
  function say(b, part) {
    const now = `${b.state} ${Math.floor(part * 10)}`;
    if (now === spoken) return;
    if (spoken) said.textContent = t('progress.said', { state: t(`state.${b.state}`), done: number(done(b.counts)), total: number(b.counts.total) });
    spoken = now;
  }

  function show(b, p) {
    const { total } = b.counts;
    const n = done(b.counts);
    if (moved.n !== n || b.state !== 'running') moved = { n, at: Date.now() };
    for (const o of outcomes) parts[o].style.setProperty('width', `${total ? (100 * b.counts[o]) / total : 0}%`);
    track.setAttribute('aria-valuemax', String(total));
    track.setAttribute('aria-valuenow', String(n));
    track.setAttribute('aria-valuetext', t('progress.of', { done: number(n), total: number(total), percent: percent(n, total) }));
    track.dataset.state = b.state;
    const unplanned = ['draft', 'scheduled', 'planning'].includes(b.state);
    const over = ended(b.state); // then what counts is who got it
    big.textContent = unplanned ? t(`live.${b.state}`) : number(over ? b.counts.sent : n);
    of.textContent = unplanned ? '' : t(over ? 'live.sent' : 'live.of', { total: number(total), percent: percent(n, total) });
    fill(speedEl, side(b, p, Date.now() - moved.at > still));
    say(b, total ? n / total : 0);
  }

  return { el: h('div', { class: 'live-bar' }, h('div', { class: 'live-line' }, h('span', { class: 'live-count' }, big, of), speedEl), track, said), show };
}

/** What is said beside the count; stands: nothing has happened for a while. */
function side(b, p, stands) {
  if (b.state === 'scheduled' && b.start_at) return t('live.starts', { when: when(b.start_at) });
  if (b.state === 'paused') return t('live.paused');
  if (b.state === 'pausing' || b.state === 'cancelling') return t('live.inflight');
  if (b.state === 'cancelled') return t('live.cancelled', { n: number(b.counts.sent) });
  if (b.state === 'finished' && b.started_at && b.finished_at) return t('live.took', { span: span((new Date(b.finished_at) - new Date(b.started_at)) / 1000) });
  if (b.state !== 'running') return '';
  if (!p.rate) return stands ? t('live.waiting') : '';
  const end = p.ends_at && t('live.ends', { clock: clock(p.ends_at), span: span(Math.max(1, (new Date(p.ends_at) - Date.now()) / 1000)) });
  return [h('strong', { text: t('live.rate', { n: speed(p.rate) }) }), end && h('span', { class: 'soft', text: end })];
}
