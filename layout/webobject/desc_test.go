package webobject

import (
	"testing"
	"time"
)

func TestLifetime(t *testing.T) {
	const day = 24 * time.Hour
	for exponent, want := range map[int16]time.Duration{0: day, 3: 8 * day, -1: 12 * time.Hour, 14: day << 14, 32767: day << 14, -32768: day >> 16} {
		if got := Lifetime(exponent); got != want {
			t.Errorf("class %d lives %v, want %v", exponent, got, want)
		}
	}
}
