// Calls of the sandbox's own API.

import { t } from './i18n.js';
import { toast } from './toast.js';

/** Paths are relative to the page. Throws an Error with the server's message. */
export async function call(method, path, body) {
  const options = { method, headers: { 'X-Sandbox': '1' } };
  if (body instanceof FormData) options.body = body;
  else if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers['Content-Type'] = 'application/json';
  }
  let response;
  try {
    response = await fetch(`api/${path}`, options);
  } catch {
    throw new Error(t('unreachable'));
  }
  const answer = await response.json().catch(() => null);
  if (!response.ok) {
    throw Object.assign(new Error(answer?.error?.message ?? `${response.status}`), { status: response.status });
  }
  return answer;
}

let after = () => {};

/** Sets what happens after each action: without a live stream somebody has to look. */
export function afterActions(f) {
  after = f;
}

/** As call, but tells the person what went wrong; gives undefined then. */
export async function act(method, path, body) {
  try {
    return await call(method, path, body);
  } catch (error) {
    toast(error.message, 'bad');
    return undefined;
  } finally {
    after();
  }
}

/** Makes a form of fields and files; empty fields are left out. */
export function formOf(fields, files = []) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && value !== null && value !== '') form.append(name, value);
  }
  for (const file of files) form.append('file', file, file.name);
  return form;
}
