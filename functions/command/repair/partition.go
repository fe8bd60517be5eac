package repair

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/command/verify"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/segments"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/manifest"
	"github.com/bucketsearch/bucketsearch/layout/partition"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/epoch"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// mending is the repair of one partition. It collects edits, which are committed together as one
// generation (version of the manifest).
type mending struct {
	*Repairer
	// the partition, with its manifest: first the version in which verify found the problems; after
	// commit, the new version
	*partition.Partition
	elsewhere []layout.Partition // other partitions to which pages of this partition may have moved
	// what is mended already, so that it is not mended twice: keys of segments, overlays and books,
	// and names of repairs that concern the whole partition
	looked map[string]bool
	edits  []func(context.Context, *partition.Edit) error // changes of the manifest, which one commit makes
	said   []string
	lost   map[string]string // URLs that get an outcome Lost, to be fetched again, each with the reason

	faulty    map[uint32]*faultyPackage // packages with problems, by their identifier in the manifest
	lostBooks map[string]bool           // keys of missing or damaged books
}

// mendPartition mends as many problems of a partition as it can. It begins with the generations
// (versions) of the manifest. If the last ones are lost, it only makes a new generation: the other
// problems are mended in the next round. Otherwise it goes on with the objects that the newest
// generation lists.
func (r *Repairer) mendPartition(ctx context.Context, p layout.Partition, problems []verify.Problem, report *Report) error {
	s, err := settings.Read(ctx, r.Bucket, r.Now())
	if err != nil {
		return err
	}
	elsewhere := s.Elsewhere(p)
	mended, err := r.mendManifests(ctx, p, problems)
	r.say(ctx, report, mended)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(problems, ofManifests) {
		mended, err := r.refound(ctx, p, elsewhere)
		r.say(ctx, report, mended)
		if err != nil || len(mended) > 0 { // the next round of verify finds the other problems
			return err
		}
	}
	own, err := partition.Open(ctx, r.Bucket, p, r.Now)
	if err != nil {
		if slices.ContainsFunc(problems, ofManifests) && !errors.Is(err, blob.ErrRetryable) {
			return ctx.Err() // the generations cannot be mended: nothing can be committed, and the problems stay
		}
		return err
	}
	m := &mending{
		Repairer: r, Partition: own, elsewhere: elsewhere, looked: make(map[string]bool),
		lost: make(map[string]string), faulty: make(map[uint32]*faultyPackage), lostBooks: make(map[string]bool),
	}
	for _, problem := range problems {
		if err := m.look(ctx, problem); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(m.faulty)) {
		if err := m.mendPackage(ctx, m.faulty[id]); err != nil {
			return err
		}
	}
	if err := m.findLost(ctx); err != nil {
		return err
	}
	fetch, err := m.commit(ctx)
	if err != nil {
		return err
	}
	report.Fetch += fetch
	r.say(ctx, report, m.said)
	return nil
}

// ofManifests reports whether a problem may mean that generations (versions of a partition's
// manifest) are lost. There are two kinds of such problems: the object of a generation is missing or
// damaged, or another object proves that later generations than the newest stored one existed.
func ofManifests(p verify.Problem) bool {
	return p.Kind == verify.Lost || strings.HasPrefix(p.Key, layout.Manifests)
}

// look decides how one problem is mended. It adds edits of the manifest, or URLs that are to be fetched
// again, to m. But one package may have several problems, which must be mended together. So for most
// problems of a package, look only adds the package to m.faulty. After look has been called for all
// problems, mendPackage mends the package.
func (m *mending) look(ctx context.Context, problem verify.Problem) error {
	first := !m.looked[problem.Key]
	switch key := problem.Key; {
	case problem.Kind == verify.Behind:
		m.forgetAgain()
	case problem.Kind == verify.Stale:
		m.maskAgain()
	case key == "":
		m.takeBack(problem.URL, "it "+problem.Detail)
	case strings.HasPrefix(key, layout.Packages):
		m.lookAtPackage(problem)
	case strings.HasPrefix(key, layout.Segments) && first:
		m.looked[key] = true
		return m.mendSegment(ctx, key)
	case slices.ContainsFunc(m.Manifest().CondemnedLists, func(l manifest.CondemnedList) bool { return l.Key == key }) && first:
		m.looked[key] = true
		return m.dropCondemnedList(ctx, key)
	case strings.HasPrefix(key, layout.Overlays) && first:
		m.looked[key] = true
		return m.mendOverlay(ctx, key)
	case strings.HasPrefix(key, layout.Books) && first:
		m.looked[key] = true
		return m.mendBook(ctx, key)
	}
	return nil
}

// takeBack makes the crawl fetch a URL again. To this end the next commit gives the URL an outcome
// Lost, which overrides all earlier outcomes. The parameter why is recorded with this outcome.
// takeBack does nothing for a URL that is not in canonical form, because no crawl can have requested
// it. The problem with such a URL stays, and verify reports it again.
func (m *mending) takeBack(url, why string) {
	if a, err := address.Parse(url); err == nil && a.URL == url {
		m.lost[url] = why
	}
}

