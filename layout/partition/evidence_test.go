package partition_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

var began = time.Date(2026, 11, 21, 22, 0, 0, 0, time.UTC)

// chain is a bucket with partition 0, in which a test stores and commits the pages of one batch
// after another.
type chain struct {
	*testing.T
	bucket *memblob.Bucket
}

func newChain(t *testing.T) chain { return chain{t, memblob.New()} }

func (c chain) put(key string, content []byte) {
	c.Helper()
	if err := blob.CreateOnce(c.Context(), c.bucket, key, content); err != nil {
		c.Fatal(err)
	}
}

func (c chain) delete(keys ...string) {
	c.Helper()
	for _, key := range keys {
		if err := c.bucket.Delete(c.Context(), key); err != nil {
			c.Fatal(err)
		}
	}
}

func batch(token uint64) layout.Version { return layout.Version{Epoch: 1, Token: token} }

func (c chain) spool(token uint64) { c.put(layout.SpoolKey(0, batch(token)), []byte("spooled")) }

// store stores a package with one page of a batch, and a book with the page's outcome.
func (c chain) store(v layout.Version) (manifest.Package, manifest.Book) {
	c.Helper()
	url := fmt.Sprintf("http://a.example/%d", v.Token)
	run, err := webobject.NewCompressor(webobject.DefaultLevel).Compress(webobject.Object{
		URL: url, MIME: "text/html", Data: []byte(url), Downloaded: began, Expires: began, Status: 200, Version: v,
	})
	if err != nil {
		c.Fatal(err)
	}
	created := began.Add(time.Duration(v.Token) * time.Second)
	content, places, err := webobject.Package{Base: 2, Created: created, Expires: created, Runs: []webobject.Run{run}}.Build()
	if err != nil {
		c.Fatal(err)
	}
	pkg := manifest.Package{Key: layout.PackageKey(0, layout.PackageName{Base: 2, Created: created}), Bytes: int64(len(content)), Pages: 1}
	c.put(pkg.Key, content)
	told, err := book.Encode(book.Book{Outcomes: []book.Outcome{{
		Version: v, URL: url, Place: layout.PlaceOf("a.example", layout.IdentityOf(url)), State: book.Stored, Status: 200, Attempts: 1, Time: began,
		Package: pkg.Key, Offset: places[0].Offset, Length: places[0].Length,
	}}})
	if err != nil {
		c.Fatal(err)
	}
	learnt := manifest.Book{Key: layout.BookKey(0, layout.ContentHash(told)), Bytes: int64(len(told)), Outcomes: 1}
	c.put(learnt.Key, told)
	return pkg, learnt
}

func (c chain) commit(edit func(*manifest.Manifest)) manifest.Manifest {
	c.Helper()
	m, err := manifest.Commit(c.Context(), c.bucket, 0, func() time.Time { return began }, func(m *manifest.Manifest) error {
		edit(m)
		return nil
	})
	if err != nil {
		c.Fatal(err)
	}
	return m
}

// pack stores the package and the book of a batch, and commits them as one generation. Tests
// call it with the tokens 1, 2, 3 and so on, so that token n is committed as generation n.
func (c chain) pack(token uint64) {
	c.Helper()
	c.spool(token)
	pkg, learnt := c.store(batch(token))
	c.commit(func(m *manifest.Manifest) {
		m.Add(pkg)
		m.Books = append(m.Books, learnt)
		m.Consumed = append(m.Consumed, manifest.Consumed{Batch: batch(token), At: began})
	})
	c.delete(layout.SpoolKey(0, batch(token)))
}

func (c chain) newest() manifest.Manifest {
	c.Helper()
	m, err := manifest.Read(c.Context(), c.bucket, 0)
	if err != nil {
		c.Fatal(err)
	}
	return m
}

// lose deletes the hint (a copy of the newest generation), and all generations of a range of
// numbers. The parameters are the first and the last number.
func (c chain) lose(from, to uint64) {
	c.delete(layout.HintKey(0))
	for n := from; n <= to; n++ {
		c.delete(layout.ManifestKey(0, n))
	}
}

