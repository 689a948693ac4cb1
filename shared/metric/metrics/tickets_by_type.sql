-- title.ru: Обращения по типам
-- title.en: Tickets by type
-- description.ru: Обращения, открытые за период, по нынешнему типу задачи в Трекере.
-- description.en: Tickets opened in the period, by the present type of the issue in Tracker.
-- unit: tickets
-- chart: bar
-- order: 30
-- parameters: messenger, category
-- column type: category type | Тип | Type
-- column tickets: value tickets | Обращения | Tickets
--
-- view: Tickets; a row for each
-- field issue: Immutable id of the issue in Tracker
-- field at: When it was opened
-- field messenger: telegram, vk; empty: not opened by a customer
-- field category: Key of the category; empty: none
-- field type: Key of the issue type
-- field priority: Key of the priority
SELECT
	issue,
	created_at AS at,
	messenger,
	category,
	type,
	priority
FROM tickets_latest;

SELECT
	type,
	count() AS tickets
FROM metric_tickets_by_type
WHERE at >= {from:DateTime64(3, 'UTC')} AND at < {to:DateTime64(3, 'UTC')}
	AND ({messenger:String} = '' OR messenger = {messenger:String})
	AND ({category:String} = '' OR category = {category:String})
GROUP BY type
ORDER BY tickets DESC, type
