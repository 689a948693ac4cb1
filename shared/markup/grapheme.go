package markup

import (
	"unicode"
	"unicode/utf8"
)

// joinedMost bounds how long a sequence of joined characters is taken for one.
// The longest emoji have ten.
const joinedMost = 16

// whole gives the length of part without the beginning of a character that goes
// on in rest: an emoji of several, a letter with its accents, a flag.
func whole(part, rest string) int {
	end := len(part)
	next, _ := utf8.DecodeRuneInString(rest)
	for range joinedMost {
		before, size := utf8.DecodeLastRuneInString(part[:end])
		if end-size <= 0 {
			return len(part)
		}
		if !extends(next) && before != zeroWidthJoiner && !halfFlag(part[:end], next) {
			return end
		}
		next, end = before, end-size
	}
	return len(part)
}

const zeroWidthJoiner = '\u200d'

// extends reports whether r belongs to the character before it.
func extends(r rune) bool {
	return r == zeroWidthJoiner || unicode.In(r, unicode.Mn, unicode.Me, unicode.Mc) ||
		r >= 0x1F3FB && r <= 0x1F3FF || // skin
		r >= 0xE0020 && r <= 0xE007F // tags of regional flags
}

// halfFlag reports whether next is the second letter of a flag: before it stands
// an odd number of such letters.
func halfFlag(before string, next rune) bool {
	if !flagLetter(next) {
		return false
	}
	n := 0
	for n < joinedMost {
		r, size := utf8.DecodeLastRuneInString(before)
		if !flagLetter(r) {
			break
		}
		before = before[:len(before)-size]
		n++
	}
	return n%2 == 1
}

func flagLetter(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }
