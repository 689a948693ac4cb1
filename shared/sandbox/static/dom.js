// Elements and lists of them. Data only ever becomes text or an attribute.

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

/**
 * Keeps a container's children in step with a list: children whose entry did not
 * change stay as they are, with focus, selection and whatever plays in them.
 * entries: [{id, ...}]; render(entry) gives an element.
 */
export function keyed(container, render) {
  let shown = new Map(); // id -> {json, el}
  return (entries) => {
    const next = new Map();
    let at = container.firstChild;
    for (const entry of entries) {
      const json = JSON.stringify(entry);
      const old = shown.get(entry.id);
      let el = old?.el;
      if (!old || old.json !== json) {
        const fresh = render(entry, old?.el);
        if (el && el === at) at = el.nextSibling;
        el?.remove();
        el = fresh;
      }
      next.set(entry.id, { json, el });
      if (el === at) at = at.nextSibling;
      else container.insertBefore(el, at);
    }
    for (const [id, { el }] of shown) if (!next.has(id)) el.remove();
    shown = next;
  };
}

let ids = 0;

/** Gives an id for labels and the like. */
export function uid(prefix) {
  ids += 1;
  return `${prefix}-${ids}`;
}
