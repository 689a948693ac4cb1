// How many jobs wait for a person: a badge at the name of their section, on every page.

import { call } from './api.js';
import { fill, h } from './dom.js';
import { number } from './format.js';
import { count } from './i18n.js';
import { poll } from './poll.js';
import { may } from './session.js';

const pace = 60000; // milliseconds between looks: each is a call of a function

const el = h('span', { class: 'badge', hidden: true });
let known = 0; // of them; the API counts as far as it replays at once
let beyond = false; // there are more
let look = null;

/** The badge, in the page's language. */
export function badge() {
  el.hidden = !known;
  return fill(el, h('span', { 'aria-hidden': 'true', text: number(known) + (beyond ? '+' : '') }), h('span', { class: 'visually-hidden', text: `, ${count('jobs.waiting', known)}` }));
}

/** Looks now and then from now on, if whoever has signed in may. */
export function watchWaiting() {
  look?.stop();
  look = may('jobs') ? poll(async () => {
    ({ chosen: known, more: beyond } = await call('POST', 'jobs/replay', { dry_run: true }, { quiet: true }));
    badge();
    return pace;
  }) : null;
}

/** Looks at once: something was done about one. */
export const lookAtWaiting = () => look?.poke();

/** Looks no more. */
export function forgetWaiting() {
  look?.stop();
  look = null;
  known = 0;
}
