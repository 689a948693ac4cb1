-- title.ru: Время решения по исполнителям
-- title.en: Resolution time by agent
-- description.ru: Обращения, решённые за период и решённые до сих пор, у их нынешнего исполнителя: сколько прошло от открытия до последнего решения,
--   в среднем и по медиане. Обращение, которое открыли заново и решили снова, считается один раз, вместе со временем между решениями; открытое
--   заново и ещё не решённое — не считается. Решено — значит, Трекер поставил дату решения, с любой резолюцией. Медиана чётного числа — среднее двух средних.
-- description.en: Tickets resolved in the period that still are, by their present agent: the time from opening to the last resolution, mean and median. A
--   ticket that was reopened and resolved again counts once, with the time between its resolutions; one that was reopened and is not resolved yet does not
--   count. Resolved means that Tracker has set the date of resolution, whatever the resolution is. The median of an even number is the mean of the two in the middle.
-- unit: seconds
-- chart: bar
-- order: 60
-- parameters: messenger, category
-- column agent: category agent | Исполнитель | Agent
-- column mean: value seconds | Среднее | Mean
-- column median: value seconds | Медиана | Median
-- column tickets: count tickets | Решено | Resolved
--
-- view: Tickets that are resolved; a row for each
-- field issue: Immutable id of the issue in Tracker
-- field at: When it was resolved, the last time
-- field opened_at: When it was opened
-- field messenger: telegram, vk; empty: not opened by a customer
-- field category: Key of the category; empty: none
-- field agent: Name of who it is assigned to; empty: nobody
-- field milliseconds: From the opening to the resolution
SELECT
	t.issue AS issue,
	assumeNotNull(t.resolved_at) AS at,
	t.created_at AS opened_at,
	t.messenger AS messenger,
	t.category AS category,
	if(a.name = '', t.assignee, a.name) AS agent,
	dateDiff('millisecond', t.created_at, assumeNotNull(t.resolved_at)) AS milliseconds
FROM tickets_latest AS t
LEFT JOIN agent_names AS a ON a.id = t.assignee
WHERE t.resolved_at IS NOT NULL;

SELECT
	agent,
	sum(milliseconds) / count() / 1000 AS mean,
	quantileExactInclusive(0.5)(milliseconds) / 1000 AS median,
	count() AS tickets
FROM metric_resolution_time
WHERE at >= {from:DateTime64(3, 'UTC')} AND at < {to:DateTime64(3, 'UTC')}
	AND ({messenger:String} = '' OR messenger = {messenger:String})
	AND ({category:String} = '' OR category = {category:String})
GROUP BY agent
ORDER BY tickets DESC, agent
