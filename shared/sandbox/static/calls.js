// The calls that a server got and made, newest first.

import { h, keyed } from './dom.js';
import { precise } from './format.js';
import { t } from './i18n.js';
import { tablist } from './tabs.js';

/** Makes the part; follow(on) starts and stops looking. */
export function calls({ state, live }) {
  let server = state.servers[0];
  let on = false;
  const sum = h('small', { class: 'soft' });
  const none = h('p', { class: 'soft', text: t('no.calls') });
  const list = h('ol', { class: 'calls', 'aria-label': t('calls') });
  const sync = keyed(list, call);

  function look() {
    live.set('calls', on ? `calls/${server}` : null, (pane) => {
      const items = (pane?.items ?? []).sort((a, b) => b.n - a.n);
      sync(items.map((c) => ({ ...c, id: `${server} ${c.id}` })));
      none.hidden = items.length > 0;
      sum.textContent = items.length ? t('calls.count', { n: pane.head.count }) : '';
    });
  }

  const tabs = tablist({
    label: t('calls'), className: 'underlined', selected: server, tabs: state.servers.map((s) => ({ id: s, label: t(s) })),
    onSelect: (id) => {
      server = id;
      look();
    },
  });
  return {
    el: h('section', { 'aria-label': t('calls') }, h('div', { class: 'box-row start' }, h('h2', { text: t('calls') }), sum), tabs.el, none, list),
    follow(next) {
      on = next;
      look();
    },
  };
}

function call(c) {
  const good = c.status >= 200 && c.status < 300;
  return h('li', null, h('details', { class: 'call' },
    h('summary', null, h('time', { dateTime: c.at, text: precise(c.at) }), h('code', { text: c.method }),
      h('span', { class: `status ${good ? 'good' : 'bad'}`, text: c.status || '…' }),
      h('span', { class: `effect ${c.effect ? 'on' : ''}`, role: 'img', title: t(c.effect ? 'effect' : 'no.effect'), 'aria-label': t(c.effect ? 'effect' : 'no.effect') })),
    body(t('params'), c.params), body(t('result'), c.result)));
}

function body(label, text) {
  if (!text) return null;
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), null, 1);
  } catch { /* it was cut */ }
  return [h('small', { class: 'soft', text: label }), h('pre', { text: shown })];
}
