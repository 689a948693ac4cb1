-- title.ru: Открытые обращения
-- title.en: Open tickets
-- description.ru: Сколько обращений было открыто в конце каждого дня, недели или месяца по местному времени; за последний, если он не кончился, — сейчас.
--   Открыто — значит, статус не завершающий; статус, о котором не известно, что он значит, тоже не завершающий. Открытое заново снова считается.
-- description.en: How many tickets were open at the end of each day, week or month, by local time; of the last one, if it is not over, now. Open means that the
--   status is not final; a status of which nobody has said what it means is not final either. What was reopened counts again.
-- unit: tickets
-- chart: line
-- order: 110
-- parameters: messenger, category
-- column time: time | В конце | At the end of
-- column open: value tickets carry | Открыто | Open
--
-- view: Changes of how many tickets are open; a row for each
-- field issue: Immutable id of the issue in Tracker
-- field at: When it changed
-- field messenger: telegram, vk; empty: not opened by a customer
-- field category: Key of the category; empty: none
-- field change: 1: it was opened, at first or again; -1: its work ended
SELECT
	issue,
	at,
	messenger,
	category,
	toInt8(phase NOT IN ('done', 'cancelled')) - toInt8(NOT opening AND was NOT IN ('done', 'cancelled')) AS change
FROM
(
	SELECT issue, messenger, category, at, phase, was, opening
	FROM tickets_latest
	ARRAY JOIN
		path_times AS at,
		path_phases AS phase,
		arrayPushFront(arrayPopBack(path_phases), '') AS was,
		arrayMap(n -> n = 1, arrayEnumerate(path_times)) AS opening
)
WHERE change != 0;

-- What changed before the period is in its first bucket.
SELECT
	toDate(dateTrunc({bucket:String}, toDate(greatest(at, {from:DateTime64(3, 'UTC')}), {tz:String}))) AS time,
	sum(sum(change)) OVER (ORDER BY time) AS open
FROM metric_backlog
WHERE at < {to:DateTime64(3, 'UTC')}
	AND ({messenger:String} = '' OR messenger = {messenger:String})
	AND ({category:String} = '' OR category = {category:String})
GROUP BY time
