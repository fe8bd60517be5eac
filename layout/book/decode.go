package book

import (
	"context"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout"
)

// Decode reads a whole book from memory. Its errors wrap ErrDamaged.
func Decode(content []byte) (Book, error) {
	r, err := newReader("book", content, nil)
	if err != nil {
		return Book{}, err
	}
	if r.directory.size != int64(len(content)) {
		return Book{}, r.damaged(fmt.Errorf("%d bytes where its directory speaks of %d", len(content), r.directory.size))
	}
	outcomes, links := r.Counts()
	most := len(content) / 8 // room for more is made once they are there
	b := Book{Outcomes: make([]Outcome, 0, min(outcomes, most)), Links: make([]Link, 0, min(links, most))}
	for o, err := range r.Outcomes(context.Background(), layout.Range{}) {
		if err != nil {
			return Book{}, err
		}
		b.Outcomes = append(b.Outcomes, o)
	}
	for l, err := range r.Links(context.Background(), layout.Range{}) {
		if err != nil {
			return Book{}, err
		}
		b.Links = append(b.Links, l)
	}
	return b, nil
}
