// What this browser remembers. Storage may be forbidden or full: then it remembers
// nothing, and the page works all the same.

const over = (storage) => ({
  get(key) {
    try {
      return storage().getItem(key);
    } catch {
      return null;
    }
  },
  set(key, value) {
    try {
      if (value === null) storage().removeItem(key);
      else storage().setItem(key, value);
    } catch { /* not remembered */ }
  },
});

/** Outlives the tab. */
export const kept = over(() => localStorage);

/** Ends with the tab. */
export const tabKept = over(() => sessionStorage);
