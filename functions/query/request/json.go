package request

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/reply"
)

// WantsJSON reports whether the client accepts application/json by name, and does
// not prefer text/html (RFC 9110, section 12.5.1).
func WantsJSON(r *http.Request) bool {
	var asJSON, asHTML float64
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		media, parameters, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		quality, err := strconv.ParseFloat(parameters["q"], 64)
		if err != nil {
			quality = 1
		}
		switch media {
		case "application/json":
			asJSON = quality
		case "text/html":
			asHTML = quality
		}
	}
	return asJSON > 0 && asJSON >= asHTML
}

// WriteJSON answers a request with a value in JSON.
func WriteJSON(w http.ResponseWriter, status int, value any) error {
	content, err := reply.Marshal(value, false)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(content) // fails when the client has gone
	return nil
}
