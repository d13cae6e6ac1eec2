package requests

import (
	"math"
	"testing"
)

func TestLevel(t *testing.T) {
	for _, c := range []struct {
		sizes []int
		total int
		want  int
	}{
		{[]int{10, 20, 30}, 60, math.MaxInt},
		{[]int{10, 20, 30}, 45, 17},
		{[]int{100, 100}, 50, 25},
		{[]int{1, 1, 100, 100}, 52, 25},
		{[]int{5}, 0, 0},
		{nil, 5, math.MaxInt},
	} {
		got := level(c.sizes, c.total)
		sum := 0
		for _, s := range c.sizes {
			sum += min(s, got)
		}
		if got != c.want || sum > c.total {
			t.Errorf("level(%v, %d) = %d, together %d; want %d", c.sizes, c.total, got, sum, c.want)
		}
	}
}
