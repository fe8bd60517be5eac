package segment

import (
	"os"
	"slices"
	"testing"
	"time"
)

// TestLaterColumns reads the columns that were added to the format later, such as Translations.
// It reads them from a segment of an older program without these columns, from a new segment,
// and from a merge of these two segments.
func TestLaterColumns(t *testing.T) {
	content, err := os.ReadFile("testdata/segment.v3")
	if err != nil {
		t.Fatal(err)
	}
	docs := generate(2, 5)
	docs[0].LangSource, docs[1].LangSource = "declared", "overruled"
	docs[0].Translation, docs[1].Translation = 7, 1<<63
	docs[0].Date, docs[1].Date = time.Unix(2*24*60*60-1, 0), time.Time{}
	older, newer := mustOpen(t, content), mustOpen(t, mustBuild(t, docs, 0))
	merged := mustMerge(t, Input{Segment: older}, Input{Segment: newer})
	none := make([]string, older.Documents())
	for name, c := range map[string]struct {
		of           *Segment
		want         []string
		translations []uint64
		dates        []uint64
	}{
		"older":  {older, none, make([]uint64, len(none)), make([]uint64, len(none))},
		"newer":  {newer, []string{"declared", "overruled"}, []uint64{7, 1 << 63}, []uint64{2, 0}},
		"merged": {mustOpen(t, merged), append(none, "declared", "overruled"), append(make([]uint64, len(none)), 7, 1<<63), append(make([]uint64, len(none)), 2, 0)},
	} {
		column, err := c.of.Strings(t.Context(), LanguageSources)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for doc := range c.of.Documents() {
			got = append(got, column.Get(uint32(doc))...)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		translations, err := c.of.Numbers(t.Context(), Translations)
		if err != nil || !slices.Equal(translations, c.translations) {
			t.Errorf("%s: translations %d (%v), want %d", name, translations, err, c.translations)
		}
		dates, err := c.of.Numbers(t.Context(), OwnDates)
		if err != nil || !slices.Equal(dates, c.dates) {
			t.Errorf("%s: dates %d (%v), want %d", name, dates, err, c.dates)
		}
	}
}
