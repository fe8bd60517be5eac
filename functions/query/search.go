package query

import (
	"encoding/json"
	"net/http"
)

func (s *site) search(w http.ResponseWriter, r *http.Request) error {
	q, err := readQuery(r, s.engine.Now())
	if err != nil {
		return err
	}
	if q.Text == "" {
		if wantsJSON(r) {
			return wrong("The query is missing; ask like /search?q=words.")
		}
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return nil
	}
	found, err := s.engine.Search(r.Context(), q)
	if err != nil {
		return err
	}
	if wantsJSON(r) {
		return writeJSON(w, http.StatusOK, found.Answer())
	}
	return render(w, http.StatusOK, "results", newResultsPage(q, found))
}

func writeJSON(w http.ResponseWriter, status int, value any) error {
	content, err := json.Marshal(value)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(content, '\n')) // fails when the client has gone
	return nil
}
