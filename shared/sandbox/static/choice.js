// What the person chose to look at. It lives in the address, so a reload or a
// shared link shows the same.

const names = new Set(['lang', 'm', 'telegram', 'vk', 'ticket', 'tab', 'queue']);

/** Gives a choice: lang, m (messenger), telegram and vk (chats), ticket, tab, queue. */
export function choice() {
  const query = new URLSearchParams(location.search);
  const values = {};
  for (const name of names) if (query.get(name)) values[name] = query.get(name);
  return {
    get: (name) => values[name] ?? '',
    set(name, value) {
      if ((values[name] ?? '') === (value ?? '')) return;
      if (value) values[name] = value;
      else delete values[name];
      const next = new URLSearchParams(values).toString();
      history.replaceState(null, '', next ? `?${next}` : location.pathname);
    },
  };
}

/** Text that was begun and not sent, by what it is for. */
export const drafts = new Map();

/** Remembers a small thing on this machine. */
export const kept = {
  get(name) {
    try {
      return localStorage.getItem(`sandbox-${name}`) ?? '';
    } catch {
      return '';
    }
  },
  set(name, value) {
    try {
      localStorage.setItem(`sandbox-${name}`, value);
    } catch { /* storage may be forbidden */ }
  },
};
