-- title.ru: Время в статусах
-- title.en: Time in status
-- description.ru: Сколько обращения пробыли в каждом статусе: пребывания, которые закончились за период, целиком, когда бы они ни начались; в среднем и по
--   медиане. Обращение, которое вернулось в статус, было в нём два раза. Пребывание, которое ещё длится, не считается. Медиана чётного числа — среднее двух средних.
-- description.en: How long tickets were in each status: the stays that ended in the period, whole, whenever they began; mean and median. A ticket that came back to a
--   status was in it twice. A stay that goes on does not count. The median of an even number is the mean of the two in the middle.
-- unit: seconds
-- chart: bar
-- order: 100
-- parameters: messenger, category
-- column status: category status | Статус | Status
-- column mean: value seconds | Среднее | Mean
-- column median: value seconds | Медиана | Median
-- column stays: count stays | Пребываний | Stays
--
-- view: Stays of tickets in statuses that have ended; a row for each
-- field issue: Immutable id of the issue in Tracker
-- field at: When it left the status
-- field began_at: When it got the status
-- field messenger: telegram, vk; empty: not opened by a customer
-- field category: Key of the category; empty: none
-- field status: Name of the status
-- field milliseconds: How long it was in the status
SELECT
	t.issue AS issue,
	t.at AS at,
	t.began_at AS began_at,
	t.messenger AS messenger,
	t.category AS category,
	if(s.name = '', t.status, s.name) AS status,
	dateDiff('millisecond', t.began_at, t.at) AS milliseconds
FROM
(
	SELECT issue, messenger, category, status, began_at, at
	FROM tickets_latest
	ARRAY JOIN arrayPopBack(path_statuses) AS status, arrayPopBack(path_times) AS began_at, arrayPopFront(path_times) AS at
) AS t
LEFT JOIN status_names AS s ON s.key = t.status;

SELECT
	status,
	sum(milliseconds) / count() / 1000 AS mean,
	quantileExactInclusive(0.5)(milliseconds) / 1000 AS median,
	count() AS stays
FROM metric_time_in_status
WHERE at >= {from:DateTime64(3, 'UTC')} AND at < {to:DateTime64(3, 'UTC')}
	AND ({messenger:String} = '' OR messenger = {messenger:String})
	AND ({category:String} = '' OR category = {category:String})
GROUP BY status
ORDER BY sum(milliseconds) DESC, status
