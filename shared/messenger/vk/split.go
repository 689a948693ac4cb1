package vk

import (
	"strings"
	"unicode/utf8"
)

// split cuts a text into pieces of at most limit UTF-16 code units, at the end of
// a paragraph, else of a line, else of a word.
func split(text string, limit int) []string {
	var parts []string
	for text != "" {
		n := fitting(text, limit)
		if n < len(text) {
			for _, end := range []string{"\n\n", "\n", " "} {
				if i := strings.LastIndex(text[:n], end); i > n/2 {
					n = i + len(end)
					break
				}
			}
		}
		parts = append(parts, text[:n])
		text = text[n:]
	}
	return parts
}

// fitting gives how many bytes of text are within limit code units.
func fitting(text string, limit int) int {
	units := 0
	for i, r := range text {
		units++
		if r > 0xFFFF {
			units++
		}
		if units > limit {
			return max(i, utf8.RuneLen(r))
		}
	}
	return len(text)
}
