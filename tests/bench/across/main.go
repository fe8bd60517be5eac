// Command across measures how well questions in one language find pages in another, with
// dictionaries that are learnt from other pages.
//
//	go run ./tests/bench/across DIR
//
// DIR holds xquad_en, xquad_ru and xquad_zh: the same 240 paragraphs and 1,190 questions of XQuAD
// in each language, in the form that package eval reads. Paragraph n of one language translates
// paragraph n of another. All questions are answered once for each row of the output:
//
//	without a dictionary                 English words as they stand: only names and numbers match
//	dictionary of other articles         learnt from articles other than the one with the answer
//	dictionary of other paragraphs       learnt from paragraphs other than the one with the answer,
//	                                     some of them perhaps in the same article
//	dictionary of all, upper bound       learnt from all paragraphs, even those with the answers:
//	                                     better than can be expected for other pages
//	questions in the pages' language     no dictionary; people have translated the questions
//
// For the two rows with "other", the articles or paragraphs are divided into five parts. The
// questions about one part are answered with a dictionary that was learnt from the four other
// parts. Dictionaries are never learnt from questions.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/command/eval"
	"github.com/bucketsearch/bucketsearch/functions/rank/translation"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/layout/dictionary"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("want the directory of the collections: go run ./tests/bench/across DIR")
	}
	for _, to := range []string{"ru", "zh"} {
		if err := measure(context.Background(), os.Args[1], "en", to); err != nil {
			log.Fatal(err)
		}
	}
}

// folds is the number of parts into which articles or paragraphs are divided: the questions about one
// part are answered with a dictionary that was learnt from all other parts.
const folds = 5

// measure measures search across one pair of languages: questions are asked in the first language,
// and the pages are in the second. It prints a row without a dictionary, a row for each kind of
// dictionary, and a row for questions in the language of the pages.
func measure(ctx context.Context, dir, from, to string) error {
	m := measurement{dir: dir, from: from, to: to}
	var err error
	if m.docs, err = m.read(from); err != nil {
		return err
	}
	if m.translated, err = m.read(to); err != nil {
		return err
	}
	if m.temporary, err = os.MkdirTemp("", "across"); err != nil {
		return err
	}
	defer os.RemoveAll(m.temporary) //nolint:errcheck // only a temporary directory
	articles := make(map[string]int)
	for _, d := range m.docs {
		if _, known := articles[d.Title]; !known {
			articles[d.Title] = len(articles)
		}
	}
	fmt.Printf("%s questions, %s pages: nDCG@10, recall@100\n", from, to)
	for _, row := range []struct {
		name   string
		folds  int
		foldOf func(n int, d eval.Document) int // returns the fold of the n-th document; nil: no dictionary
	}{
		{"without a dictionary", 1, nil},
		{"dictionary of other articles", folds, func(_ int, d eval.Document) int { return articles[d.Title] % folds }},
		{"dictionary of other paragraphs", folds, func(n int, _ eval.Document) int { return n % folds }},
		{"dictionary of all, upper bound", 1, func(int, eval.Document) int { return -1 }},
	} {
		if err := m.row(ctx, row.name, row.folds, row.foldOf); err != nil {
			return err
		}
	}
	own := eval.Task{Docs: m.path(to, "docs.jsonl"), Queries: m.path(to, "queries.tsv"), Qrels: m.path(to, "qrels.tsv")}
	report, err := own.Run(ctx, nil)
	if err != nil {
		return err
	}
	fmt.Printf("%-32s %.3f %.3f\n", "questions in the pages' language", report.Figures.NDCG, report.Figures.Recall)
	return nil
}

// measurement measures search across one pair of languages: questions are asked in the first
// language, and the pages are in the second.
type measurement struct {
	dir, from, to, temporary string
	docs, translated         []eval.Document // the same pages in both languages, in the same order
}

func (m *measurement) path(language, name string) string {
	return filepath.Join(m.dir, "xquad_"+language, name)
}

// read returns the documents of a language, in the order of their file.
func (m *measurement) read(language string) (docs []eval.Document, err error) {
	content, err := os.ReadFile(m.path(language, "docs.jsonl"))
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(strings.NewReader(string(content)))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var d eval.Document
		if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
			return nil, err
		}
		docs = append(docs, d)
	}
	return docs, lines.Err()
}

// row measures how well the questions are answered with one kind of dictionary, and prints the
// figures as a row with the given name. The documents are divided into the given number of parts
// (folds). The callback returns the part of the n-th document. The questions about the documents of
// one part are answered with a dictionary that is learnt from the documents of all other parts. If
// the callback is nil, there is no dictionary.
func (m *measurement) row(ctx context.Context, name string, folds int, foldOf func(n int, d eval.Document) int) error {
	var ndcg, recall float64
	n := 0
	for fold := range folds {
		task := eval.Task{
			Docs: m.path(m.to, "docs.jsonl"), Among: []string{m.path(m.from, "docs.jsonl")},
			Queries: m.path(m.from, "queries.tsv"), Qrels: m.path(m.from, "qrels.tsv"),
			Across: search.Across{Into: []string{m.to}},
		}
		var learnt *dictionary.Dictionary
		if foldOf != nil {
			l := translation.NewLearner(m.from, m.to, translation.DefaultLimits())
			asked := make(map[string]bool)
			for n, d := range m.docs {
				if f := foldOf(n, d); f == fold {
					asked[d.ID] = true
					continue
				}
				l.Add(translation.Text{Title: d.Title, Body: d.Text}, translation.Text{Title: m.translated[n].Title, Body: m.translated[n].Text})
			}
			entries, _, _, err := l.Learn(ctx)
			if err != nil {
				return err
			}
			content, err := dictionary.Encode(m.from, m.to, entries)
			if err != nil {
				return err
			}
			if learnt, err = dictionary.Open(content); err != nil {
				return err
			}
			if len(asked) > 0 {
				if task.Qrels, err = m.judgmentsOf(asked); err != nil {
					return err
				}
			}
		}
		task.Across.Open = func(_ context.Context, from, to string) (*dictionary.Dictionary, error) {
			if learnt != nil && (from != m.from || to != m.to) {
				return nil, nil
			}
			return learnt, nil
		}
		report, err := task.Run(ctx, nil)
		if err != nil {
			return err
		}
		for _, o := range report.Each {
			ndcg, recall, n = ndcg+o.Figures.NDCG, recall+o.Figures.Recall, n+1
		}
	}
	fmt.Printf("%-32s %.3f %.3f (%d)\n", name, ndcg/float64(n), recall/float64(n), n)
	return nil
}

// judgmentsOf writes a file of judgments, which say which document answers which question, and
// returns its path. It writes only the judgments about the given documents.
func (m *measurement) judgmentsOf(docs map[string]bool) (string, error) {
	content, err := os.ReadFile(m.path(m.from, "qrels.tsv"))
	if err != nil {
		return "", err
	}
	var kept strings.Builder
	for line := range strings.Lines(string(content)) {
		if fields := strings.Split(line, "\t"); len(fields) == 3 && docs[fields[1]] {
			kept.WriteString(line)
		}
	}
	path := filepath.Join(m.temporary, "qrels.tsv")
	return path, os.WriteFile(path, []byte(kept.String()), 0o600)
}
