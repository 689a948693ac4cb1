// Drives the pages of jobs as operators do, and looks at what comes of it in the database.

import assert from 'node:assert/strict';

const { env, named, narrowFits, open, picture, script, step } = await import(JSON.parse(process.argv[2]).tools);

const origin = new URL(env.page).origin;
const expected = /Failed to load resource: the server responded with a status of (403|404|409|503)/; // a line of the browser itself
const answerID = 67; // a send that nobody knows the end of; 66 to 64 wait too: see the fake

/** Asks for something that is not in the page. */
async function stage(what, body = {}) {
  const response = await fetch(`${origin}/stage/${what}`, { method: 'POST', body: JSON.stringify(body) });
  assert.equal(response.status, 200, what);
  return response.json();
}

/** A job as the database has it. */
const record = (id) => stage('job', { Job: id });

/** Opens the page as somebody with a role. What moves by itself, or is forbidden, is noted. */
async function tab({ width = 1280, height = 860, scheme = 'light', language = 'ru-RU', role = 'operator', touch = false, at = '#/jobs' } = {}) {
  const options = { viewport: { width, height }, colorScheme: scheme, locale: language, timezoneId: 'Europe/Moscow', hasTouch: touch, isMobile: touch, deviceScaleFactor: touch ? 2 : 1 };
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
  if (at) await go(page, at);
  return page;
}

const go = (page, hash) => page.evaluate((h) => { location.hash = h; }, hash);
const button = (page, name) => page.getByRole('button', { name, exact: true });
const row = (page, id) => page.locator(`.job-row[data-job="${id}"]`);
const said = (page, text) => page.locator('.jobs-sub[role=status]').getByText(text).waitFor();
const toasted = (page, text) => page.locator('#toasts').getByText(text).waitFor();
const pill = (page, name) => page.locator('.head .pill').getByText(name, { exact: true }).waitFor();
const focused = (page) => page.evaluate(() => { const el = document.activeElement; return el.dataset.act ?? el.closest('.job-row')?.dataset.job ?? el.tagName; });
const ids = (page) => page.evaluate(() => [...document.querySelectorAll('.job-row')].map((el) => Number(el.dataset.job)));

/** Lets time pass until the page looks again. */
const lookAgain = (page) => page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));

