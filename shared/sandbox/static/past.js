// A history of a year for the charts: asked for here, made in the background.

import { act } from './api.js';
import { fill, h } from './dom.js';
import { number, t } from './i18n.js';
import { menu } from './menu.js';
import { ask, field } from './toast.js';

const most = 50000;

/** Makes the menu that offers a history, and the line that shows how far it is. */
export function past(live) {
  const tools = menu({ label: t('desk.menu'), className: 'ghost small', actions: () => [{ label: t('past.menu'), icon: 'clock', run: makePast }] });
  tools.hidden = true;
  const line = h('div', { class: 'past', role: 'status', hidden: true });
  live.set('past', 'history', (pane) => {
    const p = pane?.head ?? {};
    tools.hidden = !p.offered || p.state === 'playing' || p.state === 'loading';
    line.hidden = !p.state;
    if (!p.state) return;
    const running = p.state === 'playing' || p.state === 'loading';
    fill(line,
      h('span', { text: t(`past.${p.state}`, { done: number(p.done ?? 0), of: number(p.tickets ?? 0), problem: p.problem ?? '' }) }),
      running && h('progress', { max: p.tickets || 1, value: p.done ?? 0, 'aria-label': t('past.title') }),
      p.state === 'done' && h('span', { class: 'soft', text: t('past.charts') }));
  });
  return { tools, line };
}

async function makePast() {
  const tickets = h('input', { type: 'number', min: 1, max: most, value: most, required: true, inputMode: 'numeric' });
  const seed = h('input', { type: 'number', min: 0, max: 2 ** 31, value: 1, required: true, inputMode: 'numeric' });
  const wanted = await ask({
    title: t('past.title'), agree: t('past.make'), fields: () => ({ tickets: Number(tickets.value), seed: Number(seed.value) }),
    body: [h('p', { class: 'soft', text: t('past.hint') }), field(t('past.tickets'), tickets), field(t('past.seed'), seed)],
  });
  if (wanted) await act('POST', 'history', wanted);
}
