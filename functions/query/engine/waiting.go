package engine

import "fmt"

// waiting returns notes on pages that cannot be found yet. The parameter total is the number of pages that
// the search has found in the snapshot s.
//
//	case                                             note
//	nothing is found, or nothing is indexed at all   how many pages in packages wait to be indexed
//	a crawl runs beside the engine                   the state of the crawl
func (e *Engine) waiting(s *snapshot, total int) (notes []string) {
	switch waits := s.unindexed(); {
	case s.empty() && waits == 0:
		notes = append(notes, "Nothing is indexed yet.")
	case s.empty():
		notes = append(notes, fmt.Sprintf("Nothing is indexed yet: %d stored pages wait to be indexed, by the system that runs or the next crawl.", waits))
	case waits > 0 && total == 0:
		notes = append(notes, fmt.Sprintf("%d pages wait to be indexed, by the system that runs or the next crawl.", waits))
	}
	if state := e.CrawlState(); state != "" {
		notes = append(notes, "A crawl runs: "+state+".")
	}
	return notes
}

// CrawlState returns in a few words the state of the crawl that runs beside the engine (see
// Options.Crawling); "" if none runs or it is not known.
func (e *Engine) CrawlState() string {
	if e.Crawling == nil {
		return ""
	}
	return e.Crawling()
}

// empty reports whether nothing has been indexed yet: no segment is listed, and none is missing.
func (s *snapshot) empty() bool { return len(s.segments)+len(s.missing) == 0 && s.anyLost() == nil }
