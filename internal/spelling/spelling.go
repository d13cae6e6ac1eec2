package spelling

// maxWord bounds what is compared, in bytes.
const maxWord = 256

// Closest gives the known word closest to what was typed, "" when none is close
// enough to be meant. One that has nothing in common with it is not.
func Closest(typed string, known []string) string {
	best, at := "", len(typed)/3+2
	if len(typed) > maxWord {
		return ""
	}
	for _, k := range known {
		if d := distance(typed, k); d < at && d < max(len(typed), len(k)) {
			best, at = k, d
		}
	}
	return best
}

// distance is the number of single-byte edits between two words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
