package blob

import (
	"errors"
	"math"
	"testing"
)

func TestRangeWithin(t *testing.T) {
	for _, c := range []struct {
		r        Range
		size     int64
		from, to int64
		want     error
	}{
		{Range{}, 10, 0, 10, nil},
		{Range{}, 0, 0, 0, nil},
		{Range{Offset: 3}, 10, 3, 10, nil},
		{Range{Offset: 3, Length: 4}, 10, 3, 7, nil},
		{Range{Length: 1}, 10, 0, 1, nil},
		{Range{Offset: 9, Length: 5}, 10, 9, 10, nil},
		{Range{Offset: 9, Length: math.MaxInt64}, 10, 9, 10, nil},
		{Range{Offset: -3}, 10, 7, 10, nil},
		{Range{Offset: -30}, 10, 0, 10, nil},
		{Range{Offset: 10}, 10, 0, 0, ErrRange},
		{Range{Offset: math.MaxInt64, Length: 1}, 10, 0, 0, ErrRange},
		{Range{Length: 1}, 0, 0, 0, ErrRange},
		{Range{Offset: -1}, 0, 0, 0, ErrRange},
	} {
		from, to, err := c.r.Within(c.size)
		if from != c.from || to != c.to || !errors.Is(err, c.want) {
			t.Errorf("%+v within %d: got %d, %d, %v; want %d, %d, %v", c.r, c.size, from, to, err, c.from, c.to, c.want)
		}
	}
}

func TestRangeCheck(t *testing.T) {
	for _, r := range []Range{{Length: -1}, {Offset: -1, Length: 1}, {Offset: math.MinInt64}} {
		if err := r.Check(); err == nil || errors.Is(err, ErrRange) {
			t.Errorf("%+v: got %v, want an error of its own", r, err)
		}
		if _, _, err := r.Within(10); err == nil {
			t.Errorf("%+v within 10: no error", r)
		}
	}
}
