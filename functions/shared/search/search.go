package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/effort"
	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// nearest is the number of best matches that are examined for a bonus: for words near each other,
// for similar matches, and for new pages. Matches with the same score as the last are examined, too
// (see the function examined).
const nearest = 100

// Search returns the documents that match, the highest score first, equal scores in the order of
// identities. Documents are sorted by date first if [Query.ByDate] asks for it, or if the query only has
// filters and excluded words. Its errors are
//
//	one that wraps ctx's error         if ctx is cancelled
//	a *Refusal                         if the query must be changed
//	one that wraps an *Unreadable      if a segment cannot be read; it names the segment, and also
//	                                   wraps segment.ErrDamaged if the segment is damaged
func (ix *Index) Search(ctx context.Context, q Query) (Result, error) {
	text, notes := legible(q.Text)
	q.Text = text
	result, err := ix.search(ctx, &q)
	result.Notes = append(notes, result.Notes...)
	if err != nil {
		var refused *Refusal
		if errors.As(err, &refused) {
			return Result{}, err
		}
		return Result{}, fmt.Errorf("cannot search %q: %w", cutRune(q.Text[:min(len(q.Text), 100)]), err)
	}
	return result, nil
}

func (ix *Index) search(ctx context.Context, q *Query) (Result, error) {
	if err := q.check(); err != nil {
		return Result{}, err
	}
	if len(q.Across.Into) > 0 {
		return ix.searchAcross(ctx, q)
	}
	limited, cancel := withDeadline(ctx, q.Deadline)
	defer cancel()
	s, err := ix.attempt(ctx, limited, q, q.into != nil) // in a translation, the words of a phrase may have another order
	if err != nil {
		return Result{}, err
	}
	finds := s.result.matches()
	if q.into == nil && finds == 0 && !s.result.Partial {
		if s, err = ix.retry(ctx, limited, q, s); err != nil {
			return Result{}, err
		}
	}
	if err := s.setMeant(ctx, limited, finds); err != nil {
		return Result{}, err
	}
	if note := s.absent(); note != "" {
		s.result.Notes = append(s.result.Notes, note)
	}
	return s.result, nil
}

// maxAbsent is the greatest number of words that the note of absent words names.
const maxAbsent = 5

// absent returns a note that names the words of the query that no page has, such as `No page has "xyzzy".`, so that
// nobody takes the pages found by its other words for an answer to all of it. Addresses are left out, as in the check
// of the spelling. It returns "" if there are no such words, or if not all pages were asked for them.
func (s *search) absent() string {
	absent, q := s.plan.absent, s.query
	if len(absent) == 0 || s.plan.images || s.result.Partial || len(s.result.LeftOut) > 0 || q.into != nil || len(q.without)+len(q.Named) > 0 {
		return ""
	}
	var words []string
	for _, p := range plainPieces(q.Text) {
		for _, w := range p.words {
			n := slices.IndexFunc(absent, func(a *queryWord) bool { return a.surface == w.Text })
			if n < 0 {
				continue
			}
			if word := strconv.Quote(absent[n].text); !slices.Contains(words, word) {
				words = append(words, word)
			}
		}
	}
	text := strings.Join(words[:min(len(words), maxAbsent)], ", ")
	if more := len(words) - maxAbsent; more > 0 {
		text += fmt.Sprintf(" and %d more of the words", more)
	}
	if text == "" {
		return ""
	}
	return "No page has " + text + "."
}

// retry answers a query that finds nothing as it is written, which is the search written. It tries two changes.
// First it removes the quotes, so that the words need not stand together. Then it divides words such as HttpClient
// into their parts. It returns the first changed search that finds something, with a note; if none does, written.
func (ix *Index) retry(ctx context.Context, limited deadline, q *Query, written *search) (*search, error) {
	if hasQuotes(q.Text) {
		words, err := ix.attempt(ctx, limited, q, true)
		if err != nil {
			return nil, err
		}
		if words.result.matches() > 0 {
			words.result.Notes = append(words.result.Notes, "Nothing was found with the quotes: these pages need not have the words together.")
			return words, nil
		}
	}
	if clauses, _ := parse(q.Text); setApart(clauses) {
		divided := *q
		divided.apart = true
		parts, err := ix.attempt(ctx, limited, &divided, false)
		if err != nil {
			return nil, err
		}
		if parts.result.matches() > 0 {
			parts.result.Notes = append(parts.result.Notes, "Nothing was found for words such as HttpClient as they stand: their parts were searched.")
			return parts, nil
		}
	}
	return written, nil
}

