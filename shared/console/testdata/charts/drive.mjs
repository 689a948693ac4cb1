// Drives the page of charts as analysts do, and holds what it shows against what the
// API says.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

const { env, named, narrowFits, open, picture, script, step } = await import(JSON.parse(process.argv[2]).tools);

const origin = new URL(env.page).origin;
const expected = /Failed to load resource: the server responded with a status of (403|404|503)/; // a line of the browser itself
const month = '#/charts?from=2026-01-01&to=2026-02-01';
const metrics = 10; // see the fake

/** Asks the fake for something. */
async function stage(what, body = {}) {
  const response = await fetch(`${origin}/stage/${what}`, { method: 'POST', body: JSON.stringify(body) });
  assert.equal(response.status, 200, what);
  return response.json();
}

/** What the page has asked for since the last time. */
const asked = async () => (await stage('seen')).asked.filter((q) => q.includes('locale='));

/** What the API says to a metric. */
async function api(name, query = 'from=2026-01-01&to=2026-02-01&tz=Europe/Moscow') {
  const response = await fetch(`${origin}/v1/metrics/${name}?${query}`, { headers: { 'X-Session': 'analyst' } });
  return response.json();
}

/** Opens the page as somebody with a role. What moves by itself, or is forbidden, is noted. */
async function tab({ width = 1280, height = 900, scheme = 'light', language = 'ru-RU', role = 'admin', touch = false, motion = 'no-preference', at = month } = {}) {
  const options = { viewport: { width, height }, colorScheme: scheme, locale: language, timezoneId: 'Asia/Yekaterinburg', hasTouch: touch, isMobile: touch, deviceScaleFactor: touch ? 2 : 1, reducedMotion: motion };
  const page = await open(options, { own: `${origin}/`, expected, timeout: 60000 });
  await page.addInitScript(() => {
    Object.assign(window, { shifts: 0, moved: [], violations: [] });
    new PerformanceObserver((list) => list.getEntries().filter((e) => !e.hadRecentInput).forEach((e) => {
      window.shifts += e.value;
      window.moved.push(...e.sources.map((s) => `${s.node?.nodeName}.${s.node?.className}: ${JSON.stringify(s.previousRect)} -> ${JSON.stringify(s.currentRect)}`));
    })).observe({ type: 'layout-shift', buffered: true });
    document.addEventListener('securitypolicyviolation', (e) => window.violations.push(`${e.violatedDirective} ${e.blockedURI}`));
  });
  await page.goto(`${env.page}/#code=${role}`);
  await page.locator('.language').waitFor();
  if (at) {
    await go(page, at);
    await settled(page);
  }
  return page;
}

const go = (page, hash) => page.evaluate((h) => { location.hash = h; }, hash);
const cardOf = (page, name) => page.locator(`.chart[data-metric="${name}"]`);
const button = (page, name) => page.getByRole('button', { name, exact: true });

/** Waits until each chart is drawn, empty or failed. */
const settled = (page, n = metrics) => page.waitForFunction((all) => {
  const states = [...document.querySelectorAll('.chart[data-metric]')].map((c) => c.dataset.state);
  return states.length === all && !states.includes('loading');
}, n);

const states = (page) => page.evaluate(() => Object.fromEntries([...document.querySelectorAll('.chart[data-metric]')].map((c) => [c.dataset.metric, c.dataset.state])));

/** The lines of a drawn chart, as the library has them: {line: {label: number}}. */
const drawn = (page, name) => cardOf(page, name).locator('.chart-frame canvas').evaluate((canvas) => {
  const { labels, datasets } = window.Chart.getChart(canvas).data;
  return Object.fromEntries(datasets.map((d) => [d.label, d.data.map((n, i) => [labels[i] ?? i, n])]));
});

async function until(what, ok) {
  for (const end = Date.now() + 60000; Date.now() < end;) {
    if (await ok()) return;
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  }
  throw new Error(`waited in vain until ${what}`);
}

