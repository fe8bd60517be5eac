package search

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/vellum/levenshtein"
)

// MaxHits is how deep into a result a query may reach.
const MaxHits = 10_000

// Query asks for hits From to From+Size of a text's result. Filters may stand
// here and in the text; values of one filter are joined by OR, filters by AND.
type Query struct {
	Text       string // see the package's documentation
	From, Size int

	Site, Lang, Collection, Type []string
	After, Before                time.Time // fetched at After or later, before Before; zero: whenever

	Facets   []string  // of Facets: count the matches by these
	Explain  bool      // say how each score came about
	Deadline time.Time // after which what was found is returned; zero: none but ctx's
}

// The names of the facets, and of the filters in a query's text.
const (
	Site       = "site"
	Lang       = "lang"
	Collection = "collection"
	Type       = "type"
)

func (q *Query) check() error {
	if q.From < 0 || q.Size < 0 || q.From > MaxHits-min(q.Size, MaxHits) || q.Size > MaxHits {
		return &Refusal{fmt.Sprintf("cannot return %d hits from %d: ask within the first %d", q.Size, q.From, MaxHits)}
	}
	for _, name := range q.Facets {
		switch name {
		case Site, Lang, Collection, Type:
		default:
			return &Refusal{fmt.Sprintf("cannot count by %q: facets are %s, %s, %s and %s", name, Site, Lang, Collection, Type)}
		}
	}
	return nil
}

// Refusal is the error of a query that is wrong or too dear: a sentence that
// says what to do instead.
type Refusal struct{ Sentence string }

func (r *Refusal) Error() string { return r.Sentence }

const (
	// MaxText is how many bytes of a query are read.
	MaxText = 4096
	// MaxSlop is how far apart the words of a phrase may be asked for.
	MaxSlop = 20
	// farFrom is how many characters a word has that may be two edits away.
	farFrom = 8
	// fuzzyFrom is how many a word needs to be looked for with an edit.
	fuzzyFrom = 3
)

// clause is one piece of a query's text.
type clause struct {
	sign   byte   // '+', '-' or 0
	filter string // name of a filter, "" for words
	text   string // words, or the filter's value
	quoted bool
	slop   int  // of a phrase
	prefix bool // the last word of text is the beginning of one
	edits  int  // by which the last word of text may differ
}

// parse cuts a query's text into clauses; see the package's documentation for
// the language. No text is wrong.
func parse(text string) (clauses []clause) {
	for {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
		if text == "" {
			return clauses
		}
		var c clause
		c, text = nextClause(text)
		if c.text != "" {
			clauses = append(clauses, c)
		}
	}
}

// nextClause reads the clause at the beginning of a text and returns the rest.
func nextClause(text string) (c clause, rest string) {
	if text[0] == '+' || text[0] == '-' {
		c.sign, text = text[0], text[1:]
	}
	if name, value, found := strings.Cut(text, ":"); found && isFilter(name) && !strings.HasPrefix(value, "//") {
		c.filter = strings.ToLower(name)
		text = value
	}
	if inner, behind, quoted := cutQuoted(text); quoted {
		c.text, c.quoted = inner, true
		if c.filter == "" {
			c.slop, behind = cutSlop(behind)
		}
		return c, behind
	}
	end := strings.IndexFunc(text, unicode.IsSpace)
	if end < 0 {
		end = len(text)
	}
	c.text, rest = text[:end], text[end:]
	if c.filter == "" {
		c.cutOperator()
	}
	return c, rest
}

// cutQuoted takes a quoted piece off a text; the closing quote may be missing.
func cutQuoted(text string) (inner, rest string, quoted bool) {
	first, width := utf8.DecodeRuneInString(text)
	if !isQuote(first) {
		return "", text, false
	}
	text = text[width:]
	end := strings.IndexFunc(text, isQuote)
	if end < 0 {
		return text, "", true
	}
	_, width = utf8.DecodeRuneInString(text[end:])
	return text[:end], text[end+width:], true
}

func isQuote(r rune) bool { return r == '"' || r == '“' || r == '”' || r == '„' }

// cutSlop takes ~number off the text behind a phrase.
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

// cutOperator takes *, ~, ~1 or ~2 off the end of a word.
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

// cutRune removes the beginning of a character at the end of the text.
func cutRune(text string) string {
	for i := 0; i < utf8.UTFMax && text != ""; i++ {
		if r, width := utf8.DecodeLastRuneInString(text); r != utf8.RuneError || width != 1 {
			break
		}
		text = text[:len(text)-1]
	}
	return text
}

// queryWord is a word of a query and what it may be in documents.
type queryWord struct {
	text     string // for people
	required bool
	begins   bool // variants are beginnings of terms
	prefix   bool // surface is the beginning of words
	edits    int  // by which words may differ from surface
	surface  string
	nearby   *levenshtein.DFA // accepts words that differ by edits

	place     int // among the words that score
	variants  []variant
	documents uint64  // that hold a variant; one that holds several is counted for each
	times     int     // in the query
	idf       float64 // inverse document frequency; 0 if no document holds it
	weight    float64 // idf, and more if the query repeats it
}

// variant is a term that stands for a word.
type variant struct {
	term   string
	number int     // among the gathered terms
	worth  float64 // beside the word itself
}

func (w *queryWord) expands() bool { return w.begins || w.prefix || w.edits > 0 }

// queryPhrase is words that stand one behind another.
type queryPhrase struct {
	words  []*queryWord
	at     []uint32 // how far each stands behind the first
	slop   int
	open   bool // the last word stands for others
	weight float64
}

func (ph *queryPhrase) weigh() {
	for _, w := range ph.words {
		ph.weight += nearWeight * w.idf
	}
}