// attempt runs the search for a query once and returns it with its result. The parameter unquoted says that words
// in quotes need not stand together.
func (ix *Index) attempt(ctx context.Context, limited deadline, q *Query, unquoted bool) (*search, error) {
	p := ix.plan(q, unquoted)
	s := ix.newSearch(q, p)
	s.unquoted = unquoted
	s.result.Images = p.images
	if err := effort.Expect(limited, ix.expected(q, p)); err != nil {
		return nil, err
	}
	best, err := s.find(limited)
	if err != nil {
		return nil, err
	}
	s.result.Partial = s.result.Partial || slices.Contains(s.missing, true)
	s.result.Exact = s.result.Exact && !s.result.Partial
	if err := s.show(ctx, best); err != nil {
		return nil, err
	}
	s.result.Notes = p.notes
	if q.into != nil {
		s.result.Translated = []Translated{p.translated}
	}
	if s.result.Total == 0 {
		s.result.Notes = append(s.result.Notes, s.unmatched()...)
	}
	if s.cutAlternatives.Load() {
		s.result.Notes = append(s.result.Notes, "Too many pages have the words of a synonym, or of a name such as HttpClient: whether the words stand together was not looked up in all of them.")
	}
	for _, note := range []string{s.leftOut(), s.notAnswered()} {
		if note != "" {
			s.result.Notes = append(s.result.Notes, note)
		}
	}
	return s, ctx.Err()
}

// newSearch returns a search for a query, which has not begun yet. The plan is that of the query.
func (ix *Index) newSearch(q *Query, p *plan) *search {
	n := len(ix.parts)
	return &search{ix: ix, query: q, plan: p, gathered: newGathered(ix.parts, ix.memory), identities: make([][]layout.Identity, n)}
}

// show reads the documents of the matches, and adds their hits to the result.
func (s *search) show(ctx context.Context, best []match) (err error) {
	if s.plan.images {
		return s.showImages(ctx, best)
	}
	if len(s.shown) > 0 { // reads them in one step with the others
		err = s.fetch(ctx, slices.Concat(s.shownDocuments(), best))
	}
	if err == nil {
		s.result.Hits, best, err = s.hits(ctx, best)
	}
	if err == nil && s.query.Explain {
		err = s.explain(ctx, best)
	}
	if err == nil && len(s.leading) > 0 {
		err = s.addLeading(ctx)
	}
	return err
}

// search holds the query, the data and the result of one search while it runs.
type search struct {
	ix    *Index
	query *Query
	plan  *plan
	*gathered
	statistics *statistics
	documents  map[spot]*segment.Document // the documents read so far, by position in the index
	// addresses of the matches that are alike to a shown match and are not shown themselves, by the
	// position of the shown match in the index
	alike map[spot][]string
	// for each part, the documents whose pages the query names or pins (see Query.Named and Query.Pinned); nil if
	// the query has no such pages
	addressed [][]segment.Match
	leading   []leading // pages that come before the other hits
	shown     []leading // those of them that are on the requested page of hits
	// whether spread or translate has moved hits, so that they are no longer sorted by score
	spreads bool
	// values of Hit.MoreOfSite (number of further hits of the hit's site that were moved down), by the
	// position of the hit's document in the index
	more       map[spot]int
	identities [][]layout.Identity // identities (hashes of URLs) of all documents of each part; nil before they are read
	unquoted   bool                // whether words in quotes need not stand together (see Index.attempt)
	expanded   []expansions        // what each prefix and word with edits of the query matches (see expand)
	isLeaf     bool                // whether the search is one for a root (see Index.Answer)
	isGiven    bool                // whether the root has given the field expanded
	// what the leaves have told about the candidates that they found; nil unless the search scatters
	carried map[spot]carried
	idle    []string // names of the leaves that have said that they have nothing to find (see Answer.Nothing)
	lacking []string // result of the method unmatched, as all leaves have it
	// number of files without text that a list of all documents leaves out
	leftTextless int
	result       Result
	counts       facetCounts
}

// find returns the matches on the page of hits that the query requests, the best first. It also
// sets the fields of s.result that count and describe all matches, such as Total and Facets.
func (s *search) find(ctx deadline) ([]match, error) {
	if err := s.expand(ctx); err != nil {
		return nil, err
	}
	if err := s.gather(ctx); err != nil {
		return nil, err
	}
	if !s.weigh() {
		s.result.Facets = s.facets(1)
		return nil, ctx.Err()
	}
	best, err := s.candidates(ctx)
	if err != nil {
		return nil, err
	}
	return s.rank(ctx, best)
}

