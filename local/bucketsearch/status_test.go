package main

import (
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/local/system"
)

func TestStatusTellsWhoseSitemapsWait(t *testing.T) {
	var out strings.Builder
	printStatus(&out, system.Status{Crowded: []string{"a.example", "b.example"}, MaxWaiting: 10_000})
	if want := "sitemaps of 2 hosts wait, for more than 10000 URLs wait there already, or 1000000 in all: a.example, b.example\n"; !strings.Contains(out.String(), want) {
		t.Errorf("status is\n%swant in it\n%s", out.String(), want)
	}
}
