package search

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/fingerprint"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

const (
	// folded is the least number of best matches in which fold looks for alike documents (see
	// window).
	folded = 100
	// maxFolded is the greatest sum of From and Size of a query whose alike documents become one hit. Further
	// ones are shown one by one, since all documents before them would have to be read.
	maxFolded = 500
	// closeScore says which match of a group of alike matches may be shown for the group: one whose
	// score is at least this fraction of the best score in the group.
	closeScore = 0.95
	// Least sizes of the bodies of alike documents, in bytes. leastEqual is the limit if the bodies are
	// equal, but not the titles. leastNear is the limit if the bodies are only nearly equal. Documents with
	// shorter bodies do not count as alike.
	leastEqual, leastNear = 200, 500
)

// window returns in how many of the best matches fold looks for alike documents: four times the number
// of hits up to the end of the page of hits, but at least the constant folded. fold looks in a few more
// if they have the same score as the last of these matches.
func (s *search) window() int { return max(folded, 4*(s.query.From+s.query.Size)) }

// folds reports whether alike documents become one hit.
func (s *search) folds() bool { return s.query.Fold && !s.plan.unfolded && !s.plan.images }

// alikeGroup is a group of matches that become one hit: the best match, and the matches alike to
// it. The matches are ordered by score, then by identity.
type alikeGroup struct {
	members []match
	// more is set by the method spread, which moves some groups of a site behind the tenth group. It is
	// the number of moved groups of the same site whose scores are better than that of the tenth group.
	// Only the last group of the site among the first ten has this number. All other groups have 0.
	more int
}

// folder groups matches of alike documents.
type folder struct {
	*search
	head []match // best matches whose documents are not read yet
	// groups of the matches whose documents were read. They are sorted by their best scores, until
	// translate or spread moves some of them.
	groups []alikeGroup
	of     map[layout.Identity]int // index of each page's group in folder.groups, by the page's identity
	prints map[spot]fingerprint.Fingerprint
	// whether translate has put groups into another order, so that they are no longer sorted by
	// their best scores
	moved bool
}

// fold returns the matches on the page of hits that the query requests, one match for each group of
// alike documents. It reads the documents of the best matches until it has enough groups.
func (s *search) fold(ctx context.Context, best []match) ([]match, error) {
	f := folder{search: s, of: make(map[layout.Identity]int), prints: make(map[spot]fingerprint.Fingerprint)}
	head := best[:min(len(best), s.window())]
	for n := len(head); !s.byDate() && 0 < n && n < min(len(best), 2*s.window()) && best[n].score == best[n-1].score; n++ {
		head = best[:n+1] // with the matches that tie
	}
	f.head = head
	wanted := s.query.From + s.query.Size
	if err := f.gather(ctx, wanted); err != nil {
		return nil, err
	}
	s.alike, s.more = make(map[spot][]string), make(map[spot]int)
	if f.mayTranslate() && !s.byDate() {
		if err := f.gather(ctx, folded); err != nil {
			return nil, err
		}
		f.translate()
		s.spreads = s.spreads || f.moved
	}
	if s.query.Spread && !s.byDate() {
		if err := f.spread(ctx); err != nil {
			return nil, err
		}
	}
	var page []match
	for i := s.query.From; i < min(wanted, len(f.groups)); i++ {
		m := f.representative(&f.groups[i])
		s.more[spot{m.part, m.doc}] = f.groups[i].more
		page = append(page, m)
	}
	if rest := best[len(head):]; len(f.groups) < wanted && len(rest) > 0 {
		from := max(0, s.query.From-len(f.groups))
		page = append(page, rest[min(from, len(rest)):min(wanted-len(f.groups), len(rest))]...)
	}
	return page, nil
}

// gather reads the documents of matches, the best first, and puts the matches into groups, until
// there are as many groups as wanted, or no matches are left.
func (f *folder) gather(ctx context.Context, wanted int) error {
	for len(f.head) > 0 && len(f.groups) < wanted {
		end := min(len(f.head), wanted-len(f.groups))
		for !f.byDate() && end < len(f.head) && f.head[end].score == f.head[end-1].score { // read all that tie: they are ordered by identity
			end++
		}
		if err := f.read(ctx, f.head[:end]); err != nil {
			return err
		}
		f.head = f.head[end:]
	}
	return nil
}

