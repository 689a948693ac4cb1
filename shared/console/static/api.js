// Calls of /v1.

import { t } from './i18n.js';

/** What the API refused, as in RFC 9457. errors: [{pointer, code, message}]. */
export class Problem extends Error {
  constructor(status, body) {
    super(body?.detail ?? '');
    this.status = status; // 0: nobody answered
    this.errors = body?.errors ?? [];
  }
}

let token = '';
let renew = null;

/** Sets what calls are signed with, and what brings a new sign-in when it has ended. */
export function authorize(next, renewal = renew) {
  token = next;
  renew = renewal;
}

/**
 * Makes a call and gives the JSON of its answer. When the session has ended the call
 * waits for the person to sign in again, and is made once more. options: key, the
 * Idempotency-Key; signed: false for calls before the sign-in; signal, which cancels
 * it: then it throws the signal's reason; file: true gives the answer as a Blob; quiet:
 * true for calls that nobody waits for: they ask for no sign-in.
 */
export async function call(method, path, body, options = {}) {
  const { signed = true, signal, file, quiet } = options;
  const used = token;
  const response = await send(method, path, body, options, signed && used);
  try {
    if (response.ok) return await contents(response, file);
    const answer = await response.json().catch(() => null);
    if (response.status !== 401 || !signed || quiet || !renew) throw new Problem(response.status, answer);
  } catch (error) {
    throw lost(error, signal);
  }
  if (token === used) await renew();
  return call(method, path, body, options);
}

function contents(response, file) {
  if (file) return response.blob();
  return response.status === 204 ? null : response.json();
}

async function send(method, path, body, { key, signal }, session) {
  const headers = {};
  if (session) headers['X-Session'] = session;
  if (key) headers['Idempotency-Key'] = key;
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  try {
    return await fetch(`/v1/${path}`, {
      method, headers, body: body === undefined ? undefined : JSON.stringify(body), credentials: 'omit', cache: 'no-store', redirect: 'error', signal,
    });
  } catch (error) {
    throw lost(error, signal);
  }
}

/** What to throw when an answer did not come, or not whole. */
const lost = (error, signal) => (signal?.aborted ? signal.reason : error instanceof Problem ? error : new Problem(0, null));

/**
 * Gives what a path says now, and each time that it changes where the server tells it
 * by itself.
 */
export async function* events(path, signal) {
  const response = await fetch(`/v1/${path}`, {
    headers: { 'X-Session': token, Accept: 'text/event-stream' }, credentials: 'omit', cache: 'no-store', redirect: 'error', signal,
  });
  if (!response.ok) return;
  if (!response.headers.get('Content-Type')?.startsWith('text/event-stream')) {
    yield await response.json();
    return;
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const lines = (text + part.value).split('\n');
    text = lines.pop();
    for (const line of lines) if (line.startsWith('data: ')) yield JSON.parse(line.slice(6));
  }
}

const intentions = new Map(); // name -> {body, key}

/**
 * Makes a call that must not happen twice. What the person wants has one key, kept
 * until there is an answer: after a failure of the network the same call is repeated
 * under the same key, and makes nothing new.
 */
export async function intend(name, method, path, body = {}) {
  const wanted = JSON.stringify(body);
  let it = intentions.get(name);
  if (it?.wanted !== wanted) {
    it = { wanted, key: crypto.randomUUID?.() ?? random() };
    intentions.set(name, it);
  }
  try {
    const answer = await call(method, path, body, { key: it.key });
    intentions.delete(name);
    return answer;
  } catch (error) {
    const unanswered = error.status === 0 || error.status >= 500;
    if (!unanswered) intentions.delete(name);
    throw error;
  }
}

// Without https the browser has no randomUUID.
const random = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, '0')).join('');

/** Says in the page's language what went wrong. */
export function explain(error) {
  if (!(error instanceof Problem)) return error.message;
  if (error.status === 0) return t('problem.offline');
  if (error.status >= 500) return t('problem.away');
  return t({ 403: 'problem.forbidden', 404: 'problem.missing', 409: 'problem.state', 422: 'problem.fields', 413: 'problem.large', 429: 'problem.crowded' }[error.status] ?? 'problem.other', { detail: error.message });
}
