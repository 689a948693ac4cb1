// What went wrong with a chart, and the way to try it again.

import { Problem } from '../api.js';
import { h } from '../dom.js';
import { t } from '../i18n.js';
import { icon } from '../icons.js';

/** again() is called when the person wants it. */
export function failure(error, again) {
  const [text, detail] = words(error);
  return h('div', { class: 'chart-nothing', role: 'alert' }, icon('warning', 26), h('strong', { text }),
    detail && h('p', { lang: 'en', class: 'soft', text: detail }),
    h('button', { class: 'button small', type: 'button', on: { click: again } }, icon('repeat', 15), h('span', { text: t('charts.again') })));
}

/** What to say in the page's language, and what the API says, where that helps. */
export function words(error) {
  if (!(error instanceof Problem)) return [t('charts.wrong'), error.message];
  if (error.status === 0) return [t('charts.offline')];
  if (error.status === 503) return [t('charts.away'), error.message];
  if (error.status === 504) return [t('charts.slow')];
  if (error.status === 404) return [t('charts.gone')];
  return [t('charts.wrong'), [error.message, ...error.errors.map((e) => e.message)].filter(Boolean).join('; ')];
}

/** A chart without anything in it. */
export const emptiness = () => h('div', { class: 'chart-nothing' }, icon('chart', 26), h('strong', { text: t('charts.empty') }), h('p', { class: 'soft', text: t('charts.empty.text') }));
