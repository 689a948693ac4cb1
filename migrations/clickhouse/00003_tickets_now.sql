-- Each ticket as it is now, with what its events tell of it: charts look through it
-- instead of through all versions and events. Who asks for a time when tickets were
-- opened reads the partitions of that time alone.

CREATE TABLE IF NOT EXISTS tickets_now {on_cluster}
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
	loaded_at DateTime64(3, 'UTC') COMMENT 'When this row was loaded',
	answered_at Nullable(DateTime64(3, 'UTC')) COMMENT 'When the customer got the first answer that is still there; NULL: not yet',
	rated_at Nullable(DateTime64(3, 'UTC')) COMMENT 'When it got a rating, the last time; NULL: never',
	path_statuses Array(LowCardinality(String)) COMMENT 'Keys of the statuses that it had, in their order',
	path_phases Array(LowCardinality(String)) COMMENT 'What each of them means, as phase',
	path_times Array(DateTime64(3, 'UTC')) COMMENT 'Since when it had each of them',
	stamp UInt128 MATERIALIZED bitOr(bitShiftLeft(toUInt128(version), 64), toUInt128(toUnixTimestamp64Milli(updated_at))) COMMENT 'The larger one is the later state'
)
ENGINE = {replicated}ReplacingMergeTree(stamp)
PARTITION BY toYYYYMM(created_at)
ORDER BY issue
COMMENT 'Each ticket as it is now; read it with FINAL, or as tickets_latest';

-- What was loaded before there was this table.
INSERT INTO tickets_now
SELECT
	t.*,
	e.answered_at,
	e.rated_at,
	arrayMap(s -> s.4, e.path) AS path_statuses,
	arrayMap(s -> s.5, e.path) AS path_phases,
	arrayMap(s -> s.1, e.path) AS path_times
FROM (SELECT * FROM tickets ORDER BY version DESC, updated_at DESC LIMIT 1 BY issue) AS t
LEFT JOIN
(
	SELECT
		issue,
		minOrNullIf(at, kind = 'comment_out') AS answered_at,
		maxOrNullIf(at, kind = 'rating' AND after != '') AS rated_at,
		arraySort(groupArrayIf((at, id != 'created:status', id, after, after_phase), kind = 'status')) AS path
	FROM ticket_events FINAL
	GROUP BY issue
) AS e ON e.issue = t.issue
SETTINGS max_partitions_per_insert_block = 0;

CREATE OR REPLACE VIEW tickets_latest {on_cluster} AS
SELECT * FROM tickets_now FINAL
COMMENT 'Each ticket as it is now';