// maskAgain makes the sweep search the index once more for documents of gone pages (pages that have
// vanished from their URLs), and mark these documents as dead. To this end it sets the field Masked to
// false in every entry of the manifest's list of gone pages. If pages are missing from that list,
// listGone adds them later in the same commit.
func (m *mending) maskAgain() {
	const what = "what is gone"
	if m.looked[what] {
		return
	}
	m.looked[what] = true
	m.edit(func(e *partition.Edit) { e.MarkMasked(func(manifest.Gone) bool { return false }) })
	m.said = append(m.said, fmt.Sprintf("partition %s has pages searched that are gone, and masks them once more", m.ID()))
}

// forgetAgain makes the next sweep search the whole partition again for forgotten pages (those that a
// takedown covers), and erase them.
func (m *mending) forgetAgain() {
	const what = "what is forgotten"
	if m.looked[what] {
		return
	}
	m.looked[what] = true
	m.edit(func(e *partition.Edit) { e.ForgetAgain() })
	m.said = append(m.said, fmt.Sprintf("partition %s holds what is forgotten, and forgets it once more", m.ID()))
}

// edit adds a change of the manifest to the edits of the next commit. The change cannot fail.
func (m *mending) edit(do func(*partition.Edit)) {
	m.edits = append(m.edits, func(_ context.Context, e *partition.Edit) error { do(e); return nil })
}

// say adds sentences that describe mended problems to the report and the log.
func (r *Repairer) say(ctx context.Context, report *Report, said []string) {
	for _, sentence := range said {
		r.Log.InfoContext(ctx, "mended", "what", sentence)
	}
	report.Mended = append(report.Mended, said...)
}

// commit commits all edits as one new version of the manifest. If URLs are to be fetched again, the
// new version also lists a new book with an outcome Lost for each of them; commit returns their
// number. If a book is added in this way, or a book was lost, the new version has another value in
// its field Learnt. The frontiers (the crawl's queues in Redis) have recorded the old value, and so
// find that they lack outcomes.
//
// An edit does nothing if its object was replaced or removed after the problem was found.
func (m *mending) commit(ctx context.Context) (missing int, err error) {
	if len(m.edits) == 0 && len(m.lost) == 0 {
		return 0, nil
	}
	if len(m.lost)+len(m.lostBooks) > 0 {
		number, err := epoch.Claim(ctx, m.Bucket, "repair", *m.Manifest())
		if err != nil {
			return 0, err
		}
		m.edit(func(e *partition.Edit) { e.Learn(layout.EpochKey(number)) })
		if len(m.lost) > 0 {
			listed, err := m.putLost(ctx, number)
			if err != nil {
				return 0, err
			}
			m.edits = append(m.edits, func(_ context.Context, e *partition.Edit) error {
				e.Learn(listed.Key)
				return e.AddBook(listed)
			})
			m.said = append(m.said, fmt.Sprintf("partition %s takes back what it knew of URLs that are fetched again: %d", m.ID(), len(m.lost)))
		}
	}
	m.edits = append(m.edits, m.listGone)
	err = m.Commit(ctx, func(e *partition.Edit) error {
		for _, edit := range m.edits {
			if err := edit(ctx, e); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, partition.ErrStale) { // the objects that it has put may be deleted by now
		err = fmt.Errorf("cannot repair partition %s: it took longer than %v, or has changed; run it again", m.ID(), partition.Fresh)
	}
	return len(m.lost), err
}

// putLost stores a book with an outcome Lost for every URL that is to be fetched again. The
// parameter epoch must be above the epochs of all earlier outcomes, so that these URLs' last
// outcome is Lost.
func (m *mending) putLost(ctx context.Context, epoch uint64) (partition.Book, error) {
	var learnt book.Book
	for url, why := range m.lost {
		a, err := address.Parse(url)
		if err != nil {
			return partition.Book{}, err
		}
		learnt.Outcomes = append(learnt.Outcomes, book.Outcome{
			Version: layout.Version{Epoch: epoch}, URL: url, Place: a.Place, State: book.Lost,
			Detail: message.Cut(why, book.MaxDetail), Time: m.Now().UTC().Truncate(time.Millisecond),
		})
	}
	content, err := book.Encode(learnt)
	if err != nil {
		return partition.Book{}, fmt.Errorf("cannot write book of partition %s: %w", m.ID(), err)
	}
	return m.PutBook(ctx, content, len(learnt.Outcomes), 0)
}

// listGone makes the manifest's list of gone pages (see manifest.Gone) anew from the books. It is the
// last edit of a commit, so that it reads the books which the manifest lists after all other edits. If
// a book cannot be read, listGone leaves the list of gone pages as it is. A later round of repair takes
// that book off the manifest and calls listGone again.
func (m *mending) listGone(ctx context.Context, e *partition.Edit) error {
	pages, err := segments.Gone(ctx, m.Bucket, e.Manifest(), m.elsewhere)
	if errors.Is(err, book.ErrDamaged) || errors.Is(err, blob.ErrAbsent) {
		return nil
	}
	if err == nil {
		e.SetGone(pages)
	}
	return err
}
