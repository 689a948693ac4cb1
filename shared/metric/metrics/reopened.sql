-- title.ru: Доля открытых заново
-- title.en: Share reopened
-- description.ru: Обращения, работа над которыми впервые завершилась за период (статус впервые стал завершающим): доля тех, что потом хотя бы раз открыли
--   заново, когда бы это ни случилось. Статус, о котором не известно, что он значит, завершающим не считается.
-- description.en: Tickets whose work ended in the period for the first time (their status became a final one): the share of those that were reopened at least once
--   since, whenever that was. A status of which nobody has said what it means is not final.
-- unit: share
-- chart: line
-- order: 90
-- parameters: messenger, category
-- column time: time | Когда завершено впервые | First ended
-- column share: value share | Открыто заново | Reopened
-- column ended: count tickets | Завершено | Ended
-- column reopened: count tickets | Из них открыто заново | Of them reopened
--
-- view: Tickets whose work has ended at least once; a row for each
-- field issue: Immutable id of the issue in Tracker
-- field at: When it ended for the first time
-- field opened_at: When it was opened
-- field messenger: telegram, vk; empty: not opened by a customer
-- field category: Key of the category; empty: none
-- field reopenings: How often it was reopened
SELECT
	issue,
	path_times[arrayFirstIndex(phase -> phase IN ('done', 'cancelled'), path_phases)] AS at,
	created_at AS opened_at,
	messenger,
	category,
	arrayCount(
		(was, phase) -> was IN ('done', 'cancelled') AND phase NOT IN ('done', 'cancelled'),
		arrayPopBack(path_phases), arrayPopFront(path_phases)
	) AS reopenings
FROM tickets_latest
WHERE hasAny(path_phases, ['done', 'cancelled']);

SELECT
	toDate(dateTrunc({bucket:String}, toDate(at, {tz:String}))) AS time,
	countIf(reopenings > 0) / count() AS share,
	count() AS ended,
	countIf(reopenings > 0) AS reopened
FROM metric_reopened
WHERE at >= {from:DateTime64(3, 'UTC')} AND at < {to:DateTime64(3, 'UTC')}
	AND ({messenger:String} = '' OR messenger = {messenger:String})
	AND ({category:String} = '' OR category = {category:String})
GROUP BY time
