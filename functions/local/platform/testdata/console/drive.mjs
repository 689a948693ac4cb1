// Drives the console as people do, over the whole platform, and looks at what comes of
// it: in the page, and by the stage at the customers' phones.

import assert from 'node:assert/strict';

const { env, named, narrowFits, open, picture, script, step } = await import(JSON.parse(process.argv[2]).tools);

const people = 28; // who can be written to: see the test
const slow = '0.2'; // messages a second: what is to be stopped half-way does not end before, on a busy machine either
const origin = new URL(env.page).origin;
// The browser itself writes a line for each answer that is an error.
const expected = /Failed to load resource: (the server responded with a status of (401|403|409|422|503)|net::ERR_(FAILED|INTERNET_DISCONNECTED))/;

/** Asks the stage for something that is not in the page. */
async function stage(what, body = {}) {
  const response = await fetch(`${env.stage}/${what}`, { method: 'POST', body: JSON.stringify(body) });
  assert.equal(response.status, 200, what);
  return response.json();
}

async function tab({ width = 1280, height = 860, scheme = 'light', language = 'ru-RU', role = 'admin', touch = false, at = '' } = {}) {
  const options = { viewport: { width, height }, colorScheme: scheme, locale: language, timezoneId: 'Europe/Moscow', hasTouch: touch, deviceScaleFactor: touch ? 2 : 1 };
  const page = await open(options, { own: `${origin}/`, expected, timeout: 60000 });
  await page.goto(role ? await stage('link', { role }) : `${env.page}/${at}`);
  if (role) await page.locator('.language').waitFor();
  if (role && at) await go(page, at);
  return page;
}

const go = (page, hash) => page.evaluate((h) => { location.hash = h; }, hash);
const heading = (page, name) => page.getByRole('heading', { name, level: 1 }).waitFor();
const button = (page, name) => page.getByRole('button', { name, exact: true });
const state = (page, name) => page.locator('.head .pill').getByText(name, { exact: true }).waitFor();
const sentTile = (page) => page.locator('.tile.sent strong').textContent();

/** Waits for something that no element tells. */
async function until(what, ok) {
  for (const end = Date.now() + 60000; Date.now() < end;) {
    if (await ok()) return;
    await new Promise((resolve) => { setTimeout(resolve, 100); });
  }
  throw new Error(`waited in vain until ${what}`);
}

/** Writes a broadcast, and gives the page of it once it was agreed to. */
async function write(page, text, { rate, more } = {}) {
  await go(page, '#/new');
  await heading(page, 'Новая рассылка');
  const area = page.getByLabel('Текст, русский');
  await area.fill(text);
  if (rate) await page.getByLabel('Сообщений в секунду').fill(rate);
  await more?.();
}

