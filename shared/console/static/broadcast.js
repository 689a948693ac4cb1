// One broadcast: how far it is, what can be done with it, who got it.

import { call, explain } from './api.js';
import { bar } from './bar.js';
import { fill, h, keepFocus } from './dom.js';
import { follow } from './follow.js';
import { exact, when, zoneName } from './format.js';
import { t } from './i18n.js';
import { icon } from './icons.js';
import { content } from './content.js';
import { outcomesPart } from './outcomes.js';
import { poll } from './poll.js';
import { steering } from './steering.js';
import { audienceWords, authorWords, ended, hoursWords, moving, nameOf, pill, rateWords } from './words.js';

const pace = { moving: 1000, waiting: 5000 }; // milliseconds between looks
const settling = 5000; // milliseconds in which the last counts come after a state

export function broadcastPage(id) {
  const el = h('div', { class: 'watch' }, h('p', { class: 'loading', text: t('loading') }));
  let stop = null;
  let left = false; // perhaps before anything was there
  const page = {
    title: t('broadcast', { id }), el,
    stop() {
      left = true;
      stop?.();
    },
  };
  start(id, el).then((stopper) => {
    stop = stopper;
    if (left) stop();
  }, (error) => {
    fill(el, h('p', { class: 'alert bad', role: 'alert', text: explain(error) }), h('a', { class: 'button', href: '#/', text: t('list.back') }));
  });
  return page;
}

async function start(id, el) {
  let b = await call('GET', `broadcasts/${id}`);
  const live = bar();
  const parts = { state: h('div', { class: 'head-state' }), actions: h('div', { class: 'watch-actions' }), facts: h('div') };
  const text = content(b);
  const seen = outcomesPart(b, { reload: () => look.poke() });
  let drawn = '';
  let since = 0; // of the state, if it changed while somebody watched

  /** Shows what changes with the state. */
  function draw() {
    const now = JSON.stringify({ ...b, counts: b.counts.uncertain });
    if (now !== drawn) {
      drawn = now;
      fill(parts.state, pill(b.state));
      keepFocus(parts.actions, () => fill(parts.actions, steering(b, () => b, changed)));
      fill(parts.facts, facts(b));
    }
    seen.show(b);
  }

  function changed(next) {
    if (next.state !== b.state) since = Date.now();
    b = next;
    draw();
    look.poke();
  }

  async function take(p) {
    if (p.state !== b.state) {
      since = Date.now();
      b = await call('GET', `broadcasts/${id}`);
    }
    b = { ...b, state: p.state, counts: p.counts };
    draw();
    live.show(b, p);
  }

  const path = `broadcasts/${id}/progress`;
  const heard = follow(path, take);
  const look = poll(async () => {
    if (!heard.alive()) await take(await call('GET', path));
    if (Date.now() - since < settling) return pace.moving;
    if (ended(b.state)) return 0;
    return moving(b.state) ? pace.moving : pace.waiting;
  });
  draw();
  live.show(b, { rate: 0 });
  fill(el, head(b, parts.state), h('div', { class: 'card live' }, live.el, parts.actions), seen.el, h('div', { class: 'watch-columns' }, text, parts.facts));
  if (document.activeElement === document.body) el.querySelector('h1').focus();
  return () => {
    look.stop();
    heard.stop();
  };
}

const head = (b, state) => h('div', { class: 'head' },
  h('a', { class: 'ghost', href: '#/', 'aria-label': t('list.back'), title: t('list.back') }, icon('back')),
  h('div', { class: 'head-text' }, h('h1', { text: nameOf(b), tabIndex: -1 }),
    h('p', { class: 'soft' }, `${t('broadcast', { id: b.id })} · ${t(`kind.${b.kind}`)}`,
      b.relation === 'correction' && [' · ', h('a', { href: `#/${b.parent}`, text: t('corrects', { id: b.parent }) })])),
  state);

function facts(b) {
  const time = (at) => h('time', { dateTime: at, title: exact(at), text: when(at) });
  const rows = [
    ['audience', b.relation === 'correction' ? t('audience.reached', { id: b.parent }) : audienceWords(b.audience)],
    b.start_at && ['start', [time(b.start_at), h('span', { class: 'soft', text: ` ${zoneName(new Date(b.start_at))}` })]],
    b.started_at && ['started', time(b.started_at)],
    b.finished_at && ['finished', time(b.finished_at)],
    ['rate', rateWords(b.rate)],
    b.hours && ['hours', hoursWords(b.hours)],
    b.urgency > 0 && ['urgency', String(b.urgency)],
    ['created', [time(b.created_at), h('span', { class: 'soft', text: `, ${authorWords(b.created_by)}` })]],
  ].filter(Boolean);
  return h('section', { class: 'card', 'aria-label': t('facts') }, h('h2', { text: t('facts') }),
    h('dl', { class: 'facts' }, rows.map(([name, value]) => [h('dt', { text: t(`fact.${name}`) }), h('dd', null, value)])));
}
