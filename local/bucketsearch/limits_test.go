package main

import "testing"

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1000": 1000, "12 B": 12, "50GB": 50e9, "50g": 50e9, "1.5TiB": 3 << 39, "2 kib": 2048,
		"": -1, "GB": -1, "-1": -1, "5 pounds": -1, "1KMB": -1, "99999999TB": -1,
	} {
		got, err := parseBytes(text)
		if err != nil {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
