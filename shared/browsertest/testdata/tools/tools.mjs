// What scripts that drive a page have in common.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { chromium } from 'playwright-core';

const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];

/** The setup that the test gave. */
export const env = JSON.parse(process.argv[2]);

const complaints = []; // of the pages: errors, warnings, requests to somewhere else
let browser = null;

/**
 * Opens a page in a fresh profile. options: those of a browser context; own: how the
 * addresses begin that it may ask for; expected: complaints that are none.
 */
export async function open(options, { own, expected = /^$/, timeout = 15000 }) {
  browser ??= await chromium.launch({ executablePath: env.chromium, args: flags });
  const context = await browser.newContext(options);
  context.on('page', (page) => watch(page, own, expected, timeout));
  return context.newPage();
}

function watch(page, own, expected, timeout) {
  const complain = (text) => expected.test(text) || complaints.push(text);
  page.setDefaultTimeout(timeout);
  page.on('console', (m) => ['error', 'warning'].includes(m.type()) && complain(`${m.type()}: ${m.text()}`));
  page.on('pageerror', (e) => complain(`exception: ${e.message}`));
  page.on('request', (r) => !r.url().startsWith(own) && !/^(data|blob):/.test(r.url()) && complain(`outside request: ${r.url()}`));
}

/** Takes a picture, where pictures are asked for. */
export async function picture(page, name, options = {}) {
  if (!env.screenshots) return;
  mkdirSync(env.screenshots, { recursive: true });
  await page.screenshot({ path: `${env.screenshots}/${name}.png`, ...options });
}

/** Fails if anything sticks out of the window's width; except parts of a wide selector. */
export async function narrowFits(page, what, except = '.scroll-x') {
  const wide = await page.evaluate((inside) => [...document.querySelectorAll('main *')].filter((el) => {
    const box = el.getBoundingClientRect();
    return box.width > 0 && (box.right > innerWidth + 1 || box.left < -1) && !el.closest(inside);
  }).map((el) => `${el.tagName}.${el.className}`).slice(0, 5), except);
  assert.deepEqual(wide, [], `${what}: parts stick out`);
  const [have, room] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  assert.ok(have <= room, `${what}: ${have} px do not fit into ${room} px`);
}

/** Fails if a field is too narrow for what it says while it is empty. */
export async function hintsFit(page, what) {
  const cut = await page.evaluate(() => [...document.querySelectorAll('input[placeholder]')].filter((el) => {
    if (!el.offsetParent) return false;
    const typed = el.value;
    el.value = el.placeholder; // no event: nobody hears of it
    const wide = el.scrollWidth > el.clientWidth;
    el.value = typed;
    return wide;
  }).map((el) => el.placeholder));
  assert.deepEqual(cut, [], `${what}: hints are cut off`);
}

/** Fails if something that can be used has no name. */
export async function named(page) {
  const nameless = await page.evaluate(() => [...document.querySelectorAll('button, a[href], input:not([hidden]), select, textarea, summary')]
    .filter((el) => el.offsetParent && !(el.getAttribute('aria-label') || el.textContent.trim() || el.labels?.length || el.title))
    .map((el) => el.outerHTML.slice(0, 80)));
  assert.deepEqual(nameless, [], 'everything that can be used has a name');
}

/** Does a part of the script. */
export async function step(name, run) {
  const start = Date.now();
  await run();
  console.log(`ok ${name} (${Date.now() - start} ms)`);
}

/** Runs the script; fails too if a page complained. */
export async function script(run) {
  try {
    await run();
    assert.deepEqual(complaints, [], 'the console stays silent');
  } catch (error) {
    console.error(`not ok: ${error.stack}`);
    console.error(complaints.join('\n'));
    process.exitCode = 1;
  } finally {
    // A browser that does not end would hold the test: the driver kills it with this process.
    await Promise.race([browser?.close(), new Promise((resolve) => { setTimeout(resolve, 10000); })]);
    process.exit(); // with the code set above
  }
}
