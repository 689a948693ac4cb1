// Hearing at once what changes, where the server tells it by itself: the local run does.
// A function of the cloud answers once; then the page has to look (poll.js).

import { events } from './api.js';

/**
 * Calls take() with what a path says, while somebody looks at the page. Gives
 * {alive(), stop()}; alive: what changes is heard of.
 */
export function follow(path, take) {
  let open = null;
  let stopped = false;
  let heard = 0;

  async function run() {
    open?.abort();
    if (stopped || document.hidden) return;
    const mine = new AbortController();
    open = mine;
    heard = 0;
    try {
      for await (const said of events(path, mine.signal)) {
        heard += 1;
        await take(said);
      }
    } catch { /* whoever polls tells of it */ }
    if (open === mine) open = null;
  }

  document.addEventListener('visibilitychange', run);
  run();
  return {
    alive: () => open !== null && heard > 0,
    stop() {
      stopped = true;
      open?.abort();
      document.removeEventListener('visibilitychange', run);
    },
  };
}
