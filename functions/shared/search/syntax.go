package search

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
)

// MaxHits is the greatest sum of From and Size of a Query.
const MaxHits = 10_000

// Query asks for Size hits of a result, from the hit numbered From (0 is the first). Filters can
// be given in the fields here and in Text. Several values of one filter are alternatives, and a
// document must satisfy all filters.
type Query struct {
	Text       string // query in the query language of the package
	From, Size int
	All        bool // whether a query without text and filters lists all documents; otherwise it finds none

	Site, Lang, Collection, Type []string
	// bounds of the page's own date (segment.Document.Date), by day in UTC: not earlier than the first,
	// but earlier than the second; zero: no bound. With a bound, pages without a date do not match.
	After, Before time.Time
	// whether matches are sorted by the page's own date, the newest first. Pages of the same day, and at the
	// end all pages without a date, are sorted by score.
	ByDate bool

	// identities of pages that the query names by an address; the first of these pages that the
	// index has becomes the first hit
	Named []layout.Identity

	// pages that come first, in this order; those of which no page is stored are left out
	Pinned []layout.Identity

	Synonyms *Synonyms `json:"-"` // words that find each other; nil for none

	Fold   bool // one hit for documents with about the same text, unless Text has dup:all
	Spread bool // show at most two hits of a site among the first ten (see spread)
	// languages of the reader, such as "de", the preferred one first. They decide which of several alike
	// documents is shown, and which translation of a page comes first. They do not count if the words or
	// filters of the query tell its language.
	Reader  []string
	Facets  []string                  // facets by which matches are counted: Site, Lang, Collection, Type, Year
	Explain bool                      // add an Explanation of its score to each hit
	Hidden  func(address string) bool `json:"-"` // reports whether an image must not be shown; nil: all may be
	// time at which the search returns what it has found; zero: only ctx limits it
	Deadline time.Time

	Linking Linking `json:"-"` // finds the pages with links to the target of a filter link:; nil: these filters are ignored

	Across Across `json:"-"` // further languages in which pages are searched, by translating the query

	apart     bool        // whether words such as HttpClient are searched by their parts (see setApart)
	unlimited bool        // whether the query's filters by language are ignored
	without   []string    // languages of documents that must not match
	into      *translator // translator of the query; nil: the query is searched as it stands
}

// Names of the facets. All but Year are also names of filters in a query's text.
const (
	Site       = "site"
	Lang       = "lang"
	Collection = "collection"
	Type       = "type"
	// Year counts the pages by the year of the date that they state for themselves (segment.Document.Date), such
	// as "2026", the latest year first. Pages without a date are not counted. The bounds After and Before select
	// the pages of a year.
	Year = "year"
)

func (q *Query) check() error {
	if q.From < 0 || q.Size < 0 || q.From > MaxHits-min(q.Size, MaxHits) || q.Size > MaxHits {
		return &Refusal{fmt.Sprintf("cannot return %d hits from %d: ask within the first %d", q.Size, q.From, MaxHits)}
	}
	for _, name := range q.Facets {
		switch name {
		case Site, Lang, Collection, Type, Year:
		default:
			return &Refusal{fmt.Sprintf("cannot count by %q: facets are %s, %s, %s, %s and %s", name, Site, Lang, Collection, Type, Year)}
		}
	}
	if n := len(q.Site) + len(q.Lang) + len(q.Collection) + len(q.Type); n > maxValues {
		return &Refusal{fmt.Sprintf("cannot filter by %d values: give at most %d", n, maxValues)}
	}
	if slices.Contains(q.Type, imageType) && slices.ContainsFunc(q.Type, func(other string) bool { return other != imageType }) {
		return &Refusal{"Images and pages are not searched together: ask for type:image alone."}
	}
	return nil
}

// Refusal is the error for a query that cannot be answered, because a field other than Text asks for too much, or
// for something that does not exist. Sentence says how the query must be changed. No Text is refused.
type Refusal struct{ Sentence string }

func (r *Refusal) Error() string { return r.Sentence }

