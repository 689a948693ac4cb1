// What broadcasts are called on the page.

import { h } from './dom.js';
import { languageInside, number, when } from './format.js';
import { count, t } from './i18n.js';
import { session } from './session.js';

const tones = {
  draft: '', scheduled: 'violet', planning: 'accent', running: 'accent', pausing: 'warn', paused: 'warn', cancelling: 'bad', cancelled: '', finished: 'good',
};

/** States in which something goes on by itself. */
export const moving = (state) => ['planning', 'running', 'pausing', 'cancelling'].includes(state);

/** States after which nothing comes. */
export const ended = (state) => ['cancelled', 'finished'].includes(state);

export const outcomes = ['sent', 'blocked', 'failed', 'uncertain', 'skipped'];

/** Recipients that have an outcome. */
export const done = (counts) => outcomes.reduce((sum, o) => sum + counts[o], 0);

export const pill = (state) => h('span', { class: `pill ${tones[state] ?? ''}`, data: { state }, text: t(`state.${state}`) });

/** The title, or how the text begins. */
export function nameOf(broadcast) {
  if (broadcast.title) return broadcast.title;
  const { texts, fallback } = broadcast;
  const text = texts[fallback] ?? Object.values(texts)[0] ?? '';
  const first = text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[*_`>#~]/g, '').trim().split('\n')[0];
  return first.length > 90 ? `${first.slice(0, 88)}…` : first || t('untitled', { id: broadcast.id });
}

/** Whom an audience names, in words. */
export function audienceWords(audience) {
  const parts = [
    audience.messengers?.map((m) => t(m)).join(', '),
    audience.locales?.map(languageInside).join(', '),
    audience.roles?.map((r) => t(`role.${r}`)).join(', '),
    audience.tags?.length && t('audience.tagged', { tags: audience.tags.join(', ') }),
    audience.registered && t('audience.registered.in', { span: spanWords(audience.registered) }),
    audience.seen && t('audience.seen.in', { span: spanWords(audience.seen) }),
    audience.open_ticket !== undefined && audience.open_ticket !== null && t(audience.open_ticket ? 'audience.ticket.yes' : 'audience.ticket.no'),
    audience.customers?.length && count('audience.listed', audience.customers.length),
  ].filter(Boolean);
  return parts.join(' · ') || t('audience.everybody');
}

function spanWords({ from, to }) {
  const day = (at, shift) => when(new Date(new Date(at).getTime() - shift)).replace(/,? \d\d:\d\d$/, '');
  return [from && t('span.from', { day: day(from, 0) }), to && t('span.to', { day: day(to, 1) })].filter(Boolean).join(' ');
}

/** Who made it. */
export function authorWords(by) {
  const [kind, name] = [by.slice(0, by.indexOf(':')), by.slice(by.indexOf(':') + 1)];
  if (kind === 'person') return Number(name) === session()?.person ? t('by.you') : t('by.person', { id: name });
  return t('by.key', { name });
}

export const hoursWords = (hours) => t('hours.words', hours);

export const rateWords = (rate) => (rate ? t('rate.words', { n: number(rate) }) : t('rate.limit'));
