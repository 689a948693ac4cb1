// Files that wait to be sent.

import { fill, h } from './dom.js';
import { size } from './format.js';
import { t } from './i18n.js';
import { icon } from './icons.js';

const most = 10;

/** Makes the row of waiting files. */
export function chips() {
  let list = [];
  const el = h('div', { class: 'chips', hidden: true });

  function draw() {
    el.hidden = !list.length;
    fill(el, list.map((file) => h('span', { class: 'chip' }, icon('file', 16), h('span', { class: 'chip-name', text: file.name }), h('small', { text: size(file.size) }),
      h('button', {
        type: 'button', class: 'ghost small', 'aria-label': t('remove', { name: file.name }), on: {
          click: () => {
            list = list.filter((f) => f !== file);
            draw();
          },
        },
      }, icon('close', 14)))));
  }

  return {
    el, files: () => list,
    add(files) {
      list = [...list, ...files].slice(0, most);
      draw();
    },
    clear() {
      list = [];
      draw();
    },
  };
}

/** Takes files that are dropped on an element or pasted into it. */
export function takeFiles(el, take) {
  el.addEventListener('dragover', (event) => {
    if (![...event.dataTransfer.types].includes('Files')) return;
    event.preventDefault();
    el.classList.add('dropping');
  });
  el.addEventListener('dragleave', () => el.classList.remove('dropping'));
  el.addEventListener('drop', (event) => {
    el.classList.remove('dropping');
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    take([...event.dataTransfer.files]);
  });
  el.addEventListener('paste', (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (!files.length) return;
    event.preventDefault();
    take(files);
  });
}
