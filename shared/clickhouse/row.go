package clickhouse

import (
	"encoding/binary"
	"math"
	"time"
)

// block is a block of rows in ClickHouse's format RowBinaryWithNamesAndTypes: names
// and types of the columns, then the values of one row after the other. ClickHouse
// refuses a block whose types are not those of the table.
//
// A method adds the value of the next column. What lies outside a type's range
// becomes the nearest value in it: one absurd date must not keep others out.
type block struct {
	names, types []string // of the first row's columns
	rows         int
	values       []byte
}

// newBlock makes a block of n rows; add adds the columns of row i.
func newBlock(n int, add func(b *block, i int)) *block {
	b := &block{}
	for i := range n {
		b.rows++
		add(b, i)
		if i == 0 {
			b.values = append(make([]byte, 0, n*(len(b.values)+len(b.values)/4)), b.values...)
		}
	}
	return b
}

// bytes gives the block as it is sent.
func (b *block) bytes() []byte {
	head := binary.AppendUvarint(nil, uint64(len(b.names)))
	for _, texts := range [][]string{b.names, b.types} {
		for _, text := range texts {
			head = appendText(head, text)
		}
	}
	return append(head, b.values...)
}

func (b *block) column(name, kind string) {
	if b.rows == 1 {
		b.names, b.types = append(b.names, name), append(b.types, kind)
	}
}

func appendText(to []byte, value string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(value))), value...)
}

func (b *block) text(name, value string) {
	b.column(name, "String")
	b.values = appendText(b.values, value)
}

// word is a text of which there are few different ones.
func (b *block) word(name, value string) {
	b.column(name, "LowCardinality(String)")
	b.values = appendText(b.values, value)
}

func (b *block) words(name string, values []string) {
	b.column(name, "Array(LowCardinality(String))")
	b.values = binary.AppendUvarint(b.values, uint64(len(values)))
	for _, value := range values {
		b.values = appendText(b.values, value)
	}
}

func (b *block) uint64(name string, value int64) {
	b.column(name, "UInt64")
	b.values = binary.LittleEndian.AppendUint64(b.values, uint64(max(value, 0)))
}

func (b *block) int64(name string, value int64) {
	b.column(name, "Int64")
	b.values = binary.LittleEndian.AppendUint64(b.values, uint64(value))
}

func (b *block) uint32(name string, value int) {
	b.column(name, "UInt32")
	b.values = binary.LittleEndian.AppendUint32(b.values, uint32(min(max(value, 0), math.MaxUint32)))
}

func (b *block) uint8(name string, value int) {
	b.column(name, "UInt8")
	b.values = append(b.values, byte(min(max(value, 0), math.MaxUint8)))
}

func (b *block) flag(name string, value bool) {
	n := 0
	if value {
		n = 1
	}
	b.uint8(name, n)
}

// The ranges of ClickHouse's times (Data types, "DateTime64" and "Date").
var (
	firstTime = time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)
	lastTime  = time.Date(2262, 1, 1, 0, 0, 0, 0, time.UTC)
)

func within(t time.Time) time.Time {
	switch {
	case t.IsZero():
		return time.Unix(0, 0)
	case t.Before(firstTime):
		return firstTime
	case t.After(lastTime):
		return lastTime
	}
	return t
}

func (b *block) millis(name string, t time.Time) {
	b.column(name, "DateTime64(3, 'UTC')")
	b.values = binary.LittleEndian.AppendUint64(b.values, uint64(within(t).UnixMilli()))
}

func (b *block) allMillis(name string, times []time.Time) {
	b.column(name, "Array(DateTime64(3, 'UTC'))")
	b.values = binary.AppendUvarint(b.values, uint64(len(times)))
	for _, t := range times {
		b.values = binary.LittleEndian.AppendUint64(b.values, uint64(within(t).UnixMilli()))
	}
}

func (b *block) micros(name string, t time.Time) {
	b.column(name, "DateTime64(6, 'UTC')")
	b.values = binary.LittleEndian.AppendUint64(b.values, uint64(within(t).UnixMicro()))
}

// millisOrNull is NULL for the zero time.
func (b *block) millisOrNull(name string, t time.Time) {
	b.column(name, "Nullable(DateTime64(3, 'UTC'))")
	if b.null(t.IsZero()) {
		return
	}
	b.values = binary.LittleEndian.AppendUint64(b.values, uint64(within(t).UnixMilli()))
}

func (b *block) day(name string, t time.Time) {
	b.column(name, "Date")
	b.values = appendDay(b.values, t)
}

// dayOrNull is NULL for the zero time.
func (b *block) dayOrNull(name string, t time.Time) {
	b.column(name, "Nullable(Date)")
	if b.null(t.IsZero()) {
		return
	}
	b.values = appendDay(b.values, t)
}

func (b *block) null(is bool) bool {
	if is {
		b.values = append(b.values, 1)
	} else {
		b.values = append(b.values, 0)
	}
	return is
}

// appendDay adds the day in UTC.
func appendDay(to []byte, t time.Time) []byte {
	days := within(t).Unix() / (24 * 60 * 60)
	return binary.LittleEndian.AppendUint16(to, uint16(min(max(days, 0), math.MaxUint16)))
}
