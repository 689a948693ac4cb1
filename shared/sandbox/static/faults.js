// Faults: which server, which call, how, how often.

import { act } from './api.js';
import { fill, h, keyed } from './dom.js';
import { t } from './i18n.js';
import { field } from './toast.js';

const methods = {
  telegram: ['sendMessage', 'send*', 'editMessageText', 'answerCallbackQuery', 'getFile', 'webhook', '*'],
  vk: ['messages.send', 'messages.*', 'messages.edit', 'upload', 'callback', 'longpoll', '*'],
  tracker: ['POST /v3/issues', 'POST /v3/issues/*/comments', 'POST /v3/issues/*/transitions/*/_execute', 'GET /v3/issues/*', 'PATCH /v3/issues/*', 'trigger'],
};
const kinds = ['status', 'hang_before', 'hang_after', 'close_before', 'close_after', 'html_before', 'html_after', 'delay', 'drop', 'duplicate', 'late'];

/** Makes the part; follow(on) starts and stops looking. */
export function faults({ state, live }) {
  const number = (value, max) => h('input', { type: 'number', min: 0, max, value, inputMode: 'numeric' });
  const server = h('select', { on: { change: suggest } }, state.servers.map((s) => h('option', { value: s, text: t(s) })));
  const known = h('datalist', { id: 'fault-methods' });
  const method = h('input', { type: 'text', required: true, list: 'fault-methods', autocomplete: 'off', spellcheck: false });
  const kind = h('select', { on: { change: fit } }, kinds.map((k) => h('option', { value: k, text: t(`fault.${k}`) })));
  const times = number(1, 1000);
  const status = number(503, 599);
  const wait = number(5, 3600);
  const statusField = field(t('code'), status);
  const waitField = field(t('wait'), wait);
  const none = h('p', { class: 'soft', text: t('no.faults') });
  const list = h('ul', { class: 'fault-list', 'aria-label': t('faults') });
  const sync = keyed(list, (f) => h('li', null, h('span', { class: `brand small ${f.server}`, 'aria-hidden': 'true' }), h('code', { text: f.method }),
    h('span', { text: t(`fault.${f.kind}`) + (f.status ? ` · ${f.status}` : '') }), h('small', { class: 'soft', text: f.times ? t('fault.left', { n: f.times }) : t('fault.always') })));

  function suggest() {
    fill(known, methods[server.value].map((m) => h('option', { value: m })));
    method.value = methods[server.value][0];
  }

  function fit() {
    statusField.hidden = kind.value !== 'status';
    waitField.hidden = kind.value !== 'delay' && kind.value !== 'late';
  }

  const everywhere = (how) => Promise.all(state.servers.map(how));
  const form = h('form', {
    class: 'fault-form', on: {
      submit: (event) => {
        event.preventDefault();
        act('POST', `faults/${server.value}`, {
          method: method.value.trim(), kind: kind.value, times: Number(times.value),
          status: kind.value === 'status' ? Number(status.value) : 0, wait: waitField.hidden ? 0 : Number(wait.value),
        });
      },
    },
  }, field(t('server'), server), field(t('method'), method), known, field(t('kind'), kind), statusField, waitField, field(t('times'), times),
  h('button', { type: 'submit', class: 'button primary', text: t('fault.add') }));
  times.title = t('times.hint');
  suggest();
  fit();
  const el = h('section', { 'aria-label': t('faults') }, h('h2', { text: t('faults') }), form, none, list, h('div', { class: 'box-row start' },
    h('button', { type: 'button', class: 'button small', text: t('fault.release'), on: { click: () => everywhere((s) => act('POST', `faults/${s}/release`, {})) } }),
    h('button', { type: 'button', class: 'button small', text: t('fault.clear'), on: { click: () => everywhere((s) => act('DELETE', `faults/${s}`)) } })));
  return {
    el,
    follow: (on) => live.set('faults', on ? 'faults' : null, (pane) => {
      sync(pane?.items ?? []);
      none.hidden = Boolean(pane?.items.length);
    }),
  };
}
