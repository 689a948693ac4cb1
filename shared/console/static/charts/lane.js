// A few calls at a time: a page of charts asks for many at once, and each is a query.

/** Gives ask(call, signal), which makes the call when it is its turn. */
export function lane(most) {
  const waiting = [];
  let running = 0;

  function next() {
    while (running < most && waiting.length) {
      running += 1;
      waiting.shift()();
    }
  }

  const turn = (signal) => new Promise((go, leave) => {
    waiting.push(go);
    signal.addEventListener('abort', () => {
      const at = waiting.indexOf(go);
      if (at >= 0) waiting.splice(at, 1);
      leave(signal.reason);
    }, { once: true });
    next();
  });

  return async function ask(call, signal) {
    signal.throwIfAborted();
    await turn(signal);
    try {
      return await call();
    } finally {
      running -= 1;
      next();
    }
  };
}