// gather completes the plan, whose words have all their variants now, and reads the terms of these words, and what
// else the search needs of each part (segment) before the scan.
func (s *search) gather(ctx deadline) error {
	if err := s.findLinks(ctx); err != nil {
		return err
	}
	if s.plan.images {
		s.plan.seekImages()
	}
	s.plan.unify()
	if !s.plan.images { // images are judged one by one, wherever words are on their pages
		s.plan.setNear()
		if s.query.into == nil {
			s.plan.joinNeighbours()
		}
	}
	s.number(s.plan)
	s.result.Exact = true
	if s.scatters() {
		return s.askTotals(ctx)
	}
	var also []func(context.Context, int) error
	if len(s.plan.rules) > 1 {
		also = append(also, s.readRules)
	}
	leads := len(s.query.Named)+len(s.query.Pinned) > 0 && !s.plan.images
	links := len(s.plan.filter.links) > 0
	if links {
		also = append(also, s.identify)
	}
	if leads {
		s.addressed = make([][]segment.Match, len(s.parts))
		also = append(also, s.address)
	}
	if s.prefersNew() || s.byDate() {
		also = append(also, s.readDates)
	}
	if s.plan.lists {
		s.textless = make([][]uint32, len(s.parts))
		also = append(also, s.readTextless)
	}
	if err := s.read(ctx, s.plan, s.query.Facets, also); err != nil {
		return err
	}
	if s.plan.lists {
		s.leaveOutTextless()
	}
	if links {
		s.keepLinking()
	}
	if leads {
		s.takeLeading()
	}
	return nil
}

// weigh sets the weights of the plan's words by s.totals, and s.statistics. It returns false if no document can match.
func (s *search) weigh() bool {
	known := s.plan.weigh(&s.totals)
	s.statistics = newStatistics(s.plan.languages, s.plan.weights, s.plan.long)
	return known
}

// candidates returns the documents with the highest scores of their words and phrases, the best first: as many as the
// method kept says, and all that tie with the last. It also counts all matches.
func (s *search) candidates(ctx deadline) (best []match, err error) {
	if s.scatters() {
		best, err = s.askBest(ctx)
	} else {
		best, err = s.scan(ctx)
	}
	if n, known, all := s.documentsOfOneWord(); err == nil && known && !s.isLeaf && len(s.result.LeftOut) == 0 {
		s.result.Total, s.result.Exact = max(n, s.result.Total), all || s.result.Exact
	}
	return best, err
}

// rank adds all bonuses to the scores of the candidates, and returns those on the page of hits that the query
// requests. The candidates must be sorted by score; rank sorts them anew.
func (s *search) rank(ctx deadline, best []match) (page []match, err error) {
	doubt := 0.0
	if !s.byDate() {
		doubt = s.plan.doubt(best)
	}
	if s.supports() {
		if err := s.support(ctx, best, doubt); err != nil {
			return nil, err
		}
	}
	if s.prefersNew() {
		s.addNewness(best)
	}
	if !s.plan.images {
		s.addSubjects(best)
	}
	if len(s.plan.near) > 0 {
		if err := s.addNear(ctx, best, doubt); err != nil {
			return nil, err
		}
	}
	if s.plan.images {
		return best, nil
	}
	if s.byDate() {
		err = s.orderAll(ctx, best)
	} else if !s.folds() {
		err = s.order(ctx, best)
	}
	if err != nil {
		return nil, err
	}
	if s.folds() {
		return s.fold(ctx, best)
	}
	return s.page(best), nil
}

// reach returns how many of the best matches are needed to make the page of hits:
//
//	without folding          From + Size of the query: the hits up to the end of the page
//	with folding             From + Size + window(): fold looks for alike documents among the further ones
//	in a search for images   the number of pages whose images are examined
func (s *search) reach() int {
	if s.plan.images {
		return s.imagePages()
	}
	if s.folds() {
		return s.query.From + s.query.Size + s.window()
	}
	return s.query.From + s.query.Size
}

// border returns how many of the best matches must have their final scores (with the bonus for words near
// each other) before the page of hits can be chosen:
//
//	without folding   From + Size of the query: the hits up to the end of the page
//	with folding      From + 2·Size: one page more, since several alike matches become one hit
func (s *search) border() int {
	if s.folds() {
		return s.query.From + 2*s.query.Size
	}
	return s.query.From + s.query.Size
}

// kept returns how many of the best matches the scan must keep: as many as the page of hits needs (see
// reach). In a search for pages it returns at least the constant nearest, which is the number of matches
// that are examined for a bonus.
func (s *search) kept() int {
	if !s.plan.images && s.query.Size > 0 {
		return max(s.reach(), nearest)
	}
	return s.reach()
}

