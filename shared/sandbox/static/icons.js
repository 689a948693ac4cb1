// Small pictures, drawn with the colour of the text.

const paths = {
  send: 'M3.4 20.4 21 12 3.4 3.6 3 10l12 2-12 2z',
  attach: 'M8 12.5 14.6 6a3 3 0 0 1 4.3 4.2l-8.4 8.3a5 5 0 0 1-7-7L11 4',
  plus: 'M12 5v14M5 12h14',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  close: 'M6 6l12 12M18 6 6 18',
  back: 'M15 5l-7 7 7 7',
  edit: 'M4 20h4L19 9l-4-4L4 16zM13 7l4 4',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13',
  reply: 'M10 6 4 12l6 6M4 12h9a7 7 0 0 1 7 7',
  file: 'M6 3h8l4 4v14H6zM14 3v4h4',
  photo: 'M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M15 9h.01',
  voice: 'M12 3a3 3 0 0 1 3 3v5a3 3 0 0 1-6 0V6a3 3 0 0 1 3-3zM6 11a6 6 0 0 0 12 0M12 17v4',
  pin: 'M12 21s7-6.2 7-11a7 7 0 0 0-14 0c0 4.800 7 11 7 11zM12 10h.01',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21a8 8 0 0 1 16 0',
  people: 'M9 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM2.500 20a6.500 6.500 0 0 1 13 0M16 4.500a3.500 3.500 0 0 1 0 6.500M18 14a6.500 6.500 0 0 1 3.500 6',
  block: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM5.600 5.600l12.800 12.800',
  link: 'M9 15l6-6M10 6l2-2a4 4 0 0 1 6 6l-2 2M14 18l-2 2a4 4 0 0 1-6-6l2-2',
  play: 'M7 5v14l12-7z',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l5 5',
  inbox: 'M4 13h4l2 3h4l2-3h4M4 13 6 5h12l2 8v6H4z',
  down: 'M6 9l6 6 6-6',
  up: 'M12 19V5M6 11l6-6 6 6',
  lower: 'M12 5v14M6 13l6 6 6-6',
  equal: 'M6 10h12M6 14h12',
  bolt: 'M13 3 5 14h6l-1 7 8-11h-6z',
  clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3 2',
  chat: 'M4 5h16v11H10l-5 4v-4H4z',
};

const solid = new Set(['send', 'play', 'bolt']);

/** Gives a picture that says nothing to screen readers: the button around it does. */
export function icon(name, size = 20) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  for (const [k, v] of Object.entries({ viewBox: '0 0 24 24', width: size, height: size, 'aria-hidden': 'true', class: 'icon' })) {
    svg.setAttribute(k, v);
  }
  path.setAttribute('d', paths[name]);
  path.setAttribute('fill', solid.has(name) ? 'currentColor' : 'none');
  if (!solid.has(name)) {
    for (const [k, v] of Object.entries({ stroke: 'currentColor', 'stroke-width': name === 'more' ? 2.8 : 1.8, 'stroke-linecap': 'round', 'stroke-linejoin': 'round' })) {
      path.setAttribute(k, v);
    }
  }
  svg.append(path);
  return svg;
}
