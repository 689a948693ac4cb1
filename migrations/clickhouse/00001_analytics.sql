-- Each statement may run again. {on_cluster} and {replicated} are filled in where
-- there is a cluster, and are nothing otherwise.
--
-- A table's rows are versions of facts with a key: FINAL, or the latest by the
-- version, gives each fact once, however often, late or out of order it came. All
-- rows of one ticket lie in one partition, that of its creation.

CREATE TABLE IF NOT EXISTS tickets {on_cluster}
(
	issue String COMMENT 'Immutable id of the issue in Tracker',
	version UInt64 COMMENT 'Tracker''s version of the issue',
	updated_at DateTime64(3, 'UTC') COMMENT 'When Tracker changed it last',
	key String COMMENT 'Key in Tracker; another one after a move to another queue',
	queue LowCardinality(String) COMMENT 'Queue in which it is now',
	created_at DateTime64(3, 'UTC') COMMENT 'When it was opened',
	resolved_at Nullable(DateTime64(3, 'UTC')) COMMENT 'When it got its resolution; NULL while open',
	type LowCardinality(String) COMMENT 'Key of the issue type',
	priority LowCardinality(String) COMMENT 'Key of the priority',
	status LowCardinality(String) COMMENT 'Key of the status; names are in statuses',
	phase LowCardinality(String) COMMENT 'What the status means: new, inProgress, paused, done, cancelled; empty: nobody has said',
	resolution LowCardinality(String) COMMENT 'Key of the resolution; empty while open',
	assignee LowCardinality(String) COMMENT 'Id of the agent; empty: nobody; names are in agents',
	messenger LowCardinality(String) COMMENT 'telegram, vk; empty: not opened by a customer',
	category LowCardinality(String) COMMENT 'Key of the category; kept from before a move',
	locale LowCardinality(String) COMMENT 'Language of the customer',
	rating UInt8 COMMENT 'The customer''s rating, 1 to 5; 0: none',
	deadline Nullable(Date) COMMENT 'The day by whose end it should be resolved',
	sla_fails_at Nullable(DateTime64(3, 'UTC')) COMMENT 'When the first of its SLA timers fails or has failed, unless it is resolved before; NULL: none can',
	loaded_at DateTime64(3, 'UTC') COMMENT 'When this row was loaded'
)
ENGINE = {replicated}ReplacingMergeTree(updated_at)
PARTITION BY toYYYYMM(created_at)
ORDER BY (issue, version)
COMMENT 'Tickets by version, as Tracker showed them; nothing of the customer but the language';

CREATE OR REPLACE VIEW tickets_latest {on_cluster} AS
SELECT * FROM tickets ORDER BY version DESC, updated_at DESC LIMIT 1 BY issue
COMMENT 'Each ticket as it is now';

CREATE TABLE IF NOT EXISTS ticket_events {on_cluster}
(
	issue String COMMENT 'Immutable id of the issue in Tracker',
	id String COMMENT 'Of the event within its ticket',
	kind LowCardinality(String) COMMENT 'created, status, reopened, assignee, priority, type, queue, rating, comment_in (the customer''s), comment_out (to the customer), comment_inside',
	at DateTime64(3, 'UTC') COMMENT 'When it happened; of a comment that an edit made an answer: that edit',
	actor LowCardinality(String) COMMENT 'Id of the account that did it; the robot''s for customers',
	before LowCardinality(String) COMMENT 'Key or id before the change; empty: none',
	after LowCardinality(String) COMMENT 'Key or id after the change; empty: none',
	before_phase LowCardinality(String) COMMENT 'Of a status: what the one before means, as tickets.phase',
	after_phase LowCardinality(String) COMMENT 'Of a status: what the one after means, as tickets.phase',
	opened_at DateTime64(3, 'UTC') COMMENT 'When the ticket was opened',
	version UInt64 COMMENT 'A later state of the same event has a larger one',
	deleted UInt8 COMMENT '1: a comment that was deleted; FINAL leaves it out'
)
ENGINE = {replicated}ReplacingMergeTree(version, deleted)
PARTITION BY toYYYYMM(opened_at)
ORDER BY (issue, id)
COMMENT 'What happened to tickets; read it with FINAL. The values at creation are events too, at the time of creation';

CREATE TABLE IF NOT EXISTS agents {on_cluster}
(
	id String COMMENT 'Id of the account in Tracker',
	login String COMMENT 'Login, where Tracker tells it',
	name String COMMENT 'Name as Tracker shows it',
	seen_at DateTime64(3, 'UTC') COMMENT 'When a ticket last showed it so'
)
ENGINE = {replicated}ReplacingMergeTree(seen_at)
ORDER BY id
COMMENT 'Names of those who were given tickets, and nowhere else; read it with FINAL';

CREATE TABLE IF NOT EXISTS statuses {on_cluster}
(
	key String COMMENT 'Key of the status',
	name String COMMENT 'Name as Tracker shows it',
	phase LowCardinality(String) COMMENT 'As tickets.phase',
	loaded_at DateTime64(3, 'UTC') COMMENT 'When this row was loaded'
)
ENGINE = {replicated}ReplacingMergeTree(loaded_at)
ORDER BY key
COMMENT 'The statuses of Tracker, custom ones too; read it with FINAL';

CREATE TABLE IF NOT EXISTS messages {on_cluster}
(
	day Date COMMENT 'Day in UTC on which it came or was sent',
	messenger LowCardinality(String) COMMENT 'telegram, vk',
	direction LowCardinality(String) COMMENT 'in: from customers, out: to them (broadcasts are not among them)',
	kind LowCardinality(String) COMMENT 'ticket.create, ticket.comment, deliver.answer, ...',
	messages UInt64 COMMENT 'How many; the count of a day only grows, so the largest is the latest'
)
ENGINE = {replicated}ReplacingMergeTree(messages)
PARTITION BY toYYYYMM(day)
ORDER BY (day, messenger, direction, kind)
COMMENT 'Messages by day; read it with FINAL';

CREATE TABLE IF NOT EXISTS broadcast_batches {on_cluster}
(
	broadcast Int64 COMMENT 'Number of the broadcast',
	batch Int64 COMMENT 'Number of the batch: the part that was sent in one go',
	kind LowCardinality(String) COMMENT 'news, maintenance, system, message (to one customer)',
	relation LowCardinality(String) COMMENT 'correction, test; empty: a broadcast of its own',
	messenger LowCardinality(String) COMMENT 'telegram, vk',
	created_at DateTime64(3, 'UTC') COMMENT 'When the broadcast was created',
	started_at Nullable(DateTime64(3, 'UTC')) COMMENT 'When the first of the batch was sent',
	done_at Nullable(DateTime64(3, 'UTC')) COMMENT 'When all of them had an outcome',
	size UInt32 COMMENT 'Recipients',
	sent UInt32 COMMENT 'Of them sent',
	blocked UInt32 COMMENT 'Of them have blocked the bot',
	failed UInt32 COMMENT 'Of them refused by the messenger',
	uncertain UInt32 COMMENT 'Of them with an outcome that nobody knows',
	skipped UInt32 COMMENT 'Of them left out: cancelled, opted out, erased',
	read_at DateTime64(6, 'UTC') COMMENT 'When this was counted; the latest count is right'
)
ENGINE = {replicated}ReplacingMergeTree(read_at)
PARTITION BY toYYYYMM(created_at)
ORDER BY (broadcast, batch)
COMMENT 'Outcomes of broadcasts, by batches of some minutes each; read it with FINAL';
