-- A year of a support desk, made up by ClickHouse itself: {tickets} tickets of ten
-- events each. What is random depends on the ticket's number alone.

CREATE TABLE made
ENGINE = MergeTree ORDER BY n AS
WITH
	toDateTime64('{end}', 3, 'UTC') AS present,
	(salt -> cityHash64(number, salt) % 1000003 / 1000003) AS chance,
	-- Most tickets come by day; on weekends half as many.
	toDateTime64(toDate(present) - 1 - intDiv(number * 364, {tickets}), 3, 'UTC') AS day,
	if(toDayOfWeek(day) > 5 AND chance(1) < 0.5, day - toIntervalDay(3), day) AS workday,
	workday + toIntervalMillisecond(toInt64((chance(2) + chance(3) + chance(4)) / 3 * 86400000)) AS opened,
	-- Minutes to days, a few of them weeks.
	opened + toIntervalMillisecond(toInt64(60000 * exp(0.5 + 4 * chance(5)))) AS answered,
	answered + toIntervalMillisecond(toInt64(60000 * exp(1 + 9 * chance(6)))) AS ended
SELECT
	number AS n,
	leftPad(lower(hex(number + 1)), 24, '0') AS issue,
	opened, answered,
	if(ended < present AND chance(7) < 0.97, ended, NULL) AS resolved,
	toString(101 + toUInt8(40 * chance(8) * chance(8))) AS agent,
	if(chance(9) < 0.6, 'telegram', 'vk') AS messenger,
	['problem', 'question', 'billing', 'delivery', 'other'][1 + toUInt8(5 * chance(10) * chance(10))] AS category,
	['bug', 'question', 'task'][1 + toUInt8(3 * chance(11))] AS type,
	if(chance(12) < 0.4, 1 + toUInt8(5 * sqrt(chance(13))), 0) AS rating,
	chance(14) < 0.05 AS reopened,
	if(chance(15) < 0.3, toDate(opened) + 1 + toUInt8(5 * chance(16)), NULL) AS deadline
FROM numbers({tickets});

INSERT INTO tickets
SELECT
	issue, 10, greatest(opened, ifNull(resolved, answered)), concat('SUP-', toString(n + 1)), 'SUP', opened, resolved, type, 'normal',
	if(resolved IS NULL, 'inProgress', 'resolved'), if(resolved IS NULL, 'inProgress', 'done'), if(resolved IS NULL, '', 'fixed'),
	agent, messenger, category, if(n % 8 = 0, 'en', 'ru'), if(resolved IS NULL, 0, rating), deadline,
	opened + toIntervalHour(8), now64(3)
FROM made
SETTINGS max_partitions_per_insert_block = 0;

INSERT INTO tickets_now
WITH opened + toIntervalMillisecond(intDiv(dateDiff('millisecond', opened, answered), 2)) AS began
SELECT
	issue, 10, greatest(opened, ifNull(resolved, answered)), concat('SUP-', toString(n + 1)), 'SUP', opened, resolved, type, 'normal',
	if(resolved IS NULL, 'inProgress', 'resolved'), if(resolved IS NULL, 'inProgress', 'done'), if(resolved IS NULL, '', 'fixed'),
	agent, messenger, category, if(n % 8 = 0, 'en', 'ru'), if(resolved IS NULL, 0, rating), deadline,
	opened + toIntervalHour(8), now64(3),
	answered, if(resolved IS NOT NULL AND rating > 0, resolved + toIntervalSecond(1), NULL),
	if(resolved IS NULL, ['open', 'inProgress'], ['open', 'inProgress', 'resolved']),
	if(resolved IS NULL, ['new', 'inProgress'], ['new', 'inProgress', 'done']),
	if(resolved IS NULL, [opened, began], [opened, began, assumeNotNull(resolved)])
FROM made
SETTINGS max_partitions_per_insert_block = 0;

INSERT INTO ticket_events
WITH
	resolved IS NOT NULL AND k = 7 AS resolves, resolved IS NOT NULL AND rating > 0 AND k = 8 AS rates,
	resolved IS NOT NULL AND reopened AND k = 9 AS reopens,
	multiIf(k = 1, '', k = 3, 'open', resolves, 'inProgress', reopens, 'resolved', '') AS was,
	multiIf(k = 1, 'open', k = 3, 'inProgress', resolves, 'resolved', reopens, 'reopened', '') AS became,
	map('', '', 'open', 'new', 'inProgress', 'inProgress', 'resolved', 'done', 'reopened', 'inProgress') AS phases
SELECT
	issue,
	multiIf(k = 0, 'created', k = 1, 'created:status', k = 2, 'a:assignee', k = 3, 'b:status', resolves, 'c:status', rates, 'd:rating', reopens, 'e:reopened',
		concat('c', toString(n * 10 + k))),
	multiIf(k = 0, 'created', k IN (1, 3) OR resolves, 'status', k = 2, 'assignee', rates, 'rating', reopens, 'reopened', k = 5, 'comment_in',
		k IN (4, 6), 'comment_out', 'comment_inside'),
	multiIf(k < 2, opened, k < 4, opened + toIntervalMillisecond(intDiv(dateDiff('millisecond', opened, answered), 2)), k < 7, answered + toIntervalMinute(k - 4),
		ifNull(resolved, answered + toIntervalMinute(5)) + toIntervalSecond(k - 7)),
	agent, was, multiIf(k = 2, agent, rates, toString(rating), became), phases[was], phases[became], opened, 1, 0
FROM made
ARRAY JOIN range(10) AS k
SETTINGS max_partitions_per_insert_block = 0;

DROP TABLE made SYNC;

INSERT INTO agents SELECT toString(101 + number), concat('agent', toString(number)), concat('Агент ', toString(number)), now64(3) FROM numbers(40);

INSERT INTO statuses
SELECT s.1, s.2, s.3, now64(3)
FROM (SELECT arrayJoin([('open', 'Открыт', 'new'), ('inProgress', 'В работе', 'inProgress'), ('resolved', 'Решён', 'done'), ('reopened', 'Открыт снова', 'inProgress')]) AS s);

INSERT INTO messages
SELECT
	toDate('{end}') - intDiv(number, 12), if(number % 2 = 0, 'telegram', 'vk'), if(number % 12 < 6, 'in', 'out'),
	['ticket.create', 'ticket.comment', 'deliver.answer', 'deliver.status', 'deliver.notice', 'ticket.reopen'][1 + number % 6], 100 + cityHash64(number) % 1000
FROM numbers(12 * 365);

INSERT INTO broadcast_batches
SELECT
	intDiv(number, 20), number, ['news', 'maintenance', 'system'][1 + intDiv(number, 20) % 3], '', if(number % 2 = 0, 'telegram', 'vk'), at, at, at + toIntervalMinute(5),
	6000, 5700, 200, 50, 10, 40, now64(6)
FROM (SELECT number, toDateTime64('{end}', 3, 'UTC') - toIntervalHour(4 * intDiv(number, 20)) AS at FROM numbers(20 * 2000));
