// The page of charts. What it is made of, and the library that draws, are loaded when
// somebody opens it: those who send broadcasts do without.

import { fill, h } from './dom.js';
import { t } from './i18n.js';

/** query: what the address says behind its question mark, undefined for nothing. */
export function chartsPage(query) {
  const title = h('h1', { text: t('charts.title'), tabIndex: -1 });
  const until = h('p', { class: 'charts-until soft' });
  const body = h('div', null, h('p', { class: 'loading', text: t('loading') }));
  let asked = query;
  let open = null; // the page itself, once it is there
  let left = false;

  load().then((board) => {
    if (!left) open = board({ title, until, body }, asked);
  }, (error) => {
    console.error(error);
    fill(body, failure());
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

const failure = () => h('p', { class: 'alert bad', role: 'alert' }, h('span', { text: t('charts.noload') }),
  h('button', { class: 'button small', type: 'button', text: t('charts.reload'), on: { click: () => location.reload() } }));

async function load() {
  styled ??= style();
  const [{ board }] = await Promise.all([import('./charts/board.js'), styled]);
  return board;
}

const address = (name) => new URL(name, import.meta.url).href;

let styled = null;

/** Loads the style sheet; nothing is shown before it is there. Modules come with it all at once. */
function style() {
  document.head.append(...document.documentElement.dataset.later.split(' ').map((name) => h('link', { rel: 'modulepreload', href: address(name) })));
  return new Promise((resolve, reject) => {
    document.head.append(h('link', { rel: 'stylesheet', href: address('charts/charts.css'), on: { load: resolve, error: reject } }));
  });
}
