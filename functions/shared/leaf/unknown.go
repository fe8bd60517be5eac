package leaf

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// unknownSegment is the body of an answer with the status 409.
type unknownSegment struct{ Segment string }

// fail writes the answer for an error of an Answerer.
func fail(w http.ResponseWriter, err error) {
	var of *search.Unreadable
	if !errors.As(err, &of) || !errors.Is(err, blob.ErrAbsent) {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusConflict)
	_ = json.NewEncoder(w).Encode(unknownSegment{of.Segment}) // fails when the root has gone
}

// unknown returns the error that the body of an answer with the status 409 describes.
func unknown(body io.Reader) error {
	var of unknownSegment
	if err := json.NewDecoder(body).Decode(&of); err != nil || of.Segment == "" {
		return fmt.Errorf("status %d without the key of a segment", http.StatusConflict)
	}
	return &search.Unreadable{Segment: of.Segment, Err: fmt.Errorf("a leaf does not know it: %w", blob.ErrAbsent)}
}
