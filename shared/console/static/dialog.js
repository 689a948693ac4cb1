// Short words at the edge of the page, and questions in a window.

import { busy, fill, h, uid } from './dom.js';
import { t } from './i18n.js';
import { icon } from './icons.js';

const lasting = 6000; // milliseconds

/** Says something in passing, and gives what takes it back. kind: '' or 'bad'. */
export function toast(text, kind = '') {
  const el = h('div', { class: `toast ${kind}` }, h('span', { text }),
    h('button', { class: 'ghost small', type: 'button', 'aria-label': t('close'), on: { click: () => el.remove() } }, icon('close', 16)));
  document.getElementById('toasts').append(el);
  setTimeout(() => el.remove(), lasting);
  return () => el.remove();
}

/**
 * Asks in a window. act() does what was agreed to, while the window waits, and gives
 * false to keep it open; a window without act only answers. Resolves with whether it
 * was done. What act throws is shown by explain in the window.
 */
export function ask({ title, body, agree, decline = t('back'), act = () => true, explain = (e) => e.message, danger = false }) {
  return new Promise((resolve) => {
    const id = uid('dialog');
    const opener = document.activeElement;
    const error = h('p', { class: 'alert bad', role: 'alert', hidden: true });
    const yes = h('button', { type: 'submit', class: `button ${danger ? 'danger' : 'primary'}`, text: agree });
    const no = h('button', { type: 'button', class: 'button', text: decline, on: { click: () => end(false) } });
    const dialog = h('dialog', { class: 'window', 'aria-labelledby': id });
    const end = (done) => {
      if (yes.ariaBusy === 'true' && !done) return; // under way
      dialog.close(); // gives the focus back
      dialog.remove();
      // What is live may have been drawn anew behind the window: to the button that
      // has the same meaning, then.
      if (!opener.isConnected && opener.dataset.act) document.querySelector(`[data-act="${opener.dataset.act}"]`)?.focus();
      resolve(done);
    };
    const submit = (event) => {
      event.preventDefault();
      busy(yes, async () => {
        error.hidden = true;
        try {
          if (await act() !== false) end(true);
        } catch (e) {
          fill(error, explain(e));
          error.hidden = false;
        }
      });
    };
    dialog.append(h('form', { method: 'dialog', noValidate: true, on: { submit } },
      h('h2', { id, text: title }), body, error,
      h('div', { class: 'window-buttons' },
        no, yes)));
    dialog.addEventListener('cancel', (event) => {
      event.preventDefault();
      end(false);
    });
    document.body.append(dialog);
    dialog.showModal();
    const first = dialog.querySelector('input, textarea') ?? (danger ? no : yes);
    first.focus();
    first.select?.();
  });
}
