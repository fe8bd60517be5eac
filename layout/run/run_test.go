package run

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/countblob"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

var update = flag.Bool("update", false, "write the files in testdata anew")

// records returns the records of the given number of URLs on each of some sites. Their states are like those of the
// frontier: a letter, a version in 9 bytes, and the hash of the site. Those of the last site are of different lengths.
func records(sites, urls int) (all []Record) {
	for site := range sites {
		for i := range urls {
			token := uint32(site*urls+i) / 100
			state := "s\x00\x00\x00\x07\x00" + string([]byte{byte(token >> 24), byte(token >> 16), byte(token >> 8), byte(token), byte(site >> 4), byte(site << 4), 0, 0})
			if site == sites-1 {
				state += strings.Repeat("mark", i%7*(i%3))
			}
			all = append(all, Record{URL{uint32(site) << 20, layout.IdentityOf(fmt.Sprint(site, i))}, state})
		}
	}
	slices.SortFunc(all, func(a, b Record) int { return a.Compare(b.URL) })
	return all
}

func open(t testing.TB, content []byte) (*Reader, *countblob.Bucket) {
	t.Helper()
	bucket := memblob.New()
	if err := bucket.Create(t.Context(), "run", content); err != nil {
		t.Fatal(err)
	}
	counted := countblob.New(bucket)
	r, err := Open(t.Context(), counted, "run", nil)
	if err != nil {
		t.Fatal(err)
	}
	return r, counted
}

func encode(t testing.TB, all []Record) []byte {
	t.Helper()
	content, err := Encode(all)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestFind looks for URLs that a run has, and for others. It counts the requests: the blocks of one site are read by
// one request.
func TestFind(t *testing.T) {
	all := records(8, 2500)
	r, bucket := open(t, encode(t, all))
	for _, of := range []struct {
		name   string
		wanted []Record
		gets   int64
	}{
		{"none", nil, 0},
		{"one", all[6_123:6_124], 1},
		{"first and last", []Record{all[0], all[len(all)-1]}, 1}, // with the gap, as it is small
		{"a site", all[5_000:7_500], 1},
		{"all", all, 1},
	} {
		var urls []URL
		for _, one := range of.wanted {
			unknown := one.URL
			unknown.ID[15]++
			urls = append(urls, one.URL, unknown)
		}
		slices.SortFunc(urls, URL.Compare)
		before := bucket.Counts().Get
		got, err := r.Find(t.Context(), urls)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(of.wanted, got) {
			t.Errorf("%s: %d records, want other %d", of.name, len(got), len(of.wanted))
		}
		if gets := bucket.Counts().Get - before; gets != of.gets {
			t.Errorf("%s: %d requests, want %d", of.name, gets, of.gets)
		}
	}
	var got []Record
	for one, err := range r.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, one)
	}
	if !slices.Equal(all, got) {
		t.Errorf("all: %d records, want other %d", len(got), len(all))
	}
}

// flipping is a bucket that flips a bit in the answer of one request: that with the number at.
type flipping struct {
	blob.Bucket
	at int
}

func (f *flipping) Get(ctx context.Context, key string, r blob.Range) ([]byte, error) {
	content, err := f.Bucket.Get(ctx, key, r)
	if f.at--; f.at == 0 {
		content[0] ^= 1
	}
	return content, err
}

