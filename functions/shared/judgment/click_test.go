package judgment_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/functions/shared/judgment"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

const today = "2026-11-24"

func click(url string, position int) judgment.Click {
	return judgment.Click{Day: today, Query: birds, URL: url, Position: position}
}

// putClicks stores n copies of a click, in the slots (the numbered places in its key) from 0 to
// n-1.
func putClicks(t *testing.T, bucket blob.Bucket, c judgment.Click, n int) {
	t.Helper()
	for slot := range n {
		if err := judgment.PutClick(t.Context(), bucket, c, slot); err != nil {
			t.Fatal(err)
		}
	}
}

func allClicks(t *testing.T, bucket blob.Reader) (all []judgment.Clicked, few int) {
	t.Helper()
	all, few, unread, err := judgment.AllClicks(t.Context(), bucket, nobody)
	if err != nil || len(unread) > 0 {
		t.Fatal(err, unread)
	}
	return all, few
}

// TestStoredClick checks the whole content of a stored click, and that a click whose slot (the
// number in its key) is taken does not replace the stored one.
func TestStoredClick(t *testing.T) {
	bucket := memblob.New()
	putClicks(t, bucket, click(heron, 2), 1)
	putClicks(t, bucket, click(heron, 5), 1)
	keys := functionstest.Keys(t, bucket, "")
	if len(keys) != 1 || layout.IsForeign(keys[0]) || !strings.HasPrefix(keys[0], layout.ClickDay(noon)) || !strings.HasSuffix(keys[0], "/00.json") {
		t.Fatalf("keys %v", keys)
	}
	content, err := bucket.Get(t.Context(), keys[0], blob.Range{})
	want := `{"version":1,"day":"2026-11-24",` +
		`"query":{"text":"white birds <&>","lang":["de","en"],"after":"2025-11-24T12:00:00Z"},` +
		`"url":"https://example.org/heron?a=1&b=2","position":2}`
	if err != nil || string(content) != string(layout.Seal([]byte(want))) {
		t.Errorf("got  %s\nwant %s, %v", content, want, err)
	}
}

func TestBadClicks(t *testing.T) {
	for want, change := range map[string]func(*judgment.Click){
		"query has 0 bytes":    func(c *judgment.Click) { c.Query.Text = "" },
		"is no day":            func(c *judgment.Click) { c.Day = "2026-11-31" },
		"no canonical address": func(c *judgment.Click) { c.URL = "HTTPS://example.org" },
		"the position is 0":    func(c *judgment.Click) { c.Position = 0 },
		"want at most 2048":    func(c *judgment.Click) { c.Query.Text = strings.Repeat("a", judgment.MaxClick) },
	} {
		c := click(stork, 1)
		change(&c)
		if _, err := c.Encode(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		if err := judgment.PutClick(t.Context(), memblob.New(), c, 0); err == nil {
			t.Errorf("stored: %s", want)
		}
	}
	newer := []byte(`{"version":2,"by":"heart"}`)
	if _, err := judgment.DecodeClick(newer); !errors.Is(err, judgment.ErrNewer) {
		t.Errorf("a newer version: %v", err)
	}
	key := layout.ClickKey(noon, layout.ContentHash(nil), 1)
	content, err := click(stork, 1).Encode()
	if err != nil {
		t.Fatal(err)
	}
	if judgment.CheckClick(key, layout.Seal(newer)) != nil || judgment.CheckClick(key, layout.Seal(content)) == nil || judgment.CheckClick(key, content) == nil {
		t.Error("a newer click is damaged, or one of another pair or without a sum is whole")
	}
}

// TestClickGrades checks that a page has the grade 2 if it is clicked more often than all pages above
// it.
func TestClickGrades(t *testing.T) {
	for name, c := range map[string]struct {
		slots [4]int // number of slots of the pages at the positions 1 to 4
		want  [4]int // wanted grades of these pages
	}{
		"the first wins nothing":   {[4]int{30, 5, 4, 3}, [4]int{1, 1, 1, 1}},
		"more than above":          {[4]int{5, 30, 10, 31}, [4]int{1, 2, 1, 2}},
		"as many as above":         {[4]int{5, 5, 0, 0}, [4]int{1, 1, 0, 0}},
		"those above are skipped":  {[4]int{0, 2, 3, 0}, [4]int{0, 0, 2, 0}},
		"all slots are full":       {[4]int{63, 64, 0, 64}, [4]int{1, 1, 0, 1}},
		"too few to read anything": {[4]int{2, 2, 1, 2}, [4]int{}},
	} {
		bucket := memblob.New()
		want := make(map[string]int)
		few := 0
		for i, n := range c.slots {
			url := fmt.Sprintf("https://example.org/%d", i)
			putClicks(t, bucket, click(url, i+1), n)
			if c.want[i] > 0 {
				want[url] = c.want[i]
			} else if n > 0 {
				few++
			}
		}
		all, fewer := allClicks(t, bucket)
		got := make(map[string]int)
		if len(all) > 0 {
			got = all[0].Grades()
		}
		if diff := cmp.Diff(want, got); diff != "" || fewer != few || len(all) > 1 {
			t.Errorf("%s: %d pairs with few clicks, grades (-want +got):\n%s", name, fewer, diff)
		}
	}
}

// TestFewClicks stores fewer clicks than LeastClicks on a page as a result of a query. It checks
// that these clicks are not even read. Then it adds clicks of another day, and checks that the
// clicks of both days count together.
func TestFewClicks(t *testing.T) {
	inner := memblob.New()
	putClicks(t, inner, click(stork, 1), judgment.LeastClicks-1)
	bucket := faultblob.New(inner, func(c faultblob.Call) faultblob.Fault {
		if c.Op == faultblob.Get {
			t.Errorf("%s is read", c.Key)
		}
		return faultblob.None
	})
	if all, few := allClicks(t, bucket); len(all) != 0 || few != 1 {
		t.Errorf("%v, %d", all, few)
	}
	yesterday := click(stork, 4)
	yesterday.Day = "2026-11-23"
	putClicks(t, inner, yesterday, 2)
	all, few := allClicks(t, inner)
	want := []judgment.Clicked{{Query: birds, Pages: []judgment.ClickedPage{{stork, 4 * -32 * math.Log(62.0/64), 2.5}}}}
	near := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })
	if diff := cmp.Diff(want, all, near); diff != "" || few != 0 {
		t.Errorf("(-want +got), %d:\n%s", few, diff)
	}
}

