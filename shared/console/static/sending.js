// What can be done with what was composed: keep it, try it, send it.

import { call, explain, intend, Problem } from './api.js';
import { ask, toast } from './dialog.js';
import { h } from './dom.js';
import { shares } from './estimate.js';
import { clock, number, span, when, zoneName } from './format.js';
import { count, t } from './i18n.js';
import { icon } from './icons.js';
import { contentOf, specOf } from './model.js';
import { watchTest } from './trial.js';

/**
 * The buttons below a composition. it: {form, draft, correct}; wrong(errors) shows
 * what is wrong, fail(error) everything else, refresh() forgets both; forget() drops
 * what the browser keeps.
 */
export function sending({ it, wrong, fail, refresh, forget }) {
  const status = h('p', { class: 'hint save-status', role: 'status' });
  let busy = false;
  let trial = null;

  /** Runs one action at a time, and shows what comes of it. */
  const guarded = (f) => async () => {
    if (busy) return;
    busy = true;
    el.setAttribute('aria-busy', 'true');
    refresh();
    try {
      await f();
    } catch (error) {
      if (error instanceof Problem && error.errors.length) wrong(error.errors);
      else fail(error);
    } finally {
      busy = false;
      el.removeAttribute('aria-busy');
    }
  };

  /** Keeps what is composed as a draft of the platform; undefined when it is not right. */
  async function save() {
    const { spec, errors } = specOf(it.form);
    if (errors.length) {
      wrong(errors);
      return undefined;
    }
    spec.draft = true;
    const saved = it.draft ? await call('PUT', `broadcasts/${it.draft}`, spec) : await intend('create', 'POST', 'broadcasts', spec);
    forget(); // the platform has it now
    if (!it.draft) {
      it.draft = saved.id;
      it.name = `draft-${saved.id}`;
      history.replaceState(null, '', `#/${saved.id}/edit`);
    }
    status.textContent = t('save.done', { clock: clock(Date.now()) });
    return saved;
  }

  const keep = guarded(async () => {
    if (await save()) toast(t('save.toast'));
  });

  const test = guarded(async () => {
    const saved = await save();
    if (!saved) return;
    const sent = await intend(`test-${saved.id}`, 'POST', `broadcasts/${saved.id}/test`);
    trial?.stop();
    trial = watchTest(sent.id);
  });

  const start = guarded(async () => {
    const saved = await save();
    if (!saved) return;
    const people = await call('POST', 'audience/estimate', { kind: saved.kind, audience: saved.audience, ...(saved.rate && { rate: saved.rate }) });
    const done = await ask({ ...question(saved, people), explain, act: () => call('POST', `broadcasts/${saved.id}/start`) });
    if (done) location.hash = `#/${saved.id}`;
  });

  const correct = guarded(async () => {
    const body = { ...contentOf(it.form), ...(it.form.title.trim() && { title: it.form.title.trim() }) };
    await call('POST', 'preview', { kind: it.correct.kind, ...contentOf(it.form) }); // refuses before the question
    const reached = it.correct.counts.sent + it.correct.counts.uncertain;
    let made;
    const done = await ask({
      title: t('correct.ask'), body: h('p', { text: t('correct.text', { people: count('people.got', reached) }) }), agree: t('correct.agree'), explain,
      act: async () => { made = await intend(`correct-${it.correct.id}`, 'POST', `broadcasts/${it.correct.id}/correct`, body); },
    });
    if (!done) return;
    forget();
    location.hash = `#/${made.id}`;
  });

  const button = (name, act) => h('button', { class: 'button', type: 'button', text: t(name), on: { click: act } });
  const send = it.correct ? correct : start;
  const main = h('button', { class: 'button primary', type: 'submit' }, icon('send', 16), h('span', { text: t(it.correct ? 'correct.send' : 'send') }));
  const el = h('section', { class: 'actions', 'aria-label': t('actions') }, main,
    !it.correct && [button('test', test), button('save', keep)], status);
  return { el, send, stop: () => trial?.stop() };
}

/** What a person has to know before it goes out. */
function question(saved, people) {
  const planned = saved.start_at && new Date(saved.start_at) > new Date();
  const n = people.people;
  return {
    title: t(planned ? 'confirm.schedule' : 'confirm.send'),
    agree: n === 0 ? t(planned ? 'confirm.schedule.agree' : 'confirm.nobody.agree') : t(planned ? 'confirm.schedule.people' : 'confirm.send.people', { people: count(planned ? 'people.for' : 'people.to', n) }),
    body: h('div', { class: 'confirm' },
      h('p', { class: 'estimate-number', text: count('people', n) }),
      n > 0 && h('p', { class: 'soft', text: shares(people) }),
      h('dl', { class: 'facts' },
        h('dt', { text: t('confirm.when') }), h('dd', { text: planned ? `${when(saved.start_at)}, ${zoneName(new Date(saved.start_at))}` : t('confirm.now') }),
        n > 0 && [h('dt', { text: t('confirm.takes') }), h('dd', { text: span(people.seconds) })],
        saved.rate > 0 && [h('dt', { text: t('fact.rate') }), h('dd', { text: t('rate.words', { n: number(saved.rate) }) })],
        saved.hours && [h('dt', { text: t('fact.hours') }), h('dd', { text: t('hours.words', saved.hours) })]),
      planned && h('p', { class: 'hint', text: t('confirm.later') }),
      n === 0 && h('p', { class: 'alert warn', text: t('confirm.nobody') })),
  };
}
