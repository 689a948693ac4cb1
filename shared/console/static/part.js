// Parts of the page in folders of their own: they are loaded when somebody opens them.

import { h } from './dom.js';
import { t } from './i18n.js';

const styles = new Map(); // folder -> its style sheet, loading or loaded

/**
 * Gives a module of a folder, once the folder's style sheet is there too: nothing is
 * shown before. The modules of the folder, and of a library's, come all at once, not one
 * import after the other.
 */
export async function part(folder, module, library = folder) {
  if (!styles.has(folder)) styles.set(folder, style(folder, library));
  const [loaded] = await Promise.all([import(`./${folder}/${module}.js`), styles.get(folder)]);
  return loaded;
}

const address = (name) => new URL(name, import.meta.url).href;

function style(folder, library) {
  const modules = document.documentElement.dataset.later.split(' ').filter((name) => [folder, library].includes(name.split('/')[0]));
  document.head.append(...modules.map((name) => h('link', { rel: 'modulepreload', href: address(name) })));
  return new Promise((resolve, reject) => {
    document.head.append(h('link', { rel: 'stylesheet', href: address(`${folder}/${folder}.css`), on: { load: resolve, error: reject } }));
  });
}

/** What is shown where a part could not be loaded. */
export const unloaded = () => h('p', { class: 'alert bad', role: 'alert' }, h('span', { text: t('part.noload') }),
  h('button', { class: 'button small', type: 'button', text: t('part.reload'), on: { click: () => location.reload() } }));