// TestForgottenClicks checks that clicks on pages that a takedown forgets never count. It also lets
// Erase fail at each call to the store, and checks that these clicks are gone after another run.
func TestForgottenClicks(t *testing.T) {
	pasted := click(stork, 1)
	pasted.Query = judgment.Query{Text: "site:owls.example night"}
	faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
		inner := memblob.New()
		for _, c := range []judgment.Click{click(stork, 1), click(heron, 2), click(owl, 3), pasted} {
			putClicks(t, inner, c, judgment.LeastClicks)
		}
		set := forgotten(t, inner)
		all, _, _, err := judgment.AllClicks(t.Context(), inner, set)
		if err != nil || len(all) != 1 || len(all[0].Pages) != 1 || all[0].Pages[0].URL != stork {
			t.Errorf("clicks that count: %+v, %v", all, err)
		}
		_, _ = judgment.Erase(t.Context(), faultblob.New(inner, decide), set)
		if _, err := judgment.Erase(t.Context(), inner, set); err != nil {
			t.Fatal(err)
		}
		if keys := functionstest.Keys(t, inner, layout.Clicks); len(keys) != judgment.LeastClicks {
			t.Errorf("left %v", keys)
		}
		if keys, err := judgment.Forgotten(t.Context(), inner, set); err != nil || len(keys) > 0 {
			t.Errorf("forgotten and there: %v, %v", keys, err)
		}
	})
}

func TestDamagedClicks(t *testing.T) {
	bucket := memblob.New()
	putClicks(t, bucket, click(stork, 1), 4)
	damaged := functionstest.Keys(t, bucket, layout.Clicks)[2]
	if err := bucket.Replace(t.Context(), damaged, []byte("{!")); err != nil {
		t.Fatal(err)
	}
	all, _, unread, err := judgment.AllClicks(t.Context(), bucket, nobody)
	if err != nil || len(unread) != 1 || !strings.Contains(unread[0].Error(), damaged) || len(all) != 1 {
		t.Errorf("%v, unread %v, %v", all, unread, err)
	}
	if _, err := judgment.Erase(t.Context(), bucket, nobody); err == nil || !strings.Contains(err.Error(), damaged) {
		t.Errorf("erased, %v", err)
	}
}

func TestClickKey(t *testing.T) {
	off, err := judgment.ParseClickKey(" ")
	key, errKey := judgment.ParseClickKey(annKey + "\n")
	if err != nil || errKey != nil || !off.Empty() || key.Empty() || strings.Contains(fmt.Sprint(key), annKey) {
		t.Errorf("%v, %v, %v", key, err, errKey)
	}
	if _, err := judgment.ParseClickKey(annKey[1:]); err == nil || !strings.Contains(err.Error(), "has 15 bytes") || strings.Contains(err.Error(), annKey[1:]) {
		t.Errorf("a short key: %v", err)
	}
	other, err := judgment.ParseClickKey(bobKey)
	if err != nil {
		t.Fatal(err)
	}
	content := []byte("a click")
	signature := key.Sign(content)
	if len(signature) != 22 || !key.Signed(content, signature) || key.Signed([]byte("b click"), signature) ||
		key.Signed(content, signature[1:]) || key.Signed(content, "") || other.Signed(content, signature) {
		t.Errorf("signature %q", signature)
	}
}

// FuzzDecodeClick checks that a click that DecodeClick returns can be encoded and decoded again,
// with nothing changed.
func FuzzDecodeClick(f *testing.F) {
	content, err := click(heron, 3).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	f.Add([]byte(`{"version":1,"day":"2026-11-24","query":{"text":"a","site":["b","a"],"after":"0001-01-01T00:00:00+23:59"},"url":"https://a.example/","position":1}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		c, err := judgment.DecodeClick(content)
		if err != nil {
			return
		}
		again, err := c.Encode()
		if err != nil {
			if strings.Contains(err.Error(), "as JSON") { // its text is longer when it is written in full
				return
			}
			t.Fatalf("%s cannot be written: %v", content, err)
		}
		read, err := judgment.DecodeClick(again)
		if err != nil {
			t.Fatalf("%s is written as %s: %v", content, again, err)
		}
		if same, err := read.Encode(); err != nil || string(same) != string(again) {
			t.Fatalf("%s is written as %s: %v", again, same, err)
		}
	})
}
