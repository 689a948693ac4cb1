-- title.ru: Исход рассылок
-- title.en: Outcomes of broadcasts
-- description.ru: Получатели рассылок по исходу: новости, уведомления о работах, служебные и исправления к ним; без проб и без сообщений одному клиенту.
--   Часть рассылки относится ко времени, когда её начали отправлять, а если не начали — когда рассылку создали.
-- description.en: Recipients of broadcasts by outcome: news, maintenance and system notices and corrections of them; without tests and messages to one
--   customer. A part of a broadcast belongs to when its sending began, or, if it never did, to when the broadcast was created.
-- unit: recipients
-- chart: stacked
-- order: 130
-- parameters: messenger
-- column time: time | Когда отправлено | Sent
-- column outcome: series | Исход | Outcome
-- column recipients: value recipients | Получатели | Recipients
-- label outcome.sent: доставлено | sent
-- label outcome.blocked: заблокировали бота | have blocked the bot
-- label outcome.failed: отказ мессенджера | refused by the messenger
-- label outcome.uncertain: исход неизвестен | outcome unknown
-- label outcome.skipped: пропущено | left out
-- label outcome.open: ждут | not yet
--
-- view: Batches of broadcasts; a row for each
-- field broadcast: Number of the broadcast
-- field batch: Number of the batch: the part that was sent in one go
-- field at: When the first of the batch was sent; when the broadcast was created, if none was
-- field kind: news, maintenance, system, message (to one customer)
-- field relation: correction, test; empty: a broadcast of its own
-- field messenger: telegram, vk
-- field sent: Recipients to whom it was sent
-- field blocked: Recipients who have blocked the bot
-- field failed: Recipients refused by the messenger
-- field uncertain: Recipients with an outcome that nobody knows
-- field skipped: Recipients who were left out: cancelled, opted out, erased
-- field open: Recipients without an outcome yet
SELECT
	broadcast,
	batch,
	coalesce(started_at, created_at) AS at,
	kind,
	relation,
	messenger,
	sent,
	blocked,
	failed,
	uncertain,
	skipped,
	toUInt32(greatest(toInt64(size) - sent - blocked - failed - uncertain - skipped, 0)) AS open
FROM broadcast_batches FINAL;

SELECT
	toDate(dateTrunc({bucket:String}, toDate(at, {tz:String}))) AS time,
	pair.1 AS outcome,
	sum(pair.2) AS recipients
FROM metric_broadcasts
ARRAY JOIN [('sent', sent), ('blocked', blocked), ('failed', failed), ('uncertain', uncertain), ('skipped', skipped), ('open', open)] AS pair
WHERE at >= {from:DateTime64(3, 'UTC')} AND at < {to:DateTime64(3, 'UTC')}
	AND ({messenger:String} = '' OR messenger = {messenger:String})
	AND relation != 'test' AND kind != 'message'
GROUP BY time, outcome
HAVING recipients > 0
