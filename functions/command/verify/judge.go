package verify

import (
	"context"
	"errors"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// judgePages checks, when all is read, that every page is accounted for, and
// that every live page is indexed. Pages that are known have been
// judged with their URLs.
func (v *run) judgePages(ctx context.Context) error {
	v.judgeVersions()
	unindexed := make([]int, len(v.packages))
	stray := make(map[*storedPackage][]*page)
	for i := range v.pages {
		p := &v.pages[i]
		in := v.packages[p.pkg]
		switch {
		case p.has(markDamaged):
		case !p.has(markKnown):
			if p.has(markWanted) && !in.partition.incomplete() { // what is forgotten may be left in the package alone
				stray[in] = append(stray[in], p)
			}
		case p.has(markLive) && p.has(markWanted) && p.documents() == 0 && in.Indexed && !in.unsearchable.Load():
			unindexed[p.pkg]++
		}
	}
	for i, in := range v.packages {
		if unindexed[i] > 0 {
			v.problem(Missing, in.partition.Partition, in.Key, "is indexed without %d of its pages", unindexed[i])
		}
	}
	for in, pages := range stray {
		if err := v.strayed(ctx, in, pages); err != nil {
			return err
		}
	}
	return nil
}

// judgeVersions checks that no page is searched in two versions.
func (v *run) judgeVersions() {
	for from, to := 0, 0; from < len(v.pages); from = to {
		var newest *page
		for to = from; to < len(v.pages) && v.pages[to].id == v.pages[from].id; to++ {
			p := &v.pages[to]
			if p.documents() == 0 || p.has(markDamaged) {
				continue
			}
			older := p
			if newest == nil || newest.version.Compare(p.version) < 0 {
				newest, older = p, newest
			}
			if older != nil {
				in := v.packages[older.pkg]
				if v.packages[newest.pkg].partition != in.partition { // a strategy has moved it, and searches show the newest
					v.report.Waiting.Moved++
					continue
				}
				v.problems.add(Problem{Kind: Double, Partition: in.partition.Partition, Key: in.Key, Offset: int64(older.offset),
					Detail: "is searched, and so is another version of it"})
			}
		}
	}
}

// strayed tells of pages whose URLs are in no book, and asks the package for
// the URLs.
func (v *run) strayed(ctx context.Context, in *storedPackage, pages []*page) error {
	listed, err := webobject.List(ctx, v.Bucket, in.Key)
	if err != nil && !errors.Is(err, webobject.ErrDamaged) && !errors.Is(err, blob.ErrAbsent) {
		return err
	}
	urls := make(map[int64]string)
	for _, l := range listed {
		urls[l.Offset] = l.URL
	}
	for _, p := range pages {
		v.problems.add(Problem{Kind: Unaccounted, Partition: in.partition.Partition, Key: in.Key, Offset: int64(p.offset),
			URL: urls[int64(p.offset)], Detail: "stands there, and no outcome says so"})
	}
	return nil
}
