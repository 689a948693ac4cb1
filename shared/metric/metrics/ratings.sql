-- title.ru: Оценки по исполнителям
-- title.en: Ratings by agent
-- description.ru: Средняя оценка и число оценок у нынешнего исполнителя обращения. У обращения одна оценка — последняя, от 1 до 5; в периоде она, если
--   поставлена или изменена последний раз за период. Перенос в другую очередь оценку не стирает; стёртая оценка не считается.
-- description.en: The mean rating and the number of ratings by the ticket's present agent. A ticket has one rating, the latest, from 1 to 5; it is in the period
--   in which it was given or changed the last time. A move to another queue does not take it away; one that was cleared does not count.
-- unit: stars
-- chart: bar
-- order: 70
-- parameters: messenger, category
-- column agent: category agent | Исполнитель | Agent
-- column mean: value stars | Средняя оценка | Mean rating
-- column ratings: count ratings | Оценок | Ratings
--
-- view: Tickets that customers have rated; a row for each
-- field issue: Immutable id of the issue in Tracker
-- field at: When it was rated, the last time
-- field messenger: telegram, vk; empty: not opened by a customer
-- field category: Key of the category; empty: none
-- field agent: Name of who it is assigned to; empty: nobody
-- field rating: From 1 to 5
SELECT
	t.issue AS issue,
	assumeNotNull(t.rated_at) AS at,
	t.messenger AS messenger,
	t.category AS category,
	if(a.name = '', t.assignee, a.name) AS agent,
	t.rating AS rating
FROM tickets_latest AS t
LEFT JOIN agent_names AS a ON a.id = t.assignee
WHERE t.rating > 0 AND t.rated_at IS NOT NULL;

SELECT
	agent,
	sum(rating) / count() AS mean,
	count() AS ratings
FROM metric_ratings
WHERE at >= {from:DateTime64(3, 'UTC')} AND at < {to:DateTime64(3, 'UTC')}
	AND ({messenger:String} = '' OR messenger = {messenger:String})
	AND ({category:String} = '' OR category = {category:String})
GROUP BY agent
ORDER BY ratings DESC, agent
