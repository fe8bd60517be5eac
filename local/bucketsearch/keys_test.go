package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestKeys adds, lists and removes keys of the HTTP API. A key is printed once, alone on a line of
// standard output, and never again.
func TestKeys(t *testing.T) {
	t.Parallel()
	web, data := pond(t), filepath.Join(t.TempDir(), "data")
	if got := do(t.Context(), "crawl", "--delay", "0", "--allow-private", "--data", data, web); got.code != 0 {
		t.Fatal(got.err)
	}
	keys := func(args ...string) ran { return do(t.Context(), append([]string{"--data", data, "keys"}, args...)...) }
	if got := keys("list"); got.code != 0 || !strings.Contains(got.out, "the API is open") {
		t.Errorf("at first: %+v", got)
	}
	added := keys("add", "phone", "--rate", "60")
	if added.code != 0 || !regexp.MustCompile(`^bs_[A-Z2-7]{26}\n$`).MatchString(added.out) || !strings.Contains(added.err, "shown only now") {
		t.Fatalf("added: %+v", added)
	}
	if got := keys("add", "prometheus", "--scope", "metrics"); got.code != 0 || got.out == added.out {
		t.Errorf("added another: %+v", got)
	}
	table := keys("list")
	for _, want := range []string{"phone       search,page  60", "prometheus  metrics      no limit"} {
		if !strings.Contains(table.out, want) {
			t.Errorf("no %q in\n%s", want, table.out)
		}
	}
	if strings.Contains(table.out+keys("list", "--json").out, strings.TrimSpace(added.out)) {
		t.Error("the list shows the key")
	}
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"add", "phone"}, 1, "two keys are called phone"},
		{[]string{"add", "other", "--scope", "admin"}, 2, `--scope is "admin"; write search, page or metrics`},
		{[]string{"add", "a b"}, 1, "the name of a key is \"a b\""},
		{[]string{"add"}, 2, "keys add needs the name of one key"},
		{[]string{"remove", "tablet"}, 1, "there is no key called tablet"},
		{[]string{"print"}, 2, "keys cannot print; want add, list or remove"},
		{[]string{"remove"}, 2, "keys remove needs the name of one key, such as: bu"},
	} {
		if got := keys(test.args...); got.code != test.code || !strings.Contains(got.err, test.want) {
			t.Errorf("%v: %+v, want code %d and %q", test.args, got, test.code, test.want)
		}
	}
	if got := keys("remove", "phone"); got.code != 0 || !strings.Contains(got.out, "The API is open") {
		t.Errorf("removed: %+v", got)
	}
	if got := keys("remove", "--all"); got.code != 0 {
		t.Errorf("removed all: %+v", got)
	}
	if got := keys("list", "--json"); got.out != "[]\n" {
		t.Errorf("at last: %+v", got)
	}
}
