-- title.ru: Обращения по мессенджерам
-- title.en: Tickets by messenger
-- description.ru: Обращения, открытые за период, по времени открытия. Каждое обращение считается один раз, сколько бы раз его ни открывали
--   заново, переносили в другую очередь или меняли. «Не из мессенджера» — задачи, которые завели сами сотрудники.
-- description.en: Tickets opened in the period, by when they were opened. Each counts once, however often it was reopened, moved to another
--   queue or changed. "Not from a messenger" are issues that staff opened.
-- unit: tickets
-- chart: stacked
-- order: 10
-- parameters: messenger, category
-- column time: time | Когда открыто | Opened
-- column messenger: series messenger | Мессенджер | Messenger
-- column tickets: value tickets | Обращения | Tickets
--
-- view: Tickets; a row for each
-- field issue: Immutable id of the issue in Tracker
-- field at: When it was opened
-- field messenger: telegram, vk; empty: not opened by a customer
-- field category: Key of the category
SELECT
	issue,
	created_at AS at,
	messenger,
	category
FROM tickets_latest;

SELECT
	toDate(dateTrunc({bucket:String}, toDate(at, {tz:String}))) AS time,
	messenger,
	count() AS tickets
FROM metric_tickets_by_messenger
WHERE at >= {from:DateTime64(3, 'UTC')} AND at < {to:DateTime64(3, 'UTC')}
	AND ({messenger:String} = '' OR messenger = {messenger:String})
	AND ({category:String} = '' OR category = {category:String})
GROUP BY time, messenger
