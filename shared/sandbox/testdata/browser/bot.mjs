// The bot's and the robot's side: calls of the stand-ins' APIs, as the platform
// makes them.

/** env holds the addresses and tokens. */
export function bot(env) {
  async function telegram(method, params = {}) {
    const response = await fetch(`${env.TELEGRAM_API_URL}/bot${env.TELEGRAM_TOKEN}/${method}`, {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(params),
    });
    const answer = await response.json();
    if (!answer.ok) throw new Error(`${method}: ${answer.description}`);
    return answer.result;
  }

  async function vk(method, params = {}) {
    const body = new URLSearchParams({ ...params, access_token: env.VK_TOKEN, v: '5.199' });
    const answer = await (await fetch(`${env.VK_API_URL}/method/${method}`, { method: 'POST', body })).json();
    if (answer.error) throw new Error(`${method}: ${answer.error.error_msg}`);
    return answer.response;
  }

  async function tracker(method, path, body) {
    const headers = { Authorization: `OAuth ${env.TRACKER_TOKEN}`, 'X-Org-ID': env.TRACKER_ORG_ID };
    const form = body instanceof FormData;
    if (body && !form) headers['Content-Type'] = 'application/json';
    const response = await fetch(`${env.TRACKER_API_URL}/v3/${path}`, { method, headers, body: form ? body : body && JSON.stringify(body) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.status === 204 ? null : response.json();
  }

  let offset = 0;
  /** Waits for the next update of a kind. */
  async function update(kind) {
    for (let n = 0; n < 20; n += 1) {
      for (const u of await telegram('getUpdates', { offset, timeout: 5 })) {
        offset = u.update_id + 1;
        if (u[kind]) return u[kind];
      }
    }
    throw new Error(`no ${kind} came`);
  }

  let poll = null;
  /** Waits for VK's next event of a kind. */
  async function event(kind) {
    if (!poll) {
      await vk('groups.setLongPollSettings', { group_id: env.VK_GROUP_ID, enabled: 1, message_new: 1, message_event: 1 });
      poll = await vk('groups.getLongPollServer', { group_id: env.VK_GROUP_ID });
      if (!kind) return null;
    }
    for (let n = 0; n < 20; n += 1) {
      const query = new URLSearchParams({ act: 'a_check', key: poll.key, ts: poll.ts, wait: 5 });
      const answer = await (await fetch(`${poll.server}?${query}`)).json();
      poll.ts = answer.ts;
      const found = (answer.updates ?? []).find((u) => u.type === kind);
      if (found) return found.object;
    }
    throw new Error(`no ${kind} came`);
  }

  /** Makes a ticket as the platform does, with the customer's fields. */
  async function ticket({ queue = 'SUP', fields = {}, ...issue }) {
    const ids = Object.fromEntries((await tracker('GET', `queues/${queue}/localFields`)).map((f) => [f.key, f.id]));
    for (const [key, value] of Object.entries(fields)) issue[ids[key]] = value;
    return tracker('POST', 'issues/', { queue: { key: queue }, ...issue });
  }

  async function upload(name, blob) {
    const form = new FormData();
    form.append('file', blob, name);
    return (await tracker('POST', `attachments/?filename=${encodeURIComponent(name)}`, form)).id;
  }

  return { telegram, vk, tracker, update, event, ticket, upload };
}
