// A text field that grows with its text. Enter sends where there is a keyboard;
// Shift+Enter makes a line. With byControl only Ctrl+Enter (or Cmd) sends.

import { h } from './dom.js';

export function area({ label, placeholder = label, onSubmit, onInput, byControl = false, rows = 1 }) {
  const el = h('textarea', { rows, placeholder, 'aria-label': label, spellcheck: true, autocomplete: 'off', enterKeyHint: byControl ? 'enter' : 'send' });
  const coarse = matchMedia('(pointer: coarse)');

  function grow() {
    el.style.setProperty('height', 'auto');
    if (el.value) el.style.setProperty('height', `${el.scrollHeight + 2}px`);
  }

  el.addEventListener('input', () => {
    grow();
    onInput?.();
  });
  el.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.isComposing || event.shiftKey) return;
    const control = event.ctrlKey || event.metaKey;
    if (!control && (byControl || coarse.matches)) return;
    event.preventDefault();
    onSubmit();
  });
  return {
    el, focus: () => el.focus(),
    get value() {
      return el.value;
    },
    set(value) {
      el.value = value ?? '';
      grow();
    },
  };
}
