package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"time"
)

//go:embed *.html style.css
var files embed.FS

var (
	pages = template.Must(template.New("").Funcs(template.FuncMap{
		"count":     count,
		"duration":  duration,
		"styleHash": func() string { return styleHash },
	}).ParseFS(files, "*.html"))

	styleSheet = must(files.ReadFile("style.css"))
	styleHash  = fmt.Sprintf("%x", sha256.Sum256(styleSheet))[:12]
)

func must(content []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return content
}

// render answers a request with the HTML page that the named template makes of data. If the
// template fails, it writes nothing and returns the error.
func render(w http.ResponseWriter, status int, name string, data any) error {
	var page bytes.Buffer
	if err := pages.ExecuteTemplate(&page, name, data); err != nil {
		return fmt.Errorf("cannot render %s: %w", name, err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes()) // fails when the client has gone
	return nil
}

func (s *siteHandler) style(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(styleSheet))
	return nil
}

// count formats a number with commas: 12,345.
func count(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

func duration(d time.Duration) string {
	switch {
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000)
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
