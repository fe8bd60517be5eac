package eval

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// Document is a document of a test collection: a line of docs.jsonl. Its text has no markup.
type Document struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Text  string `json:"text"`
	Lang  string `json:"lang"` // primary subtag (RFC 5646); "" to have it identified
}

// Query is a query of a test collection or of the bucket, with the grades of the documents judged
// for it.
type Query struct {
	ID   string
	Text string
	// grade of each judged document, by the document's id: from 1 to maxGrade; judgments of the
	// bucket also have 0, for a document that is no answer
	Grades map[string]int
}

const (
	maxLine  = 64 << 20 // longest line of a file in bytes
	maxGrade = 10       // highest grade of a relevant document; the gain of a grade is 2^grade − 1
)

// eachLine passes every nonblank line of a file, without the line break, to a function. It stops at the
// first error, and returns it with the name of the file and the number of the line.
func eachLine(path string, do func(line string) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	lines := bufio.NewReader(io.LimitReader(f, 1<<40))
	for n := 1; ; n++ {
		line, err := lines.ReadString('\n')
		if len(line) > maxLine {
			return fmt.Errorf("%s, line %d: it has more than %d MiB", path, n, maxLine>>20)
		}
		if text := strings.TrimRight(line, "\r\n"); strings.TrimSpace(text) != "" {
			if err := do(text); err != nil {
				return fmt.Errorf("%s, line %d: %w", path, n, err)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// eachDocument calls do with every document of a file such as docs.jsonl. It fails if do fails, or
// if a document has no id, or the same id as an earlier one.
func eachDocument(path string, do func(Document) error) error {
	known := make(map[string]bool)
	return eachLine(path, func(line string) error {
		var d Document
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			return fmt.Errorf(`it is no JSON such as {"id": "1", "title": "…", "text": "…"}: %w`, err)
		}
		if d.ID == "" || known[d.ID] {
			return fmt.Errorf("its id is %q; every document needs one of its own", d.ID)
		}
		known[d.ID] = true
		return do(d)
	})
}

// readQueries reads the file of queries (queries.tsv) and the file of relevance judgments
// (qrels.tsv). It returns the queries that have a relevant document, in the order of the file. The
// result unjudged is the number of the other queries: they cannot be measured and are not run. It
// fails if no query has a relevant document.
func readQueries(queries, qrels string) (all []Query, unjudged int, err error) {
	grades := make(map[string]map[string]int)
	err = eachLine(qrels, func(line string) error {
		fields := strings.Split(line, "\t")
		if len(fields) != 3 {
			return fmt.Errorf("it has %d fields; want query, document and gain, with tabs between", len(fields))
		}
		grade, err := strconv.Atoi(strings.TrimSpace(fields[2]))
		if err != nil || grade > maxGrade {
			return fmt.Errorf("its gain is %q; want a whole number, %d at most", fields[2], maxGrade)
		}
		if grade <= 0 {
			return nil
		}
		if grades[fields[0]] == nil {
			grades[fields[0]] = make(map[string]int)
		}
		grades[fields[0]][fields[1]] = grade
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	err = eachLine(queries, func(line string) error {
		id, text, found := strings.Cut(line, "\t")
		if !found {
			return fmt.Errorf("it has no tab between the query's number and its text")
		}
		if len(grades[id]) == 0 {
			unjudged++
			return nil
		}
		all = append(all, Query{id, text, grades[id]})
		return nil
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("no query of %s has an answer in %s", queries, qrels)
	}
	return all, unjudged, err
}
