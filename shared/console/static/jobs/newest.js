// The newest jobs, however many: a call gives so many.

import { call } from '../api.js';
import { questionOf } from './query.js';

const most = 200; // jobs of one call

/** Gives so many of the newest that the filters choose, and where the next begin (0: there are none). */
export async function newest(filters, n, options) {
  const all = [];
  let next = 0;
  do {
    const answer = await call('GET', questionOf(filters, { limit: Math.min(most, n - all.length), ...(next && { before: next }) }), undefined, options);
    all.push(...answer.jobs);
    next = answer.next ?? 0;
  } while (next && all.length < n);
  return { jobs: all, next };
}
