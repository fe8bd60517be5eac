package search

import "github.com/bucketsearch/bucketsearch/layout/segment"

// Result is what a query found.
type Result struct {
	Total   int  // matching documents that were counted
	Exact   bool // whether there are no more than Total
	Hits    []Hit
	Facets  []Facet  // in the order of the query's
	Partial bool     // the deadline passed before all was searched
	Notes   []string // sentences about what was not done as asked
}

// Hit is a document that matches, without its body.
type Hit struct {
	segment.Document
	Score       float64
	MarkedTitle []Fragment // the title, its matches marked
	Snippet     []Fragment // a part of the body, its matches marked
	Explanation *Explanation
}

// Fragment is a piece of text; Match says that it is a word of the query.
type Fragment struct {
	Text  string
	Match bool
}

// Facet counts the matches by the values of a column, most frequent first.
type Facet struct {
	Name    string
	Values  []Count
	Sampled bool // the counts are estimates from a sample of the matches
}

// Count is how many matches have a value.
type Count struct {
	Value     string
	Documents int
}

// Explanation is a node of the tree that says how a score came about: Value is
// made of the values of Parts.
type Explanation struct {
	What  string
	Value float64
	Parts []Explanation `json:",omitempty"`
}
