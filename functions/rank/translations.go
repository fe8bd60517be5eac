package rank

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/RoaringBitmap/roaring"
	"golang.org/x/sync/errgroup"

	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/takedown"
)

// leastPages is the least number of translated pages that a pair of languages needs: with fewer, no
// dictionaries are learnt for the pair.
const leastPages = 20

// translatedPage names a document of a segment that may have translations. Its group is the set of
// pages that translate each other.
type translatedPage struct {
	group    uint64 // equal for pages that are translations of each other (segment.Document.Translation)
	language uint16 // index in translations.languages
	segment  int32  // index in translations.segments
	doc      uint32
}

// translations is a list of documents, from all partitions, that may be translations of each other.
// It also has the segments that the documents are in.
type translations struct {
	*Function
	forgotten takedown.Set

	listed    []manifest.Segment
	segments  []*segment.Segment // the opened segment for each element of listed; nil if it cannot be read
	languages []string           // the languages with at least leastPages documents, sorted
	documents []uint64           // number of documents in each element of languages, also of those without a translation
	damaged   bool               // whether segments were left out because they cannot be read

	mu    sync.Mutex       // protects the fields below while segments are read in parallel
	pages []translatedPage // sorted by group and language; at most one page of each language in a group
	below uint64           // pages whose group is this number or a higher one are left out; 0: none is left out
	cut   int              // number of documents that were left out because of Limits.Translated
}

// languagePair is a pair of languages, in alphabetical order.
type languagePair struct {
	languages [2]uint16 // indexes in translations.languages
	pages     int       // number of pages in the first language that have a translation in the second
}

// findTranslations finds the documents that may be translations of each other. It leaves out dead
// documents, and those of pages that a takedown covers. If fewer than two languages have enough
// documents, it finds none, and reads no columns of the segments.
func (f *Function) findTranslations(ctx context.Context, all []*partition.Partition, forgotten takedown.Set) (*translations, error) {
	t := &translations{Function: f, forgotten: forgotten}
	for _, p := range all {
		t.listed = append(t.listed, p.Manifest().Segments...)
	}
	t.segments = make([]*segment.Segment, len(t.listed))
	err := t.each(ctx, func(ctx context.Context, i int) (err error) {
		t.segments[i], err = partition.OpenSegment(ctx, segment.Ranges{Bucket: f.Bucket}, &t.listed[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	documents := make(map[string]uint64)
	for _, s := range t.segments {
		if s != nil {
			for name, totals := range s.LanguageTotals() {
				documents[name] += totals.Fields[segment.Body].Documents
			}
		}
	}
	maps.DeleteFunc(documents, func(name string, n uint64) bool { return name == "" || n < leastPages })
	if t.languages = slices.Sorted(maps.Keys(documents)); len(t.languages) < 2 {
		return t, nil
	}
	for _, name := range t.languages {
		t.documents = append(t.documents, documents[name])
	}
	if err := t.each(ctx, t.readColumns); err != nil {
		return nil, err
	}
	slices.SortFunc(t.pages, func(a, b translatedPage) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.language, b.language), cmp.Compare(a.segment, b.segment), cmp.Compare(a.doc, b.doc))
	})
	t.pages = slices.CompactFunc(t.pages, func(a, b translatedPage) bool { return a.group == b.group && a.language == b.language })
	return t, nil
}

// each calls the given function with the index of every segment; a few calls run at the same time. If
// a call returns an error that says that its segment is damaged, the method each removes this segment
// from t.segments. It fails if a call returns any other error.
func (t *translations) each(ctx context.Context, read func(ctx context.Context, i int) error) error {
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range t.listed {
		group.Go(func() error {
			err := read(within, i)
			if partition.IsDamaged(err) {
				t.Log.ErrorContext(ctx, "no dictionaries are learnt of a segment that cannot be read", "key", t.listed[i].Key, "error", err)
				t.mu.Lock()
				defer t.mu.Unlock()
				t.damaged, t.segments[i] = true, nil
				return nil
			}
			return err
		})
	}
	return group.Wait()
}

// readColumns adds the documents of the i-th segment to t.pages. It leaves out documents that are
// dead, covered by a takedown, in no group of translations, or in a language with too few
// documents.
func (t *translations) readColumns(ctx context.Context, i int) error {
	s := t.segments[i]
	if s == nil {
		return nil
	}
	groups, err := s.Numbers(ctx, segment.Translations)
	if err != nil {
		return err
	}
	languages, err := s.Strings(ctx, segment.Languages)
	if err != nil {
		return err
	}
	out, err := t.outside(ctx, i)
	if err != nil {
		return err
	}
	var pages []translatedPage
	for doc, group := range groups {
		of := languages.Get(uint32(doc))
		if group == 0 || len(of) == 0 || out.Contains(uint32(doc)) {
			continue
		}
		if language, known := slices.BinarySearch(t.languages, of[0]); known {
			pages = append(pages, translatedPage{group, uint16(language), int32(i), uint32(doc)})
		}
	}
	t.add(pages)
	return nil
}

// add adds pages to t.pages. If there are then more than Limits.Translated, it keeps only the
// groups of translations with the lowest numbers. So pages of one group are kept or left out
// together. The choice of groups is as good as random, because their numbers are hashes.
func (t *translations) add(pages []translatedPage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	before := len(t.pages) + len(pages)
	t.pages = append(t.pages, pages...)
	for {
		if t.below > 0 {
			t.pages = slices.DeleteFunc(t.pages, func(page translatedPage) bool { return page.group >= t.below })
		}
		if len(t.pages) <= t.Limits.Translated {
			break
		}
		if t.below /= 2; t.below == 0 {
			t.below = 1 << 63
		}
	}
	t.cut += before - len(t.pages)
}

// outside returns the documents of the i-th segment that must be left out: they are dead, or a
// takedown covers their pages.
func (t *translations) outside(ctx context.Context, i int) (*roaring.Bitmap, error) {
	out, err := partition.Dead(ctx, t.Bucket, &t.listed[i])
	if err != nil || t.forgotten.Empty() {
		return out, err
	}
	identities, err := t.segments[i].Identities(ctx)
	if err != nil {
		return nil, err
	}
	sites, err := t.segments[i].Strings(ctx, segment.Sites)
	if err != nil {
		return nil, err
	}
	for doc, id := range identities {
		for _, site := range sites.Get(uint32(doc)) {
			if t.forgotten.ForgetsPage(id, site) {
				out.Add(uint32(doc))
			}
		}
	}
	return out, nil
}

// groups yields the groups of pages that are translations of each other. The pages of a group are
// sorted by language.
func (t *translations) groups(yield func([]translatedPage) bool) {
	for rest := t.pages; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].group == rest[0].group {
			n++
		}
		if !yield(rest[:n]) {
			return
		}
		rest = rest[n:]
	}
}