func (c chain) keys(prefix string) (keys []string) {
	for object := range c.bucket.List(c.Context(), prefix, "") {
		keys = append(keys, object.Key)
	}
	return keys
}

func (c chain) found() string {
	c.Helper()
	found, err := partition.Lost(c.Context(), c.bucket, c.newest())
	if err != nil {
		c.Fatal(err)
	}
	var lines []string
	for _, e := range found {
		lines = append(lines, fmt.Sprintf("%d: %s %s", e.Generation, e.Key, e.Detail))
	}
	return strings.Join(lines, "\n")
}

func overlay(generation uint64) string {
	return layout.OverlayKey(0, generation, layout.ContentHash(nil))
}

func claim(n uint64, generations map[layout.Partition]uint64) (string, []byte) {
	return layout.EpochKey(n), layout.Claim{By: "test", Generations: generations}.Encode()
}

// TestLost deletes or damages generations in several ways. For each of these losses, Lost must
// return exactly the objects that prove it.
func TestLost(t *testing.T) {
	for name, test := range map[string]struct {
		harm func(c chain)
		want []string // for each piece of evidence, in this order, a part of its text
	}{
		"nothing": {func(chain) {}, nil},
		"all generations": {
			func(c chain) { c.put(overlay(3), nil); c.lose(1, 5) },
			[]string{"2: overlays/0000/000000000003_", "1: packages/0000/2_0_20261121220001000.spf is there, and no generation that could list it", "1: books/0000/", "1: overlays/0000/"},
		},
		"all generations, and only segments are left": {
			func(c chain) {
				c.put(layout.SegmentKey(0, layout.ContentHash(nil)), nil)
				c.delete(append(c.keys(layout.Packages), c.keys(layout.Books)...)...)
				c.lose(1, 5)
			},
			[]string{"1: segments/0000/"},
		},
		"all generations, and nothing else was there": {
			func(c chain) { c.delete(append(c.keys(layout.Packages), c.keys(layout.Books)...)...); c.lose(1, 5) }, nil,
		},
		"only what nobody here has written is there": {
			func(c chain) {
				c.delete(append(c.keys(layout.Packages), c.keys(layout.Books)...)...)
				c.lose(1, 5)
				c.put(layout.Packages+"0000/notes.txt", nil)
				c.put(layout.ManifestPrefix(0)+"notes.txt", nil)
			}, nil,
		},
		"all of another partition": {func(c chain) { c.put(layout.BookKey(1, layout.ContentHash(nil)), nil) }, nil},
		"the hint":                 {func(c chain) { c.lose(1, 0) }, nil},
		"a middle generation":      {func(c chain) { c.lose(3, 3) }, nil},
		"the newest of which only the object is lost": {func(c chain) { c.delete(layout.ManifestKey(0, 5)) }, nil},
		"the newest generation":                       {func(c chain) { c.lose(5, 5) }, []string{"5: books/0000/"}},
		"the newest three":                            {func(c chain) { c.lose(3, 5) }, []string{"3: books/0000/", "3: books/0000/", "3: books/0000/"}},
		"the newest and its book": {
			func(c chain) {
				c.delete(c.newest().Books[4].Key)
				c.lose(5, 5)
			},
			[]string{"5: packages/0000/2_0_20261121220005000.spf tells of batch 00000001-000000000005, which generation 4 has not consumed"},
		},
		"the newest, whose bytes changed": {
			func(c chain) {
				c.lose(1, 0)
				if err := c.bucket.Replace(c.Context(), layout.ManifestKey(0, 5), make([]byte, 100)); err != nil {
					c.Fatal(err)
				}
			},
			[]string{"5: manifests/0000/000000000005.json.zst is a generation that cannot be read, and the newest that is left is generation 4", "5: books/0000/"},
		},
		"those of which only an overlay tells": {
			func(c chain) {
				c.put(overlay(7), nil)
				c.put(overlay(9), nil)
			},
			[]string{"8: overlays/0000/000000000009_"},
		},
		"those of which only an epoch tells": {
			func(c chain) {
				c.put(claim(1, map[layout.Partition]uint64{0: 9}))
				c.put(claim(2, map[layout.Partition]uint64{0: 7, 1: 3}))
				c.put(claim(3, map[layout.Partition]uint64{1: 12}))
				c.put(layout.EpochKey(4), []byte("worker nonce\n"))
				c.put(layout.EpochKey(5), nil)
			},
			[]string{"7: epochs/000000000002 was claimed by one who had read generation 7 of partition 0000"},
		},
		"nothing by what epochs and overlays tell": {
			func(c chain) {
				c.put(claim(1, map[layout.Partition]uint64{0: 5}))
				c.put(overlay(6), nil)
			}, nil,
		},
		"nothing: a pack was killed before it committed": {func(c chain) { c.spool(6); c.store(batch(6)) }, nil},
		"nothing: its batch was packed by another": {
			func(c chain) {
				c.spool(6)
				_, orphan := c.store(batch(6))
				c.commit(func(m *manifest.Manifest) {
					m.Consumed = append(m.Consumed, manifest.Consumed{Batch: batch(6), At: began})
				})
				c.delete(layout.SpoolKey(0, batch(6)))
				if c.newest().Books[4].Key == orphan.Key {
					c.Error("the orphan is listed")
				}
			}, nil,
		},
		"nothing: its batch is closed": {
			func(c chain) {
				c.store(batch(6))
				c.commit(func(m *manifest.Manifest) { m.Consumed = nil; m.Close(batch(6)) })
			}, nil,
		},
		"nothing: it is condemned": {
			func(c chain) {
				pkg, learnt := c.store(batch(6))
				c.commit(func(m *manifest.Manifest) { m.Condemn(began, pkg.Key, learnt.Key) })
			}, nil,
		},
		"nothing: it tells what repair took back": {func(c chain) { c.store(layout.Version{Epoch: 7}) }, nil},
		"nothing: it is damaged": {
			func(c chain) {
				c.put(layout.BookKey(0, layout.ContentHash(nil)), make([]byte, 100))
				c.put(layout.PackageKey(0, layout.PackageName{Base: 2, Created: began}), nil)
			}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newChain(t)
			for token := range uint64(5) {
				c.pack(token + 1)
			}
			test.harm(c)
			lines := strings.Split(c.found(), "\n")
			if lines[0] == "" {
				lines = nil
			}
			if len(lines) != len(test.want) {
				t.Fatalf("found\n%s\nwant %d", strings.Join(lines, "\n"), len(test.want))
			}
			for i, line := range lines {
				if !strings.Contains(line, test.want[i]) {
					t.Errorf("found %s\nwant %s", line, test.want[i])
				}
			}
		})
	}
}

// TestNothingIsLostWhileOthersCommit checks that Lost does not report objects that are committed
// while it runs.
func TestNothingIsLostWhileOthersCommit(t *testing.T) {
	c := newChain(t)
	c.pack(1)
	before := c.newest()
	c.pack(2)
	if found, err := partition.Lost(t.Context(), c.bucket, before); err != nil || len(found) > 0 {
		t.Errorf("found %v, %v", found, err)
	}
}

func TestLostSaysWhenTheStoreFails(t *testing.T) {
	c := newChain(t)
	for token := range uint64(3) {
		c.pack(token + 1)
	}
	c.put(claim(1, map[layout.Partition]uint64{0: 3}))
	c.lose(3, 3)
	m, err := manifest.At(t.Context(), c.bucket, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	faultblob.Each(t, func(t *testing.T, decide func(faultblob.Call) faultblob.Fault) {
		found, err := partition.Lost(context.WithoutCancel(t.Context()), faultblob.New(c.bucket, decide), m)
		if err == nil && len(found) == 0 {
			t.Error("a fault of the store looks as if nothing were lost")
		}
	})
}
