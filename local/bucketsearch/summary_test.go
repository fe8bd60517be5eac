package main

import (
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/local/system"
	"github.com/bucketsearch/bucketsearch/strategy/account"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

func TestFate(t *testing.T) {
	for _, c := range []struct {
		url    string
		state  account.State
		reason string
		detail string
		want   string
	}{
		{"http://a.example/", account.Stored, "", "", ""},
		{"http://a.example/", account.Pending, "", "", ""},
		{"http://a.example/", account.Failed, "refused", "port 1: connection refused", "http://a.example/ is not stored: refused (port 1: connection refused)"},
		{"http://a.example/", account.Skipped, "robots", "", "http://a.example/ is not stored: robots.txt there forbids it"},
		{"http://a.example/", account.Skipped, "type", "", "http://a.example/ is not stored: type (nothing with text, such as an image)"},
		{"http://b.example/", account.Stored, "", "", ""},
		{"http://b.example/", account.Skipped, "out of scope", "", "http://a.example/ leads to http://b.example/, which is left out: out of scope (outside the scope of all seeds); to crawl it: bucketsearch crawl http://b.example/"},
		{"http://b.example/", account.Failed, "http 404", "Not Found", "http://a.example/ leads to http://b.example/, which is not stored: http 404 (Not Found)"},
	} {
		at, err := address.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		f := system.Fate{Seed: "http://a.example/", Final: account.URL{Address: at, State: c.state, Reason: c.reason}}
		if c.reason != "out of scope" {
			f.Final.Final = book.Outcome{State: book.Failed, Detail: c.detail}
		}
		if got := fate(f); got != c.want {
			t.Errorf("%s %s %s: got %q, want %q", c.url, c.state, c.reason, got, c.want)
		}
	}
}
