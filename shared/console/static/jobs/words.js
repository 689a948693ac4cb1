// What jobs are called, and what can be said of them.

import { explain } from '../api.js';
import { h } from '../dom.js';
import { when } from '../format.js';
import { count, has, t } from '../i18n.js';
import { authorWords } from '../words.js';
import { review } from './query.js';

/** Kinds that have words; others are shown by their names. */
export const kinds = [
  'ticket.create', 'ticket.comment', 'ticket.reopen', 'ticket.rate', 'ticket.note', 'event.again', 'issue.look',
  'deliver.answer', 'deliver.edit', 'deliver.status', 'deliver.notice', 'broadcast.plan', 'broadcast.batch', 'person.erase', 'person.detach', 'person.export',
];

const tones = { accepted: 'accent', queued: 'accent', running: 'accent', completed: 'good', [review]: 'warn', cancelled: '' };

/** States after which nothing happens by itself. */
export const over = (state) => ['completed', 'cancelled'].includes(state);

export const kindWords = (kind) => (has(`job.kind.${kind}`) ? t(`job.kind.${kind}`) : kind);

/** The same for the beginning of some kinds: "deliver.". */
export const kindsWords = (beginning) => (has(`jobs.group.${beginning}`) ? t(`jobs.group.${beginning}`) : kindWords(beginning));

/** How its state is called: one that a person has settled is not just cancelled. */
export const stateWords = (job) => t(job.settled_by ? 'job.state.settled' : job.cancelling ? 'job.state.cancelling' : `job.state.${job.state}`);

export const pill = (job) => h('span', { class: `pill ${tones[job.state] ?? ''}`, data: { state: job.state }, text: stateWords(job) });

/** The messenger of a conversation or of broadcasts, as the lane names it; '' for none. */
export const messengerOf = ({ lane }) => /^(?:in|out|broadcast):(telegram|vk):/.exec(lane)?.[1] ?? '';

/** A stage as it was recorded ("begin send:0", "done create") in words; '' for none. */
export function stageWords(stage) {
  const [, point, name, n] = /^(begin|done) (\w+)(?::(\d+))?$/.exec(stage) ?? [];
  if (!point || !has(`job.stage.${name}`)) return stage;
  return t(`job.${point}`, { what: t(`job.stage.${name}`) + (n ? ` ${Number(n) + 1}` : '') });
}

/**
 * Whether nobody knows if a customer has the message: its sending was begun, and nothing
 * says how it ended. VK drops what comes twice.
 */
export const uncertain = (job) => job.state === review && job.kind.startsWith('deliver.') && /^begin (send|file)\b/.test(job.stage) && messengerOf(job) !== 'vk';

/** Whether a customer was told that it will be done, so that nobody may end it (person.MayEnd). */
export const promised = (job) => job.kind === 'person.erase';

/** Its last step in words; what is done in one step has none to tell of. */
export const stepWords = (job) => stageWords(job.stage) || t(job.state === 'completed' ? 'job.stage.whole' : 'job.stage.none');

export const triesWords = (job) => [count('job.tries', job.attempts), job.losses > 0 && count('job.losses', job.losses)].filter(Boolean).join(', ');

/** Who decided it: "person:7", "key:doctor", "command line (anna)". */
export function byWords(by) {
  if (/^(person|key):/.test(by)) return authorWords(by);
  const [, user] = /\((.+)\)$/.exec(by) ?? [];
  return user ? `${t('job.by.command')} (${user})` : t('job.by.command');
}

/** What there is to do, in a sentence or two. */
export function adviceWords(job) {
  if (job.state === review) return reviewWords(job);
  if (job.cancelling) return t('job.advice.cancelling');
  if (job.waits_for) return t('job.advice.waits', { key: job.waits_for });
  if (job.settled_by) return t('job.advice.settled');
  if (['accepted', 'queued'].includes(job.state) && new Date(job.run_at) > Date.now()) return t('job.advice.later', { when: when(job.run_at) });
  return t(`job.advice.${job.state}`);
}

function reviewWords(job) {
  if (uncertain(job)) return t('job.advice.uncertain');
  const [group] = job.kind.split('.');
  return [t(promised(job) ? 'job.advice.promised' : 'job.advice.review'), job.failures.at(-1)?.what === 'lost' && t('job.advice.lost'), has(`job.again.${group}`) && t(`job.again.${group}`)].filter(Boolean).join(' ');
}

/** Says what went wrong with a call about jobs. */
export function explainJobs(error) {
  const own = { 400: 'job.wrong.filter', 404: 'job.wrong.gone', 409: 'job.wrong.state' }[error.status];
  return own ? t(own) : explain(error);
}
