// One job: what it is, where it stands, what went wrong and what can be done.

import { call } from '../api.js';
import { toast } from '../dialog.js';
import { fill, h, keepFocus } from '../dom.js';
import { exact, number, when } from '../format.js';
import { count, t } from '../i18n.js';
import { icon } from '../icons.js';
import { poll } from '../poll.js';
import { actButtons } from './acts.js';
import { review, write } from './query.js';
import { adviceWords, byWords, explainJobs, kindWords, messengerOf, over, pill, stageWords, stepWords, uncertain } from './words.js';

const pace = { moving: 2000, waiting: 15000 }; // milliseconds between looks

/** Fills the page: {title, sub, side, body}. Gives {stop()}. */
export function show({ title, sub, side, body }, id) {
  let drawn = '';
  const advice = h('div', { class: 'job-advice', role: 'status' });
  const acts = h('div', { class: 'watch-actions' });
  const about = h('div');
  const failures = h('div');

  function draw(job) {
    const now = JSON.stringify(job);
    if (now === drawn) return;
    if (!drawn) fill(body, h('div', { class: 'job-page' }, h('section', { class: 'card job-do', 'aria-label': t('job.what') }, advice, acts), h('div', { class: 'job-columns' }, about, failures)));
    drawn = now;
    title.textContent = kindWords(job.kind);
    sub.textContent = `${t('job.title', { id: job.id })} · ${job.kind}`;
    fill(side, pill(job));
    const said = adviceWords(job);
    if (advice.textContent !== said) fill(advice, job.state === review && icon('warning'), h('p', { text: said })); // once said
    advice.className = `job-advice ${uncertain(job) ? 'alert warn' : ''}`;
    const had = acts.contains(document.activeElement);
    keepFocus(acts, () => fill(acts, actButtons(job, changed)));
    if (had && !acts.contains(document.activeElement)) title.focus({ preventScroll: true });
    keepFocus(about, () => fill(about, facts(job)));
    fill(failures, failureTable(job));
  }

  function changed(after) {
    if (after) draw(after);
    look.poke();
  }

  const look = poll(async () => {
    let job;
    try {
      job = await call('GET', `jobs/${id}`);
    } catch (error) {
      if (!drawn || error.status === 404) fill(body, failed(error, () => { title.focus(); look.poke(); }));
      if (error.status === 404) return 0;
      throw error;
    }
    draw(job);
    if (over(job.state)) return 0;
    return job.state === review ? pace.waiting : pace.moving;
  });
  return { stop: look.stop };
}

const failed = (error, again) => h('p', { class: 'alert bad', role: 'alert' }, h('span', { text: explainJobs(error) }),
  error.status !== 404 && h('button', { class: 'button small', type: 'button', on: { click: again } }, icon('repeat', 15), h('span', { text: t('jobs.again') })));

function facts(job) {
  const time = (at) => at && h('time', { dateTime: at, title: exact(at), text: when(at) });
  const others = (name, value) => h('a', { class: 'nowrap', href: write({ state: 'all', [name]: value }), data: { act: `by-${name}` }, text: t(`job.others.${name}`) });
  const plan = /^broadcast:plan:(\d+)$/.exec(job.lane)?.[1];
  const rows = [
    ['stage', [stepWords(job), job.stage && stepWords(job) !== job.stage && [' ', h('code', { text: job.stage })]]],
    ['tries', [number(job.attempts), job.losses > 0 && `, ${count('job.losses', job.losses)}`, job.replays > 0 && `, ${count('job.replays', job.replays)}`]],
    job.error && ['error', h('span', { lang: 'en', text: job.error })],
    job.waits_for && ['waits', h('code', { text: job.waits_for })],
    job.remark && ['remark', [job.remark, h('span', { class: 'soft', text: ` — ${byWords(job.settled_by)}` })]],
    messengerOf(job) && ['messenger', [h('span', { class: `brand small ${messengerOf(job)}` }), t(messengerOf(job))]],
    plan && ['broadcast', h('a', { href: `#/${plan}`, text: t('broadcast', { id: plan }) })],
    ['created', time(job.created_at)],
    job.started_at && ['started', time(job.started_at)],
    !over(job.state) && job.state !== review && ['due', time(job.run_at)],
    job.finished_at && [job.state === review ? 'since' : 'finished', time(job.finished_at)],
    job.request && ['request', [h('code', { text: job.request }), copyButton(job.request), others('request', job.request)]],
    ['lane', [h('code', { text: job.lane }), others('lane', job.lane)]],
    ['key', h('code', { text: job.key })],
    ['queue', h('code', { text: job.queue })],
  ].filter(Boolean);
  return h('section', { class: 'card', 'aria-label': t('job.about') }, h('h2', { text: t('job.about') }),
    h('dl', { class: 'facts' }, rows.map(([name, value]) => [h('dt', { text: t(`job.fact.${name}`) }), h('dd', { data: { fact: name } }, value)])));
}

/** Copies a text; where the browser forbids that it is selected for it. */
function copyButton(text) {
  const copy = async (event) => {
    const shown = event.currentTarget.previousElementSibling;
    try {
      await navigator.clipboard.writeText(text);
      toast(t('job.copied'));
    } catch {
      getSelection().selectAllChildren(shown);
      toast(t('job.selected'));
    }
  };
  return h('button', { class: 'ghost small', type: 'button', title: t('job.copy'), 'aria-label': t('job.copy'), data: { act: 'copy' }, on: { click: copy } }, icon('copy', 16));
}

/** What a person decided, whose "error" is who it was. */
const decided = ['replayed', 'cancelled'];

/** The latest first: it is why the job is where it is. */
function failureTable({ failures }) {
  const row = (f) => h('tr', null,
    h('td', null, h('time', { class: 'nowrap', dateTime: f.at, title: exact(f.at), text: when(f.at) })),
    h('td', null, h('strong', { text: t(`job.failure.${f.what}`) }), h('div', { class: 'soft', text: stageWords(f.stage) }), decided.includes(f.what) ? h('div', { text: byWords(f.error) }) : h('div', { class: 'wrap', lang: 'en', text: f.error })));
  return h('section', { class: 'card', 'aria-label': t('job.failures') }, h('h2', { text: t('job.failures') }),
    failures.length ? h('table', { class: 'job-failures' }, h('thead', { class: 'visually-hidden' }, h('tr', null, h('th', { scope: 'col', text: t('recipient.at') }), h('th', { scope: 'col', text: t('job.failure') }))), h('tbody', null, [...failures].reverse().map(row)))
      : h('p', { class: 'soft', text: t('job.failures.none') }));
}
