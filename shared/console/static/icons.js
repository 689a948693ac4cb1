// Small pictures, drawn with the colour of the text.

const paths = {
  plus: 'M12 5v14M5 12h14',
  close: 'M6 6l12 12M18 6 6 18',
  back: 'M15 5l-7 7 7 7',
  pause: 'M8 5v14M16 5v14',
  play: 'M7 5v14l12-7z',
  stop: 'M6 6h12v12H6z',
  speed: 'M12 13l4-5M4.500 17a9 9 0 1 1 15 0',
  send: 'M4 12 20 4l-4 16-4.500-6.500z',
  edit: 'M4 20h4L19 9l-4-4L4 16zM13 7l4 4',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  repeat: 'M4 11a8 8 0 0 1 14-4l2 2M20 4v5h-5M20 13a8 8 0 0 1-14 4l-2-2M4 20v-5h5',
  out: 'M10 4H5v16h5M14 8l4 4-4 4M18 12H9',
  bold: 'M7 5h6a3.500 3.500 0 0 1 0 7H7zM7 12h7a3.500 3.500 0 0 1 0 7H7z',
  italic: 'M14 5h-4M14 19h-4M14 5l-4 14',
  link: 'M9 15l6-6M10 6l2-2a4 4 0 0 1 6 6l-2 2M14 18l-2 2a4 4 0 0 1-6-6l2-2',
  list: 'M9 6h11M9 12h11M9 18h11M4.500 6h.01M4.500 12h.01M4.500 18h.01',
  warning: 'M12 4 2.500 20h19zM12 10v4M12 17h.01',
  megaphone: 'M4 10v4h3l9 5V5l-9 5zM19.500 9a4 4 0 0 1 0 6',
  check: 'M5 13l4 4L19 7',
  chart: 'M4 4v16h16M8 16v-4M12 16V8M16 16v-6',
  table: 'M4 5h16v14H4zM4 10h16M4 14.500h16M10 10v9',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
};

const solid = new Set(['play', 'stop']);

/** Gives a picture that says nothing to screen readers: the button around it does. */
export function icon(name, size = 18) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  set(svg, { viewBox: '0 0 24 24', width: size, height: size, 'aria-hidden': 'true', class: 'icon' });
  set(path, { d: paths[name], fill: solid.has(name) ? 'currentColor' : 'none' });
  if (!solid.has(name)) {
    set(path, { stroke: 'currentColor', 'stroke-width': 1.8, 'stroke-linecap': 'round', 'stroke-linejoin': 'round' });
  }
  svg.append(path);
  return svg;
}

function set(el, attributes) {
  for (const [name, value] of Object.entries(attributes)) el.setAttribute(name, value);
}