const (
	// MaxText is the number of bytes of a query's text that are read; the rest is ignored.
	MaxText = 4096
	// mostPlain is a number of words. A query with more words outside of quotes counts as a
	// sentence. In a sentence quotes are ignored, so quoted words need not stand together.
	mostPlain = 8
	// MaxSlop is the greatest slop of a phrase. In "red fox"~3 the slop is 3: the words may be moved
	// by three positions in total from their places in the phrase.
	MaxSlop = 20
	// farFrom is the least length, in letters, of a word for which word~ allows two edits.
	farFrom = 8
	// fuzzyFrom is the least length, in letters, of a word for which word~ allows one edit.
	fuzzyFrom = 3
)

// clause is one piece of a query's text: a word, a phrase in quotes, a filter or a group, with its
// sign (+ or -).
type clause struct {
	sign   byte   // '+' if the words must occur, '-' if they must not, or 0
	filter string // name of a filter, "" for words and groups
	field  where  // where the words must occur; anywhere, unless the clause begins with intitle: or the like
	text   string // words, or the filter's value
	quoted bool
	open   bool // whether the closing quote of the phrase is missing
	slop   int  // slop of a phrase (see MaxSlop)
	prefix bool // whether the last word of text is a prefix
	edits  int  // number of edits allowed in the last word of text

	// the alternatives of a group, such as (red OR "blue fox"); nil for other clauses. An alternative
	// is a list of clauses that must all hold.
	any [][]clause
}

// nextClause reads the first clause of a text and returns it with the remaining text. A + or - at
// the beginning is a sign only if signed is true: at the start of the query and after white space.
// In „Model C“-Schulen the - is a hyphen, and git --oneline has an option, which is a word without a sign. The
// function endOf returns where a word ends.
func nextClause(text string, signed bool, endOf func(text string) int) (c clause, rest string) {
	if text[0] == '+' || text[0] == '-' {
		if signed && !strings.HasPrefix(text, "--") {
			c.sign = text[0]
		}
		text = text[1:]
	}
	if name, value, found := strings.Cut(text, ":"); found && !strings.HasPrefix(value, "//") {
		name = strings.ToLower(name)
		if isFilter(name) {
			c.filter, text = name, value
		} else if in, is := fields[name]; is {
			c.field, text = in, value
		}
	}
	if inner, behind, quoted, open := cutQuoted(text); quoted {
		c.text, c.quoted, c.open = inner, true, open
		if c.filter == "" {
			c.slop, behind = cutSlop(behind)
		}
		return c, behind
	}
	end := endOf(text)
	c.text, rest = text[:end], text[end:]
	if c.filter == "" {
		c.cutOperator()
	}
	return c, rest
}

// unquote removes the quotes from clauses, so that their words need not stand together. The result any says whether
// there were quotes to remove. Filters, clauses with a sign (+ or -) and clauses with a field, such as
// intitle:"red fox", keep their quotes.
func unquote(clauses []clause) (any bool) {
	for i := range clauses {
		c := &clauses[i]
		if c.sign != 0 {
			continue
		}
		if c.quoted && c.filter == "" && c.field == anywhere {
			c.quoted, c.slop, any = false, 0, true
		}
		for _, alternative := range c.any {
			any = unquote(alternative) || any
		}
	}
	return any
}

// hasQuotes reports whether a query's text has quoted words that unquote would change.
func hasQuotes(text string) bool {
	clauses, _ := parse(text)
	return unquote(clauses)
}

// isSentence reports whether a query has more than mostPlain words outside of quotes. Filters and
// words with a sign (+ or -) do not count. A query with a group, such as (red OR blue), is no sentence.
func isSentence(clauses []clause) bool {
	plain := 0
	for _, c := range clauses {
		switch {
		case c.any != nil:
			return false
		case c.isPlain() && c.sign == 0:
			plain++
		}
	}
	return plain > mostPlain
}

// isPlain reports whether a clause has words without quotes, that may occur anywhere. It may have a sign.
func (c *clause) isPlain() bool {
	return c.any == nil && !c.quoted && c.filter == "" && c.field == anywhere
}

// unsign takes the minus from words that it is hardly meant to exclude, so that they are searched. The result any
// says whether there were such words:
//
//	git commit -m                      an option of a command: a letter or digit, unless the query has no words
//	                                   without a sign
//	a sentence on Office -piirteitä    a word in a sentence (see isSentence) that goes on with other words:
//	that goes on …                     the minus is a hyphen, here of a Finnish word
func unsign(clauses []clause) (any bool) {
	isWord := func(c clause) bool { return c.isPlain() && c.sign == 0 }
	inSentence, words := isSentence(clauses), slices.ContainsFunc(clauses, isWord)
	goesOn := false // whether a word without a sign follows in a sentence
	for i := range slices.Backward(clauses) {
		c := &clauses[i]
		switch {
		case isWord(*c):
			goesOn = inSentence
		case c.isPlain() && c.sign == '-' && (goesOn || words && len(c.text) == 1 && !c.prefix):
			c.sign, any = 0, true
		}
	}
	return any
}

