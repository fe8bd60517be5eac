package settings_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/control"
	"github.com/bucketsearch/bucketsearch/strategy/rules"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// If a published document is emptied, as by a power cut, its copy is read instead. If the copy
// is lost, too, the settings are read without it, and the crawl is paused where the table of
// unreadDocuments says so.
func TestDamaged(t *testing.T) {
	forgotten, err := address.Parse("http://docs.example/forgotten")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		damaged []string // keys of damaged objects
		paused  bool
		warned  int
	}{
		{nil, false, 0},
		{[]string{layout.CollectionKey("docs", 2)}, false, 1},
		{[]string{layout.CollectionKey("docs", 1), layout.CollectionKey("docs", 2)}, true, 2},
		{[]string{layout.ControlKey(2)}, false, 1},
		{[]string{layout.ControlKey(1), layout.ControlKey(2)}, true, 2},
		{[]string{layout.TakedownKey(2)}, true, 1},
		{[]string{layout.TakedownKey(1)}, false, 0}, // version 2 has the same entries; verify reports the damage
		{[]string{layout.StrategyKey("crawl", 1)}, true, 1},
		{[]string{layout.StrategyKey("storage", 1)}, true, 1},
	} {
		t.Run(strings.Join(test.damaged, " "), func(t *testing.T) {
			bucket := memblob.New()
			second := docs()
			second.Seeds[0].Depth = 7
			for _, kind := range []rules.Kind{rules.Crawl, rules.Storage} {
				if err := rules.Publish(t.Context(), bucket, rules.Even(kind, 1, noon)); err != nil {
					t.Fatal(err)
				}
			}
			publish(t, bucket, docs(), second,
				control.Document{Webhook: "http://hook.example/"}, control.Document{Webhook: "http://hook.example/2"},
				takedown.URL(forgotten, noon), takedown.Site("other.example", noon))
			for _, key := range test.damaged {
				if err := bucket.Replace(t.Context(), key, nil); err != nil {
					t.Fatal(err)
				}
			}
			s := read(t, bucket)
			if s.Control.Pause != nil || len(s.Warnings) != min(test.warned, 1) || slices.ContainsFunc(s.Warnings, func(warning string) bool { return !strings.Contains(warning, "its copy is read in its place") }) || !s.Takedowns.Forgets(forgotten) || s.Collections[0].Seeds[0].Depth != 7 {
				t.Errorf("with copies: pause %+v, warnings %q", s.Control.Pause, s.Warnings)
			}
			for _, key := range test.damaged {
				if err := bucket.Delete(t.Context(), layout.CopyKey(key)); err != nil {
					t.Fatal(err)
				}
			}
			s = read(t, bucket)
			pause := s.Control.Paused(noon)
			if (pause != nil) != test.paused || pause != nil && (pause.By != control.Damage || !strings.Contains(pause.Reason, test.damaged[0])) {
				t.Errorf("pause %+v", pause)
			}
			if len(s.Warnings) != test.warned || len(test.damaged) > 0 && test.warned > 0 && !strings.Contains(fmt.Sprint(s.Warnings), test.damaged[0]) {
				t.Errorf("warnings %q", s.Warnings)
			}
			if !s.Takedowns.Forgets(forgotten) {
				t.Error("what was forgotten is forgotten no more")
			}
			if partitions := s.Partitions(); len(partitions) != 1 {
				t.Errorf("partitions %v", partitions)
			}
		})
	}
}