async function agree(page, name) {
  await page.getByRole('dialog').getByRole('button', { name }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
}

await script(async () => {
  await step('a link that is not good says what to do', async () => {
    const page = await tab({ role: '', at: '#code=guessed' });
    await page.getByText('Эта ссылка уже использована или устарела').waitFor();
    await page.getByText('Отправьте ему команду /console').waitFor();
    assert.doesNotMatch(page.url(), /code/);
    await picture(page, 'signin');
    await page.context().close();
  });

  const link = await stage('link', { role: 'admin' });
  const page = await tab({ role: '' });
  await step('the link of the bot signs in, once, and leaves the address', async () => {
    await heading(page, 'Вход в консоль');
    await page.goto(link);
    await page.getByText('Рассылок пока нет').waitFor();
    assert.doesNotMatch(page.url(), /code/);
    assert.equal(await page.evaluate(() => history.length > 0 && JSON.stringify(localStorage).includes('token')), false);
    await picture(page, 'list-empty');
    const other = await tab({ role: '' });
    await other.getByLabel('Или вставьте ссылку сюда').fill(link);
    await button(other, 'Войти').click();
    await other.getByText('Эта ссылка уже использована').waitFor();
    await other.context().close();
  });

  await step('compose in two languages, with preview and estimate', async () => {
    await page.getByRole('link', { name: 'Новая рассылка' }).click();
    await heading(page, 'Новая рассылка');
    await picture(page, 'compose-empty');
    await page.getByLabel('Текст, русский').fill('Вышла **новая версия** приложения\n\n- заявки теперь с фото\n- история & поиск по <номеру>\n\n[Подробнее](https://example.com/news)');
    await page.getByRole('tab', { name: 'Английский' }).click();
    await page.getByLabel('Текст, английский').fill('A **new version** of the app is out');
    await page.getByLabel('Остальным — на языке').selectOption('en');
    await button(page, 'Добавить кнопку').click();
    await page.getByLabel('Надпись, русский').fill('Что нового');
    await page.getByLabel('Надпись, английский').fill('What is new');
    await page.getByLabel('Ссылка', { exact: true }).fill('https://example.com/news');
    await page.getByLabel('Название для списка').fill('Релиз 4.2');
    await page.getByLabel('Сообщений в секунду').fill(slow);
    const telegram = page.locator('.phone[data-messenger="telegram"]');
    await telegram.locator('.bubble b').getByText('new version').waitFor();
    await telegram.locator('.key').getByText('What is new').waitFor();
    await page.getByRole('tab', { name: 'Русский' }).click();
    await telegram.locator('.bubble').getByText('история & поиск по <номеру>').waitFor();
    await telegram.locator('.key').getByText('Что нового').waitFor();
    await telegram.locator('.key').getByText('Не присылать новости').waitFor();
    const vk = page.locator('.phone[data-messenger="vk"] .bubble');
    assert.match(await vk.textContent(), /Вышла новая версия приложения/);
    assert.equal(await vk.locator('b').count(), 0, 'VK has no markup');
    await page.locator('.estimate').getByText(`${people} человек`).waitFor();
    await page.locator('.estimate').getByText('Telegram 25 · ВКонтакте 3').waitFor();
    await picture(page, 'compose');
    await picture(page, 'compose-whole', { fullPage: true });
  });

  await step('what was typed survives a reload', async () => {
    await page.reload();
    await page.getByText('Восстановлено то, что вы не отправили').waitFor();
    assert.match(await page.getByLabel('Текст, русский').inputValue(), /^Вышла \*\*новая версия/);
    assert.equal(await page.getByLabel('Сообщений в секунду').inputValue(), slow);
  });

  await step('ids of customers do not survive it, and are asked for: without them it would go to everybody', async () => {
    await page.getByText('Другие условия').click();
    await page.getByLabel('Номера клиентов').fill('1');
    await page.reload();
    await page.getByText('кроме номеров клиентов').waitFor();
    assert.equal(await page.getByLabel('Номера клиентов').inputValue(), '');
    await button(page, 'Отправить…').click();
    await page.getByText('Номера здесь не сохраняются').waitFor();
    await page.getByLabel('Номера клиентов').fill('1');
    await page.getByLabel('Номера клиентов').fill('');
    await page.locator('.estimate').getByText(`${people} человек`).waitFor();
    await page.getByText('Другие условия').click();
  });

  await step('what is refused is said at its field, and the focus goes there', async () => {
    await page.getByText('Системное', { exact: true }).click();
    await page.getByLabel('Ссылка', { exact: true }).fill('javascript:alert(1)');
    await button(page, 'Отправить…').click();
    const bad = page.getByLabel('Ссылка', { exact: true });
    await page.getByText('Нужен адрес, который начинается с https://').waitFor();
    assert.equal(await bad.getAttribute('aria-invalid'), 'true');
    assert.equal(await bad.evaluate((el) => el === document.activeElement), true, 'the focus is at the first wrong field');
    await page.locator('.wrong').getByText('Системные сообщения отправляются только по ролям').waitFor(); // what hid it has opened
    await picture(page, 'refused');
    await bad.fill('https://example.com/news');
    assert.equal(await page.getByText('Нужен адрес, который начинается с https://').count(), 0);
    await button(page, 'Отправить…').click();
    await page.waitForFunction(() => document.activeElement.closest('[data-pointer]')?.dataset.pointer === '/audience/roles');
    await picture(page, 'refused-role');
    await page.getByText('Новости', { exact: true }).click();
    await page.getByText('В назначенное время').click();
    await page.getByLabel('Дата и время начала').fill('2020-01-31T09:00');
    await button(page, 'Отправить…').click();
    await page.getByText('Это время уже прошло').waitFor();
    await page.getByText('Сразу', { exact: true }).click();
  });

  await step('a test to oneself; what failed in the network is repeated under the same key', async () => {
    const keys = [];
    await page.route('**/v1/broadcasts', async (route) => {
      if (route.request().method() !== 'POST') return route.fallback();
      keys.push(route.request().headers()['idempotency-key']);
      return keys.length === 1 ? route.fetch().then(() => route.abort()) : route.fallback(); // it arrived, and nobody heard of it
    });
    await button(page, 'Проверить на себе').click();
    await page.getByText('Нет связи с сервером').waitFor();
    await button(page, 'Проверить на себе').click();
    await page.getByText('Пришло вам в мессенджер').waitFor();
    await page.unroute('**/v1/broadcasts');
    assert.equal(keys.length, 2);
    assert.equal(keys[0], keys[1]);
    assert.deepEqual(await stage('received', { text: 'новая версия' }), { have: 1, times: 1, author: 1 });
    await picture(page, 'tested');
  });

  let first = '';
  await step('it is sent after a question that says how many get it', async () => {
    await button(page, 'Отправить…').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(`${people} человек`, { exact: true }).waitFor();
    await picture(page, 'confirm');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    assert.equal(await button(page, 'Отправить…').evaluate((el) => el === document.activeElement), true, 'the focus comes back');
    const told = page.waitForResponse((r) => r.url().endsWith('/progress') && r.headers()['content-type'] === 'text/event-stream');
    await button(page, 'Отправить…').click();
    await agree(page, `Отправить ${people} людям`);
    await heading(page, 'Релиз 4.2');
    await told;
    first = page.url().match(/#\/(\d+)$/)[1];
  });

  await step('the bar moves; pause, another rate, resume', async () => {
    await state(page, 'Идёт');
    const bar = page.getByRole('progressbar');
    await until('some were sent', async () => Number(await bar.getAttribute('aria-valuenow')) > 1);
    await page.locator('.live-speed').getByText('сообщ./с').waitFor();
    await page.locator('.live-speed').getByText('закончится около').waitFor();
    await picture(page, 'running');
    await button(page, 'Пауза').click();
    await state(page, 'На паузе');
    await page.getByText('Никому не отправляется, пока вы не продолжите').waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.dataset.act !== undefined), true, 'the focus stays among the actions');
    const sent = async () => (await stage('received', { text: 'новая версия' })).times - 1; // one was the test
    const stopped = await sent();
    assert.ok(stopped < people);
    await until('the bar has come to rest', async () => Number(await bar.getAttribute('aria-valuenow')) === stopped);
    await picture(page, 'paused');
    await button(page, 'Скорость').click();
    await page.getByRole('dialog').getByLabel('Сообщений в секунду').fill('-1');
    await page.getByRole('dialog').getByRole('button', { name: 'Изменить скорость' }).click();
    await page.getByRole('dialog').getByText('Число от 0,1').waitFor();
    await page.getByRole('dialog').getByLabel('Сообщений в секунду').fill('15');
    await picture(page, 'rate');
    await agree(page, 'Изменить скорость');
    await page.getByText('до 15 сообщ./с').waitFor();
    assert.equal(await sent(), stopped, 'nothing goes out while it is paused');
    await button(page, 'Продолжить').click();
    await state(page, 'Завершена');
    await until('everybody is counted', async () => Number(await bar.getAttribute('aria-valuenow')) === people);
    assert.deepEqual(await stage('received', { text: 'новая версия' }), { have: people, times: people + 1, author: 2 });
  });

  await step('who got it', async () => {
    assert.equal(await sentTile(page), String(people));
    await page.locator('.tile.sent').click();
    await page.locator('.recipients tbody tr').first().waitFor();
    assert.equal(await page.locator('.recipients tbody tr').count(), people);
    await picture(page, 'finished', { fullPage: true });
    await named(page);
  });

  await step('a scheduled one is cancelled before anybody got it', async () => {
    await write(page, 'Плановые работы **в ночь на субботу**', {
      more: async () => {
        await page.getByText('Работы', { exact: true }).click();
        await page.getByText('В назначенное время').click();
        const tomorrow = new Date(Date.now() + 24 * 3600 * 1000 + 3 * 3600 * 1000).toISOString().slice(0, 16);
        await page.getByLabel('Дата и время начала').fill(tomorrow);
        await page.getByText('Время вашего компьютера: Europe/Moscow (UTC+3)').waitFor();
        await page.getByText('Отправлять только в эти часы').click();
        await picture(page, 'schedule', { fullPage: true });
      },
    });
    await button(page, 'Отправить…').click();
    await page.getByRole('dialog').getByText('завтра').waitFor();
    await picture(page, 'confirm-schedule');
    await agree(page, `Запланировать на ${people} человек`);
    await state(page, 'Запланирована');
    await page.locator('.live-speed').getByText('Начнётся завтра').waitFor();
    await picture(page, 'scheduled');
    await go(page, '#/');
    await page.locator('.row').first().getByText('начнётся завтра').waitFor();
    await page.locator('.row').first().click();
    await button(page, 'Отменить').click();
    await page.getByRole('dialog').getByText('Ещё ничего не отправлено').waitFor();
    await agree(page, 'Да, отменить');
    await state(page, 'Отменена');
    assert.equal((await stage('received', { text: 'Плановые работы' })).have, 0);
  });

  await step('one that runs is cancelled: it says what was sent', async () => {
    // As in the cloud, where nothing is told by itself.
    await page.route('**/progress', (route) => route.continue({ headers: { ...route.request().headers(), accept: 'application/json' } }));
    await write(page, 'Это сообщение отменят', { rate: slow });
    await button(page, 'Отправить…').click();
    await agree(page, `Отправить ${people} людям`);
    await until('some were sent', async () => Number(await page.getByRole('progressbar').getAttribute('aria-valuenow')) > 0);
    await button(page, 'Отменить').click();
    await page.getByRole('dialog').getByText('Уже получили:').waitFor();
    await picture(page, 'cancel');
    await agree(page, 'Да, отменить');
    await state(page, 'Отменена');
    const { have: sent } = await stage('received', { text: 'отменят' });
    assert.ok(sent > 0 && sent < people);
    await until('it counts what the phones have', async () => Number(await sentTile(page)) === sent);
    await page.getByText(`Отправлено до отмены: ${sent}`).waitFor();
    await until('all others are skipped', async () => Number(await page.locator('.tile.skipped strong').textContent()) === people - sent);
    await page.locator('.tile.skipped').click();
    await page.locator('.recipients').getByText('рассылка отменена').first().waitFor();
    await picture(page, 'cancelled');
    await page.unroute('**/progress');
  });

  await step('what nobody knows is counted, and sent again only when a person says so', async () => {
    await stage('lose-answers');
    await write(page, 'Ответ на это потеряется');
    await button(page, 'Отправить…').click();
    await agree(page, `Отправить ${people} людям`);
    await state(page, 'Завершена');
    await page.getByText('Про 2 получателей неизвестно').waitFor();
    assert.deepEqual(await stage('received', { text: 'потеряется' }).then((r) => [r.have, r.times]), [people, people]);
    await picture(page, 'uncertain');
    await button(page, 'Отправить ещё раз…').click();
    await page.getByRole('dialog').getByText('2 человека могут получить сообщение дважды').waitFor();
    await picture(page, 'resend');
    await agree(page, 'Отправить ещё раз');
    await until('nothing is uncertain', async () => await sentTile(page) === String(people));
    await page.getByText('Про 2 получателей неизвестно').waitFor({ state: 'detached' });
    assert.equal((await stage('received', { text: 'потеряется' })).times, people + 2);
  });

  await step('a correction goes to those who got it', async () => {
    await page.getByRole('link', { name: 'Написать поправку' }).click();
    await heading(page, 'Поправка');
    await page.getByLabel('Текст, русский').fill('Поправка: всё нашлось');
    await page.locator('.phone .bubble').getByText('Поправка: всё нашлось').first().waitFor();
    await picture(page, 'correct');
    await button(page, 'Отправить поправку…').click();
    await page.getByRole('dialog').getByText(`${people} человек`).waitFor();
    await agree(page, 'Отправить поправку');
    await heading(page, 'Поправка: всё нашлось');
    await state(page, 'Завершена');
    assert.equal((await stage('received', { text: 'всё нашлось' })).have, people);
  });

  await step('a session that ends takes nothing with it', async () => {
    await write(page, 'Черновик, который переживёт всё');
    await page.getByText('Другие условия').click();
    await page.getByLabel('Номера клиентов').fill('1, 2, 3');
    await page.locator('.estimate').getByText(/^\d+ человек/).waitFor();
    await stage('end-sessions');
    // The page asks for a sign-in as soon as anything is refused, perhaps before the click.
    await button(page, 'Сохранить черновик').dispatchEvent('click');
    await page.getByRole('dialog').getByText('Всё, что вы набрали, на месте').waitFor();
    await picture(page, 'ended');
    await page.getByRole('dialog').getByLabel('Или вставьте ссылку сюда').fill('https://example.com/');
    await page.getByRole('dialog').getByRole('button', { name: 'Войти' }).click();
    await page.getByRole('dialog').getByText('В этой ссылке нет кода').waitFor();
    await page.getByRole('dialog').getByLabel('Или вставьте ссылку сюда').fill(await stage('link', { role: 'admin' }));
    await agree(page, 'Войти');
    await page.locator('.save-status').getByText('Черновик сохранён в').waitFor();
    assert.equal(await page.getByLabel('Текст, русский').inputValue(), 'Черновик, который переживёт всё');
    assert.equal(await page.getByLabel('Номера клиентов').inputValue(), '1, 2, 3');
    assert.equal(await page.evaluate(() => Object.values({ ...localStorage }).some((v) => v.includes('1, 2, 3'))), false, 'no ids of customers in the storage');
    await go(page, '#/');
    await page.locator('.row').first().getByText('Черновик', { exact: true }).waitFor();
    await picture(page, 'list');
  });

  await step('the list by state', async () => {
    await button(page, 'Черновики').click();
    await page.waitForFunction(() => document.querySelectorAll('.row').length === 1);
    await button(page, 'Запланированы').click();
    await page.getByText('Таких рассылок нет').waitFor();
    await button(page, 'Все').click();
    await page.waitForFunction(() => document.querySelectorAll('.row').length === 6);
  });

  await step('an operator watches, pauses and cancels, and creates nothing', async () => {
    const watch = await tab({ role: 'operator' });
    await watch.locator('.row').first().waitFor();
    assert.equal(await watch.getByRole('link', { name: 'Новая рассылка' }).count(), 0);
    await go(watch, `#/${first}`);
    await heading(watch, 'Релиз 4.2');
    await watch.locator('.source').getByText('**новая версия**').waitFor();
    assert.equal(await watch.locator('.watch-actions > *').count(), 0);
    await picture(watch, 'operator');
    await go(watch, '#/new');
    await watch.getByText('Создавать рассылки могут только администраторы').waitFor();
    await watch.context().close();
  });

  await step('what waits for a person is seen by the operator, replayed, and done', async () => {
    await stage('refuse-ticket', { text: 'Принтер не печатает' });
    const watch = await tab({ role: 'operator' });
    await watch.getByRole('link', { name: /1 ждёт решения/ }).click();
    await watch.locator('.health-said').getByText(/Измерено|не измерялось/).waitFor(); // the API's answer
    await watch.locator('.job-row a').getByText('Создать обращение').click();
    await heading(watch, 'Создать обращение');
    await watch.getByText('Второго обращения или комментария от повтора не появится').waitFor();
    assert.equal(await watch.getByText('Принтер').count(), 0, 'nothing that the customer wrote');
    await picture(watch, 'job');
    await button(watch, 'Повторить').click();
    await agree(watch, 'Повторить');
    await state(watch, 'Выполнено');
    assert.match(await stage('ticket', { text: 'Принтер не печатает' }), /^[A-Z]+-1$/);
    await watch.getByRole('link', { name: 'К заданиям' }).click();
    await watch.getByText('Решения никто не ждёт').waitFor();
    await watch.locator('.badge').waitFor({ state: 'hidden' });
    await watch.context().close();
  });

  await step('an analyst sees the charts alone; without ClickHouse the page says that there are none', async () => {
    const analyst = await tab({ role: 'analyst' });
    await heading(analyst, 'Аналитика');
    await analyst.getByText('this deployment has no analytics').waitFor();
    await picture(analyst, 'analyst');
    await go(analyst, `#/${first}`);
    await analyst.getByText('Рассылки видят администраторы и операторы').waitFor();
    await analyst.context().close();
  });

  await step('by keyboard alone: write, send, pause, resume', async () => {
    const keys = await tab();
    const tabTo = async (name) => {
      for (let n = 0; n < 120; n += 1) {
        await keys.keyboard.press('Tab');
        const here = await keys.evaluate(() => {
          const el = document.activeElement;
          return el.getAttribute('aria-label') ?? el.labels?.[0]?.textContent ?? el.textContent.trim();
        });
        if (here === name) return;
      }
      throw new Error(`no way to ${name} by Tab`);
    };
    await keys.locator('.row').first().waitFor();
    await tabTo('Новая рассылка');
    await keys.keyboard.press('Enter');
    await heading(keys, 'Новая рассылка');
    await tabTo('Русский');
    await keys.keyboard.press('ArrowRight');
    assert.equal(await keys.getByRole('tab', { selected: true }).textContent(), 'Английский');
    await keys.keyboard.press('ArrowLeft');
    await tabTo('Текст, русский');
    await keys.keyboard.type('Только ');
    await keys.keyboard.press('Control+b');
    await keys.keyboard.type('клавиши');
    assert.equal(await keys.getByLabel('Текст, русский').inputValue(), 'Только **клавиши**');
    await tabTo('Сообщений в секунду');
    await keys.keyboard.type(slow);
    await keys.locator('.estimate').getByText(`${people} человек`).waitFor();
    await tabTo('Отправить…');
    assert.notEqual(await keys.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), 'none', 'the focus is seen');
    await picture(keys, 'focus');
    await keys.keyboard.press('Enter');
    await keys.getByRole('dialog').waitFor();
    await keys.keyboard.press('Enter');
    await state(keys, 'Идёт');
    await tabTo('Пауза');
    await keys.keyboard.press('Enter');
    await state(keys, 'На паузе');
    await tabTo('Скорость');
    await keys.keyboard.press('Enter');
    await keys.keyboard.type('20');
    await keys.keyboard.press('Enter');
    await keys.getByText('до 20 сообщ./с').waitFor();
    await keys.keyboard.press('Shift+Tab');
    assert.equal(await keys.evaluate(() => document.activeElement.textContent), 'Продолжить');
    await keys.keyboard.press('Enter');
    await state(keys, 'Завершена');
    await keys.context().close();
  });

  await step('a phone of 360 px', async () => {
    const phone = await tab({ width: 360, height: 740, touch: true });
    await phone.locator('.row').first().waitFor();
    await narrowFits(phone, 'list');
    await picture(phone, 'phone-list');
    await go(phone, '#/new');
    await phone.getByLabel('Текст, русский').fill(`Длинное слово ${'а'.repeat(60)} и https://example.com/${'x'.repeat(60)}`);
    await button(phone, 'Добавить кнопку').click();
    await phone.getByText('Другие условия').click();
    await phone.getByText('В назначенное время').click();
    await phone.getByText('Отправлять только в эти часы').click();
    await phone.locator('.phone .bubble').first().waitFor();
    await narrowFits(phone, 'form');
    await picture(phone, 'phone-compose', { fullPage: true });
    await go(phone, `#/${first}`);
    await heading(phone, 'Релиз 4.2');
    await phone.locator('.tile.sent').click();
    await phone.locator('.recipients tbody tr').first().waitFor();
    await narrowFits(phone, 'broadcast');
    await picture(phone, 'phone-broadcast', { fullPage: true });
    await phone.context().close();
    const gate = await tab({ width: 360, height: 740, touch: true, role: '' });
    await heading(gate, 'Вход в консоль');
    await narrowFits(gate, 'sign-in');
    await picture(gate, 'phone-signin');
    await gate.context().close();
  });

  await step('dark', async () => {
    const dark = await tab({ scheme: 'dark' });
    await dark.locator('.row').first().waitFor();
    await picture(dark, 'dark-list');
    await go(dark, `#/${first}`);
    await dark.locator('.phone .bubble').first().waitFor();
    await picture(dark, 'dark-broadcast');
    await go(dark, `#/new/from/${first}`);
    await dark.locator('.phone .bubble').first().waitFor();
    await picture(dark, 'dark-compose');
    await dark.context().close();
  });

  await step('English, by the browser and by hand', async () => {
    const english = await tab({ language: 'en-US' });
    await heading(english, 'Broadcasts');
    await picture(english, 'english-list');
    await go(english, `#/${first}`);
    await heading(english, 'Релиз 4.2');
    await english.locator('.phone .bubble').first().waitFor();
    await picture(english, 'english-broadcast');
    await go(english, '#/new');
    await english.getByLabel('Text, Russian').waitFor();
    await picture(english, 'english-compose');
    const left = await english.evaluate(() => document.body.innerText.replace('Русский', '').match(/[а-яё]+/gi));
    assert.equal(left, null, `Russian words are left: ${left}`);
    await button(english, 'Переключить на русский').click();
    await heading(english, 'Новая рассылка');
    await english.reload();
    await heading(english, 'Новая рассылка'); // it remembers
    await english.context().close();
  });

  await step('sign out', async () => {
    await button(page, 'Выйти').click();
    await heading(page, 'Вход в консоль');
    await page.reload();
    await heading(page, 'Вход в консоль');
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  });
});
