-- A mark is of the load that it speaks of: a ticket that Tracker shows again, be it in
-- the same version, was loaded later and counts again.

ALTER TABLE tickets_gone {on_cluster}
	ADD COLUMN IF NOT EXISTS loaded_at DateTime64(3, 'UTC') DEFAULT 0 COMMENT 'When that version was loaded';

-- What was marked before.
INSERT INTO tickets_gone (issue, version, updated_at, noticed_at, loaded_at)
SELECT g.issue, g.version, g.updated_at, g.noticed_at, t.loaded_at
FROM tickets_gone AS g
INNER JOIN
(
	SELECT issue, version, updated_at, loaded_at FROM tickets_now FINAL WHERE issue IN (SELECT issue FROM tickets_gone)
) AS t ON t.issue = g.issue AND t.version = g.version AND t.updated_at = g.updated_at
WHERE t.loaded_at <= g.noticed_at;

CREATE OR REPLACE VIEW tickets_latest {on_cluster} AS
SELECT * FROM tickets_now FINAL
WHERE (issue, version, updated_at, loaded_at) NOT IN (SELECT issue, version, updated_at, loaded_at FROM tickets_gone)
COMMENT 'Each ticket as it is now, without those that Tracker shows no more';
