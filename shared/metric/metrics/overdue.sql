-- title.ru: Доля просроченных
-- title.en: Share overdue
-- description.ru: Обращения, открытые за период. По сроку просрочено то, что не решили до конца дня срока по местному времени: доля среди обращений, у которых
--   срок есть. По SLA — то, что не решили до первого нарушения таймера: доля среди всех. «Всего» — просрочено хотя бы одним способом, доля среди всех.
--   Нерешённое сравнивается с настоящим; у решённого заново считается последнее решение.
-- description.en: Tickets opened in the period. Overdue by the deadline is what was not resolved by the end of that day, by local time: the share of tickets that
--   have a deadline. Overdue by SLA is what was not resolved before the first of its timers failed: the share of all. "Overdue" is either, the share of all.
--   What is not resolved is compared with the present; of what was resolved again the last resolution counts.
-- unit: share
-- chart: line
-- order: 80
-- parameters: messenger, category
-- column time: time | Когда открыто | Opened
-- column overdue: value share | Всего | Overdue
-- column by_deadline: value share | По сроку | By deadline
-- column by_sla: value share | По SLA | By SLA
-- column tickets: count tickets | Обращений | Tickets
-- column with_deadline: count tickets | Со сроком | With a deadline
--
-- view: Tickets with what they may be late for; a row for each
-- field issue: Immutable id of the issue in Tracker
-- field at: When it was opened
-- field messenger: telegram, vk; empty: not opened by a customer
-- field category: Key of the category; empty: none
-- field resolved_at: When it was resolved, the last time; NULL: it is open
-- field deadline: The day by whose end it should be resolved; NULL: none
-- field sla_fails_at: When the first of its SLA timers fails or has failed, unless it is resolved before; NULL: none can
SELECT
	issue,
	created_at AS at,
	messenger,
	category,
	resolved_at,
	deadline,
	sla_fails_at
FROM tickets_latest;

WITH
	coalesce(resolved_at, {now:DateTime64(3, 'UTC')}) AS ended,
	ifNull(toDate(ended, {tz:String}) > deadline, 0) AS late,
	ifNull(ended > sla_fails_at, 0) AS failed
SELECT
	toDate(dateTrunc({bucket:String}, toDate(at, {tz:String}))) AS time,
	countIf(late OR failed) / count() AS overdue,
	countIf(late) / countIf(deadline IS NOT NULL) AS by_deadline,
	countIf(failed) / count() AS by_sla,
	count() AS tickets,
	countIf(deadline IS NOT NULL) AS with_deadline
FROM metric_overdue
WHERE at >= {from:DateTime64(3, 'UTC')} AND at < {to:DateTime64(3, 'UTC')}
	AND ({messenger:String} = '' OR messenger = {messenger:String})
	AND ({category:String} = '' OR category = {category:String})
GROUP BY time
