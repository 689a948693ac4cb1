// What the page shows, kept in step with the server: by server-sent events, and by
// asking now and then where those do not come through.

import { call } from './api.js';

const asking = 2000; // milliseconds between two looks without a stream
const again = 10000; // until the stream is tried anew
const patience = 2; // failures in a row before the page asks by itself

/** Gives a pane as an update. */
async function whole(path) {
  try {
    return await call('GET', path.split('/').map(encodeURIComponent).join('/'));
  } catch (error) {
    if (error.status === 404) return { pane: path, gone: true };
    throw error;
  }
}

/** Follows panes. onState gets "live", "polling" or "offline". */
export function follow(onState) {
  const slots = new Map(); // name -> {path, head, items, show}
  let source = null;
  let failures = 0;
  let timer = 0;
  let planned = false;

  function apply(update) {
    for (const slot of slots.values()) {
      if (slot.path !== update.pane) continue;
      if (update.whole || update.gone) slot.items.clear();
      if (update.head !== undefined) slot.head = update.head;
      for (const id of update.drop ?? []) slot.items.delete(id);
      for (const entry of update.put ?? []) slot.items.set(entry.id, entry);
      slot.show(update.gone ? null : { head: slot.head, items: [...slot.items.values()] });
    }
  }

  function stop() {
    source?.close();
    source = null;
    clearTimeout(timer);
  }

  function connect() {
    stop();
    const paths = [...new Set([...slots.values()].map((s) => s.path))];
    if (!paths.length || document.hidden) return;
    const query = new URLSearchParams(paths.map((p) => ['pane', p]));
    const mine = new EventSource(`events?${query}`);
    source = mine;
    mine.addEventListener('open', () => {
      failures = 0;
      clearTimeout(timer);
      onState('live');
    });
    mine.addEventListener('message', (event) => apply(JSON.parse(event.data)));
    mine.addEventListener('error', () => {
      failures += 1;
      onState('offline');
      if (mine.readyState === EventSource.CLOSED || failures >= patience) {
        mine.close();
        if (source === mine) {
          source = null;
          look(Date.now() + again);
        }
      }
    });
  }

  /** Asks for all panes until it is time to try the stream again. */
  async function look(until) {
    clearTimeout(timer);
    try {
      for (const { path } of [...slots.values()]) apply(await whole(path));
      onState('polling');
    } catch {
      onState('offline');
    }
    timer = setTimeout(() => (Date.now() < until ? look(until) : connect()), asking);
  }

  document.addEventListener('visibilitychange', () => (document.hidden ? stop() : connect()));

  return {
    /** Shows the pane at path in a slot, or nothing for null. show(pane or null if there is none). */
    set(name, path, show) {
      if (slots.get(name)?.path === path) return;
      if (path === null) slots.delete(name);
      else slots.set(name, { path, head: undefined, items: new Map(), show });
      if (planned) return;
      planned = true;
      queueMicrotask(() => {
        planned = false;
        connect();
      });
    },
    /** Looks at once if nothing tells by itself. */
    poke() {
      if (!source && slots.size) look(Date.now() + again);
    },
    stop() {
      slots.clear();
      stop();
    },
  };
}