// cutQuoted reads a quoted text at the beginning of a text. It returns the text inside the quotes,
// and the rest after them. quoted is false if the text does not begin with a quote, and open is
// true if the closing quote is missing.
func cutQuoted(text string) (inner, rest string, quoted, open bool) {
	first, width := utf8.DecodeRuneInString(text)
	if !isQuote(first) {
		return "", text, false, false
	}
	text = text[width:]
	end := strings.IndexFunc(text, isQuote)
	if end < 0 {
		return text, "", true, true
	}
	_, width = utf8.DecodeRuneInString(text[end:])
	return text[:end], text[end+width:], true, false
}

func isQuote(r rune) bool { return r == '"' || r == '“' || r == '”' || r == '„' }

// cutSlop reads a slop, such as ~3, at the beginning of the text that follows a phrase. It returns
// the number, at most MaxSlop, and the rest of the text. Without a slop the number is 0.
func cutSlop(text string) (slop int, rest string) {
	digits, found := strings.CutPrefix(text, "~")
	if !found {
		return 0, text
	}
	end := 0
	for end < len(digits) && '0' <= digits[end] && digits[end] <= '9' {
		end++
	}
	slop, err := strconv.Atoi(digits[:end])
	if err != nil && end > 0 { // it has too many digits
		slop = MaxSlop
	}
	return min(slop, MaxSlop), digits[end:]
}

// cutOperator cuts *, ~, ~1 or ~2 off the end of a word, and sets c.prefix or c.edits accordingly. A
// word of fewer than fuzzyFrom letters gets no edits.
func (c *clause) cutOperator() {
	if word, found := strings.CutSuffix(c.text, "*"); found {
		c.text, c.prefix = word, true
		return
	}
	word, edits, found := strings.Cut(c.text, "~")
	if !found || edits != "" && edits != "1" && edits != "2" {
		return
	}
	c.text = word
	switch letters := utf8.RuneCountInString(word); {
	case letters < fuzzyFrom:
	case edits != "":
		c.edits = int(edits[0] - '0')
	case letters < farFrom:
		c.edits = 1
	default:
		c.edits = 2
	}
}

// legible returns the text of a query in the form in which it is parsed: at most MaxText bytes, in valid UTF-8. The
// notes say what was ignored.
func legible(text string) (_ string, notes []string) {
	if len(text) > MaxText {
		text = cutRune(text[:MaxText])
		notes = append(notes, fmt.Sprintf("Only the first %d bytes of the query were read.", MaxText))
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, string(utf8.RuneError))
		notes = append(notes, "Bytes of the query that are no characters were ignored.")
	}
	return text, notes
}

// cutRune removes an incomplete character at the end of a text.
func cutRune(text string) string {
	for i := 0; i < utf8.UTFMax && text != ""; i++ {
		if r, width := utf8.DecodeLastRuneInString(text); r != utf8.RuneError || width != 1 {
			break
		}
		text = text[:len(text)-1]
	}
	return text
}

