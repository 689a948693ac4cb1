-- +goose Up
ALTER TABLE jobs ADD COLUMN failures jsonb NOT NULL DEFAULT '[]', ADD COLUMN remark text, ADD COLUMN settled_by text;
COMMENT ON COLUMN jobs.failures IS 'What went wrong, the latest twenty: at, what (failed, review, lost), stage, error';
COMMENT ON COLUMN jobs.remark IS 'What the person wrote who settled the review by hand';
COMMENT ON COLUMN jobs.settled_by IS 'Who settled it: a person or an API key';
