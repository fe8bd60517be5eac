package query

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

//go:embed web
var web embed.FS

var (
	pages = template.Must(template.New("").Funcs(template.FuncMap{
		"count":     count,
		"duration":  duration,
		"styleHash": func() string { return styleHash },
	}).ParseFS(web, "web/*.html"))

	styleSheet = must(web.ReadFile("web/style.css"))
	styleHash  = fmt.Sprintf("%x", sha256.Sum256(styleSheet))[:12]
)

func must(content []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return content
}

// render writes nothing when it fails.
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

// style serves the style sheet, which pages ask for under its hash.
func (s *site) style(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(styleSheet))
	return nil
}

// count writes 12345 as 12,345.
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
