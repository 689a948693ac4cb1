// Drives the sandbox's page as people do, and looks at what comes of it. Ends with
// an error at the first thing that is not as it should be.

import assert from 'node:assert/strict';
import { bot } from './bot.mjs';

const { env, hintsFit, named, narrowFits: fits, open, picture, script, step } = await import(JSON.parse(process.argv[2]).tools);
const api = bot(env);

async function tab({ width, height, scheme = 'light', query = '', touch = false }) {
  const page = await open({ viewport: { width, height }, colorScheme: scheme, hasTouch: touch, deviceScaleFactor: touch ? 2 : 1 }, { own: env.page });
  await page.goto(env.page + query);
  await page.locator('.connection[data-state="live"]').waitFor();
  return page;
}

const narrowFits = (page, what) => fits(page, what, '.scroll-x, .menu');

/** The bytes of a photo that the page itself draws, in base64. */
const drawn = (page) => page.evaluate(async () => {
  const { picture: draw } = await import('./samples.js');
  const bytes = new Uint8Array(await (await draw(0)).arrayBuffer());
  return btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join(''));
});

/** Fails unless the middle of the element is what a person sees there: nothing cuts it off or covers it. */
async function seen(locator) {
  await locator.waitFor();
  const what = await locator.evaluate((el) => {
    const box = el.getBoundingClientRect();
    const there = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    return el.contains(there) ? '' : `${el.textContent} is behind ${there?.outerHTML.slice(0, 90)}`;
  });
  assert.equal(what, '');
}

const chat = (page) => page.locator('.messages');
const say = async (page, text) => {
  await page.locator('.composer textarea').fill(text);
  await page.locator('.composer textarea').press('Enter');
};

