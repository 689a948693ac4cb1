// Dead letters: messages that a queue gave up, newest first, once somebody asks for them.

import { call } from '../api.js';
import { busy, fill, h } from '../dom.js';
import { exact, number, when } from '../format.js';
import { t } from '../i18n.js';
import { write } from './query.js';
import { explainJobs, stageWords } from './words.js';

const size = 50; // letters on a page

/** A part that opens. */
export function deadPart() {
  const rows = h('tbody');
  const said = h('p', { class: 'soft' });
  const table = h('table', { hidden: true }, h('caption', { class: 'visually-hidden', text: t('dead.title') }),
    h('thead', null, h('tr', null, ['kept', 'queue', 'job', 'attempts', 'request'].map((name) => h('th', { scope: 'col', text: t(`dead.${name}`) })))), rows);
  const error = h('p', { class: 'alert bad', role: 'alert', hidden: true });
  const more = h('button', { class: 'button small', type: 'button', text: t('list.more'), hidden: true, on: { click: () => busy(more, load) } });
  let next = 0;

  async function load() {
    error.hidden = true;
    try {
      const answer = await call('GET', `dead-letters?${new URLSearchParams({ limit: size, ...(next && { before: next }) })}`);
      next = answer.next ?? 0;
      rows.append(...answer.dead_letters.map(row));
      more.hidden = !next;
      table.hidden = !rows.children.length;
      said.textContent = table.hidden ? t('dead.none') : '';
    } catch (e) {
      said.textContent = '';
      error.textContent = explainJobs(e);
      error.hidden = false;
      more.hidden = false; // to try it again
    }
  }

  const toggle = ({ target }) => {
    if (!target.open) return;
    next = 0;
    fill(rows);
    said.textContent = t('loading');
    busy(more, load);
  };
  return h('details', { class: 'dead', on: { toggle } }, h('summary', { text: t('dead.title') }), h('p', { class: 'soft', text: t('dead.text') }),
    h('div', { class: 'dead-body' }, said, table, error, more));
}

function row(letter) {
  return h('tr', null,
    h('td', null, h('time', { class: 'nowrap', dateTime: letter.kept_at, title: exact(letter.kept_at), text: when(letter.kept_at) })),
    h('td', null, h('code', { text: letter.queue })),
    h('td', { class: 'wrap' }, letter.job ? [h('a', { href: `#/jobs/${letter.job}`, text: t('job.title', { id: letter.job }) }), h('span', { class: 'soft', text: [' ', t(`job.state.${letter.state}`), letter.stage && stageWords(letter.stage)].filter(Boolean).join(' · ') })]
      : letter.body ? [h('span', { text: t('dead.foreign') }), ' ', h('code', { text: letter.body })] : h('span', { class: 'soft', text: t('dead.gone') })),
    h('td', { class: 'nowrap' }, letter.job ? number(letter.attempts) : '—', letter.receives > 0 && h('div', { class: 'soft', text: t('dead.receives', { n: number(letter.receives) }) })),
    h('td', { class: 'wrap' }, letter.request ? h('a', { href: write({ state: 'all', request: letter.request }) }, h('code', { text: letter.request })) : '—'));
}
