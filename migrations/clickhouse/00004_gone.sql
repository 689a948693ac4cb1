-- Tickets that Tracker shows no more: deleted, or moved to where the robot may not
-- look. They count nowhere, as they would not if everything was loaded anew. A mark is
-- of the version that was loaded last: a later one, if the ticket is shown again, has
-- none.

CREATE TABLE IF NOT EXISTS tickets_gone {on_cluster}
(
	issue String COMMENT 'Immutable id of the issue in Tracker',
	version UInt64 COMMENT 'Tracker''s version of the issue that was loaded last',
	updated_at DateTime64(3, 'UTC') COMMENT 'When Tracker had changed it last, of that version',
	noticed_at DateTime64(3, 'UTC') COMMENT 'When Tracker was asked for it and did not show it'
)
ENGINE = {replicated}ReplacingMergeTree(noticed_at)
ORDER BY (issue, version, updated_at)
COMMENT 'Tickets that Tracker shows no more, by the version that was loaded last';

CREATE OR REPLACE VIEW tickets_latest {on_cluster} AS
SELECT * FROM tickets_now FINAL
WHERE (issue, version, updated_at) NOT IN (SELECT issue, version, updated_at FROM tickets_gone)
COMMENT 'Each ticket as it is now, without those that Tracker shows no more';
