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
	q.Spread = true
	if q.Text == "" {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return nil
	}
	found, err := s.Engine.Search(r.Context(), q)
	if err != nil {
		return err
	}
	if found.Images {
		w.Header().Set("Content-Security-Policy", imagesPolicy)
	}
	w.Header().Set("X-Robots-Tag", "noindex")
	page := newResultsPage(q, found)
	if err := s.offerMarks(w, r, q, &page); err != nil {
		return err
	}
	s.offerPings(w, q, &page)
	return render(w, http.StatusOK, "results", page)
}
