-- title.ru: Время до первого ответа
-- title.en: Time to the first answer
-- description.ru: Обращения клиентов, открытые за период: сколько прошло от открытия до первого ответа клиенту, в среднем и по медиане. Ответ,
--   который удалили, не считается; если ответом комментарий стал после правки, считается время правки. Обращения без ответа в среднее и медиану
--   не входят и посчитаны отдельно. Медиана чётного числа — среднее двух средних.
-- description.en: Customers' tickets opened in the period: the time from opening to the first answer to the customer, mean and median. An answer that
--   was deleted does not count; of a comment that an edit made an answer, the time of the edit counts. Tickets without an answer are in neither mean
--   nor median and are counted apart. The median of an even number is the mean of the two in the middle.
-- unit: seconds
-- chart: line
-- order: 50
-- parameters: messenger, category
-- column time: time | Когда открыто | Opened
-- column mean: value seconds | Среднее | Mean
-- column median: value seconds | Медиана | Median
-- column answered: count tickets | С ответом | Answered
-- column unanswered: count tickets | Без ответа | Not answered
--
-- view: Customers' tickets with their first answer; a row for each ticket
-- field issue: Immutable id of the issue in Tracker
-- field at: When it was opened
-- field messenger: telegram, vk
-- field category: Key of the category; empty: none
-- field answered_at: When the customer was answered first; NULL: not yet
-- field milliseconds: From the opening to the first answer; NULL: not yet
SELECT
	issue,
	created_at AS at,
	messenger,
	category,
	answered_at,
	dateDiff('millisecond', created_at, answered_at) AS milliseconds
FROM tickets_latest
WHERE messenger != '';

SELECT
	toDate(dateTrunc({bucket:String}, toDate(at, {tz:String}))) AS time,
	sum(milliseconds) / countIf(milliseconds IS NOT NULL) / 1000 AS mean,
	quantileExactInclusive(0.5)(milliseconds) / 1000 AS median,
	countIf(milliseconds IS NOT NULL) AS answered,
	countIf(milliseconds IS NULL) AS unanswered
FROM metric_first_response
WHERE at >= {from:DateTime64(3, 'UTC')} AND at < {to:DateTime64(3, 'UTC')}
	AND ({messenger:String} = '' OR messenger = {messenger:String})
	AND ({category:String} = '' OR category = {category:String})
GROUP BY time
