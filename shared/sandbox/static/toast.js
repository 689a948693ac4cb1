// Short words at the edge of the page, and questions in a window.

import { h, uid } from './dom.js';
import { t } from './i18n.js';
import { icon } from './icons.js';

const lasting = 5000; // milliseconds

/** Says something in passing. kind: '' or 'bad'. */
export function toast(text, kind = '') {
  const el = h('div', { class: `toast ${kind}` }, h('span', { text }),
    h('button', { class: 'ghost small', type: 'button', 'aria-label': t('close'), on: { click: () => el.remove() } }, icon('close', 16)));
  document.getElementById('toasts').append(el);
  setTimeout(() => el.remove(), lasting);
}

/**
 * Asks in a window. build(close) gives {body, fields()}; resolves with fields()
 * when the person agrees, else with null.
 */
export function ask({ title, body, agree, fields = () => true, danger = false, inform = false }) {
  return new Promise((resolve) => {
    const id = uid('dialog');
    const dialog = h('dialog', { class: 'window', 'aria-labelledby': id });
    const end = (value) => {
      dialog.close(); // gives the focus back
      dialog.remove();
      resolve(value);
    };
    const form = h('form', {
      method: 'dialog',
      on: {
        submit: (event) => {
          event.preventDefault();
          end(fields());
        },
      },
    },
    h('h2', { id, text: title }), body,
    h('div', { class: 'window-buttons' },
      !inform && h('button', { type: 'button', class: 'button', text: t('cancel'), on: { click: () => end(null) } }),
      h('button', { type: 'submit', class: `button ${danger ? 'danger' : 'primary'}`, text: agree })));
    dialog.append(form);
    dialog.addEventListener('cancel', (event) => {
      event.preventDefault();
      end(null);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** A labelled field of a window. */
export function field(label, input) {
  const id = uid('field');
  input.id = id;
  return h('div', { class: 'field' }, h('label', { htmlFor: id, text: label }), input);
}