async function agree(page, name) {
  await page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

/** Fails if something has moved by itself, or was forbidden. */
async function calm(page, what) {
  const { shifts, moved, violations } = await page.evaluate(() => ({ shifts: window.shifts, moved: window.moved, violations: window.violations }));
  assert.ok(shifts < 0.01, `${what}: the layout shifted by ${shifts}: ${moved.join('\n')}`);
  assert.deepEqual(violations, [], what);
}

await script(async () => {
  const page = await tab({ at: '' });
  await step('a badge says how many wait for a person, and leads to them', async () => {
    await page.locator('.badge').getByText('4', { exact: true }).waitFor();
    assert.equal(await page.evaluate(() => performance.getEntriesByType('resource').some((r) => /console\/\w+\/(jobs|charts|chartjs)\//.test(r.name))), false, 'loaded when it is opened');
    await page.getByRole('link', { name: /^Задания ?, 4 ждут решения$/ }).click();
    await said(page, 'Показано 4 задания');
    assert.equal(await page.evaluate(() => performance.getEntriesByType('resource').some((r) => /console\/\w+\/(charts|chartjs)\//.test(r.name))), false, 'without the charts');
    assert.deepEqual(await ids(page), [67, 66, 65, 64]);
    assert.equal(await focused(page), 'H1');
    await row(page, 67).getByText('Доставить ответ агента').waitFor();
    await row(page, 67).getByText('Начато и не подтверждено: отправка сообщения 2').waitFor();
    await row(page, 65).getByText('the field priority is required').waitFor();
    await row(page, 64).getByText('export.pack').waitFor();
    await row(page, 64).getByText('0 неудач, 5 потерянных аренд').waitFor();
    await named(page);
    await calm(page, 'opening');
    await picture(page, 'jobs');
  });

  await step('how the platform is: numbers, the worst marked; dead letters', async () => {
    const tile = (name) => page.locator(`.health-tile[data-gauge="${name}"] dd`).textContent();
    await page.locator('.health-said').getByText('Измерено: сегодня').or(page.locator('.health-said').getByText('Измерено: вчера')).waitFor();
    assert.deepEqual(await Promise.all(['reviews', 'oldest', 'due', 'held', 'dead', 'pass', 'loaded'].map(tile)), ['4', '12 с', '7', '0', '2', '40 с', '—']);
    assert.deepEqual(await page.locator('.health-tile.bad').evaluateAll((all) => all.map((el) => el.dataset.gauge)), ['reviews', 'dead']);
    await page.locator('summary').getByText('По очередям').click();
    assert.deepEqual(await page.locator('.health details:not(.dead) tbody tr').allTextContents(), ['deliveries5——', 'tickets213']);
    await page.locator('summary').getByText('По очередям').click();
    await page.locator('.dead summary').click();
    await page.locator('.dead tbody tr').getByText('{"foreign":"message"}').waitFor();
    await page.getByRole('link', { name: 'Задание № 65' }).waitFor();
    assert.deepEqual((await page.locator('.dead tbody tr').nth(1).locator('td').allTextContents()).slice(3), ['3получено раз: 5', 'telegram:109:565']);
    assert.deepEqual((await page.locator('.dead tbody tr').nth(0).locator('td').allTextContents()).slice(3), ['—', '—']);
    await picture(page, 'jobs-whole', { fullPage: true });
    await page.getByRole('link', { name: 'telegram:109:565' }).click();
    await page.waitForFunction(() => location.hash === '#/jobs?state=all&request=telegram%3A109%3A565');
    await said(page, 'Показано 1 задание');
    await page.goBack();
    await page.locator('.dead summary').click();
  });

  await step('filters are in the address, and come back with it', async () => {
    await page.getByLabel('Вид', { exact: true }).selectOption('deliver.');
    await page.waitForFunction(() => location.hash === '#/jobs?kind=deliver.');
    await said(page, 'Показано 2 задания');
    await page.getByLabel('Ошибка содержит').fill('twice nobody');
    await page.waitForFunction(() => location.hash === '#/jobs?kind=deliver.&error=twice+nobody');
    await said(page, 'Показано 1 задание');
    assert.equal(await page.evaluate(() => document.activeElement.value), 'twice nobody', 'the focus stays where one types');
    await page.goBack();
    await said(page, 'Показано 2 задания');
    assert.equal(await page.getByLabel('Ошибка содержит').inputValue(), '');
    await button(page, 'Отменены').click();
    await page.waitForFunction(() => location.hash === '#/jobs?state=cancelled&kind=deliver.');
    await page.getByText('Таких заданий нет').waitFor();
    assert.equal(await page.locator('.chip[aria-pressed="true"]').textContent(), 'Отменены');
    assert.equal(await button(page, 'Повторить все…').count(), 0, 'only reviews are replayed');
    await button(page, 'Сбросить отбор').click();
    await page.waitForFunction(() => location.hash === '#/jobs?state=cancelled');
    await row(page, 63).getByText('Решено вручную').waitFor();
    await go(page, '#/jobs?state=none&kind=export.pack');
    await said(page, 'Показано 1 задание');
    assert.equal(await page.getByLabel('Вид', { exact: true }).inputValue(), 'export.pack');
    await calm(page, 'filters');
  });

  await step('more of them, page by page', async () => {
    await go(page, '#/jobs?state=completed');
    await said(page, 'Показано 50 заданий, есть ещё');
    await button(page, 'Показать ещё').click();
    await page.waitForFunction(() => document.querySelectorAll('.job-row').length === 60);
    assert.equal(await focused(page), '10', 'the focus goes to the first that is new');
    assert.equal(await button(page, 'Показать ещё').count(), 0);
    await page.locator('.jobs-sub').getByText('Показано 60 заданий', { exact: true }).waitFor();
  });

  await step('it says that it loads, and why it cannot', async () => {
    await stage('hold');
    await go(page, '#/jobs?state=all');
    await said(page, 'Загружаем…');
    assert.equal(await page.locator('.job-list').getAttribute('aria-busy'), 'true');
    await picture(page, 'loading');
    await stage('down');
    await stage('go');
    await page.getByRole('alert').getByText('Часть платформы сейчас недоступна').waitFor();
    await picture(page, 'away');
    await stage('hold'); // it tries again by itself, too
    await stage('up');
    await page.locator('.job-list').getByRole('button', { name: 'Повторить', exact: true }).click();
    await said(page, 'Загружаем…');
    await stage('go');
    await said(page, 'Показано 50 заданий, есть ещё');
    await go(page, '#/jobs/9999');
    await page.getByRole('alert').getByText('Такого задания нет').waitFor();
  });

  await step('one job: what it is, where it stands, what went wrong, what to do', async () => {
    await go(page, '#/jobs');
    await row(page, answerID).locator('a').click();
    await page.getByRole('heading', { name: 'Доставить ответ агента', level: 1 }).waitFor();
    await pill(page, 'Ждёт решения');
    await page.getByText('После повтора клиент может получить его дважды').waitFor();
    assert.equal(await page.locator('[data-fact="request"] code').textContent(), 'tracker:6a0f:comment:77');
    assert.equal(await page.locator('[data-fact="messenger"]').textContent(), 'Telegram');
    assert.match(await page.locator('.job-failures tr td').nth(1).textContent(), /^Передано человеку.*twice nobody knows$/, 'the latest first');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await button(page, 'Скопировать').click();
    await toasted(page, 'Скопировано');
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), 'tracker:6a0f:comment:77');
    await named(page);
    await calm(page, 'one job');
    await picture(page, 'job', { fullPage: true });
    await page.getByRole('link', { name: 'все задания запроса' }).click();
    await page.waitForFunction(() => location.hash === '#/jobs?state=all&request=tracker%3A6a0f%3Acomment%3A77');
    await said(page, 'Показано 1 задание');
    await page.goBack();
  });

  await step('it is replayed after a question, and seen to complete', async () => {
    await button(page, 'Повторить').click();
    await page.getByRole('dialog').getByText('может получить его дважды').waitFor();
    await picture(page, 'replay');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal(await focused(page), 'replay', 'the focus comes back');
    assert.equal((await record(answerID)).State, 'needs_review');
    await button(page, 'Повторить').click();
    await agree(page, 'Повторить');
    await toasted(page, 'Задание № 67: попытки начаты заново');
    await pill(page, 'Принято');
    assert.match(await page.locator('.job-failures tr td').nth(1).textContent(), /^Повторено вручнуювы$/, 'who did it');
    assert.equal(await focused(page), 'cancel', 'the focus stays among the actions');
    await page.locator('.badge').getByText('3', { exact: true }).waitFor();
    await stage('work');
    await pill(page, 'Выполнено');
    assert.equal(await focused(page), 'H1', 'there is nothing left to press');
    await page.getByText('Больше ничего не нужно').waitFor();
  });

  await step('what has changed meanwhile is said, and shown', async () => {
    await go(page, '#/jobs/66');
    await pill(page, 'Ждёт решения');
    await page.getByText('Что уже отправлено, второй раз не уйдёт').waitFor(); // VK drops what comes twice
    await button(page, 'Повторить').click();
    await stage('settle', { Job: 66 });
    await agree(page, 'Повторить');
    await toasted(page, 'Состояние задания уже изменилось');
    await pill(page, 'Решено вручную');
    await page.getByText('сделал другой — человек № 1').waitFor();
    await page.locator('.badge').getByText('2', { exact: true }).waitFor();
  });

  await step('it is marked as resolved, with a remark; another one is cancelled', async () => {
    await go(page, '#/jobs/64');
    await page.getByText('Исполнитель пропадал на этом задании').waitFor();
    await button(page, 'Отметить решённым').click();
    const dialog = page.getByRole('dialog');
    assert.equal(await page.evaluate(() => document.activeElement.tagName), 'TEXTAREA');
    await dialog.getByRole('button', { name: 'Отметить', exact: true }).click();
    await dialog.locator('.wrong').getByText('Напишите, что сделано').waitFor();
    await picture(page, 'settle');
    await dialog.getByLabel('Что сделано').fill('выгрузили руками');
    await agree(page, 'Отметить');
    await pill(page, 'Решено вручную');
    await page.getByText('выгрузили руками — вы').waitFor();
    await go(page, '#/jobs/63');
    await page.getByText('записали оценку сами — командная строка (anna)').waitFor();
    assert.deepEqual([(await record(64)).SettledBy, (await record(64)).Remark], ['person:2', 'выгрузили руками']);
    await go(page, '#/jobs/62');
    await page.getByText('Начнётся само').waitFor();
    await button(page, 'Отменить').click();
    await agree(page, 'Да, отменить');
    await pill(page, 'Отменено');
    assert.match(await page.locator('.job-failures tr td').nth(1).textContent(), /^Отменено вручнуювы$/, 'who did it');
    await go(page, '#/jobs/61');
    await button(page, 'Отменить').click();
    await page.getByRole('dialog').getByText('Оно сейчас выполняется').waitFor();
    await agree(page, 'Да, отменить');
    await pill(page, 'Отменяется');
  });

  await step('from the list: one, then all that are chosen, which it counts before', async () => {
    await go(page, '#/jobs');
    await button(page, 'Повторить: Создать обращение, № 65').click();
    await agree(page, 'Повторить');
    await row(page, 65).locator('.pill').getByText('Принято').waitFor();
    assert.equal(await focused(page), '65', 'the focus stays in the row');
    await page.locator('.badge').waitFor({ state: 'hidden' });
    await stage('gone', { Job: 65 });
    await lookAgain(page);
    await row(page, 65).waitFor({ state: 'detached' });
    await stage('review'); // 64 to 67 wait again
    await go(page, '#/jobs?kind=deliver.');
    await said(page, 'Показано 2 задания');
    await button(page, 'Повторить все…').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Будет повторено 2 задания. Вид: Доставка клиентам').waitFor();
    assert.deepEqual(await dialog.locator('dt, dd').allTextContents(), ['Доставить ответ агента', '1', 'Отправить уведомление бота', '1']);
    await dialog.getByText('Про 1 из них неизвестно').waitFor();
    await picture(page, 'bulk');
    assert.equal((await record(66)).State, 'needs_review', 'a dry run');
    await agree(page, 'Повторить 2 задания');
    await toasted(page, 'Попытки начаты заново: 2 задания');
    await page.getByText('Таких заданий нет').waitFor();
    assert.deepEqual(await Promise.all([64, 65, 66, 67].map(async (id) => (await record(id)).State)), ['needs_review', 'needs_review', 'accepted', 'accepted']);
  });

  await step('by keyboard alone', async () => {
    await stage('review');
    await go(page, '#/jobs?error=priority');
    await said(page, 'Показано 1 задание');
    await page.locator('h1').focus();
    for (let n = 0; await focused(page) !== '65'; n += 1) {
      assert.ok(n < 40, 'no way there by Tab');
      await page.keyboard.press('Tab');
    }
    assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), 'none', 'the focus is seen');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Создать обращение', level: 1 }).waitFor();
    await button(page, 'Повторить').waitFor();
    for (let n = 0; await focused(page) !== 'replay'; n += 1) {
      assert.ok(n < 10, 'no way there by Tab');
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Enter');
    await pill(page, 'Принято');
  });

  await step('a phone of 360 px, dark and light; three sections fit', async () => {
    await stage('review');
    const phone = await tab({ width: 360, height: 780, touch: true, scheme: 'dark', role: 'admin' });
    await said(phone, 'Показано 4 задания');
    await narrowFits(phone, 'jobs');
    await picture(phone, 'phone-dark');
    await go(phone, `#/jobs/${answerID}`);
    await pill(phone, 'Ждёт решения');
    await narrowFits(phone, 'job');
    await calm(phone, 'a phone');
    await picture(phone, 'phone-job-dark', { fullPage: true });
    await phone.emulateMedia({ colorScheme: 'light' });
    await picture(phone, 'phone-job', { fullPage: true });
    await phone.context().close();
  });

  await step('English, and dark; a reconciler that stands still shows', async () => {
    await stage('stop');
    const english = await tab({ language: 'en-GB', scheme: 'dark' });
    await said(english, '4 jobs are shown');
    await english.getByText('The reconciler stands still').waitFor();
    await picture(english, 'english');
    await row(english, 65).getByText('No. 65').waitFor();
    await go(english, '#/jobs/65');
    await english.getByRole('heading', { name: 'Create a ticket' }).waitFor();
    await english.getByText('A replay makes no second ticket').waitFor();
    await button(english, 'Replay').click();
    await english.getByRole('dialog').getByText('Create a ticket · No. 65').waitFor();
    assert.equal(await english.evaluate(() => document.body.innerText.replace('Русский', '').match(/[а-яё№]+/gi)), null);
    await english.keyboard.press('Escape');
    await english.getByRole('dialog').waitFor({ state: 'detached' });
    await picture(english, 'english-job', { fullPage: true });
    await english.context().close();
  });

  await step('more than one call gives is kept up to date too', async () => {
    await stage('many');
    await go(page, '#/jobs?state=all');
    for (let n = 50; n <= 300; n += 50) {
      await said(page, `Показано ${n} заданий, есть ещё`);
      await button(page, 'Показать ещё').click();
    }
    await page.locator('.jobs-sub').getByText('Показано 317 заданий', { exact: true }).waitFor();
    await stage('settle', { Job: 67 });
    await lookAgain(page);
    await row(page, 67).getByText('Решено вручную').waitFor();
    assert.equal((await ids(page)).length, 317);
  });

  await step('what a customer was promised is only replayed; what needs no steps says so', async () => {
    const { first } = await stage('promise');
    await go(page, `#/jobs/${first}`);
    await pill(page, 'Ждёт решения');
    await page.getByText('Клиенту обещано стереть его данные').waitFor();
    assert.deepEqual(await page.locator('.watch-actions button').allTextContents(), ['Повторить']);
    await button(page, 'Повторить').click();
    await agree(page, 'Повторить');
    await pill(page, 'Принято');
    assert.equal(await page.locator('.watch-actions button').count(), 0, 'nor is it called off while it waits');
    await go(page, `#/jobs/${first + 1}`);
    await page.locator('[data-fact="stage"]').getByText('Без промежуточных шагов', { exact: true }).waitFor();
    await go(page, '#/jobs?state=completed&kind=issue.look');
    await row(page, first + 1).getByText('Без промежуточных шагов').waitFor();
  });

  await step('who sees nothing of it', async () => {
    const analyst = await tab({ role: 'analyst' });
    await analyst.getByText('Задания видят операторы и администраторы').waitFor();
    assert.equal(await analyst.getByRole('navigation').count(), 0);
    await analyst.context().close();
  });
});