// queryWord is a word of a query, with the terms that stand for it in documents.
type queryWord struct {
	text     string // word as written in the query
	required bool   // whether a document must have the word
	lone     bool   // whether the word is a lone character of a script without spaces
	// whether the word is a lone character, and some segments lack terms of lone characters. In
	// these segments, all terms that begin with the character are searched.
	begins  bool
	prefix  bool            // whether the word is a prefix, as in fox*
	joined  bool            // whether this is a joined word (see plan.join); no document needs to hold it
	parts   []*queryWord    // of a joined word: the words of its parts
	any     []*queryWord    // for a group such as (red OR blue): its words, until unite takes their variants
	grouped bool            // whether this is a word of a condition, which says if a document needs it (see demand)
	tested  bool            // whether this is an excluded word of a condition, which does not score (see plan.tested)
	edits   int             // number of edits by which words may differ from queryWord.surface, as in fox~1
	stands  bool            // whether the word only stands for itself in spite of prefix or edits (see MaxExpanding)
	surface string          // normalised text of the word
	like    segment.WordSet // the words for which this one stands, if it is a prefix or has edits

	place    int // index of this word in plan.words, or in plan.tested; -1 if no document has it
	variants []variant
	// terms of the joined words that are made of this word and its neighbours in the query (see
	// plan.joinNeighbours). For example, http and client both have the term httpclient. A document with such a
	// term has the word, too. But these terms are left out of the fields idf and in, and are not searched as words
	// of phrases.
	neighbours []variant
	documents  uint64    // sum of the numbers of documents with each variant; a document with two variants counts twice
	in         []float64 // for each language of plan.languages, the number of documents in it that have the word
	times      int       // how often the query has the word
	idf        float64   // inverse document frequency; 0 if no document holds the word
	stop       float64   // probability that the word is a stop word, such as what or you
	spare      bool      // whether this is a stop word of a long query: a document may have all words without it (see weigh)
	weight     float64   // weight of the word in scores: idf times repeated(times)
}

// variant is a term that is looked up in the index for a word of the query. A document has the word
// if it has one of the word's variants. These are
//
//	any word             its terms, such as its stem, by the rules of analysis of each language
//	fox*, foks~          also the terms of the words that match
//	a part of e-mail     also the terms of the joined word email
//	a lone character     in older segments also the terms that begin with it
//	a translated word    the terms of its translations instead
//	any word             also the terms of its synonyms; a synonym of several words counts as one term
//
// Documents that have a word only outside of the page's main part are indexed under another form of its
// term. In a search for pages, this form of a term is a variant, too (see queryWord.add).
type variant struct {
	term   string
	number int // index of the term in gathered.names
	// index in gathered.names of another form of the term, under which words of the names of sites are
	// indexed (see segment.NameTerm). This form keeps them apart from words of texts. It is -1 if names are
	// not searched for the term.
	named int
	// index in gathered.names of another form of the term, under which names that pages define are indexed (see
	// segment.DefinitionTerm); -1 if this form is not searched for the term
	defined int
	worth   float64 // factor of the word's score if a document has this term; 1 for the word itself
	// probability that the term translates the word; 0 if the term is no translation. Example: at a
	// probability of 0.3, 100 documents with the term count as 30 documents with the word. If the term
	// is no translation, they count as 100.
	probability float64
	// rules is a bit set of rules of analysis, such as the stemming of a language. Bit r is set if the
	// rules plan.rules[r] turn the word into this term. So if a document in a language with these rules
	// has the word, it is indexed under the term.
	rules uint64
	// the synonym of several words for which the variant stands; nil if it stands for a term
	alternative *synonymPhrase
}

// isPair reports whether the word is a pair of characters of a script without spaces.
func (w *queryWord) isPair() bool { return w.surface == "" && !w.lone }

// isOptional reports whether a document may have all words of the query without this word.
func (w *queryWord) isOptional() bool { return w.joined || w.grouped || w.spare }

// isStopWord reports whether the word is probably a stop word, such as what or you.
func (w *queryWord) isStopWord() bool { return w.stop > 0.5 }

func (w *queryWord) expands() bool { return w.begins || w.prefix || w.edits > 0 }

// queryPhrase is a phrase of a query: words at given distances from each other.
type queryPhrase struct {
	words  []*queryWord
	at     []uint32 // distance of each word from the first word, in positions
	slop   int
	open   bool // whether the last word is a prefix or allows edits
	weight float64
	// whether the phrase must not occur; only for phrases of conditions (plan.grouped). Its words do not score.
	excluded bool

	// The fields below are set only in the phrases of plan.near, which give a bonus to words near
	// each other.
	overlap bool // the words are two pairs of characters that share one: AB and BC of the text ABC
	// whether the words are all the pairs of a run of characters of a script without spaces: AB,
	// BC, CD of ABCD
	run bool
	// For words that are looked for in passages (see addPassage): for each word its share of the sum of the
	// idfs of all these words (see telling). The words may stand in any order, and some may be missing. nil for
	// other phrases.
	shares []float64
}

// rarity returns the sum of the idf (see idf) of the phrase's words.
func (ph *queryPhrase) rarity() (sum float64) {
	for _, w := range ph.words {
		sum += w.idf
	}
	return sum
}
