-- title.ru: Сообщения
-- title.en: Messages
-- description.ru: Сообщения от клиентов (новые обращения, дополнения к ним и просьбы открыть заново) и клиентам (ответы, правки ответов, смены статуса и
--   уведомления), по дням UTC. Рассылки сюда не входят.
-- description.en: Messages from customers (new tickets, additions and wishes to reopen them) and to customers (answers, their edits, changes of status and
--   notices), by days of UTC. Broadcasts are not among them.
-- unit: messages
-- chart: stacked
-- order: 120
-- parameters: messenger
-- column time: time | День | Day
-- column direction: series | Направление | Direction
-- column messages: value messages | Сообщения | Messages
-- label direction.in: от клиентов | from customers
-- label direction.out: клиентам | to customers
--
-- view: Messages by day; a row for each day, messenger, direction and kind
-- field at: The day in UTC, as the time when it begins
-- field messenger: telegram, vk
-- field direction: in: from customers, out: to them
-- field kind: ticket.create, ticket.comment, deliver.answer, ...
-- field messages: How many
SELECT
	toDateTime64(day, 3, 'UTC') AS at,
	messenger,
	direction,
	kind,
	messages
FROM messages FINAL;

SELECT
	toDate(dateTrunc({bucket:String}, toDate(at, 'UTC'))) AS time,
	direction,
	sum(messages) AS messages
FROM metric_messages
WHERE toDate(at, 'UTC') >= {first_day:Date} AND toDate(at, 'UTC') < {end_day:Date}
	AND ({messenger:String} = '' OR messenger = {messenger:String})
GROUP BY time, direction
