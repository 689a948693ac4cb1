// Who has signed in. The token is kept by this tab alone and goes out in a header of
// its own; a one-time code never stays in the address.

import { authorize, call, Problem } from './api.js';
import { tabKept } from './kept.js';

const key = 'console-session';

let current = null; // {person, roles, expires_at, token}

/** What a person may do here, by role. */
const rights = { watch: ['admin', 'operator'], steer: ['admin', 'operator'], send: ['admin'], jobs: ['admin', 'operator'], charts: ['admin', 'analyst'] };

export const session = () => current;

export const may = (what) => rights[what].some((role) => current?.roles.includes(role));

/** Takes the one-time code out of the address; '' when there is none. */
export function takeCode() {
  const code = codeOf(location.hash);
  if (code) history.replaceState(null, '', `${location.pathname}#/`);
  return code;
}

/** Finds the code in a link, or takes what was pasted for the code itself. */
export const codeOf = (text) => new URLSearchParams(text.slice(text.indexOf('#') + 1)).get('code') ?? '';

/** Opens a session with a one-time code. Throws the Problem when it is not good. */
export async function signIn(code) {
  keep(await call('POST', 'session', { code }, { signed: false }));
}

/** Goes on with the session that this tab has; false when there is none any more. */
export async function restore() {
  const token = tabKept.get(key);
  if (!token) return false;
  authorize(token, null);
  try {
    keep({ ...await call('GET', 'session'), token });
    return true;
  } catch (error) {
    if (!(error instanceof Problem) || ![401, 403].includes(error.status)) throw error;
    forget();
    return false;
  }
}

/** Ends the session, here in any case and there if it can be reached. */
export async function signOut() {
  const gone = call('DELETE', 'session').catch(() => {});
  forget();
  await gone;
}

function keep(next) {
  current = next;
  tabKept.set(key, next.token);
  authorize(next.token);
}

function forget() {
  current = null;
  tabKept.set(key, null);
  authorize('', null);
}