// TestCache looks for URLs one after another, with a cache. Each stripe is read once; one that is damaged on the way is
// read again.
func TestCache(t *testing.T) {
	all := records(8, 2500)
	counted := countblob.New(memblob.New())
	if err := counted.Create(t.Context(), "run", encode(t, all)); err != nil {
		t.Fatal(err)
	}
	bucket := &flipping{counted, 2}
	r, err := Open(t.Context(), bucket, "run", NewCache(bucket, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Find(t.Context(), []URL{all[0].URL}); !errors.Is(err, ErrDamaged) {
		t.Errorf("%v, want ErrDamaged", err)
	}
	before := counted.Counts().Get
	for i := 0; i < len(all); i += 97 {
		if got, err := r.Find(t.Context(), []URL{all[i].URL}); err != nil || !slices.Equal(all[i:i+1], got) {
			t.Fatalf("%v, %v, want %v", got, err, all[i])
		}
	}
	if gets := counted.Counts().Get - before; gets != 3 { // 20 blocks
		t.Errorf("%d requests, want one for each of 3 stripes", gets)
	}
}

// TestFindIDs looks for URLs by their identities alone. For few, it reads the filters and few blocks.
func TestFindIDs(t *testing.T) {
	all := records(8, 2500)
	content := encode(t, all)
	r, bucket := open(t, content)
	for _, of := range []struct {
		name    string
		wanted  []Record
		unknown int   // number of URLs besides that the run has not
		most    int64 // bytes read
	}{
		{"none", nil, 0, 0},
		{"unknown", nil, 1, 60_000},
		{"one", all[6_123:6_124], 0, 180_000},
		{"two of a stripe", []Record{all[0], all[5_000]}, 3, 180_000},
		{"many", all[100:10_000], 100, int64(len(content))},
	} {
		ids := make(map[layout.Identity]bool)
		for _, one := range of.wanted {
			ids[one.ID] = true
		}
		for i := range of.unknown {
			ids[layout.IdentityOf(fmt.Sprint("unknown ", i))] = true
		}
		before := bucket.Counts().Read
		got, err := r.FindIDs(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(of.wanted, got) {
			t.Errorf("%s: %d records, want other %d", of.name, len(got), len(of.wanted))
		}
		if read := bucket.Counts().Read - before; read > of.most {
			t.Errorf("%s: %d bytes read of %d, want at most %d", of.name, read, len(content), of.most)
		}
	}
	wrong := 0
	for some := range slices.Chunk(all, blockURLs) {
		filter := appendFilter(nil, some)
		for _, one := range some {
			if !mayHave(filter, one.ID) {
				t.Fatalf("the filter of a block says that it has not %s", one.ID)
			}
		}
		for i := range 1000 {
			if mayHave(filter, layout.IdentityOf(fmt.Sprint("unknown ", i))) {
				wrong++
			}
		}
	}
	if wrong > 400 { // of 20,000
		t.Errorf("filters were wrong %d times, want at most one of fifty", wrong)
	}
}

// TestSize: a URL without marks takes at most 20 bytes.
func TestSize(t *testing.T) {
	all := records(9, 20_000)[:8*20_000]
	if each := float64(len(encode(t, all))) / float64(len(all)); each > 20 {
		t.Errorf("%.1f bytes a URL, want at most 20", each)
	} else {
		t.Logf("%.1f bytes a URL", each)
	}
}

func TestEncodeRefuses(t *testing.T) {
	two := records(1, 2)
	for name, all := range map[string][]Record{
		"unsorted":   {two[1], two[0]},
		"twice":      {two[0], two[0]},
		"long state": {{two[0].URL, strings.Repeat("x", MaxState+1)}},
	} {
		if _, err := Encode(all); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestDamage flips every bit of a run, and cuts it off at every byte. Then either reading fails with ErrDamaged, or
// all records are right.
func TestDamage(t *testing.T) {
	all := records(2, 20)
	whole := encode(t, all)
	check := func(what string, content []byte) {
		t.Helper()
		bucket := memblob.New()
		if err := bucket.Create(t.Context(), "run", content); err != nil {
			t.Fatal(err)
		}
		r, err := Open(t.Context(), bucket, "run", nil)
		var got []Record
		if err == nil {
			for one, errOne := range r.All(t.Context()) {
				err = errOne
				got = append(got, one)
			}
		}
		if err == nil && !cmp.Equal(all, got) {
			t.Errorf("%s: other records, and no error", what)
		}
		var one []Record
		if err == nil {
			one, err = r.FindIDs(t.Context(), map[layout.Identity]bool{all[7].ID: true})
		}
		if err == nil && !cmp.Equal(all[7:8], one) {
			t.Errorf("%s: another record by its identity, and no error", what)
		}
		if err == nil {
			one, err = r.Find(t.Context(), []URL{all[7].URL})
		}
		if err == nil && !cmp.Equal(all[7:8], one) {
			t.Errorf("%s: another record by its URL, and no error", what)
		}
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v, want ErrDamaged", what, err)
		}
	}
	for at := range whole {
		for bit := range 8 {
			content := bytes.Clone(whole)
			content[at] ^= 1 << bit
			check(fmt.Sprintf("bit %d of byte %d", bit, at), content)
		}
		check(fmt.Sprintf("cut off at %d", at), whole[:at])
	}
}

// TestGolden reads a run of version 2, and writes the same bytes.
func TestGolden(t *testing.T) {
	const file = "testdata/version2.run"
	all := records(2, 20)
	content := encode(t, all)
	if *update {
		if err := os.WriteFile(file, content, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(content, want) {
		t.Errorf("%d bytes, which differ from the %d of %s", len(content), len(want), file)
	}
	var got []Record
	r, _ := open(t, want)
	for one, err := range r.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, one)
	}
	if d := cmp.Diff(all, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// FuzzOpen reads any bytes as a run: without a crash, and with an error if they are none.
func FuzzOpen(f *testing.F) {
	f.Add(encode(f, records(2, 20)))
	f.Add(encode(f, nil))
	f.Add([]byte(magic + "\x00\x00\x00\x00" + "\x00\x00\x00\x00" + magic))
	f.Fuzz(func(t *testing.T, content []byte) {
		bucket := memblob.New()
		if err := bucket.Create(t.Context(), "run", content); err != nil {
			t.Fatal(err)
		}
		r, err := Open(t.Context(), bucket, "run", nil)
		if err != nil {
			return
		}
		_, _ = r.FindIDs(t.Context(), map[layout.Identity]bool{{}: true})
		_, _ = r.Find(t.Context(), []URL{{}, {Site: 1 << 20}})
		var before *URL
		for one, err := range r.All(t.Context()) {
			if err != nil {
				return
			}
			if before != nil && before.Compare(one.URL) >= 0 {
				t.Fatalf("%v comes after %v", one.URL, *before)
			}
			before = &one.URL
		}
	})
}

// TestDirectoryRefused opens runs whose directory has a right checksum, and impossible sizes of blocks.
func TestDirectoryRefused(t *testing.T) {
	whole := encode(t, records(20, 1000))
	_, size, err := parseDirectory(whole)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []uint32{0, maxBlock + 1, math.MaxUint32} {
		content := bytes.Clone(whole)
		directory := content[int64(len(content))-size : len(content)-footerBytes+4]
		last := directory[(stripe-1)*entryBytes:] // the last block of the first stripe
		binary.BigEndian.PutUint32(last[entryBytes-4:], wrong)
		binary.BigEndian.PutUint32(content[len(content)-footerBytes+4:], crc32.Checksum(directory, castagnoli))
		bucket := memblob.New()
		if err := bucket.Create(t.Context(), "run", content); err != nil {
			t.Fatal(err)
		}
		r, err := Open(t.Context(), bucket, "run", nil)
		if err == nil {
			_, err = r.Find(t.Context(), []URL{r.blocks[stripe-1].first})
		}
		if !errors.Is(err, ErrDamaged) {
			t.Errorf("a block of %d bytes: %v, want ErrDamaged", wrong, err)
		}
	}
}
