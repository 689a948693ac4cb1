package ycf

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"time"
)

// text is a JSON string that is also read from a number or a boolean, and is
// empty for anything else: triggers of different ages write numbers both ways.
type text string

// UnmarshalJSON never fails.
func (t *text) UnmarshalJSON(data []byte) error {
	*t = ""
	switch data[0] {
	case '"':
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		*t = text(s)
	case '{', '[', 'n':
	default:
		*t = text(data)
	}
	return nil
}

func first(values ...text) text {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// millis reads a time in milliseconds since 1970; anything else is the zero time.
func millis(t text) time.Time {
	ms, err := strconv.ParseInt(string(t), 10, 64)
	if err != nil || ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

func inMillis(t time.Time) text { return text(strconv.FormatInt(t.UnixMilli(), 10)) }

func md5Hex(b []byte) string {
	sum := md5.Sum(b)
	return hex.EncodeToString(sum[:])
}

// attributesMD5 is the digest of string attributes as the SQS API defines it
// (Developer Guide, "Calculating the MD5 message digest for message attributes"):
// by name, each of name, type and value after its length, the value after a 1 for
// "text" too.
func attributesMD5(attributes map[string]string) string {
	if len(attributes) == 0 {
		return ""
	}
	var b []byte
	sized := func(s string) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		sized(name)
		sized("String")
		b = append(b, 1)
		sized(attributes[name])
	}
	return md5Hex(b)
}
