// The frame: signs in, shows the page that the address names, and the bar above it.

import { authorize, explain } from './api.js';
import { toast } from './dialog.js';
import { broadcastPage } from './broadcast.js';
import { chartsPage } from './charts.js';
import { composePage } from './compose.js';
import { fill, h } from './dom.js';
import { language, setLanguage, t } from './i18n.js';
import { icon } from './icons.js';
import { jobPage, jobsPage } from './jobs.js';
import { listPage } from './list.js';
import { may, restore, session, signIn, signOut, takeCode } from './session.js';
import { renewal, signInPage, whyNot } from './signin.js';
import { badge, forgetWaiting, watchWaiting } from './waiting.js';

const root = document.getElementById('app');
let shown = null; // the page: {title, el, stop()}, with move(...) if it can show another address itself

/** What addresses show; a page is made of the parts in brackets. */
const routes = [
  [/^$/, 'watch', () => listPage()],
  [/^new$/, 'send', () => composePage({})],
  [/^new\/from\/(\d+)$/, 'send', (id) => composePage({ from: Number(id) })],
  [/^(\d+)$/, 'watch', (id) => broadcastPage(Number(id))],
  [/^(\d+)\/edit$/, 'send', (id) => composePage({ draft: Number(id) })],
  [/^(\d+)\/correct$/, 'send', (id) => composePage({ correct: Number(id) })],
  [/^jobs(?:\?(.*))?$/, 'jobs', jobsPage],
  [/^jobs\/(\d+)$/, 'jobs', jobPage],
  [/^charts(?:\?(.*))?$/, 'charts', (query) => chartsPage(query)],
];

/** What the bar leads to. */
const sections = [['watch', ''], ['jobs', 'jobs'], ['charts', 'charts']];

/** The page that the address names: how it is made, of what, and the right to it. */
function wanted() {
  const path = location.hash.replace(/^#\/?/, '') || home();
  const [pattern, right, make] = routes.find(([p]) => p.test(path)) ?? [/.*/, home() ? 'charts' : 'watch', missing];
  return { make, right, parts: pattern.exec(path).slice(1) };
}

/** What is shown where the address says nothing. */
const home = () => (may('watch') || !may('charts') ? '' : 'charts');

/** Shows the page of the address. moved: the person went there, so the focus goes too. */
function show(moved) {
  shown?.stop?.();
  shown = null;
  document.documentElement.lang = language();
  if (!session()) {
    gate('');
    return;
  }
  const { make, right, parts } = wanted();
  const page = may(right) ? make(...parts) : { title: t('noaccess'), el: nothing(t('noaccess'), t(`noaccess.${right}`)) };
  shown = { make, ...page };
  document.title = `${page.title} · ${t('title')}`;
  fill(root, skipLink(), bar(right), h('main', { id: 'main', class: 'page', tabIndex: -1 }, page.el));
  window.scrollTo(0, 0);
  if (moved) root.querySelector('h1')?.focus({ preventScroll: true });
}

const missing = () => ({ title: t('nopage'), el: nothing(t('nopage'), t('nopage.text')) });

const nothing = (title, text) => h('div', { class: 'nothing' }, icon('megaphone', 40), h('h1', { text: title, tabIndex: -1 }), h('p', { text }));

function gate(why) {
  document.title = t('signin.title');
  fill(root, bar(), signInPage(why, () => enter(true)));
}

/** Shows what a person sees who has just signed in. */
function enter(moved) {
  authorize(session().token, renewal(() => leave()));
  watchWaiting();
  show(moved);
}

async function leave() {
  await signOut();
  forgetWaiting();
  shown?.stop?.();
  shown = null;
  history.replaceState(null, '', '#/');
  gate('');
}

function skipLink() {
  const jump = (event) => { // an address of its own would be a page
    event.preventDefault();
    document.getElementById('main').focus();
  };
  return h('a', { class: 'skip', href: '#main', text: t('skip'), on: { click: jump } });
}

/** Shows another address: the page itself, if it can, so that nothing of it is lost. */
function visit() {
  const { make, parts } = wanted();
  if (shown?.move && shown.make === make) shown.move(...parts);
  else show(true);
}

/** The way from one section to another, for those who may see more than one. */
function sectionLinks(right) {
  const open = sections.filter(([name]) => may(name));
  const here = open.some(([name]) => name === right) ? right : 'watch';
  return open.length > 1 && h('nav', { class: 'sections', 'aria-label': t('sections') }, open.map(([name, path]) => h('a', {
    href: `#/${path}`, class: 'section', 'aria-current': name === here && 'page', text: t(`section.${name}`),
  }, name === 'jobs' && badge())));
}

function bar(right = '') {
  const next = language() === 'ru' ? 'en' : 'ru';
  const change = () => {
    setLanguage(next);
    show(false);
    root.querySelector('.language').focus();
  };
  return h('header', { class: 'bar' }, h('div', { class: 'bar-inside' },
    h('a', { class: 'bar-title', href: '#/' }, h('span', { class: 'logo' }, icon('megaphone', 18)), h('span', { text: t('title') })),
    session() && sectionLinks(right),
    session() && h('span', { class: 'tag role wide-only', text: session().roles.map((r) => t(`role.${r}`)).join(', ') }),
    h('button', { class: 'button small language', type: 'button', lang: next, 'aria-label': t('language.label'), on: { click: change } },
      h('span', { class: 'wide-only', text: t('language') }), h('span', { class: 'narrow-only', text: next.toUpperCase() })),
    session() && h('button', { class: 'button small', type: 'button', title: t('signout'), on: { click: leave } }, icon('out', 16), h('span', { class: 'wide-only', text: t('signout') }))));
}

async function start() {
  const code = takeCode();
  document.documentElement.lang = language();
  try {
    if (code) await signIn(code);
    else if (!await restore()) return gate('');
  } catch (error) {
    return gate(code ? whyNot(error) : explain(error));
  }
  return enter(false);
}

window.addEventListener('hashchange', async () => {
  const code = takeCode();
  if (!code) return visit();
  try { // a link opened in this very tab
    await signIn(code);
  } catch (error) {
    if (!session()) return gate(whyNot(error));
    toast(whyNot(error), 'bad');
  }
  return enter(true);
});

start();