await script(async () => {
  const page = await tab({ width: 1440, height: 900 });
  const customer = await page.locator('.who select').inputValue();
  assert.ok(Number(customer) > 2 ** 40, 'ids are large');

  await step('an empty page invites', async () => {
    await page.getByRole('button', { name: 'Начать', exact: true }).waitFor();
    await page.getByText('Тикетов пока нет').waitFor();
    await hintsFit(page, 'an empty page');
    await picture(page, 'empty');
  });

  await step('the customer starts the bot in Telegram', async () => {
    await page.getByRole('button', { name: 'Начать', exact: true }).click();
    await chat(page).getByText('/start').waitFor();
    assert.equal((await api.update('message')).text, '/start');
    await api.telegram('sendMessage', {
      chat_id: customer, parse_mode: 'HTML',
      text: '<b>Здравствуйте, Мария!</b>\nЯ помогу с заказом. Что случилось?\n\n<blockquote>Ответим за <i>15 минут</i></blockquote>',
      reply_markup: { inline_keyboard: [[{ text: '🚚 Доставка', callback_data: 'delivery' }, { text: '💳 Оплата', callback_data: 'pay' }], [{ text: 'Сайт', url: 'https://example.com/' }]] },
    });
    await chat(page).getByText('Здравствуйте, Мария!').waitFor();
    assert.equal(await chat(page).locator('b').textContent(), 'Здравствуйте, Мария!');
  });

  await step('a text with markup stays text', async () => {
    await say(page, 'Заказ <b>не пришёл</b> & <img src=x onerror=alert(1)> 😀\nhttps://example.com/order?id=1');
    await chat(page).getByText('<img src=x onerror=alert(1)>').waitFor();
    assert.equal(await chat(page).locator('.mine img').count(), 0);
    assert.match((await api.update('message')).text, /^Заказ <b>не/);
  });

  await step('the customer presses a button and sees the answer', async () => {
    await chat(page).getByRole('button', { name: '🚚 Доставка' }).click();
    const query = await api.update('callback_query');
    assert.equal(query.data, 'delivery');
    await api.telegram('answerCallbackQuery', { callback_query_id: query.id, text: 'Ищу ваши заказы' });
    await page.locator('.toast').getByText('Ищу ваши заказы').waitFor();
    await api.telegram('editMessageText', { chat_id: customer, message_id: query.message.message_id, text: 'Тема: 🚚 Доставка' });
    await chat(page).getByText('Тема: 🚚 Доставка').waitFor();
  });

  await step('the customer sends a photo, a voice, an album and a file', async () => {
    for (const what of ['Готовое фото', 'Готовое голосовое', 'Готовый альбом']) {
      await page.getByRole('button', { name: 'Прикрепить', exact: true }).click();
      await page.getByRole('menuitem', { name: what }).click();
    }
    await page.locator('.composer input[type=file]').setInputFiles([{ name: 'чек №1042.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.4 test') }]);
    await say(page, 'И чек');
    await chat(page).locator('.mine .file').getByText('чек №1042.pdf').waitFor();
    await page.waitForFunction(() => [...document.querySelectorAll('.messages img')].filter((i) => i.naturalWidth > 0).length === 4);
    await page.waitForFunction(() => document.querySelector('.messages audio')?.duration > 1);
  });

  await step('the customer edits, answers and deletes', async () => {
    const mine = chat(page).locator('.mine').filter({ hasText: 'И чек' });
    await mine.hover();
    await mine.getByRole('button', { name: 'Действия с сообщением' }).click();
    for (const item of await page.getByRole('menuitem').all()) await seen(item); // also below the last message
    await page.getByRole('menuitem', { name: 'Изменить' }).click();
    await say(page, 'И чек об оплате');
    await chat(page).locator('.mine').filter({ hasText: 'И чек об оплате' }).getByText('изменено').waitFor();
    assert.equal((await api.update('edited_message')).caption, 'И чек об оплате');
    const theirs = chat(page).locator('.theirs').filter({ hasText: 'Тема' });
    await theirs.hover();
    await theirs.getByRole('button', { name: 'Действия с сообщением' }).click();
    await page.getByRole('menuitem', { name: 'Ответить' }).click();
    await say(page, 'Да, верно');
    await chat(page).locator('.mine .quoted').getByText('Тема: 🚚 Доставка').waitFor();
  });

  await step('the ordinary keyboard', async () => {
    await api.telegram('sendMessage', { chat_id: customer, text: 'Обращение создано: SUP-1', reply_markup: { keyboard: [['Мои обращения', 'Новое обращение'], ['Помощь']], resize_keyboard: true } });
    await page.locator('.keyboard').getByRole('button', { name: 'Мои обращения' }).click();
    await chat(page).locator('.mine').getByText('Мои обращения').waitFor();
  });

  await step('a ticket appears and opens', async () => {
    const file = await api.upload('фото.jpg', new Blob([Buffer.from(await drawn(page), 'base64')]));
    await api.ticket({
      summary: 'Заказ №1042 не пришёл <script>', type: { key: 'incident' }, priority: { key: 'critical' }, attachmentIds: [file],
      description: 'Клиент пишет:\n\n> Заказ не пришёл\\\n> и **курьер** молчит\n\n* номер: `1042`\n* сумма: 4 590 ₽',
      fields: { supportMessenger: 'telegram', supportName: 'Мария Соколова', supportNickname: 'masha_sokolova', supportUser: customer, supportChat: customer, supportLocale: 'ru', supportCategory: 'delivery', supportBot: '7000000001' },
    });
    await api.ticket({ queue: 'BIL', summary: 'Нужен счёт на юрлицо', type: { key: 'request' }, fields: { supportMessenger: 'vk', supportName: 'Олег Кузнецов' } });
    await api.ticket({ summary: 'Не открывается личный кабинет', type: { key: 'bug' }, priority: { key: 'blocker' }, fields: { supportMessenger: 'vk', supportName: 'Emma Wilson' } });
    await api.tracker('POST', 'issues/SUP-1/comments', { text: '**Мария Соколова** (@masha_sokolova), 12:41\n\nКурьер так и не позвонил' });
    await page.locator('.row[data-key="SUP-1"]').click();
    await page.getByRole('heading', { name: 'Заказ №1042 не пришёл <script>' }).waitFor();
    assert.equal(await page.locator('.description blockquote b').textContent(), 'курьер');
    await page.locator('.entry.robot').getByText('Курьер так и не позвонил').waitFor();
    await page.locator('.description').getByRole('img', { name: 'фото.jpg' }).waitFor();
  });

  await step('an agent comments, for colleagues and for the customer', async () => {
    const text = page.locator('.comment-box textarea');
    await text.fill('Спросила у склада');
    await text.press('Control+Enter');
    await page.locator('.entry.comment:not(.reply)').getByText('Спросила у склада').waitFor();
    await text.fill('Заказ **уже едет**, курьер позвонит до 18:00');
    await page.getByRole('button', { name: 'Ответить клиенту' }).click();
    assert.match(await text.inputValue(), /^\/reply Заказ/);
    await page.locator('.comment-box input[type=file]').setInputFiles([{ name: 'накладная.txt', mimeType: 'text/plain', buffer: Buffer.from('№ 1042') }]);
    await page.locator('.comment-box').getByRole('button', { name: 'Отправить' }).click();
    await page.locator('.entry.reply').getByText('накладная.txt').waitFor();
    await seen(page.locator('.entry.reply'));
    assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Комментарий');
    assert.equal(await page.locator('.entry.reply b').textContent(), 'уже едет');
    const [, , reply] = await api.tracker('GET', 'issues/SUP-1/comments');
    assert.match(reply.text, /^\/reply Заказ/);
  });

  await step('an agent edits and deletes a comment', async () => {
    const entry = page.locator('.entry.comment').filter({ hasText: 'Спросила у склада' });
    await entry.getByRole('button', { name: 'Действия с комментарием' }).click();
    await page.getByRole('menuitem', { name: 'Изменить' }).click();
    await page.locator('.rewrite textarea').fill('Склад ответил: **отгружен**');
    await page.locator('.rewrite').getByRole('button', { name: 'Сохранить' }).click();
    const changed = page.locator('.entry.comment').filter({ hasText: 'Склад ответил' });
    await changed.getByText('изменено').waitFor();
    await changed.getByRole('button', { name: 'Действия с комментарием' }).click();
    await page.getByRole('menuitem', { name: 'Удалить' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Удалить' }).click();
    await changed.waitFor({ state: 'detached' });
  });

  await step('status, assignee, priority', async () => {
    await page.getByLabel('Исполнитель').selectOption('anna');
    await page.locator('.row[data-key="SUP-1"] .face').waitFor();
    await page.getByLabel('Приоритет', { exact: true }).selectOption('normal');
    await page.locator('.steps button[data-to="inProgress"]').click();
    await page.locator('.steps .pill').getByText('В работе').waitFor();
    await picture(page, 'wide');
    await page.locator('.steps button[data-to="resolved"]').click();
    await page.getByRole('dialog').getByLabel('Резолюция').selectOption('fixed');
    await picture(page, 'dialog');
    await page.getByRole('dialog').getByRole('button', { name: 'Решить' }).click();
    await page.locator('.steps .pill').getByText('Решён').waitFor();
    await page.getByRole('tab', { name: 'История' }).click();
    await page.locator('.entry.change').getByText('Смена статуса').first().waitFor();
    await picture(page, 'history');
    await page.getByRole('tab', { name: 'Комментарии' }).click();
    await page.locator('.entry.reply').scrollIntoViewIfNeeded();
    await page.locator('.messages').evaluate((el) => { el.scrollTop = 0; });
    await page.getByRole('button', { name: 'Прикрепить', exact: true }).click();
    await picture(page, 'comments');
    await page.keyboard.press('Escape');
  });

  await step('a move gives another key', async () => {
    await page.locator('.row[data-key="SUP-2"]').click();
    await page.getByRole('heading', { name: 'Не открывается личный кабинет' }).waitFor();
    await page.locator('.properties').getByLabel('Очередь').selectOption('BIL');
    await page.getByRole('dialog').getByRole('button', { name: 'Перенести' }).click();
    await page.locator('.ticket-top .key').getByText('BIL-2').waitFor();
    await page.getByText('Раньше SUP-2').waitFor();
    await page.locator('.row[data-key="SUP-1"]').click();
  });

  let person = '';
  await step('the customer writes in VK and presses a button', async () => {
    await api.event('');
    await page.getByRole('tab', { name: 'ВКонтакте' }).click();
    await page.locator('.device[data-messenger="vk"]').waitFor();
    await say(page, 'Здравствуйте! Нужен счёт на юрлицо');
    await chat(page).locator('.mine').getByText('Нужен счёт').waitFor();
    const { message } = await api.event('message_new');
    person = message.peer_id;
    assert.ok(person > 2 ** 40);
    const key = (label, color) => ({ action: { type: 'callback', label, payload: JSON.stringify({ a: label }) }, color });
    await api.vk('messages.send', {
      peer_id: person, random_id: 1, message: 'Здравствуйте, Олег! На какую компанию?\nhttps://example.com/requisites',
      keyboard: JSON.stringify({ inline: true, buttons: [[key('ООО «Ромашка»', 'primary')], [key('Другая', 'secondary'), key('Отмена', 'negative')]] }),
    });
    await chat(page).getByRole('button', { name: 'ООО «Ромашка»' }).click();
    const press = await api.event('message_event');
    await api.vk('messages.sendMessageEventAnswer', { event_id: press.event_id, user_id: person, peer_id: person, event_data: JSON.stringify({ type: 'show_snackbar', text: 'Готовлю счёт' }) });
    await page.locator('.toast').getByText('Готовлю счёт').waitFor();
    await page.getByRole('button', { name: 'Прикрепить', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Готовый альбом' }).click();
    await page.waitForFunction(() => [...document.querySelectorAll('.messages img')].filter((i) => i.naturalWidth > 0).length === 3);
    await api.vk('messages.send', { peer_id: person, random_id: 2, message: 'Счёт придёт сюда же.', keyboard: JSON.stringify({ one_time: false, buttons: [[{ action: { type: 'text', label: 'Меню', payload: '{}' }, color: 'primary' }]] }) });
    await page.locator('.keyboard').getByRole('button', { name: 'Меню' }).click();
    await chat(page).locator('.mine').getByText('Меню').waitFor();
    await picture(page, 'vk');
  });

  await step('the customer forbids messages, allows them, and another one comes', async () => {
    const act = async (name) => {
      await page.getByRole('button', { name: 'Действия клиента' }).click();
      await page.getByRole('menuitem', { name }).click();
    };
    await act('Запретить сообщения');
    await page.getByText('Клиент запретил сообщения сообщества').waitFor();
    await assert.rejects(api.vk('messages.send', { peer_id: person, random_id: 3, message: 'x' }));
    await page.locator('.blocked').getByRole('button', { name: 'Разрешить сообщения' }).click();
    await page.locator('.composer textarea').waitFor();
    await page.getByRole('tab', { name: 'Telegram', exact: true }).click();
    await page.getByRole('button', { name: 'Добавить клиента' }).click();
    await page.getByRole('dialog').getByLabel('Имя', { exact: true }).fill('Аня');
    await page.getByRole('dialog').getByRole('button', { name: 'Добавить' }).click();
    await page.waitForFunction(() => document.querySelector('.who select').selectedOptions[0]?.text === 'Аня');
    await act('Открыть по ссылке');
    await page.getByRole('dialog').getByLabel('Параметр ссылки').fill('promo_7');
    await page.getByRole('dialog').getByRole('button', { name: 'Открыть' }).click();
    await chat(page).getByText('/start promo_7').waitFor();
    await page.locator('.who select').selectOption(customer);
    await chat(page).locator('.mine').getByText('Мои обращения').waitFor();
  });

  await step('a crowd, and one of them found', async () => {
    await page.getByRole('button', { name: 'Действия клиента' }).click();
    await page.getByRole('menuitem', { name: 'Создать много клиентов' }).click();
    const window = page.getByRole('dialog');
    assert.equal(await window.getByLabel('Сколько').inputValue(), '100000');
    await picture(page, 'crowd');
    await window.getByRole('button', { name: 'Создать' }).click();
    await page.locator('.toast').getByText(/Добавлено 100000 клиентов/).waitFor();
    const listed = await page.locator('.who select option').count();
    assert.ok(listed < 10, `${listed} people are in the list`);
    await page.getByRole('button', { name: 'Найти среди созданных' }).click();
    await window.locator('.found-person').first().waitFor();
    const id = await window.locator('.found-person input').first().inputValue();
    await api.telegram('sendMessage', { chat_id: id, text: 'Новости: мы открылись в Казани' });
    await window.getByLabel('Имя, ник или номер').fill('нет такого');
    await window.getByText('Ничего не нашлось').waitFor();
    await window.getByLabel('Имя, ник или номер').fill(id);
    await window.locator('.found-person').getByText('Новости: мы открылись').waitFor();
    await picture(page, 'crowd-found');
    await window.getByRole('button', { name: 'Открыть' }).click();
    await page.waitForFunction((value) => document.querySelector('.who select').value === value, id);
    await chat(page).getByText('мы открылись в Казани').waitFor();
    await picture(page, 'crowd-chat');
    await say(page, 'Где именно?');
    await chat(page).locator('.mine').getByText('Где именно?').waitFor();
    await page.locator('.who select').selectOption(customer);
    await chat(page).locator('.mine').getByText('Мои обращения').waitFor();
  });

  await step('faults and calls', async () => {
    await page.locator('.wires > summary').click();
    await page.waitForFunction(() => document.querySelector('.wires').getBoundingClientRect().bottom <= innerHeight + 1);
    await page.locator('.fault-form').getByLabel('Метод').fill('sendMessage');
    await page.locator('.fault-form').getByRole('button', { name: 'Сломать' }).click();
    await page.locator('.fault-list').getByText('Отвечает ошибкой · 503').waitFor();
    await picture(page, 'faults');
    await assert.rejects(api.telegram('sendMessage', { chat_id: customer, text: 'x' }));
    await page.locator('.fault-list li').waitFor({ state: 'detached' });
    await page.locator('.call').filter({ hasText: 'sendMessage' }).getByText('503').first().waitFor();
    await page.locator('.call summary').first().click();
    await picture(page, 'calls');
    await page.locator('.wires > summary').click();
  });

  await step('a year of history', async () => {
    const window = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Действия с трекером' }).click();
    await seen(page.getByRole('menuitem', { name: 'Создать историю' }));
    await page.getByRole('menuitem', { name: 'Создать историю' }).click();
    await window.getByLabel('Сколько обращений').fill('210');
    await picture(page, 'history-asked');
    await window.getByRole('button', { name: 'Создать', exact: true }).click();
    await page.locator('.past').getByText('История готова.').waitFor({ timeout: 120000 });
    await page.locator('.shown').getByText('Последние 200 из 21').waitFor();
    assert.equal(await page.locator('.row').count(), 200);
    await picture(page, 'history');
    await page.getByRole('searchbox', { name: 'Найти тикет' }).fill('sup-9');
    await page.waitForFunction(() => [...document.querySelectorAll('.row .key')].every((k) => k.textContent.startsWith('SUP-9')));
    await page.getByRole('searchbox', { name: 'Найти тикет' }).fill('нет такого');
    await page.getByText('Ничего не нашлось').waitFor();
    await page.getByRole('searchbox', { name: 'Найти тикет' }).fill('');
    await page.locator('.row').first().waitFor();
    assert.equal(await page.locator('.message').filter({ hasText: 'SUP-9' }).count(), 0, 'customers hear nothing');
  });

  await step('the choice survives a reload', async () => {
    await page.reload();
    await page.getByRole('heading', { name: 'Заказ №1042 не пришёл <script>' }).waitFor();
    assert.equal(await page.locator('.who select').inputValue(), customer);
  });

  await step('English, and back by the address', async () => {
    await page.getByRole('button', { name: 'Switch to English' }).click();
    await page.getByRole('heading', { name: 'Sandbox' }).waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.lang), 'en');
    await page.locator('.entry.comment').first().waitFor();
    await hintsFit(page, 'English');
    await picture(page, 'english');
    assert.match(page.url(), /lang=en/);
    assert.equal(await page.evaluate(() => /[а-яё]/i.test(document.querySelector('.bar').innerText.replace('Русский', ''))), false);
  });

  await step('dark', async () => {
    const dark = await tab({ width: 1440, height: 900, scheme: 'dark', query: `?ticket=SUP-1&telegram=${customer}` });
    await dark.locator('.entry.reply').waitFor();
    await picture(dark, 'dark');
    await dark.getByRole('tab', { name: 'ВКонтакте' }).click();
    await dark.locator('.message').first().waitFor();
    await picture(dark, 'dark-vk');
    await dark.context().close();
  });

  await step('a phone of 360 px', async () => {
    const phone = await tab({ width: 360, height: 740, touch: true, query: `?telegram=${customer}` });
    await phone.locator('.message').first().waitFor();
    await narrowFits(phone, 'chat');
    await picture(phone, 'phone-chat');
    await phone.getByRole('tab', { name: 'Трекер' }).click();
    await phone.locator('.row').first().waitFor();
    await narrowFits(phone, 'tickets');
    await picture(phone, 'phone-list');
    await phone.locator('.row[data-key="SUP-1"]').click();
    await phone.locator('.entry').first().waitFor();
    await narrowFits(phone, 'ticket');
    await picture(phone, 'phone-ticket');
    await phone.getByRole('tab', { name: 'Сбои' }).click();
    await phone.locator('.call').first().waitFor();
    await narrowFits(phone, 'faults');
    await picture(phone, 'phone-faults');
    await phone.context().close();
  });

  await step('without events the page asks', async () => {
    const polling = await open({ viewport: { width: 1280, height: 800 } }, { own: env.page, expected: /net::ERR_FAILED/ }); // its own aborts
    await polling.route('**/sandbox/events*', (route) => route.abort());
    await polling.goto(`${env.page}?telegram=${customer}`);
    await polling.locator('.connection[data-state="polling"]').waitFor();
    await api.telegram('sendMessage', { chat_id: customer, text: 'Вы ещё здесь?' });
    await chat(polling).getByText('Вы ещё здесь?').waitFor();
    await say(polling, 'Здесь');
    await chat(polling).locator('.mine').getByText('Здесь', { exact: true }).waitFor();
    await polling.context().close();
  });

  await step('by keyboard alone', async () => {
    const keys = await tab({ width: 1280, height: 800 });
    await keys.getByRole('tab', { name: 'Telegram', exact: true }).focus();
    await keys.keyboard.press('ArrowRight');
    await keys.locator('.device[data-messenger="vk"]').waitFor();
    await keys.getByRole('button', { name: 'Прикрепить', exact: true }).focus();
    await keys.keyboard.press('Enter');
    await keys.keyboard.press('ArrowDown');
    assert.equal(await keys.evaluate(() => document.activeElement.textContent), 'Файл');
    await keys.keyboard.press('Escape');
    assert.equal(await keys.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Прикрепить');
    const menu = await api.vk('messages.send', { peer_id: person, random_id: 9, message: 'Что дальше?', keyboard: JSON.stringify({ inline: true, buttons: [[{ action: { type: 'callback', label: 'Меню', payload: '{}' } }]] }) });
    await chat(keys).getByRole('button', { name: 'Меню' }).last().focus();
    await api.vk('messages.edit', { peer_id: person, message_id: menu, message: 'Ваше меню', keyboard: JSON.stringify({ inline: true, buttons: [[{ action: { type: 'callback', label: 'Заказы', payload: '{}' } }]] }) });
    await chat(keys).getByText('Ваше меню').waitFor();
    assert.equal(await keys.evaluate(() => document.activeElement.textContent), 'Заказы', 'the focus stays with a message that changed');
    await named(keys);
    await keys.context().close();
  });
});
