// Says what a page weighs, and when it is ready: see weigh.go.

import { env, open, script } from './tools.mjs';

await script(async () => {
  const page = await open({ viewport: { width: 1280, height: 900 } }, { own: new URL(env.page).origin, timeout: 60000 });
  await page.addInitScript(`{ // as text: what is ready is one, too
    performance.setResourceTimingBufferSize(1000);
    const look = () => {
      if (${env.ready}) window.readyAt = performance.now();
      else requestAnimationFrame(look);
    };
    document.addEventListener('DOMContentLoaded', look);
  }`);
  await page.goto(env.page);
  await page.waitForFunction(() => window.readyAt);
  const weight = await page.evaluate((files) => {
    const all = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource').filter((r) => r.name.startsWith(files))];
    const sum = (what) => all.reduce((n, r) => n + r[what], 0);
    return { files: all.length, sent: sum('encodedBodySize'), whole: sum('decodedBodySize'), ready: Math.round(window.readyAt) };
  }, env.files);
  console.log(JSON.stringify(weight));
});
