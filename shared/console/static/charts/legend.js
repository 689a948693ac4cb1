// Which line is which; each can be put aside.

import { h } from '../dom.js';
import { t } from '../i18n.js';
import { filling } from './palette.js';

const [width, height] = [24, 12]; // px

/** looks: as palette.js gives them; toggle(i, on) is called when a line is put aside or back. */
export function legend(lines, looks, { type, colours, toggle }) {
  return h('div', { class: 'legend', role: 'group', 'aria-label': t('charts.legend') }, lines.map((line, i) => h('button', {
    class: 'legend-item', type: 'button', 'aria-pressed': 'true', title: t('charts.legend.hint'),
    on: {
      click: ({ currentTarget: button }) => {
        const on = button.getAttribute('aria-pressed') !== 'true';
        button.setAttribute('aria-pressed', String(on));
        toggle(i, on);
      },
    },
  }, swatch(looks[i], type, colours), h('span', { text: line.name }))));
}

/** A piece of the line, or of the bar. */
function swatch(look, type, colours) {
  const scale = Math.max(1, Math.round(devicePixelRatio));
  const canvas = h('canvas', { class: 'swatch', width: width * scale, height: height * scale, 'aria-hidden': 'true' });
  const pen = canvas.getContext('2d');
  pen.scale(scale, scale);
  if (type === 'bar') {
    pen.fillStyle = filling(look, colours.panel);
    pen.fillRect(5, 0, 14, height);
    return canvas;
  }
  pen.strokeStyle = look.colour;
  pen.fillStyle = look.colour;
  pen.lineWidth = 2;
  pen.setLineDash(look.dash);
  pen.beginPath();
  pen.moveTo(0, height / 2);
  pen.lineTo(width, height / 2);
  pen.stroke();
  pen.setLineDash([]);
  mark(pen, look.mark);
  return canvas;
}

function mark(pen, style) {
  const [x, y, r] = [width / 2, height / 2, 3.5];
  pen.beginPath();
  if (style === 'rect' || style === 'rectRounded') pen.rect(x - r, y - r, 2 * r, 2 * r);
  else if (style === 'triangle') poly(pen, [[x, y - r - 1], [x + r + 1, y + r], [x - r - 1, y + r]]);
  else if (style === 'rectRot') poly(pen, [[x, y - r - 1], [x + r + 1, y], [x, y + r + 1], [x - r - 1, y]]);
  else if (style === 'circle') pen.arc(x, y, r, 0, 2 * Math.PI);
  else {
    const tilt = style === 'cross' ? [] : [[-r, -r, r, r], [-r, r, r, -r]];
    const upright = style === 'crossRot' ? [] : [[0, -r - 1, 0, r + 1], [-r - 1, 0, r + 1, 0]];
    for (const [a, b, c, d] of [...tilt, ...upright]) {
      pen.moveTo(x + a, y + b);
      pen.lineTo(x + c, y + d);
    }
    pen.stroke();
    return;
  }
  pen.fill();
}

function poly(pen, points) {
  for (const [x, y] of points) pen.lineTo(x, y);
  pen.closePath();
}
