// What a person decides about one job: each is asked for before, and said afterwards.

import { call } from '../api.js';
import { ask, toast } from '../dialog.js';
import { h } from '../dom.js';
import { field, showErrors } from '../fields.js';
import { t } from '../i18n.js';
import { icon } from '../icons.js';
import { lookAtWaiting } from '../waiting.js';
import { review } from './query.js';
import { adviceWords, explainJobs, kindWords, over, promised, uncertain } from './words.js';

/** What can be done with a job in its state. */
const possible = (job) => ({
  replay: job.state === review,
  settle: job.state === review && !promised(job),
  cancel: !over(job.state) && !job.cancelling && !promised(job),
});

/** The buttons for it; done as in decide. */
export function actButtons(job, done) {
  const button = (name, pic, cls) => possible(job)[name] && h('button', { class: `button ${cls}`, type: 'button', data: { act: name }, on: { click: () => decide(name, job, done) } },
    icon(pic, 16), h('span', { text: t(`job.act.${name}`) }));
  return [button('replay', 'repeat', uncertain(job) ? '' : 'primary'), button('settle', 'check', ''), button('cancel', 'stop', 'quiet-danger')];
}

const questions = { replay: askReplay, cancel: askCancel, settle: askSettle };

/**
 * Asks, and does it. done(job) hears how the job is afterwards; done(null): it had
 * changed meanwhile, and nothing was done.
 */
export async function decide(name, job, done) {
  const { before = () => true, ...question } = questions[name](job);
  let after = null;
  let refused = null;
  const agreed = await ask({
    ...question, explain: explainJobs,
    act: async () => {
      const body = before();
      if (body === false) return false;
      try {
        after = await call('POST', `jobs/${job.id}/${name}`, body === true ? undefined : body);
      } catch (error) {
        if (error.status === 422 && error.errors.length && !showErrors(question.body, error.errors).length) return false;
        if (![404, 409].includes(error.status)) throw error;
        refused = error; // it is not any more what was agreed to
      }
      return true;
    },
  });
  if (!agreed) return;
  if (refused) toast(explainJobs(refused), 'bad');
  else toast(t(`job.${name}.done`, { id: job.id }));
  done(after);
  lookAtWaiting();
}

const subject = (job) => h('p', null, h('strong', { text: kindWords(job.kind) }), ` · ${t('no', { id: job.id })}`);

function askReplay(job) {
  return {
    title: t('job.replay.ask'), agree: t('job.replay.agree'), danger: uncertain(job),
    body: h('div', { class: 'job-question' }, subject(job), h('p', { text: uncertain(job) ? adviceWords(job) : t('job.replay.text') })),
  };
}

function askCancel(job) {
  return {
    title: t('job.cancel.ask'), agree: t('job.cancel.agree'), decline: t('job.cancel.keep'), danger: true,
    body: h('div', { class: 'job-question' }, subject(job), h('p', { text: t(job.state === 'running' ? 'job.cancel.running' : 'job.cancel.text') })),
  };
}

function askSettle(job) {
  const remark = h('textarea', { rows: 3, maxLength: 1000, required: true });
  const body = h('div', { class: 'job-question' }, subject(job), h('p', { text: t('job.settle.text') }),
    field({ label: t('job.remark'), control: remark, pointer: '/remark', hint: t('job.remark.hint') }));
  return {
    title: t('job.settle.ask'), agree: t('job.settle.agree'), body,
    before() {
      if (remark.value.trim()) return { remark: remark.value.trim() };
      showErrors(body, [{ pointer: '/remark', code: 'required' }]);
      return false;
    },
  };
}
