-- Names for charts: each is another one, so that two people or statuses which are
-- called the same stay two.

CREATE OR REPLACE VIEW agent_names {on_cluster}
(
	id String COMMENT 'Id of the account in Tracker',
	name String COMMENT 'Name as Tracker shows it, with the login or id where another one has the same'
)
AS SELECT
	id,
	multiIf(
		name = '', if(login = '', id, login),
		count() OVER (PARTITION BY name) > 1, concat(name, ' (', if(login = '', id, login), ')'),
		name
	) AS name
FROM agents FINAL
COMMENT 'What agents are called, each differently';

CREATE OR REPLACE VIEW status_names {on_cluster}
(
	key String COMMENT 'Key of the status',
	name String COMMENT 'Name as Tracker shows it, with the key where another one has the same'
)
AS SELECT
	key,
	multiIf(
		name = '', key,
		count() OVER (PARTITION BY name) > 1, concat(name, ' (', key, ')'),
		name
	) AS name
FROM statuses FINAL
COMMENT 'What statuses are called, each differently';
