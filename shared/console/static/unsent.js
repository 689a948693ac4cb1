// What was typed and not sent. It outlives the page, but for the ids of customers, which
// are not for whoever uses this browser next. That there were some is remembered
// (audience.lost): without them the message would go to everybody.

import { kept } from './kept.js';

const memory = new Map(); // name -> form
const key = (name) => `console-unsent-${name}`;

/** Gives what was typed under a name; null for nothing. */
export function unsent(name) {
  if (memory.has(name)) return structuredClone(memory.get(name));
  try {
    return JSON.parse(kept.get(key(name)));
  } catch {
    return null;
  }
}

export function keepUnsent(name, form) {
  memory.set(name, structuredClone(form));
  const { customers, ...audience } = form.audience;
  const lost = Boolean(audience.lost || customers.trim());
  kept.set(key(name), JSON.stringify({ ...form, audience: { ...audience, customers: '', ...(lost && { lost }) } }));
}

export function dropUnsent(name) {
  memory.delete(name);
  kept.set(key(name), null);
}
