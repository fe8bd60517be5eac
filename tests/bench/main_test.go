// Package bench measures the program beside its peers on one real site:
//
//	bash tests/bench/run
//
// It needs wget, and the documentation packages in $BUCKETSEARCH_SITES.
package bench

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// packages are the site: about 4,700 pages.
var packages = map[string]string{
	"postgresql": "postgresql-doc-15/usr/share/doc/postgresql-doc-15/html",
	"python":     "python3.11-doc/usr/share/doc/python3.11/html",
	"django":     "python-django-doc/usr/share/doc/python-django-doc/html",
	"qt":         "qtbase5-doc-html/usr/share/qt5/doc",
}

// starts are linked from the site's first page.
var starts = []string{"postgresql/index.html", "python/index.html", "django/index.html"}

// serving is set in the process that serves the site, so that its processor
// time is nobody else's.
const serving = "BUCKETSEARCH_BENCH_SITE"

var program, colly string

func TestMain(m *testing.M) {
	if sites := os.Getenv(serving); sites != "" {
		serve(sites)
	}
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		os.Exit(m.Run()) // an ordinary run of all tests: nothing to measure
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	directory, err := os.MkdirTemp("", "bench")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(directory)
	program, colly = filepath.Join(directory, "bucketsearch"), filepath.Join(directory, "colly")
	build("../..", program, "./local/bucketsearch")
	build("../peers", colly, "./colly")
	return m.Run()
}

func build(module, output, pkg string) {
	cmd := exec.Command("go", "build", "-o", output, pkg)
	cmd.Dir, cmd.Stderr = module, os.Stderr
	if err := cmd.Run(); err != nil {
		panic(err)
	}
}

// serve serves the packages on a free port, which it prints.
func serve(sites string) {
	mux := http.NewServeMux()
	links := starts
	for name, path := range packages {
		root := filepath.Join(sites, path)
		indexes, err := filepath.Glob(filepath.Join(root, "*", "*-index.html"))
		if err != nil {
			panic(err)
		}
		for _, index := range indexes {
			links = append(links, name+strings.TrimPrefix(index, root))
		}
		mux.Handle("/"+name+"/", http.StripPrefix("/"+name, http.FileServer(http.Dir(root))))
	}
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<!doctype html><title>Documentation</title><ul>")
		for _, link := range links {
			fmt.Fprintf(w, "<li><a href=%q>%s</a>", "/"+link, link)
		}
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println("http://" + listener.Addr().String() + "/")
	panic(http.Serve(listener, mux))
}
