// What an answer looks like: a chart, or a table.

import { t } from '../i18n.js';
import { graph } from './graph.js';
import { heatmap, matrix } from './heatmap.js';
import { shift } from './query.js';
import { few, isEmpty, shape } from './shape.js';
import { linesTable, matrixTable } from './table.js';
import { periodName } from './values.js';

/**
 * Gives {el, draw(), stop(), hidden}, or null if there is nothing to show: el is drawn
 * once it is in the page; hidden is how many lines were left out. places: see looks().
 */
export function viewOf(metric, answer, { asTable, places }) {
  const title = `${metric.title}, ${periodName(answer.from, shift(answer.to, -1))}`;
  return metric.chart === 'heatmap' ? heat(answer, { asTable, title }) : lines(answer, { asTable, title, places, kind: metric.chart });
}

function heat(answer, { asTable, title }) {
  const m = matrix(answer);
  if (!m.most) return null;
  return asTable ? still(matrixTable(m, title)) : { ...heatmap(m, { title }), hidden: 0 };
}

function lines(answer, { asTable, title, places, kind }) {
  const whole = shape(answer);
  if (isEmpty(whole)) return null;
  if (asTable) return still(linesTable(whole, title));
  const some = few(whole, (n) => t('charts.rest', { n }));
  return { ...graph(some, { kind, title, places }), hidden: some.hidden };
}

const still = (el) => ({ el, draw() {}, stop() {}, hidden: 0 });
