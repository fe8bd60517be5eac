package layout_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

var created = time.Date(2026, 11, 21, 22, 53, 8, 123e6, time.UTC)

func TestKeys(t *testing.T) {
	batch := layout.Version{Epoch: 3, Token: 17}
	name := layout.PackageName{Base: 2, Exponent: -1, Created: created}
	second := name
	second.Collision = 2
	for _, test := range []struct{ got, want string }{
		{layout.SpoolKey(7, batch), "spool/0007/00000003-000000000017.spool"},
		{layout.PackageKey(7, name), "packages/0007/2_-1_20261121225308123.spf"},
		{layout.PackageKey(7, second), "packages/0007/2_-1_20261121225308123_2.spf"},
		{layout.BookKey(0, "ab"), "books/0000/ab.book"},
		{layout.SegmentKey(0, "ab"), "segments/0000/ab.seg"},
		{layout.ManifestKey(0, 12), "manifests/0000/000000000012.json.zst"},
		{layout.HintKey(0), "hints/0000.json.zst"},
		{layout.EpochKey(4), "epochs/000000000004"},
		{layout.CollectionKey("default", 1), "collections/default/000000000001.json"},
		{layout.StrategyKey("crawl", 1), "strategy/crawl/000000000001.json"},
		{layout.JudgmentKey("ab", []byte("{}")), "judgments/ab/" + layout.ContentHash([]byte("{}")) + ".json"},
		{layout.ClickKey(created, "ab", 7), "clicks/20261121/ab/07.json"},
		{layout.RunKey(7, "5b0d"), "runs/0007/5b0d.run"},
		{layout.DueKey(7, []byte("{}")), "due/0007/" + layout.ContentHash([]byte("{}")) + ".due"},
		{layout.QuarantineKey("spool/0000/x.spool", []byte("?")), "quarantine/spool+0000+x.spool@" + layout.ContentHash([]byte("?"))},
	} {
		if test.got != test.want {
			t.Errorf("got %s, want %s", test.got, test.want)
		}
	}
}

func TestParsersReadWhatBuildersBuild(t *testing.T) {
	batch := layout.Version{Epoch: 3, Token: 17}
	if p, v, err := layout.ParseSpoolKey(layout.SpoolKey(7, batch)); p != 7 || v != batch || err != nil {
		t.Errorf("spool key: %v %v %v", p, v, err)
	}
	for _, name := range []layout.PackageName{
		{Base: 2, Exponent: 3, Created: created},
		{Base: -2, Exponent: -300, Created: created, Collision: 41},
	} {
		if p, got, err := layout.ParsePackageKey(layout.PackageKey(7, name)); p != 7 || got != name || err != nil {
			t.Errorf("package key: %v %v %v", p, got, err)
		}
	}
	if p, g, err := layout.ParseManifestKey(layout.ManifestKey(7, 9)); p != 7 || g != 9 || err != nil {
		t.Errorf("manifest key: %v %v %v", p, g, err)
	}
	if n, err := layout.ParseEpochKey(layout.EpochKey(9)); n != 9 || err != nil {
		t.Errorf("epoch key: %v %v", n, err)
	}
	if name, v, err := layout.ParseCollectionKey(layout.CollectionKey("news", 2)); name != "news" || v != 2 || err != nil {
		t.Errorf("collection key: %v %v %v", name, v, err)
	}
	if key := layout.StrategyKey("storage", 2); key != "strategy/storage/000000000002.json" || layout.IsForeign(key) {
		t.Errorf("strategy key: %v", key)
	}
}

// TestForeignKeysAreRefused gives the parsers keys that this package never builds. Each must be
// refused. In one of them, for example, the time in the name of a package lacks its last digits.
func TestForeignKeysAreRefused(t *testing.T) {
	for _, key := range []string{
		"", "spool/", "spool/0000/", "spool/0/00000003-000000000017.spool", "spool/0000/3-17.spool",
		"spool/0000/00000003-000000000017.spool/x", "spool/-001/00000003-000000000017.spool",
	} {
		if _, _, err := layout.ParseSpoolKey(key); err == nil {
			t.Errorf("spool key %q was read", key)
		}
	}
	for _, key := range []string{
		"packages/0000/2_0_20261121225308.spf", "packages/0000/2_0_20261399225308123.spf",
		"packages/0000/2_0_20261121225308123_0.spf", "packages/0000/02_0_20261121225308123.spf",
		"packages/0000/2_99999_20261121225308123.spf", "books/0000/2_0_20261121225308123.spf",
	} {
		if _, _, err := layout.ParsePackageKey(key); err == nil {
			t.Errorf("package key %q was read", key)
		}
	}
	for _, key := range []string{
		"overlays/0000/00.ovl", "overlays/0000/12_00.ovl", "overlays/0000/000000000012.ovl", "segments/0000/000000000012_00.ovl",
	} {
		if _, _, err := layout.ParseOverlayKey(key); err == nil {
			t.Errorf("overlay key %q was read", key)
		}
	}
	for _, key := range []string{"manifests/0000/12.json", "manifests/0000/00000000001x.json", "manifests/000000000012.json"} {
		if _, _, err := layout.ParseManifestKey(key); err == nil {
			t.Errorf("manifest key %q was read", key)
		}
	}
}

func FuzzKeys(f *testing.F) {
	f.Add(layout.SpoolKey(7, layout.Version{Epoch: 1, Token: 2}))
	f.Add(layout.PackageKey(7, layout.PackageName{Base: 2, Created: created}))
	f.Add(layout.ManifestKey(7, 9))
	f.Add(layout.OverlayKey(7, 9, layout.ContentHash(nil)))
	f.Fuzz(func(t *testing.T, key string) {
		if p, v, err := layout.ParseSpoolKey(key); err == nil && layout.SpoolKey(p, v) != key {
			t.Errorf("spool key %q is another's", key)
		}
		if p, n, err := layout.ParsePackageKey(key); err == nil && layout.PackageKey(p, n) != key {
			t.Errorf("package key %q is another's", key)
		}
		if p, g, err := layout.ParseManifestKey(key); err == nil && layout.ManifestKey(p, g) != key {
			t.Errorf("manifest key %q is another's", key)
		}
		if p, g, err := layout.ParseOverlayKey(key); err == nil && !strings.HasPrefix(key, layout.OverlayKey(p, g, "")[:len("overlays/0000/000000000000_")]) {
			t.Errorf("overlay key %q is another's", key)
		}
	})
}

// TestPrefixesDoNotOverlap checks that no prefix begins with another prefix. Event notifications of the
// bucket are set up by prefix. If a/b/ and a/ were both prefixes, the notification for a/ would also
// report the objects below a/b/.
func TestPrefixesDoNotOverlap(t *testing.T) {
	for i, a := range layout.Prefixes {
		for j, b := range layout.Prefixes {
			if i != j && strings.HasPrefix(a, b) {
				t.Errorf("%s lies in %s", a, b)
			}
		}
	}
}
