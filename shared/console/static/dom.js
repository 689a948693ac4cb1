// Elements. Data only ever becomes text or an attribute.

/**
 * Makes an element. props: class, on (listeners), data, style (properties), text,
 * anything else is a property where the element has one, else an attribute;
 * null, undefined and false leave it out. Children may be arrays, strings, null.
 */
export function h(tag, props, ...children) {
  const el = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'class') el.className = value;
    else if (name === 'on') for (const [type, f] of Object.entries(value)) el.addEventListener(type, f);
    else if (name === 'data') Object.assign(el.dataset, value);
    else if (name === 'style') for (const [k, v] of Object.entries(value)) el.style.setProperty(k, v);
    else if (name === 'text') el.textContent = value;
    else if (!name.includes('-') && name in el && name !== 'list' && name !== 'form') el[name] = value;
    else el.setAttribute(name, value === true ? '' : value);
  }
  append(el, children);
  return el;
}

function append(el, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) el.append(child);
  }
}

/** Replaces what is inside. */
export function fill(el, ...children) {
  el.replaceChildren();
  append(el, children);
  return el;
}

let ids = 0;

/** Gives an id for labels and the like. */
export function uid(prefix) {
  ids += 1;
  return `${prefix}-${ids}`;
}

/** Calls f once nothing has asked for it for a while; stop() forgets it. */
export function later(f, milliseconds) {
  let timer = 0;
  const ask = () => {
    clearTimeout(timer);
    timer = setTimeout(f, milliseconds);
  };
  return Object.assign(ask, { stop: () => clearTimeout(timer) });
}

/** Draws a part anew, and leaves the focus on the button that has the same meaning, or near. */
export function keepFocus(part, redraw) {
  const had = part.contains(document.activeElement) ? document.activeElement.dataset.act : undefined;
  redraw();
  if (had !== undefined) (part.querySelector(`[data-act="${had}"]`) ?? part.querySelector('button, a'))?.focus();
}

/**
 * Does what a button is for, once at a time. It is not disabled meanwhile: that would
 * take the focus away from it.
 */
export async function busy(button, act) {
  if (button.ariaBusy === 'true') return;
  button.ariaBusy = 'true';
  try {
    await act();
  } finally {
    button.ariaBusy = null;
  }
}
