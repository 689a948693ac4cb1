package clickhouse

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"supportbot/shared/analytics"
)

// Unseen gives open tickets that were last loaded before a time, at most so many, those
// that wait longest first; without the issues named.
func (db *DB) Unseen(ctx context.Context, before time.Time, most int, without []string) ([]analytics.Loaded, error) {
	list, err := json.Marshal(append([]string{}, without...))
	if err != nil {
		return nil, fmt.Errorf("look for unseen tickets: %w", err)
	}
	res, err := db.Select(ctx, `
		SELECT issue, version, toUnixTimestamp64Milli(updated_at), toUnixTimestamp64Milli(loaded_at) FROM tickets_latest
		WHERE phase NOT IN ('done', 'cancelled') AND loaded_at < fromUnixTimestamp64Milli({before:Int64})
			AND issue NOT IN (SELECT arrayJoin(JSONExtract({without:String}, 'Array(String)')))
		ORDER BY loaded_at, issue
		LIMIT {most:UInt32}`,
		map[string]string{"before": strconv.FormatInt(before.UnixMilli(), 10), "without": string(list), "most": strconv.Itoa(most)})
	if err != nil {
		return nil, fmt.Errorf("look for unseen tickets: %w", err)
	}
	unseen := make([]analytics.Loaded, len(res.Rows))
	for n, row := range res.Rows {
		if err := scan(row, &unseen[n].Issue, &unseen[n].Version.Version, &unseen[n].UpdatedAt, &unseen[n].At); err != nil {
			return nil, fmt.Errorf("look for unseen tickets: %w", err)
		}
	}
	return unseen, nil
}

// InsertGone adds tickets that Tracker shows no more, as they were loaded last: they count
// no more, until they are loaded again.
func (db *DB) InsertGone(ctx context.Context, gone []analytics.Loaded, noticed time.Time) error {
	return db.insert(ctx, "tickets_gone", len(gone), func(b *block, i int) {
		b.text("issue", gone[i].Issue)
		b.uint64("version", gone[i].Version.Version)
		b.millis("updated_at", time.UnixMilli(gone[i].UpdatedAt))
		b.millis("noticed_at", noticed)
		b.millis("loaded_at", time.UnixMilli(gone[i].At))
	})
}
