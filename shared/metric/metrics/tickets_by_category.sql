-- title.ru: Обращения по категориям
-- title.en: Tickets by category
-- description.ru: Обращения, открытые за период, по их нынешней категории и мессенджеру. Перенос в другую очередь категорию не стирает.
-- description.en: Tickets opened in the period, by their present category and messenger. A move to another queue does not take the category away.
-- unit: tickets
-- chart: stacked
-- order: 20
-- parameters: messenger, category
-- column category: category category | Категория | Category
-- column messenger: series messenger | Мессенджер | Messenger
-- column tickets: value tickets | Обращения | Tickets
--
-- view: Tickets; a row for each
-- field issue: Immutable id of the issue in Tracker
-- field at: When it was opened
-- field messenger: telegram, vk; empty: not opened by a customer
-- field category: Key of the category; empty: none
SELECT
	issue,
	created_at AS at,
	messenger,
	category
FROM tickets_latest;

-- the largest category first
SELECT
	category,
	messenger,
	count() AS tickets
FROM metric_tickets_by_category
WHERE at >= {from:DateTime64(3, 'UTC')} AND at < {to:DateTime64(3, 'UTC')}
	AND ({messenger:String} = '' OR messenger = {messenger:String})
	AND ({category:String} = '' OR category = {category:String})
GROUP BY category, messenger
ORDER BY sum(tickets) OVER (PARTITION BY category) DESC, category, messenger
