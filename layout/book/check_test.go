package book

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestCaps(t *testing.T) {
	const long = 2000
	for name, tc := range map[string]struct {
		edit func(o *Outcome, l *Link)
		want string
	}{
		"empty URL":         {func(o *Outcome, _ *Link) { o.URL = "" }, "0 bytes, want 1 to 8192"},
		"long URL":          {func(o *Outcome, _ *Link) { o.URL = strings.Repeat("u", MaxURL+1) }, "8193 bytes"},
		"place":             {func(o *Outcome, _ *Link) { o.Place++ }, "does not end with the start of the URL's identity"},
		"state":             {func(o *Outcome, _ *Link) { o.State = 0 }, "unknown state 0"},
		"offset":            {func(o *Outcome, _ *Link) { o.Offset = -1 }, "negative range"},
		"length":            {func(o *Outcome, _ *Link) { o.Length = -1 }, "negative range"},
		"reason":            {func(o *Outcome, _ *Link) { o.Reason = strings.Repeat("r", long) }, "reason of 2000 bytes"},
		"detail":            {func(o *Outcome, _ *Link) { o.Detail = strings.Repeat("d", MaxDetail+1) }, "detail of 301 bytes"},
		"package":           {func(o *Outcome, _ *Link) { o.Package = strings.Repeat("p", long) }, "package of 2000 bytes"},
		"etag":              {func(o *Outcome, _ *Link) { o.ETag = strings.Repeat("e", 256) }, "etag of 256 bytes, at most 255"},
		"modified":          {func(o *Outcome, _ *Link) { o.Modified = strings.Repeat("m", 256) }, "modified of 256 bytes, at most 255"},
		"collection":        {func(o *Outcome, _ *Link) { o.Collections = []string{strings.Repeat("c", long)} }, "collection of 2000 bytes"},
		"collections":       {func(o *Outcome, _ *Link) { o.Collections = make([]string, 65) }, "65 collections"},
		"collection twice":  {func(o *Outcome, _ *Link) { o.Collections = []string{"b", "a", "b"} }, "each once"},
		"others twice":      {func(o *Outcome, _ *Link) { o.Collections = []string{"b", "a", "a"} }, "each once"},
		"unsorted":          {func(o *Outcome, _ *Link) { o.Collections = []string{"a", "c", "b"} }, "sorted"},
		"target":            {func(_ *Outcome, l *Link) { l.Target = "" }, "0 bytes, want 1"},
		"target's place":    {func(_ *Outcome, l *Link) { l.Place++ }, "does not end with"},
		"kind":              {func(_ *Outcome, l *Link) { l.Kind = 0 }, "unknown kind 0"},
		"region":            {func(_ *Outcome, l *Link) { l.Region = 'x' }, "region 120"},
		"rel":               {func(_ *Outcome, l *Link) { l.Rel = strings.Repeat("r", long) }, "rel of 2000 bytes"},
		"anchor":            {func(_ *Outcome, l *Link) { l.Anchor = strings.Repeat("a", MaxText+1) }, "anchor of 201 bytes"},
		"around":            {func(_ *Outcome, l *Link) { l.Around = strings.Repeat("a", MaxText+1) }, "around of 201 bytes"},
		"decision":          {func(_ *Outcome, l *Link) { l.Decision = strings.Repeat("d", long) }, "decision of 2000 bytes"},
		"link's collection": {func(_ *Outcome, l *Link) { l.Collection = strings.Repeat("c", long) }, "collection of 2000 bytes"},
	} {
		b := example()
		tc.edit(&b.Outcomes[2], &b.Links[1])
		_, err := Encode(b)
		if err == nil || !strings.Contains(err.Error(), tc.want) || len(err.Error()) > 400 {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
	}
}

// TestFullRows fills every field to its cap: no block may exceed maxBlock, and no row may have more than
// maxRow sources.
func TestFullRows(t *testing.T) {
	var b Book
	for i := range 40 {
		fill := func(n int) string { return strings.Repeat(string(rune('a'+i%26)), n-2) + string(rune('a'+i/26)) + "!" }
		o := Outcome{URL: fill(MaxURL), State: Failed, Reason: fill(MaxWord), Detail: fill(MaxDetail), Package: fill(MaxWord), ETag: fill(MaxValidator), Modified: fill(MaxValidator-1) + "m", Digest: 1<<64 - 1, Body: 1<<64 - 1, Weight: 255, Offset: 1<<63 - 1, Length: 1<<63 - 1}
		for c := range MaxCollections {
			o.Collections = append(o.Collections, fill(MaxWord-1)+string(rune('0'+c)))
		}
		o.Place, _ = placeIn(uint32(i)<<25, o.URL)
		l := Link{Target: o.URL, Place: o.Place, Kind: Frame, Region: Text, Rel: fill(MaxWord), Anchor: fill(MaxText), Around: fill(MaxText), Collection: fill(MaxWord), Decision: fill(MaxWord), Weight: 255, Modified: time.Unix(1<<40, 0)}
		b.Outcomes = append(b.Outcomes, o)
		for source := range 3 * maxRow {
			l.Source[0], l.Source[1] = byte(source>>8), byte(source)
			if i == 7 || source == 0 {
				b.Links = append(b.Links, l)
			}
		}
	}
	content := mustEncode(t, b)
	got, err := Decode(content)
	if err != nil {
		t.Fatal(err)
	}
	if rows := drain(t, open(t, content).Targets(t.Context(), wholeSpace)); rows != 39+3 {
		t.Errorf("%d rows, want one of each link, and three of the link with %d sources", rows, 3*maxRow)
	}
	if len(got.Outcomes) != len(b.Outcomes) || len(got.Links) != len(b.Links) {
		t.Errorf("got %d outcomes and %d links, want %d and %d", len(got.Outcomes), len(got.Links), len(b.Outcomes), len(b.Links))
	}
}

func TestNamesForPeople(t *testing.T) {
	got, err := json.Marshal([]any{Stored, Unchanged, Skipped, Failed, Retry, NotAsked, Lost, Anchor, Frame, Asset, Redirect, Canonical, Sitemap, Listed, Text, Navigation, State(1)})
	const want = `["stored","unchanged","skipped","failed","retry","not asked","lost","anchor","frame","asset","redirect","canonical","sitemap","listed","text","navigation","state 1"]`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
}
