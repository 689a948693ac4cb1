// The way in: a page for whoever comes without a session, and a window over the page
// for whoever's session has ended, so that nothing typed is lost.

import { Problem, explain } from './api.js';
import { ask } from './dialog.js';
import { busy, h, uid } from './dom.js';
import { t } from './i18n.js';
import { icon } from './icons.js';
import { codeOf, signIn } from './session.js';

/** Says why a sign-in failed. */
export const whyNot = (error) => (error instanceof Problem && [401, 422].includes(error.status) ? t('signin.used') : explain(error));

/** The field for a link that was opened elsewhere. */
function linkField() {
  const id = uid('link');
  const input = h('input', { id, type: 'text', autocomplete: 'off', spellcheck: false, placeholder: t('signin.placeholder') });
  const el = h('div', { class: 'field' }, h('label', { htmlFor: id, text: t('signin.paste') }), input);
  return { el, input, code: () => codeOf(input.value.trim()) };
}

/** Signs in with the code of a link that was pasted. */
function enterBy(code) {
  if (!code) throw new Error(t('signin.nocode'));
  return signIn(code);
}

const steps = () => h('ol', { class: 'steps' }, [1, 2, 3].map((n) => h('li', { text: t(`signin.step${n}`) })));

/** The page of those without a session. why: what went wrong before, '' if nothing. */
export function signInPage(why, done) {
  const link = linkField();
  const error = h('p', { class: 'alert bad', role: 'alert', text: why, hidden: !why });
  const button = h('button', { class: 'button primary', type: 'submit', text: t('signin.enter') });
  const submit = (event) => {
    event.preventDefault();
    error.hidden = true;
    return busy(button, async () => {
      try {
        await enterBy(link.code());
        done();
      } catch (e) {
        error.textContent = whyNot(e);
        error.hidden = false;
        link.input.focus();
      }
    });
  };
  return h('main', { id: 'main', class: 'gate', tabIndex: -1 }, h('div', { class: 'card gate-card' },
    h('span', { class: 'logo' }, icon('megaphone', 26)),
    h('h1', { text: t('signin.title') }), error, steps(),
    h('form', { class: 'gate-form', on: { submit } }, link.el, button)));
}

let asking = null;

/** Asks for a new sign-in in a window. Resolves when there is one; gives up with leave(). */
export function renewal(leave) {
  return () => {
    if (asking) return asking;
    const link = linkField();
    asking = ask({
      title: t('signin.ended'), agree: t('signin.enter'), decline: t('signin.leave'), explain: whyNot,
      body: h('div', { class: 'renew' }, h('p', { text: t('signin.nothinglost') }), steps(), link.el),
      act: () => enterBy(link.code()),
    }).then((done) => {
      asking = null;
      if (!done) leave();
      return done || new Promise(() => {}); // the page is gone: its calls go nowhere
    });
    return asking;
  };
}
