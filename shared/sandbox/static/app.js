// The frame: a bar, the phone, the tracker and the fold below them.

import { afterActions, call } from './api.js';
import { choice } from './choice.js';
import { desk } from './desk.js';
import { fill, h } from './dom.js';
import { language, setLanguage, t } from './i18n.js';
import { follow } from './live.js';
import { phone } from './phone.js';
import { tablist } from './tabs.js';
import { wires } from './wires.js';

const root = document.getElementById('app');
const chosen = choice();
let live = null;

/** Builds the page; again when the language changes. */
async function show() {
  live?.stop();
  document.documentElement.lang = language();
  document.title = t('title');
  const dot = h('span', { class: 'connection', role: 'status', data: { state: 'connecting' } });
  const tell = (state) => {
    dot.dataset.state = state;
    fill(dot, h('span', { class: 'dot' }), h('span', { text: t(state) }));
  };
  tell('connecting');
  live = follow(tell);
  afterActions(() => live.poke());

  let state;
  try {
    state = await call('GET', 'state');
  } catch (error) {
    fill(root, h('p', { class: 'broken', role: 'alert', text: error.message }));
    setTimeout(show, 2000);
    return;
  }
  const page = { state, live, chosen };
  const main = h('main', { id: 'main', class: 'panes', tabIndex: -1 });
  const fold = wires(page);
  const sections = [['phone', phone(page)], ['desk', desk(page)], ['wires', fold]];
  const tabs = tablist({
    label: t('sections'), className: 'sections', selected: chosen.get('tab') || 'phone',
    tabs: sections.map(([id]) => ({ id, label: t(`tab.${id}`) })),
    onSelect: (id) => {
      main.dataset.tab = id;
      chosen.set('tab', id === 'phone' ? '' : id);
      if (id === 'wires') fold.open = true;
    },
  });
  main.dataset.tab = chosen.get('tab') || 'phone';
  for (const [id, el] of sections) {
    el.dataset.section = id;
    main.append(el);
  }
  fill(root, h('a', { class: 'skip', href: '#main', text: t('skip') }), bar(dot, tabs.el, subtitle(state)), main);
}

/** Says what runs here, and what is not of the sandbox. */
function subtitle(state) {
  const here = [...state.messengers.map((m) => m.id), ...(state.tracker ? ['tracker'] : [])];
  const real = ['telegram', 'vk', 'tracker'].filter((id) => !here.includes(id));
  return real.length ? t('subtitle.real', { names: real.map((id) => t(id)).join(', ') }) : t('subtitle');
}

function bar(dot, tabs, text) {
  const next = language() === 'ru' ? 'en' : 'ru';
  return h('header', { class: 'bar' },
    h('img', { src: 'icon.svg', alt: '', width: 30, height: 30 }),
    h('div', { class: 'bar-title' }, h('h1', { text: t('title') }), h('p', { text })),
    tabs, dot,
    h('button', {
      class: 'button language', type: 'button', lang: next, 'aria-label': t('language.label'), text: t('language'),
      on: {
        click: () => {
          setLanguage(next);
          chosen.set('lang', next);
          show();
        },
      },
    }));
}

show();

