package literal

// Nearest returns the known word that differs from a misspelt one by the fewest edits: bytes
// that are inserted, deleted or replaced. It returns "" if every known word differs by
// more than two edits, or by more than half the length of the misspelt word.
func Nearest(word string, known []string) (nearest string) {
	const mostEdits = 2
	least := min(mostEdits, len(word)/2) + 1
	for _, candidate := range known {
		if n := edits(word, candidate); n < least {
			nearest, least = candidate, n
		}
	}
	return nearest
}

// edits returns the edit distance of two words (Levenshtein 1966).
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
