// Files below messages, tickets and comments.

import { h } from './dom.js';
import { size } from './format.js';
import { has, t } from './i18n.js';
import { icon } from './icons.js';

/** Shows files: pictures as pictures, sounds with a player, others by name. */
export function files(list) {
  if (!list?.length) return null;
  const pictures = list.filter((f) => f.kind === 'image' && f.url);
  const others = list.filter((f) => !pictures.includes(f));
  return [
    pictures.length > 0 && h('div', { class: `pictures n${Math.min(pictures.length, 4)}` }, pictures.map(picture)),
    others.map(other),
  ];
}

function picture(f) {
  const img = h('img', { src: f.url, alt: f.name || t('photo'), loading: 'lazy' });
  const link = h('a', { class: `picture ${f.what === 'sticker' ? 'sticker' : ''}`, href: f.url, target: '_blank', 'aria-label': t('open.photo', { name: f.name ?? '' }) }, img);
  img.addEventListener('error', () => link.replaceWith(other({ ...f, kind: 'file' })));
  return link;
}

function other(f) {
  const name = f.name || (has(`kind.${f.what}`) ? t(`kind.${f.what}`) : t('file'));
  if (f.kind === 'audio' && f.url) {
    return h('div', { class: 'sound' }, h('span', { class: 'sound-name' }, icon('voice', 16), f.what === 'voice' || f.what === 'audio_message' ? t('kind.voice') : name),
      h('audio', { src: f.url, controls: true, preload: 'metadata', 'aria-label': name }));
  }
  return h('a', { class: 'file', href: f.url || undefined, download: f.name || 'file', 'aria-label': t('download', { name }) },
    h('span', { class: 'file-icon', 'aria-hidden': 'true' }, icon('file')),
    h('span', { class: 'file-text' }, h('span', { class: 'file-name', text: name }), h('small', { text: size(f.size) })));
}
