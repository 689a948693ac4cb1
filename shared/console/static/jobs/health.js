// How the platform is: what the reconciler measured last, the worst of it marked.

import { call } from '../api.js';
import { fill, h } from '../dom.js';
import { number, span, when } from '../format.js';
import { t } from '../i18n.js';
import { poll } from '../poll.js';
import { deadPart } from './dead.js';

const pace = 30000; // milliseconds between looks; it is measured once a minute
const stale = 180; // seconds after which a measurement says that nobody measures

/**
 * The numbers: of which gauge, how it is shown, and from where on it is bad. Those that
 * are given by queue are summed up.
 */
const tiles = [
  ['reviews', 'jobs_in_review', number, 1], ['oldest', 'jobs_oldest_due_seconds', late, 300], ['due', 'jobs_due', number, Infinity], ['running', 'jobs_running', number, Infinity],
  ['held', 'jobs_held', number, Infinity], ['dead', 'dead_letters', number, 1], ['pass', 'duty_age_seconds', span, stale, ({ duty }) => duty === 'pass'], ['loaded', 'analytics_lag_seconds', span, 3 * 3600],
];

function late(seconds) {
  return seconds ? span(seconds) : t('health.none');
}

/** Gives {el, stop()}. */
export function healthPanel() {
  const values = {};
  const said = h('p', { class: 'soft health-said', text: t('loading') });
  const queues = h('table');
  const el = h('section', { class: 'card health', 'aria-label': t('health') }, h('div', { class: 'health-head' }, h('h2', { text: t('health') }), said),
    h('dl', { class: 'health-tiles' }, tiles.map(([name]) => {
      values[name] = h('dd', { text: '—' });
      return h('div', { class: 'health-tile', data: { gauge: name } }, h('dt', { text: t(`health.${name}`) }), values[name]);
    })), h('details', null, h('summary', { text: t('health.queues') }), queues), deadPart());

  function draw({ age_seconds: age, gauges }) {
    for (const [name, gauge, words, most, of = () => true] of tiles) {
      const found = gauges.filter((g) => g.name === gauge && of(g.labels ?? {})).map((g) => g.value);
      const value = found.length || (age !== null && words === number) ? found.reduce((a, b) => a + b, 0) : null; // what is counted by queue is left out where there is none
      values[name].textContent = value === null ? '—' : words(value);
      values[name].parentElement.classList.toggle('bad', value !== null && value >= most);
    }
    const old = age !== null && age > stale;
    said.textContent = age === null ? t('health.never') : t(old ? 'health.stale' : 'health.measured', { when: when(Date.now() - age * 1000) });
    said.classList.toggle('wrong', old);
    fill(queues, byQueue(gauges));
  }

  const look = poll(async () => {
    try {
      draw(await call('GET', 'gauges', undefined, { quiet: true }));
    } catch (error) {
      said.textContent = t('health.away');
      said.classList.add('wrong');
      throw error;
    }
    return pace;
  });
  return { el, stop: look.stop };
}

/** What each queue has of it, as the inside of a table. */
function byQueue(gauges) {
  const columns = [['due', 'jobs_due'], ['running', 'jobs_running'], ['messages', 'queue_messages']];
  const of = (queue, name) => gauges.find((g) => g.name === name && g.labels?.queue === queue)?.value;
  const cell = (value) => h('td', { text: value === undefined ? '—' : number(value) });
  const names = [...new Set(gauges.map((g) => g.labels?.queue).filter(Boolean))].sort();
  return [
    h('thead', null, h('tr', null, h('th', { scope: 'col', text: t('job.fact.queue') }), columns.map(([name]) => h('th', { scope: 'col', text: t(`health.${name}`) })))),
    h('tbody', null, names.map((queue) => h('tr', null, h('th', { scope: 'row' }, h('code', { text: queue })), columns.map(([, name]) => cell(of(queue, name)))))),
  ];
}