// read reads the documents of matches and adds the matches to the groups.
func (f *folder) read(ctx context.Context, matches []match) error {
	known := matches
	if len(f.shown) > 0 {
		known = slices.Concat(f.shownDocuments(), matches)
	}
	if err := f.fetch(ctx, known); err != nil {
		return err
	}
	slices.SortFunc(matches, f.compare)
	for _, m := range matches {
		f.add(m)
	}
	return nil
}

// add adds a match to the first group whose best match is alike, or to a new group. Of several
// matches of the same page, a group keeps only the latest version; for each other version, add
// reduces Total by 1. There are two versions if a strategy has moved a site, because then two
// partitions may hold a page for a while.
func (f *folder) add(m match) {
	d := f.document(m)
	if at, known := f.of[d.ID]; known {
		members := f.groups[at].members
		i := slices.IndexFunc(members, func(other match) bool { return f.document(other).ID == d.ID })
		if f.document(members[i]).Version.Compare(d.Version) < 0 {
			members[i] = m
		}
		f.result.Total--
		return
	}
	at := slices.IndexFunc(f.groups, func(g alikeGroup) bool { return f.areAlike(g.members[0], m) })
	if at < 0 {
		at = len(f.groups)
		f.groups = append(f.groups, alikeGroup{})
	}
	f.groups[at].members = append(f.groups[at].members, m)
	f.of[d.ID] = at
}

// areAlike reports whether two documents have the same text, or nearly the same text and the same
// title. For a directory and its index page, such as /a/ and /a/index.html, half of the text suffices.
// The two addresses often show one page. But its two copies may be in different packages, and indexing
// leaves out text that many pages of a package repeat. So the indexed texts of the copies may differ.
func (f *folder) areAlike(a, b match) bool {
	d, e := f.document(a), f.document(b)
	if isDirectoryOf(d.URL, e.URL) || isDirectoryOf(e.URL, d.URL) {
		p, q := f.print(a), f.print(b)
		return p.TextHash == q.TextHash || p.SharesHalf(q)
	}
	size := min(len(d.Body), len(e.Body))
	if 10*size < 9*max(len(d.Body), len(e.Body)) {
		return false // do not compute fingerprints, which takes most of the time
	}
	p, q := f.print(a), f.print(b)
	if p.TextHash == q.TextHash {
		return p.TextHash != 0 && (size >= leastEqual || p.TitleHash == q.TitleHash)
	}
	return size >= leastNear && p.IsAlike(q) && slices.Equal(wordsOf(d.Title), wordsOf(e.Title))
}

// isDirectoryOf reports whether dir is the address of a directory, such as http://a/b/, and the
// parameter index is the address of its index page, such as http://a/b/index.html.
func isDirectoryOf(dir, index string) bool {
	name, found := strings.CutPrefix(index, dir)
	if !found || !strings.HasSuffix(dir, "/") || strings.ContainsAny(name, "/?") {
		return false
	}
	stem, _, dotted := strings.Cut(strings.ToLower(name), ".")
	return dotted && (stem == "index" || stem == "default")
}

// print returns the fingerprint of a match's document. Fingerprints stay in the cache of the index, since
// making one takes as long as scoring hundreds of documents.
func (f *folder) print(m match) fingerprint.Fingerprint {
	at := spot{m.part, m.doc}
	known, found := f.prints[at]
	if found {
		return known
	}
	memory, key := f.ix.memory, f.place(m)
	if known, found = memory.print(key); !found {
		d := f.document(m)
		known = fingerprint.Of(d.Title, d.Body)
		memory.putPrint(key, known)
	}
	f.prints[at] = known
	return known
}

// wordsOf returns the words of a title in lower case. It leaves out words with digits, so that
// the titles of two versions of a manual are equal.
func wordsOf(title string) []string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
	return slices.DeleteFunc(words, func(word string) bool { return strings.ContainsFunc(word, unicode.IsDigit) })
}