/** Fails if something has moved by itself, or was forbidden. */
async function calm(page, what) {
  const { shifts, moved, violations } = await page.evaluate(() => ({ shifts: window.shifts, moved: window.moved, violations: window.violations }));
  assert.ok(shifts < 0.01, `${what}: the layout shifted by ${shifts}: ${moved.join('\n')}`);
  assert.deepEqual(violations, [], what);
}

await script(async () => {
  await step('the charts are loaded when they are opened, and not before', async () => {
    const page = await tab({ at: '' });
    await page.getByText('Рассылок пока нет').waitFor();
    assert.equal(await page.evaluate(() => performance.getEntriesByType('resource').some((r) => /chart\.|charts\//.test(r.name))), false);
    const start = Date.now();
    await page.getByRole('link', { name: 'Аналитика' }).click();
    await settled(page);
    const took = Date.now() - start;
    assert.deepEqual(new Set(Object.values(await states(page))), new Set(['drawn']));
    assert.equal(await page.locator('h1').evaluate((el) => el === document.activeElement && el.textContent), 'Аналитика');
    await calm(page, 'opening');
    console.log(`all ${metrics} charts are drawn ${took} ms after the click`);
    await page.context().close();
  });

  const page = await tab();
  await step('charts show what the API says', async () => {
    await picture(page, 'charts');
    await picture(page, 'charts-whole', { fullPage: true });
    const { rows } = await api('tickets_by_messenger');
    const seen = await drawn(page, 'tickets_by_messenger');
    assert.deepEqual(Object.keys(seen).sort(), ['Telegram', 'VK', 'не из мессенджера']);
    for (const [name, points] of Object.entries(seen)) {
      assert.deepEqual(points.map(([, n]) => n), rows.filter((r) => r[1] === name).map((r) => r[2]), name);
    }
    assert.equal(seen.VK[0][0], '1 янв.');
    assert.equal(seen.VK.length, 31);
    for (const name of ['first_response', 'overdue', 'backlog', 'resolution_time', 'ratings']) {
      const answer = await api(name);
      const lines = await drawn(page, name);
      answer.columns.forEach((c, i) => {
        if (c.role === 'value') assert.deepEqual(lines[c.title].map(([, n]) => n), answer.rows.map((r) => r[i]), `${name}, ${c.title}`);
      });
    }
  });

  await step('of many lines the small ones are one, and the table has all', async () => {
    const lines = await drawn(page, 'categories_in_time');
    assert.equal(Object.keys(lines).length, 8);
    const { rows } = await api('categories_in_time');
    const total = (list) => list.reduce((a, b) => a + b, 0);
    assert.equal(total(Object.values(lines).flatMap((points) => points.map(([, n]) => n))), total(rows.map((r) => r[2])));
    const card = cardOf(page, 'categories_in_time');
    await card.getByRole('button', { name: 'Показать таблицей' }).click();
    assert.equal(await card.locator('thead th').count(), 11);
    assert.equal(await card.locator('tbody tr').count(), 31);
    const cells = await card.locator('tbody td').allTextContents();
    assert.equal(total(cells.map(Number)), total(rows.map((r) => r[2])));
    assert.match(await card.locator('caption').textContent(), /^Категории во времени, 1.31 января 2026/);
    await picture(page, 'table');
    await card.getByRole('button', { name: 'Показать таблицей' }).click();
    await card.locator('.chart-frame canvas').waitFor();
  });

  await step('the heat map is a table with every number', async () => {
    const { rows } = await api('load_by_hour');
    const card = cardOf(page, 'load_by_hour');
    assert.deepEqual(await card.locator('tbody td').allTextContents(), rows.map((r) => String(r[2])));
    assert.deepEqual((await card.locator('tbody th').allTextContents()), ['пн', 'вт', 'ср', 'чт', 'пт', 'сб', 'вс']);
    await card.locator('tbody tr').nth(1).locator('td').nth(14).hover();
    await card.getByText(`вторник, 14:00: ${rows[24 + 14][2]}`).waitFor();
    const most = rows.reduce((a, b) => (b[2] > a[2] ? b : a));
    const colour = (row) => card.locator('tbody tr').nth(row[0] - 1).locator('td').nth(row[1]).evaluate((el) => getComputedStyle(el).backgroundColor);
    assert.notEqual(await colour(most), await colour(rows.reduce((a, b) => (b[2] < a[2] ? b : a))));
  });

  await step('values are written as people read them', async () => {
    const card = cardOf(page, 'resolution_time');
    await card.getByRole('button', { name: 'Показать таблицей' }).click();
    assert.deepEqual(await card.locator('thead th').allTextContents(), ['Исполнитель', 'Среднее', 'Медиана', 'Решено']);
    assert.match(await card.locator('tbody td').first().textContent(), /^\d+ (д|ч)( \d+ (ч|мин))?$/);
    await card.getByRole('button', { name: 'Показать таблицей' }).click();
    const share = cardOf(page, 'overdue');
    await share.getByRole('button', { name: 'Показать таблицей' }).click();
    assert.match(await share.locator('tbody td').first().textContent(), /^\d+(,\d)?\s%$/);
    await share.getByRole('button', { name: 'Показать таблицей' }).click();
    const text = await cardOf(page, 'overdue').locator('.chart-frame canvas').evaluate((c) => {
      const chart = window.Chart.getChart(c);
      return chart.scales.y.ticks.map((tick) => tick.label).join(' ');
    });
    assert.match(text, /^0\s% \d+\s%/);
  });

  await step('what a chart is split by has its name, also when there is one of it; values without others have none', async () => {
    assert.deepEqual(await cardOf(page, 'broadcasts').locator('.legend-item').allTextContents(), ['доставлено']);
    assert.equal(await cardOf(page, 'backlog').locator('.legend-item').count(), 0);
  });

  await step('a line can be put aside', async () => {
    const card = cardOf(page, 'tickets_by_messenger');
    const item = card.getByRole('button', { name: 'VK', exact: true });
    await item.click();
    assert.equal(await item.getAttribute('aria-pressed'), 'false');
    const at = Object.keys(await drawn(page, 'tickets_by_messenger')).indexOf('VK');
    assert.equal(await card.locator('.chart-frame canvas').evaluate((c, i) => window.Chart.getChart(c).isDatasetVisible(i), at), false);
    await item.click();
    assert.equal(await card.locator('.chart-frame canvas').evaluate((c, i) => window.Chart.getChart(c).isDatasetVisible(i), at), true);
  });

  await step('each says how it is counted', async () => {
    const card = cardOf(page, 'backlog');
    await card.getByText('Как считается').click();
    await card.getByText('каждое считается один раз').waitFor();
    await card.getByText('Как считается').click();
  });

  await step('filters are in the address, and come back with it', async () => {
    await stage('seen');
    await page.getByLabel('Мессенджер', { exact: true }).selectOption('vk');
    await page.waitForFunction(() => location.hash.includes('messenger=vk'));
    await settled(page);
    const first = await asked();
    assert.equal(first.length, metrics);
    assert.ok(first.every((q) => q.includes('messenger=vk') && q.includes('from=2026-01-01') && q.includes('to=2026-02-01') && q.includes('locale=ru')), first[0]);
    const { rows } = await api('backlog', 'from=2026-01-01&to=2026-02-01&tz=Europe/Moscow&messenger=vk');
    assert.deepEqual((await drawn(page, 'backlog')).Открыто.map(([, n]) => n), rows.map((r) => r[1]));

    await page.getByLabel('Категория', { exact: true }).selectOption('billing');
    await page.waitForFunction(() => location.hash.includes('category=billing'));
    await settled(page);
    assert.equal((await asked()).length, metrics - 1, 'what does not know the category is not asked again');
    await cardOf(page, 'broadcasts').getByText('Фильтр по категории здесь не действует').waitFor();
    assert.equal(await page.getByText('здесь не действует').count(), 1);
    const link = page.url();
    await calm(page, 'filters');

    await page.goBack();
    await page.waitForFunction(() => !location.hash.includes('category'));
    assert.equal(await page.getByLabel('Категория', { exact: true }).inputValue(), '');
    assert.equal(await page.getByLabel('Мессенджер', { exact: true }).inputValue(), 'vk');
    await page.goBack();
    await page.waitForFunction(() => !location.hash.includes('messenger'));
    assert.equal(await page.getByLabel('Мессенджер', { exact: true }).inputValue(), '');
    await settled(page);

    const other = await tab({ role: 'analyst', at: link.slice(link.indexOf('#')) });
    assert.equal(await other.getByLabel('Категория', { exact: true }).inputValue(), 'billing');
    assert.equal(await other.getByLabel('С', { exact: true }).inputValue(), '2026-01-01');
    assert.equal(await other.getByLabel('По', { exact: true }).inputValue(), '2026-01-31');
    assert.equal(await other.getByLabel('Свои даты').isChecked(), true);
    await button(other, 'Сбросить фильтры').click();
    await other.waitForFunction(() => location.hash === '#/charts');
    assert.equal(await other.getByLabel('30 дней').isChecked(), true);
    await other.context().close();
  });

  await step('periods by name, own days, the zone', async () => {
    await page.getByText('Год', { exact: true }).click();
    await page.waitForFunction(() => /from=\d{4}-\d\d-\d\d&to=/.test(location.hash) && !location.hash.includes('2026-01-01'));
    await settled(page);
    assert.equal(await page.getByLabel('Год', { exact: true }).isChecked(), true);
    const weeks = (await drawn(page, 'backlog')).Открыто;
    assert.ok(weeks.length >= 52 && weeks.length <= 54, `${weeks.length} weeks`);
    await picture(page, 'year', { fullPage: true });
    const today = (zone) => new Date().toLocaleDateString('sv-SE', { timeZone: zone });
    assert.equal(await page.getByLabel('По', { exact: true }).inputValue(), today('Europe/Moscow'));
    await page.getByLabel('Часовой пояс', { exact: true }).selectOption('Pacific/Kiritimati');
    await page.waitForFunction(() => location.hash.includes('tz=Pacific/Kiritimati'));
    assert.equal(await page.getByLabel('По', { exact: true }).inputValue(), today('Pacific/Kiritimati'), 'today is the day in the zone');
    await go(page, month);
    await settled(page);
    await page.getByLabel('С', { exact: true }).fill('2026-02-10'); // after the last day, which gives way
    await page.waitForFunction(() => location.hash.includes('from=2026-02-10&to=2026-02-11'));
    await go(page, `${month}&tz=Nowhere/Else&messenger=fax&category=none`);
    await page.waitForFunction(() => document.querySelector('input[type=date]').value === '2026-01-01');
    assert.equal(await page.getByLabel('Часовой пояс', { exact: true }).inputValue(), 'Europe/Moscow', 'what is no value counts as not said');
    await settled(page);
  });

  await step('three questions at a time; what nobody wants any more is cancelled, and never drawn', async () => {
    await stage('seen');
    await stage('hold');
    await go(page, `${month}&messenger=telegram`);
    await until('three are asked', async () => (await stage('seen')).running === 3);
    assert.equal(await page.locator('.chart[aria-busy="true"]').count(), metrics);
    await picture(page, 'loading');
    await go(page, `${month}&messenger=vk`);
    let gone = 0;
    await until('the first three are given up', async () => { gone += (await stage('seen')).gone; return gone >= 3; });
    await stage('go');
    await settled(page);
    const seen = await stage('seen');
    assert.ok(seen.most <= 3, `${seen.most} at a time`);
    assert.equal(seen.asked.filter((q) => q.includes('messenger=telegram')).length, 0);
    const { rows } = await api('backlog', 'from=2026-01-01&to=2026-02-01&tz=Europe/Moscow&messenger=vk');
    assert.deepEqual((await drawn(page, 'backlog')).Открыто.map(([, n]) => n), rows.map((r) => r[1]));
    await go(page, month);
    await settled(page);
    await calm(page, 'loading again');
  });

  await step('the numbers as a file', async () => {
    const [download] = await Promise.all([page.waitForEvent('download'), cardOf(page, 'backlog').getByRole('button', { name: 'Скачать CSV' }).click()]);
    assert.equal(download.suggestedFilename(), 'backlog 2026-01-01 2026-01-31.csv');
    assert.equal(await readFile(await download.path(), 'utf8'), '\ufeffКогда,Обращения\n2026-01-01,1\n');
    const last = (await asked()).at(-1);
    assert.ok(last.startsWith('backlog?') && last.includes('format=csv'), last);
  });

  await step('one that fails says what is missing, and is tried again', async () => {
    await stage('refuse', { metric: 'ratings', status: 503 });
    await go(page, `${month}&messenger=telegram`);
    await settled(page);
    assert.deepEqual(Object.entries(await states(page)).filter(([, s]) => s !== 'drawn'), [['ratings', 'failed']]);
    const card = cardOf(page, 'ratings');
    await card.getByText('Аналитика сейчас недоступна').waitFor();
    await card.getByText('set CLICKHOUSE_URL').waitFor();
    await card.scrollIntoViewIfNeeded();
    await picture(page, 'failed');
    await stage('refuse', { metric: 'ratings', status: 0 });
    await card.getByRole('button', { name: 'Повторить' }).click();
    await settled(page);
    assert.equal((await states(page)).ratings, 'drawn');

    await stage('refuse', { metric: '', status: 503 });
    const other = await tab({ at: '' });
    await go(other, month);
    await other.getByText('Аналитика сейчас недоступна').waitFor();
    await picture(other, 'away');
    await stage('refuse', { metric: '', status: 0 });
    await stage('loaded', { minutes: 5 * 60 });
    await button(other, 'Повторить').click();
    await settled(other);
    await other.locator('.charts-until .pill.warn').getByText('Данные по').waitFor(); // the load lags
    await stage('loaded', { minutes: 20 });
    await other.context().close();
  });

  await step('a period without data says so', async () => {
    await go(page, '#/charts?from=2005-01-01&to=2005-02-01');
    await settled(page);
    assert.deepEqual(new Set(Object.values(await states(page))), new Set(['empty']));
    assert.equal(await page.getByText('За этот период данных нет').count(), metrics);
    await picture(page, 'empty');
    await go(page, month);
    await settled(page);
  });

  await step('by keyboard alone', async () => {
    await named(page);
    const here = () => page.evaluate(() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent);
    const tabTo = async (ok) => {
      for (let n = 0; n < 60; n += 1) {
        await page.keyboard.press('Tab');
        if (ok(await here())) return;
      }
      throw new Error('no way there by Tab');
    };
    await page.locator('h1').focus();
    await tabTo((name) => name === 'Мессенджер');
    await page.keyboard.press('ArrowDown');
    await page.waitForFunction(() => location.hash.includes('messenger=telegram'));
    await settled(page);
    assert.equal(await here(), 'Мессенджер', 'the focus stays');
    await page.keyboard.press('ArrowUp');
    await page.waitForFunction(() => !location.hash.includes('messenger'));
    await settled(page);
    await tabTo((name) => name.startsWith('Обращения по мессенджерам, '));
    assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), 'none', 'the focus is seen');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    const { rows } = await api('tickets_by_messenger');
    const said = await cardOf(page, 'tickets_by_messenger').locator('[aria-live]').textContent();
    assert.match(said, /2 января 2026/);
    for (const row of rows.filter((r) => r[0] === '2026-01-02')) assert.ok(said.includes(`${row[1]} ${row[2]}`), said);
    await picture(page, 'point');
    await page.keyboard.press('Escape');
  });

  await step('who sees what', async () => {
    const analyst = await tab({ role: 'analyst', at: '' });
    await settled(analyst);
    assert.equal(await analyst.getByRole('navigation').count(), 0);
    await go(analyst, '#/new');
    await analyst.getByText('Создавать рассылки могут только администраторы').waitFor();
    await analyst.context().close();
    const operator = await tab({ role: 'operator', at: '' });
    await operator.getByText('Рассылок пока нет').waitFor();
    assert.equal(await operator.getByRole('link', { name: 'Аналитика' }).count(), 0);
    await go(operator, month);
    await operator.getByText('Аналитику видят аналитики и администраторы').waitFor();
    await operator.context().close();
    await page.getByRole('link', { name: 'Рассылки' }).click();
    await page.getByText('Рассылок пока нет').waitFor();
    assert.equal(await page.getByRole('link', { name: 'Рассылки' }).getAttribute('aria-current'), 'page');
    await page.goBack();
    await settled(page);
    assert.equal(await page.getByRole('link', { name: 'Аналитика' }).getAttribute('aria-current'), 'page');
  });

  await step('a phone of 390 px, and one of 360', async () => {
    const phone = await tab({ width: 390, height: 800, touch: true });
    await calm(phone, 'a phone');
    for (const width of [390, 360]) {
      await phone.setViewportSize({ width, height: 800 });
      await phone.waitForFunction(() => [...document.querySelectorAll('.chart-frame')].every((f) => f.firstChild.clientWidth <= f.clientWidth));
      await narrowFits(phone, `charts at ${width}`, '.sheet');
      await picture(phone, `phone-${width}`);
      await picture(phone, `phone-${width}-whole`, { fullPage: true });
    }
    await cardOf(phone, 'load_by_hour').getByRole('button', { name: 'Показать таблицей' }).tap();
    await cardOf(phone, 'resolution_time').getByRole('button', { name: 'Показать таблицей' }).tap();
    await narrowFits(phone, 'tables', '.sheet');
    for (const name of ['load_by_hour', 'resolution_time']) {
      await cardOf(phone, name).scrollIntoViewIfNeeded();
      await picture(phone, `phone-table-${name}`);
      await cardOf(phone, name).getByRole('button', { name: 'Показать таблицей' }).tap();
      await picture(phone, `phone-${name}`);
    }
    await phone.emulateMedia({ colorScheme: 'dark' });
    await picture(phone, 'phone-dark', { fullPage: true });
    await phone.context().close();
  });

  await step('dark, and the change from it; nothing moves for those who do not want it', async () => {
    const dark = await tab({ scheme: 'dark' });
    await picture(dark, 'dark');
    await picture(dark, 'dark-whole', { fullPage: true });
    const look = () => cardOf(dark, 'backlog').locator('.chart-frame canvas').evaluate((canvas) => {
      const chart = window.Chart.getChart(canvas);
      return chart && { colour: chart.data.datasets[0].borderColor, moves: Boolean(chart.options.animation) };
    });
    const before = await look();
    assert.equal(before.moves, true);
    await dark.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
    await until('the lines have the colours of the day', async () => ![undefined, before.colour].includes((await look())?.colour)); // a chart may just go
    assert.equal((await look()).moves, false);
    await dark.context().close();
  });

  await step('English', async () => {
    const english = await tab({ language: 'en-GB', role: 'analyst' });
    await english.getByRole('heading', { name: 'Analytics', level: 1 }).waitFor();
    assert.equal((await drawn(english, 'backlog')).Открыто[0][0], '1 Jan');
    const own = await english.evaluate(() => [...document.querySelectorAll('.filter-name, .segment, .chart-tools button, summary, .charts-until, .section')].map((el) => el.title + el.textContent).join(' '));
    assert.equal(own.match(/[а-яё]+/gi), null);
    await picture(english, 'english');
    await english.context().close();
  });
});
