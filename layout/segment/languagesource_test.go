package segment

import (
	"math"
	"os"
	"slices"
	"testing"
)

// TestLanguageSources reads how languages are known from a segment of an older program, which
// has no column of it, from a new one, and from both merged.
func TestLanguageSources(t *testing.T) {
	content, err := os.ReadFile("testdata/segment.v3")
	if err != nil {
		t.Fatal(err)
	}
	docs := generate(2, 5)
	docs[0].LangSource, docs[1].LangSource = "declared", "overruled"
	older, newer := mustOpen(t, content), mustOpen(t, mustBuild(t, docs, 0))
	merged, err := Merge(t.Context(), []Input{{Segment: older}, {Segment: newer}}, math.MaxInt64)
	if err != nil {
		t.Fatal(err)
	}
	none := make([]string, older.Documents())
	for name, c := range map[string]struct {
		of   *Segment
		want []string
	}{
		"older":  {older, none},
		"newer":  {newer, []string{"declared", "overruled"}},
		"merged": {mustOpen(t, merged), append(none, "declared", "overruled")},
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
	}
}