// representative returns the match that is shown for a group, and adds the addresses of the group's
// other matches to f.alike. Of the matches with about the best score, it chooses by these rules. A
// rule counts only if several matches are equal by the rules before it:
//
//	1   in the reader's language, if the language of the query is uncertain (see the constant tells)
//	2   in the likeliest language of the query
//	3   with an address that names its language, as /en/
//	4   with the shortest address
//
// There is one exception: if the rules choose an index page, such as /a/index.html, but the address of
// its directory, /a/, is also in the group, then representative returns the match with the address
// /a/, whatever its score. Both addresses lead to the same page.
func (f *folder) representative(g *alikeGroup) match {
	near := slices.DeleteFunc(slices.Clone(g.members), func(m match) bool {
		return m.score < closeScore*g.members[0].score || f.byDate() && m.newness < g.members[0].newness
	})
	best := slices.MinFunc(near, func(a, b match) int {
		d, e := f.document(a), f.document(b)
		return cmp.Or(f.compareReader(d, e), cmp.Compare(f.share(e), f.share(d)), compareBool(namesLanguage(e), namesLanguage(d)), len(d.URL)-len(e.URL), strings.Compare(d.URL, e.URL))
	})
	for _, m := range g.members {
		if isDirectoryOf(f.document(m).URL, f.document(best).URL) {
			best = m
		}
	}
	for _, m := range g.members {
		if m != best {
			f.alike[spot{best.part, best.doc}] = append(f.alike[spot{best.part, best.doc}], f.document(m).URL)
		}
	}
	return best
}

// tells is a limit for the probability that a query is written in its likeliest language. Below this
// limit, the language of the query counts as uncertain.
const tells = 0.8

// compareReader compares two documents by the order of their languages in the reader's list. It
// returns 0 if the language of the query is known well enough (its probability is at least the
// constant tells): then the reader's languages do not matter.
func (f *folder) compareReader(a, b *segment.Document) int {
	if l := f.plan.likeliest(); len(f.query.Reader) == 0 || l == nil || l.share >= tells {
		return 0
	}
	preference := func(d *segment.Document) int {
		if n := slices.Index(f.query.Reader, d.Lang); n >= 0 {
			return n
		}
		return len(f.query.Reader)
	}
	return preference(a) - preference(b)
}

// mayTranslate reports whether the method translate must be called. If several hits are translations of
// one page, translate puts those in the reader's languages first. Three conditions must hold:
//
//	the request names languages of the reader
//	the most probable language of the query is less probable than the constant tells
//	the address of at least one hit names the hit's language
func (f *folder) mayTranslate() bool {
	l := f.plan.likeliest()
	return len(f.query.Reader) > 0 && l != nil && l.share < tells &&
		slices.ContainsFunc(f.groups, func(g alikeGroup) bool { return namesLanguage(f.document(g.members[0])) })
}

// translate sorts groups of hits that are translations of the same page, so that the translation in
// the reader's language comes first. All other groups keep their positions: if the pages de and en
// are translations, the hits de, x, en become en, x, de for a reader of English. Pages are
// translations of each other if their addresses differ only in the part that names their language.
func (f *folder) translate() {
	places := make(map[string][]int) // of groups, by the address without its language
	for i := range f.groups {
		d := f.document(f.groups[i].members[0])
		if rest, named := address.Untranslated(d.URL, d.Lang); named {
			places[rest] = append(places[rest], i)
		}
	}
	sorted := slices.Clone(f.groups)
	for _, at := range places {
		order := slices.Clone(at)
		slices.SortStableFunc(order, func(a, b int) int {
			return f.compareReader(f.document(f.groups[a].members[0]), f.document(f.groups[b].members[0]))
		})
		for n, i := range at {
			sorted[i] = f.groups[order[n]]
			f.moved = f.moved || i != order[n]
		}
	}
	copy(f.groups, sorted)
}

// share returns the probability that the query is written in the language of the document d.
func (f *folder) share(d *segment.Document) float64 {
	for i := range f.plan.languages {
		if l := &f.plan.languages[i]; l.name == d.Lang {
			return l.share
		}
	}
	return 0
}

// namesLanguage reports whether a part of a document's address is the document's language, as in
// /en-US/manual.
func namesLanguage(d *segment.Document) bool {
	_, named := address.Untranslated(d.URL, d.Lang)
	return named
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