// scan finds the candidates (see candidates) in the parts of the index. It counts all matches, by facet, too.
func (s *search) scan(ctx deadline) (best []match, err error) {
	work := scans.Get().(*scan)
	defer scans.Put(work)
	work.begin(s)
	size := s.kept()
	if s.plan.hasPhrases() {
		size = maxCandidates
	}
	work.top.reset(size)
	work.limit = s.ix.exactly
	if s.facetsByScan() {
		work.limit = math.MaxInt
		work.seen = s.see
	}
	if err := s.scanParts(ctx, work); err != nil {
		return nil, err
	}
	s.result.Total, s.result.Exact = work.count, !work.passed
	best = work.top.sorted()
	if s.plan.hasPhrases() {
		return s.verify(ctx, best)
	}
	best = slices.Clone(best) // the memory of work is used again
	return best, s.countFacets(ctx, work)
}

// documentsOfOneWord returns the number n of documents that have the word of a one-word query in their
// texts. The index stores this number with the word's term, so no document must be read.
//
//	known   whether n is valid. The query must be one word with one term (see isOneTerm), without
//	        filters. The index must have no dead documents. And if anchors or names of sites have the
//	        word, some text must have it, too.
//	all     whether n is the number of all matches. It is false if pages may match only by their
//	        anchors or by the name of their site.
func (s *search) documentsOfOneWord() (n int, known, all bool) {
	if len(s.leading) > 0 || len(s.plan.words) != 1 || !s.plan.words[0].isOneTerm() || len(s.plan.not)+len(s.plan.demands) > 0 || !s.plan.filter.empty() ||
		s.plan.hasPhrases() || slices.ContainsFunc(s.parts, func(p Part) bool { return p.Dead != nil && !p.Dead.IsEmpty() }) {
		return 0, false, false
	}
	w := s.plan.words[0]
	if !s.totals.inAnchors(w) && !s.totals.inNames(w) {
		return int(w.documents), true, true
	}
	return int(w.documents), s.totals.inTexts(w), false
}

// Result is the answer to a query.
type Result struct {
	Total   int  // number of matching documents (or images); if not Exact, the number known when counting ended
	Exact   bool // whether Total is the number of all matches; if not, there may be more
	Images  bool // whether the query asked for images: then Total counts images, and each hit has an Image
	Named   bool // whether a page of Query.Named is in the index and passes the filters
	Pinned  int  // number of pages of Query.Pinned that are in the index and that the filters accept
	Hits    []Hit
	Facets  []Facet  // facets in the order of Query.Facets
	Partial bool     // whether the deadline passed before all segments were searched, or a leaf is left out
	Notes   []string // sentences about what was cut or left out
	// leaves whose pages are missing, and why
	LeftOut []LeftOut
	// the query that was probably meant, if this one seems to be mistyped; nil otherwise
	Meant *Meant
	// how the query was translated into each language of Query.Across with a dictionary
	Translated []Translated
}

// matches returns the number of documents that match by their words: Total without the pages of
// Query.Pinned and Query.Named, which are hits even if their words do not match.
func (r *Result) matches() int {
	if r.Named {
		return r.Total - r.Pinned - 1
	}
	return r.Total - r.Pinned
}

// Hit is a matching document, without its body.
type Hit struct {
	segment.Document
	Score       float64
	MarkedTitle []Fragment // title, with the words that match the query marked
	Snippet     []Fragment // excerpt of the body, or of an image's caption or context, with the words that match the query marked
	Section     *Section   // section of the page in which the snippet begins; nil if it is in none with an address of its own
	Further     []Section  // other sections that have as much of the query, the best first
	Alike       []string   // addresses of matches with the same or nearly the same text, which are not shown
	// MoreOfSite is the number of hits of the same site that were moved behind the tenth hit (see
	// Query.Spread) although their scores are better than that of the tenth. Only the last hit of the site
	// among the first ten has this number. All other hits have 0.
	MoreOfSite  int
	Explanation *Explanation
	Across      string // language into which the query was translated to find the document; "" if it was not
	Pinned      bool   // whether the page is one of Query.Pinned
	// whether no page of the URL is stored: then only links to it were found, and Snippet has the
	// texts of these links
	Unvisited bool
	Image     *Image // in a search for images: the image; else nil
}

// Fragment is a piece of text. Match is true if the piece matches a word of the query.
type Fragment struct {
	Text  string
	Match bool
}

// Facet has the numbers of matches by the values of one column, such as sites or languages. The most frequent
// values come first; of the facet Year, the latest years.
type Facet struct {
	Name    string
	Values  []Count
	Sampled bool // whether the counts are estimates: only a sample, or the matches before the deadline, were counted
}

// Count is a value of a facet's column, and the number of matches that have the value.
type Count struct {
	Value     string
	Documents int
}

// Explanation is a node of the tree that explains a score. If there are Parts, Value is the sum of
// their values.
type Explanation struct {
	What  string        `json:"what"`
	Value float64       `json:"value"`
	Parts []Explanation `json:"parts,omitempty"`
}
