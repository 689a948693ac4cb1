// The page of charts. What it is made of, and the library that draws, are loaded when
// somebody opens it: those who send broadcasts do without.

import { fill, h } from './dom.js';
import { t } from './i18n.js';
import { part, unloaded } from './part.js';

/** query: what the address says behind its question mark, undefined for nothing. */
export function chartsPage(query) {
  const title = h('h1', { text: t('charts.title'), tabIndex: -1 });
  const until = h('p', { class: 'charts-until soft' });
  const body = h('div', null, h('p', { class: 'loading', text: t('loading') }));
  let asked = query;
  let open = null; // the page itself, once it is there
  let left = false;

  part('charts', 'board', 'chartjs').then(({ board }) => {
    if (!left) open = board({ title, until, body }, asked);
  }, (error) => {
    console.error(error);
    fill(body, unloaded());
  });
  return {
    title: t('charts.title'), el: h('div', { class: 'charts' }, h('div', { class: 'head charts-head' }, title, until), body),
    move(next) {
      asked = next;
      open?.move(next);
    },
    stop() {
      left = true;
      open?.stop();
    },
  };
}
