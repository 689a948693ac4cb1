-- title.ru: Нагрузка по часам и дням недели
-- title.en: Load by hour and weekday
-- description.ru: Сколько обращений открыто за период в каждый час каждого дня недели по местному времени. При переводе часов пропущенный час
--   пуст, а повторённый собирает обращения обоих.
-- description.en: How many tickets were opened in the period in each hour of each weekday, by local time. When the clocks change, the hour that is
--   left out is empty and the one that comes twice has the tickets of both.
-- unit: tickets
-- chart: heatmap
-- order: 40
-- parameters: messenger, category
-- column weekday: category | День недели (1 — понедельник) | Weekday (1 is Monday)
-- column hour: category | Час | Hour
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

SELECT
	toDayOfWeek(toTimeZone(at, {tz:String})) AS weekday,
	toHour(toTimeZone(at, {tz:String})) AS hour,
	count() AS tickets
FROM metric_load_by_hour
WHERE at >= {from:DateTime64(3, 'UTC')} AND at < {to:DateTime64(3, 'UTC')}
	AND ({messenger:String} = '' OR messenger = {messenger:String})
	AND ({category:String} = '' OR category = {category:String})
GROUP BY weekday, hour
ORDER BY weekday WITH FILL FROM 1 TO 8, hour WITH FILL FROM 0 TO 24
