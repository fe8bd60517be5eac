package book

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
)

func TestTargets(t *testing.T) {
	all := site(7, 60)
	r := open(t, mustEncode(t, all))
	for _, within := range []layout.Range{{}, {From: 1 << 61}, {To: 0x1234abcd_80000000}} {
		want, got := make(map[Target]int), make(map[Target]int)
		for _, l := range all.Links {
			if within.Contains(l.Place) {
				want[Target{l.Target, layout.IdentityOf(l.Target), l.Place, l.Kind, l.Depth, l.Hops, l.Weight, l.Collection, l.Decision, 0}]++
			}
		}
		rows := 0
		for target, err := range r.Targets(t.Context(), within) {
			if err != nil {
				t.Fatal(err)
			}
			sources := target.Sources
			target.Sources = 0
			got[target] += sources
			rows++
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", within, diff)
		}
		if rows > len(all.Links)/2 {
			t.Errorf("%d rows of %d links, want one of those that are alike", rows, len(all.Links))
		}
	}
}

func TestParts(t *testing.T) {
	b := site(8, 150)
	content := mustEncode(t, b)
	r := open(t, content)
	for _, size := range []int64{1, 20_000, 1 << 30} {
		var from layout.Place
		var bytes int64
		var all Book
		parts := r.Parts(size)
		for i, part := range parts {
			if part.From != from || (part.To == 0) != (i == len(parts)-1) {
				t.Errorf("part %d of %d is %x, want it to begin at %x", i, len(parts), part.Range, from)
			}
			from, bytes = part.To, bytes+part.Bytes
			some, err := read(t.Context(), r, part.Range)
			if err != nil {
				t.Fatal(err)
			}
			all.Outcomes, all.Links = append(all.Outcomes, some.Outcomes...), append(all.Links, some.Links...)
		}
		if most := int64(len(content)); bytes > most || bytes < most*9/10 {
			t.Errorf("parts have %d bytes of %d", bytes, most)
		}
		if want := min(bytes/size+1, 5); int64(len(parts)) < want/2 || size == 1<<30 && len(parts) > 1 {
			t.Errorf("%d parts of %d bytes", len(parts), size)
		}
		if d := difference(b, all); d != "" {
			t.Errorf("%d parts: (-want +got)\n%s", len(parts), d)
		}
	}
	if parts := open(t, mustEncode(t, Book{})).Parts(1); len(parts) != 1 || parts[0] != (Part{}) {
		t.Errorf("the empty book has parts %v", parts)
	}
}
