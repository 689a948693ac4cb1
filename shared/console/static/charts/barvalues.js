// Values behind bars: with them a chart by category needs no axis.

import { barLabel } from './options.js';
import { value } from './values.js';

/** Gives a plugin of the library. Of a stack it writes the whole. */
export function barValues(plan) {
  return {
    id: 'barValues',
    afterDatasetsDraw(chart) {
      const { ctx } = chart;
      const seen = plan.shaped.lines.map((line, n) => ({ line, bars: chart.getDatasetMeta(n).data, on: chart.isDatasetVisible(n) })).filter((s) => s.on);
      ctx.save();
      ctx.font = `12px ${plan.colours.font}`;
      ctx.fillStyle = plan.colours.ink;
      ctx.textBaseline = 'middle';
      for (const [bar, text] of plan.stacked ? wholes(plan, seen) : singles(plan, seen)) ctx.fillText(text, bar.x + 7, bar.y + 0.5);
      ctx.restore();
    },
  };
}

const singles = (plan, seen) => seen.flatMap(({ line, bars }) => bars.map((bar, i) => [bar, barLabel(line, i, plan)]));

function wholes({ shaped: { keys, lines } }, seen) {
  if (!seen.length) return [];
  return keys.map((_, i) => {
    const sum = seen.reduce((all, { line }) => all + (line.points[i] ?? 0), 0);
    const last = seen.map(({ bars }) => bars[i]).reduce((a, b) => (b.x > a.x ? b : a));
    return [last, value(sum, lines[0].unit)];
  });
}
