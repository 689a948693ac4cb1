// All chosen reviews at once: first how many they are, and of which kinds.

import { call } from '../api.js';
import { ask, toast } from '../dialog.js';
import { h } from '../dom.js';
import { number } from '../format.js';
import { count, t } from '../i18n.js';
import { lookAtWaiting } from '../waiting.js';
import { newest } from './newest.js';
import { chosen } from './query.js';
import { explainJobs, kindsWords, kindWords, uncertain } from './words.js';

/** Asks, and replays what the filters choose. done() is called when the list is not true any more. */
export async function replayAll(filters, done) {
  let dry;
  let jobs;
  try {
    dry = await call('POST', 'jobs/replay', { ...chosen(filters), dry_run: true });
    jobs = dry.chosen ? (await newest(filters, dry.chosen)).jobs : [];
  } catch (error) {
    toast(explainJobs(error), 'bad');
    return;
  }
  if (!jobs.length) {
    toast(t('bulk.none'));
    done();
    return;
  }
  let replayed = 0;
  const agreed = await ask({
    title: t('bulk.ask'), agree: count('bulk.agree', dry.chosen), danger: true, explain: explainJobs, body: question(filters, dry, jobs),
    act: async () => { ({ replayed } = await call('POST', 'jobs/replay', { ...chosen(filters), until: dry.until, dry_run: false })); },
  });
  if (!agreed) return;
  toast(count('bulk.done', replayed));
  done();
  lookAtWaiting();
}

function question(filters, { chosen: n, more }, jobs) {
  const kinds = Object.entries(Object.groupBy(jobs, (job) => job.kind)).sort(([, a], [, b]) => b.length - a.length);
  const twice = jobs.filter(uncertain).length;
  const by = Object.entries(chosen(filters)).map(([name, value]) => t('bulk.by', { name: t(`jobs.by.${name}`), value: name === 'kind' ? kindsWords(value) : value }));
  return h('div', { class: 'job-question' },
    h('p', { text: `${count('bulk.chosen', n)} ${by.length ? by.join('; ') : t('bulk.everything')}` }),
    h('dl', { class: 'facts' }, kinds.map(([kind, list]) => [h('dt', { text: kindWords(kind) }), h('dd', { text: number(list.length) })])),
    more && h('p', { text: t('bulk.more', { n: number(n) }) }),
    twice > 0 && h('p', { class: 'alert warn', text: count('bulk.twice', twice) }));
}
