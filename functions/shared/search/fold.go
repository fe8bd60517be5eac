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
	// closeScore is the least score of a match that may be shown for its group of alike matches, as
	// a fraction of the best score in the group.
	closeScore = 0.95
	// Least sizes in bytes of the bodies of alike documents: leastEqual if the bodies are equal and
	// the titles differ, leastNear if the titles are equal and the bodies are nearly equal.
	leastEqual, leastNear = 200, 500
)

// window returns the number of best matches in which fold looks for alike documents: four times the
// number of hits up to the end of the page of hits, but at least the constant folded. If further
// matches have the same score as the last of these, fold adds them itself.
func (s *search) window() int { return max(folded, 4*(s.query.From+s.query.Size)) }

// folds reports whether alike documents become one hit.
func (s *search) folds() bool { return s.query.Fold && !s.plan.unfolded && !s.plan.images }

// alikeGroup is a group of matches that become one hit: the best match, and the matches alike to
// it. The matches are ordered by score, then by identity.
type alikeGroup struct {
	members []match
	// more is the number of hits of the group's site that the method spread moved behind the first
	// ten, although they are better than the tenth. It is set only in the last of the site's groups
	// among the first ten.
	more int
}

// folder groups matches of alike documents.
type folder struct {
	*search
	head []match // best matches whose documents are not read yet
	// groups of the matches that were read, sorted by their best scores until translate or spread
	// moves some
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
	for n := len(head); 0 < n && n < min(len(best), 2*s.window()) && best[n].score == best[n-1].score; n++ {
		head = best[:n+1] // with the matches that tie
	}
	f.head = head
	wanted := s.query.From + s.query.Size
	if err := f.gather(ctx, wanted); err != nil {
		return nil, err
	}
	s.alike, s.more = make(map[spot][]string), make(map[spot]int)
	if f.mayTranslate() {
		if err := f.gather(ctx, folded); err != nil {
			return nil, err
		}
		f.translate()
		s.spreads = s.spreads || f.moved
	}
	if s.query.Spread {
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
		for end < len(f.head) && f.head[end].score == f.head[end-1].score { // read all that tie: they are ordered by identity
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
	if f.showsNamed {
		known = slices.Concat(f.asked, matches)
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

// areAlike reports whether two documents have the same text, or nearly the same text and title. A
// directory and its index page, such as /a/ and /a/index.html, need to share only half of the text.
// The reason is that indexing leaves out text that many pages of a package repeat. So two copies of
// a page in different packages may have different texts.
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

func (f *folder) print(m match) fingerprint.Fingerprint {
	at := spot{m.part, m.doc}
	known, found := f.prints[at]
	if !found {
		d := f.document(m)
		known = fingerprint.Of(d.Title, d.Body)
		f.prints[at] = known
	}
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
//	1   in the reader's language, if the language of the query is not known (see tells)
//	2   in the likeliest language of the query
//	3   with an address that names its language, as /en/
//	4   with the shortest address
//
// There is one exception: if the rules choose an index page, such as /a/index.html, but the address of
// its directory, /a/, is also in the group, then representative returns the match with the address
// /a/, whatever its score. Both addresses lead to the same page.
func (f *folder) representative(g *alikeGroup) match {
	near := slices.DeleteFunc(slices.Clone(g.members), func(m match) bool { return m.score < closeScore*g.members[0].score })
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

// tells is the least probability of a language at which a query is taken as written in this
// language.
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

// mayTranslate reports whether translations may be put in another order. Three conditions must
// hold: the request has the reader's languages, each language of the query has a probability below
// the constant tells, and the address of at least one hit names the hit's language.
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
