package main

import (
	"testing"
	"time"
)

// TestFinalAt: takedowns of the same quarter of an hour become final together, an hour later at the earliest.
func TestFinalAt(t *testing.T) {
	for now, want := range map[string]string{"09:45:00": "10:45:00", "09:45:01": "11:00:00", "09:59:59": "11:00:00", "10:00:00": "11:00:00"} {
		at, err := time.Parse(time.TimeOnly, now)
		if err != nil {
			t.Fatal(err)
		}
		if got := finalAt(at).Format(time.TimeOnly); got != want {
			t.Errorf("a takedown of %s becomes final at %s, want %s", now, got, want)
		}
	}
}
