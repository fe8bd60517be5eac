package web

import (
	"net/http"

	"github.com/bucketsearch/bucketsearch/functions/query/request"
)

func (s *siteHandler) search(w http.ResponseWriter, r *http.Request) error {
	q, err := request.Query(r, s.Engine.Now())
	if err != nil {
		return err
	}
	q.Spread, q.Facets = true, facetNames
	if q.Text == "" {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return nil
	}
	found, err := s.Engine.Search(r.Context(), q)
	if err != nil {
		return err
	}
	w.Header().Set("X-Robots-Tag", "noindex")
	page := s.newResultsPage(q, found)
	if found.Total == 0 && !found.Empty {
		page.Nothing = s.newAlternatives(r.Context(), q)
	}
	if err := s.offerMarks(w, r, q, &page); err != nil {
		return err
	}
	s.offerPings(q, &page)
	return s.render(w, r, http.StatusOK, "results", page)
}
