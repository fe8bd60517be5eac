package main

import "testing"

// TestPrintable: the title of a page sends no commands to the terminal, and does not turn around what follows it.
func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"plain – schön": "plain – schön",
		"a \x1b[31mred\x1b]0;owned\a \u009b2J and\r\nmore": "a [31mred]0;owned 2J andmore",
		"\u202egnal": "gnal",
	} {
		if got := printable(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
