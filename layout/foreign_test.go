package layout_test

import (
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
)

func TestIsForeign(t *testing.T) {
	at := time.Date(2026, 11, 22, 12, 0, 0, 5e6, time.UTC)
	hash := layout.ContentHash(nil)
	for _, key := range []string{
		layout.CollectionKey("docs", 1), layout.StrategyKey("crawl", 2), layout.SpoolKey(3, layout.Version{Epoch: 1, Token: 2}),
		layout.PackageKey(12345, layout.PackageName{Base: 2, Created: at, Collision: 7}), layout.BookKey(0, hash), layout.SegmentKey(12345, hash),
		layout.OverlayKey(0, 7, hash), layout.ManifestKey(0, 1), layout.HintKey(0), layout.SettingsHint, layout.EpochKey(1), layout.TakedownKey(1), layout.ControlKey(1), layout.CurationKey(1), layout.CopyKey(layout.CurationKey(1)),
		layout.FeedbackKey(at, "worker"), layout.DeadLetterKey("pack", hash), layout.ResendKey(layout.DeadLetterKey("pack", hash)),
		layout.JudgmentKey(hash, nil), layout.ClickKey(at, hash, 63), layout.DueKey(3, nil), layout.RunKey(3, hash), layout.QuarantineKey(layout.BookKey(0, hash), nil), layout.QuarantinePrefix(layout.BookKey(0, hash)),
	} {
		if layout.IsForeign(key) {
			t.Errorf("%s is foreign", key)
		}
	}
	foreign := []string{"", "notes.txt", "packages", layout.ManifestKey(0, 0), layout.HintKey(0) + "/1", layout.BookKey(0, "x")}
	for _, prefix := range layout.Prefixes {
		foreign = append(foreign, prefix+"notes.txt", prefix+"0000/notes.txt", prefix+"0000/notes.json", prefix+"000000000001")
	}
	for _, key := range foreign {
		if !layout.IsForeign(key) && key != layout.EpochKey(1) {
			t.Errorf("%s is not foreign", key)
		}
	}
}
