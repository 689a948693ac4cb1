// Looking again and again, but not while nobody looks at the page.

/**
 * Calls look() now and then as often as its answer says: milliseconds until the next
 * look, 0 for never. A failed look is repeated, each time later. Gives
 * {stop(), poke()}: poke looks at once.
 */
export function poll(look) {
  let timer = 0;
  let stopped = false;
  let failures = 0;
  let running = false;
  let again = false;

  async function run() {
    clearTimeout(timer);
    if (stopped || document.hidden) return;
    if (running) {
      again = true;
      return;
    }
    running = true;
    let wait;
    try {
      wait = await look();
      failures = 0;
    } catch {
      failures += 1;
      wait = Math.min(1000 * 2 ** failures, 30000);
    }
    running = false;
    if (again) {
      again = false;
      wait = 1;
    }
    if (!stopped && wait > 0) timer = setTimeout(run, wait);
  }

  document.addEventListener('visibilitychange', run);
  run();
  return {
    poke: run,
    stop() {
      stopped = true;
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', run);
    },
  };
}
