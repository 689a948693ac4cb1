// A comment or a change of a ticket.

import { act } from './api.js';
import { area } from './area.js';
import { face, pill } from './badges.js';
import { fill, h } from './dom.js';
import { files } from './files.js';
import { brief, exact, named } from './format.js';
import { has, language, t } from './i18n.js';
import { menu } from './menu.js';
import { rich } from './rich.js';
import { ask } from './toast.js';

/** Makes the element. */
export function entry(e, env) {
  return e.kind === 'comment' ? comment(e, env) : change(e, env);
}

/** Whether a comment goes to the customer. */
export function isReply(text, summonees, env) {
  const word = text.trimStart();
  return word === env.reply || (word.startsWith(env.reply) && /^\s/.test(word.slice(env.reply.length))) || (summonees ?? []).includes(env.catalogue.robot);
}

function comment(e, env) {
  const reply = !e.robot && isReply(e.source ?? '', e.summonees, env);
  const text = h('div', { class: 'rich', dir: 'auto' }, rich(e.text), files(e.files));
  const el = h('article', { class: `entry comment${e.robot ? ' robot' : ''}${reply ? ' reply' : ''}`, data: { id: e.id }, 'aria-label': `${t('comment.write')}: ${e.name}` },
    face(e.name),
    h('div', { class: 'entry-body' },
      h('header', null, h('strong', { text: e.name }), e.robot && h('span', { class: 'tag', text: t('robot') }), reply && h('span', { class: 'tag accent', text: t('sent.customer') }),
        h('time', { dateTime: e.at, title: exact(e.at), text: brief(e.at) }), e.edited && h('small', { class: 'soft', text: t('edited') }),
        !e.robot && menu({ label: t('comment.menu'), className: 'ghost small', size: 16, actions: () => actions(e, env, text) })),
      text));
  return el;
}

function actions(e, env, text) {
  return [
    { label: t('edit'), icon: 'edit', run: () => rewrite(e, env, text) },
    {
      label: t('delete'), icon: 'trash', danger: true, run: async () => {
        if (!await ask({ title: t('comment.delete'), body: h('p', { text: t('comment.delete.hint') }), agree: t('delete'), danger: true })) return;
        await act('DELETE', `${env.path()}/comments/${e.comment}?as=${encodeURIComponent(env.as())}`);
      },
    },
  ];
}

function rewrite(e, env, text) {
  const before = [...text.childNodes];
  const input = area({ label: t('comment.write'), onSubmit: save, byControl: true, rows: 3 });

  function leave() {
    fill(text, before);
  }

  async function save() {
    if (await act('PATCH', `${env.path()}/comments/${e.comment}`, { as: env.as(), text: input.value })) leave();
  }

  fill(text, h('div', { class: 'rewrite' }, input.el, h('div', { class: 'window-buttons' },
    h('button', { type: 'button', class: 'button small', text: t('cancel'), on: { click: leave } }),
    h('button', { type: 'button', class: 'button small primary', text: t('save'), on: { click: save } }))));
  input.set(e.source);
  input.focus();
}

const silent = new Set(['previousStatus', 'statusStartTime', 'statusType', 'resolvedAt', 'resolvedBy', 'followers', 'previousQueue', 'updatedAt', 'updatedBy', 'lastCommentUpdatedAt', 'createdAt', 'createdBy', 'description', 'unique']);

function change(e, env) {
  const c = e.change;
  const label = has(`change.${c.kind}`) ? t(`change.${c.kind}`) : c.kind;
  return h('article', { class: 'entry change', data: { id: e.id } }, face(e.name),
    h('div', { class: 'entry-body' },
      h('header', null, h('strong', { text: e.name }), h('span', { text: label }), h('time', { dateTime: e.at, title: exact(e.at), text: brief(e.at) })),
      h('ul', { class: 'steps-taken' },
        (c.fields ?? []).filter((f) => !silent.has(f.key)).map((f) => h('li', null, h('span', { class: 'soft', text: `${has(`field.${f.key}`) ? t(`field.${f.key}`) : f[language()]}: ` }),
          f.from && [value(f.key, f.from, env.catalogue), ' → '], f.to ? value(f.key, f.to, env.catalogue) : h('span', { class: 'soft', text: t('empty') }))),
        c.added && c.kind !== 'IssueCommentAdded' && h('li', { text: t('change.comments', { n: c.added }) }),
        c.files && h('li', { text: t('change.files', { names: c.files.join(', ') }) }),
        c.triggers && h('li', { class: 'soft', text: t('change.triggers', { n: c.triggers }) }))));
}

function value(key, text, catalogue) {
  const of = { priority: catalogue.priorities, type: catalogue.types, resolution: catalogue.resolutions }[key];
  if (key === 'status') return pill(text, catalogue);
  if (of) return named(of.find((x) => x.key === text)) || text;
  if (key === 'assignee') return catalogue.agents.find((a) => a.login === text)?.name ?? text;
  return text;
}