// pairs returns the pairs of languages for which a dictionary can be learnt: at least leastPages
// pages in one language must have a translation in the other. A caller with a limit uses only the
// first pairs, so pairs sorts them by importance. First come the pairs with the language that has
// the most documents of all in these pairs: most queries, and most answers, are in this language.
// Within these, and within the rest, pairs with more pages come first, and among equal ones (a manual
// is often translated as a whole) those whose two languages have more documents.
func (t *translations) pairs() (all []languagePair) {
	counts := make(map[[2]uint16]int)
	for group := range t.groups {
		for i, a := range group {
			for _, b := range group[i+1:] {
				counts[[2]uint16{a.language, b.language}]++
			}
		}
	}
	most := uint64(0)
	for languages, n := range counts {
		if n >= leastPages {
			all = append(all, languagePair{languages, n})
			most = max(most, t.documents[languages[0]], t.documents[languages[1]])
		}
	}
	order := func(p languagePair) int {
		if max(t.documents[p.languages[0]], t.documents[p.languages[1]]) == most {
			return 0
		}
		return 1
	}
	documents := func(p languagePair) uint64 { return t.documents[p.languages[0]] + t.documents[p.languages[1]] }
	slices.SortFunc(all, func(a, b languagePair) int {
		return cmp.Or(order(a)-order(b), b.pages-a.pages, cmp.Compare(documents(b), documents(a)), slices.Compare(a.languages[:], b.languages[:]))
	})
	return all
}

// of returns pairs of pages in the two given languages. The two pages of a pair are translations of
// each other. The parameter most is the greatest number of pairs to return. All pages that are
// translations of each other form a group, whose number is a hash. If there are too many pairs, only
// those of the groups with the lowest numbers are returned.
func (t *translations) of(p languagePair, most int) (pages [][2]translatedPage) {
	for group := range t.groups {
		var both [2]translatedPage
		found := 0
		for _, page := range group {
			for side, language := range p.languages {
				if page.language == language {
					both[side] = page
					found++
				}
			}
		}
		if found == len(both) {
			pages = append(pages, both)
		}
		if len(pages) == most {
			break
		}
	}
	return pages
}

// read returns the stored documents of the pages, in the same order. A document is zero if its
// segment cannot be read; the result damage has an error for each such segment.
func (t *translations) read(ctx context.Context, pages []translatedPage) (documents []segment.Document, damage []error, err error) {
	documents = make([]segment.Document, len(pages))
	at := make(map[int32][]int) // by segment: indexes in pages
	for i, page := range pages {
		at[page.segment] = append(at[page.segment], i)
	}
	for _, s := range slices.Sorted(maps.Keys(at)) {
		docs := make([]uint32, len(at[s]))
		for n, i := range at[s] {
			docs[n] = pages[i].doc
		}
		found, err := t.segments[s].Stored(ctx, docs)
		if partition.IsDamaged(err) {
			damage = append(damage, fmt.Errorf("the texts of a segment cannot be read: %w", err))
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		for n, i := range at[s] {
			documents[i] = found[n]
		}
	}
	return documents, damage, nil
}
