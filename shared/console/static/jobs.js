// The pages of jobs: all of them, and one. What they are made of is loaded when somebody
// opens them.

import { fill, h } from './dom.js';
import { t } from './i18n.js';
import { icon } from './icons.js';
import { part, unloaded } from './part.js';

/** query: what the address says behind its question mark, undefined for nothing. */
export const jobsPage = (query) => page(t('jobs.title'), 'list', query);

/** Another job is another page: it does not move. */
export function jobPage(id) {
  const back = h('a', { class: 'ghost', href: '#/jobs', 'aria-label': t('jobs.back'), title: t('jobs.back') }, icon('back'));
  return { ...page(t('job.title', { id }), 'job', Number(id), back), move: null };
}

/** The page of a module, whose show(parts, asked) fills its parts and gives {stop()}, with move(asked) if it can. */
function page(name, module, asked, back = null) {
  const title = h('h1', { text: name, tabIndex: -1 });
  const sub = h('p', { class: 'soft jobs-sub' });
  const side = h('div', { class: 'jobs-side' });
  const body = h('div', null, h('p', { class: 'loading', role: 'status', text: t('loading') }));
  let wanted = asked;
  let open = null;
  let left = false;

  part('jobs', module).then(({ show }) => {
    if (!left) open = show({ title, sub, side, body }, wanted);
  }, (error) => {
    console.error(error);
    fill(body, unloaded());
  });
  return {
    title: name, el: h('div', { class: 'jobs' }, h('div', { class: 'head' }, back, h('div', { class: 'head-text' }, title, sub), side), body),
    move(next) {
      wanted = next;
      open?.move(next);
    },
    stop() {
      left = true;
      open?.stop();
    },
  };
}
