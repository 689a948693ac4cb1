// Reading a chart with the keyboard: arrows go from point to point, what is there is
// shown and said.

import { t } from '../i18n.js';
import { value } from './values.js';

/** said: where it is said; a screen reader speaks what is written there. */
export function readable(canvas, said, chart, { keys, lines }, flat) {
  let at = -1;
  const [ahead, back] = flat ? ['ArrowDown', 'ArrowUp'] : ['ArrowRight', 'ArrowLeft'];

  function show(i) {
    at = i;
    const seen = lines.map((line, n) => ({ line, n })).filter(({ n }) => chart.isDatasetVisible(n));
    const active = i < 0 ? [] : seen.map(({ n }) => ({ datasetIndex: n, index: i }));
    const bar = active.length && chart.getDatasetMeta(active[0].datasetIndex).data[i];
    chart.setActiveElements(active);
    chart.tooltip.setActiveElements(active, { x: bar?.x ?? 0, y: bar?.y ?? 0 });
    chart.update('none');
    said.textContent = i < 0 ? '' : t('charts.point', { name: keys[i].name, value: seen.map(({ line }) => `${line.name} ${value(line.points[i], line.unit)}`).join(', ') });
    if (flat && bar) reveal(canvas, bar.y);
  }

  canvas.addEventListener('keydown', (event) => {
    const to = { [ahead]: Math.min(at + 1, keys.length - 1), [back]: Math.max(at - 1, 0), Home: 0, End: keys.length - 1, Escape: -1 }[event.key];
    if (to === undefined || (event.key === 'Escape' && at < 0)) return;
    event.preventDefault();
    show(to);
  });
  canvas.addEventListener('blur', () => at >= 0 && show(-1));
}

/** Scrolls a chart that is higher than its room. */
function reveal(canvas, y) {
  const room = canvas.closest('.chart-room');
  if (y < room.scrollTop + 20) room.scrollTop = y - 40;
  else if (y > room.scrollTop + room.clientHeight - 20) room.scrollTop = y - room.clientHeight + 40;
}
