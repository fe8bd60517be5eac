package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/text/analysis"
)

// imageType is the value of the filter by type that searches images instead of pages.
const imageType = "image"

// Bounds of the number of pages whose images are examined. The number is leastImagePages, unless the
// query asks for hits farther down: then it is higher, up to mostImagePages. The examined pages are
// those with the best scores by the words of all their images together.
const (
	leastImagePages = 200
	mostImagePages  = 1000
)

// Image is an image that was found.
type Image struct {
	segment.Image
	// Marked is the text that says what the image shows, with matches marked: its alternative
	// text, else its caption, else the words of its file name.
	Marked []Fragment
	Also   []string // addresses of other matching pages that show the image
}

// imageQuery holds the excluded words and phrases of a search for images. They exclude single
// images, not pages: another image of the same page may have them.
type imageQuery struct {
	not   []*queryWord
	never []*queryPhrase
}

// takeImages removes the filter type:image, and returns whether there was one. If the query has further values of
// type:, these are dropped with a note, because images and pages are not searched together.
func (f *filter) takeImages() bool {
	types := f.any[Type]
	if !slices.Contains(types, imageType) {
		return false
	}
	if slices.ContainsFunc(types, func(other string) bool { return other != imageType }) {
		f.note("Images and pages are not searched together: only images were searched.")
	}
	delete(f.any, Type)
	return true
}

// withoutConditions replaces groups and words with a field, such as intitle:red, by their plain words, because a
// search for images knows no conditions. It leaves a group as it is if each alternative is a single word or phrase
// without a field, as in (red OR blue). It drops the excluded words of other groups.
func (p *plan) withoutConditions(clauses []clause) (plain []clause) {
	changed := false
	for _, c := range clauses {
		switch {
		case c.any != nil && c.sign != '-' && !slices.ContainsFunc(c.any, func(of []clause) bool { return len(of) > 1 || of[0].any != nil || of[0].field != anywhere }):
			plain = append(plain, c)
		case c.any != nil:
			changed = true
			for _, inner := range flatten([]clause{c}) {
				if inner.sign == '-' || c.sign == '-' {
					continue
				}
				inner.field = anywhere
				plain = append(plain, inner)
			}
		default:
			changed = changed || c.field != anywhere
			c.field = anywhere
			plain = append(plain, c)
		}
	}
	if changed {
		p.notes = append(p.notes, "In a search for images, intitle: and the like, and OR between phrases, were searched as words.")
	}
	return plain
}

// seekImages makes the plan search words of images. From then on, excluded words and phrases exclude
// single images, not pages: another image of the same page may have them.
func (p *plan) seekImages() {
	p.each(func(w *queryWord) {
		w.variants = slices.DeleteFunc(w.variants, func(v variant) bool { return analysis.IsOutside(v.term) })
		for i := range w.variants {
			w.variants[i].term = segment.ImageTerm(w.variants[i].term)
		}
	})
	p.image = imageQuery{p.not, p.never}
	p.not, p.never = nil, nil
}

// imagePages returns the number of pages whose images are examined.
func (s *search) imagePages() int {
	return min(mostImagePages, max(leastImagePages, s.query.From+s.query.Size))
}

// foundImage is an image with its score, and the match of the page on which it scores best.
type foundImage struct {
	*segment.Image
	score float64
	page  match
	also  []string
	why   *Explanation
}

// showImages looks for matching images on the pages, and sets Total to their number. It adds the
// images that belong on the requested page of hits to the result.
func (s *search) showImages(ctx context.Context, pages []match) error {
	if err := s.fetch(ctx, pages); err != nil {
		return err
	}
	whole := s.result.Exact && s.result.Total <= len(pages)
	pages = s.latest(pages)
	slices.SortFunc(pages, s.compare)
	images, err := s.imagesOn(ctx, pages)
	if err != nil {
		return err
	}
	s.result.Total, s.result.Exact = len(images), whole
	if n := s.imagePages(); !whole && n == mostImagePages {
		s.plan.notes = append(s.plan.notes, fmt.Sprintf("Only the images of the %d best pages were looked at.", n))
	}
	marker := newMarker(s.plan, s.ix.memory)
	defer marker.end()
	from := min(s.query.From, len(images))
	for _, f := range images[from:min(from+s.query.Size, len(images))] {
		d := *s.document(f.page)
		marker.begin(&d)
		d.Body, d.Images, d.Sections, d.Entries = "", nil, nil, nil
		told := f.Around
		if f.Alt != "" && f.Caption != "" {
			told = f.Caption
		}
		s.result.Hits = append(s.result.Hits, Hit{
			Document: d, Score: f.score, MarkedTitle: marker.whole(d.Title), Snippet: marker.snippet(told), Explanation: f.why,
			Image: &Image{Image: *f.Image, Marked: marker.whole(cmp.Or(f.Alt, f.Caption, f.NameWords())), Also: f.also},
		})
	}
	return nil
}

// imagesOn returns the matching images on pages, the highest score first. The same image on
// several pages is returned once, for the page where it scores best; at equal scores, for the
// first of these pages.
func (s *search) imagesOn(ctx context.Context, pages []match) ([]*foundImage, error) {
	judge := newImageJudge(s)
	found := make(map[layout.Identity]*foundImage)
	for _, page := range pages {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		d := s.document(page)
		judge.open(d)
		for i := range d.Images {
			image := &d.Images[i]
			if s.query.Hidden != nil && s.query.Hidden(image.URL) {
				continue
			}
			f := foundImage{Image: image, score: judge.score(image), page: page}
			if f.score == 0 {
				continue
			}
			if s.query.Explain {
				f.why = judge.explain(image)
			}
			id := layout.IdentityOf(image.URL)
			if best := found[id]; best == nil {
				found[id] = &f
			} else if f.score > best.score {
				f.also = append([]string{s.document(best.page).URL}, best.also...)
				found[id] = &f
			} else {
				best.also = append(best.also, d.URL)
			}
		}
	}
	images := make([]*foundImage, 0, len(found))
	for _, f := range found {
		images = append(images, f)
	}
	slices.SortFunc(images, func(a, b *foundImage) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.URL, b.URL)) })
	return images, nil
}
