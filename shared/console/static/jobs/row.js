// A job as a row of the list.

import { h } from '../dom.js';
import { exact, when } from '../format.js';
import { t } from '../i18n.js';
import { icon } from '../icons.js';
import { chosen, review } from './query.js';
import { kindWords, messengerOf, over, pill, stepWords, triesWords } from './words.js';

/** The way to the job, and beside it a button for what can be repeated: replay() is it. */
export const listed = (job, replay) => h('li', { class: 'job-row', data: { job: job.id } }, link(job),
  job.state === review && h('button', {
    class: 'ghost', type: 'button', data: { act: `replay-${job.id}` }, title: t('job.act.replay'),
    'aria-label': t('job.replay.one', { id: job.id, name: kindWords(job.kind) }), on: { click: replay },
  }, icon('repeat')));

function link(job) {
  const messenger = messengerOf(job);
  return h('a', { class: 'row', href: `#/jobs/${job.id}` },
    h('span', { class: 'row-main' }, h('strong', { class: 'row-title', text: kindWords(job.kind) }),
      h('small', { class: 'soft' }, t('no', { id: job.id }), messenger && ` · ${t(messenger)}`, job.error && [' · ', h('span', { lang: 'en', text: job.error })])),
    pill(job),
    h('span', { class: 'job-stage' }, h('small', { text: stepWords(job) }), h('small', { class: 'soft', text: triesWords(job) })),
    time(job));
}

/** When it came to where it is. */
function time(job) {
  const at = job.finished_at ?? job.created_at;
  const name = job.state === review ? 'waits' : over(job.state) ? 'ended' : 'created';
  return h('time', { class: 'row-time soft', dateTime: at, title: exact(at), text: t(`jobs.time.${name}`, { when: when(at) }) });
}

/** What is shown when none is listed: for those that wait it is good news. */
export function nothing(filters) {
  const calm = filters.state === review && !Object.keys(chosen(filters)).length;
  return h('div', { class: 'nothing' }, icon(calm ? 'check' : 'list', 40), h('strong', { text: t(calm ? 'jobs.calm' : 'jobs.empty') }),
    h('p', { text: t(calm ? 'jobs.calm.text' : 'jobs.empty.text') }));
}
