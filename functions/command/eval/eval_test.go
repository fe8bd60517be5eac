package eval

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bucketsearch/bucketsearch/functions/shared/search"
)

var nearly = cmpopts.EquateApprox(0, 1e-9)

func TestMeasure(t *testing.T) {
	log2 := math.Log2
	for name, c := range map[string]struct {
		results string
		grades  map[string]int
		want    Figures
	}{
		"first":      {"a b c", map[string]int{"a": 1}, Figures{1, 1, 1, 1}},
		"third":      {"x y a", map[string]int{"a": 1}, Figures{1 / log2(4), 1.0 / 3, 1, 1.0 / 3}},
		"none":       {"x y", map[string]int{"a": 1}, Figures{}},
		"no results": {"", map[string]int{"a": 1}, Figures{}},
		"no answer":  {"a", map[string]int{"a": 0}, Figures{}},
		"grades":     {"b a", map[string]int{"a": 3, "b": 1}, Figures{(1 + 7/log2(3)) / (7 + 1/log2(3)), 1, 1, 1}},
		"half":       {"a x", map[string]int{"a": 1, "b": 1}, Figures{1 / (1 + 1/log2(3)), 0.5, 0.5, 1}},
	} {
		if diff := cmp.Diff(c.want, measure(strings.Fields(c.results), c.grades), nearly); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	var many []string
	for n := range 200 {
		many = append(many, fmt.Sprint(n))
	}
	if got := measure(many, map[string]int{"10": 1, "150": 1}); got.NDCG != 0 || got.Recall != 0.5 || got.MRR != 1.0/11 {
		t.Errorf("an answer at 11 and one at 151: %+v", got)
	}
}

func TestMean(t *testing.T) {
	m, interval := mean([]Figures{{1, 0, 1, 1}, {0, 0, 1, 1}})
	if diff := cmp.Diff(Figures{0.5, 0, 1, 1}, m, nearly); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Figures{NDCG: 1.96 * math.Sqrt(0.25/2)}, interval, nearly); diff != "" {
		t.Error(diff)
	}
}

// write writes the three files of a test collection, and returns a task with their paths.
func write(t *testing.T, docs, queries, qrels string) Task {
	t.Helper()
	dir := t.TempDir()
	path := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return Task{Docs: path("docs", docs), Queries: path("queries", queries), Qrels: path("qrels", qrels)}
}

const (
	birds = `{"id": "1", "title": "Herons", "text": "The heron stands in the water."}
{"id": "2", "title": "Storks", "text": "The stork stands on the roof."}
`
	questions = "a\twhere does the heron stand?\nb\tstork\nc\tfrog\n"
	answers   = "a\t1\t2\nb\t2\t1\nb\t1\t0\n"
)

func TestRun(t *testing.T) {
	task := write(t, birds, questions, answers)
	report, err := task.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if report.Queries != 2 || report.Unjudged != 1 || report.Figures.NDCG != 1 || report.Each[1].Text != "stork" {
		t.Errorf("%+v", report)
	}
	// Documents of Task.Among are no answers, even if they have the id of an answer.
	task.Among = []string{task.Docs}
	among, err := task.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if among.Figures.Recall != 1 || among.Figures.NDCG > 1 {
		t.Errorf("among copies: %+v", among.Figures)
	}
	// Without weights for words, all matches have the same score.
	weights := search.Standard()
	weights.Title, weights.Headings, weights.Body = 0, 0, 0
	task.Weights = &weights
	if blind, err := task.Run(t.Context(), nil); err != nil || blind.Figures == among.Figures {
		t.Errorf("with weights of zero %+v as with others (%v)", blind.Figures, err)
	}
	content, err := json.Marshal(report)
	if err != nil || !strings.HasPrefix(string(content), `{"ndcg@10":1,"map":1,"recall@100":1,"mrr":1,"queries":2,`) {
		t.Errorf("%s, %v", content, err)
	}
	var read Report
	if err := json.Unmarshal(content, &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(report, read, nearly); diff != "" {
		t.Error(diff)
	}
}

func TestCompare(t *testing.T) {
	report := func(ndcg ...float64) (r Report) {
		for i, n := range ndcg {
			r.Each = append(r.Each, Outcome{ID: fmt.Sprint(i), Figures: Figures{NDCG: n}})
		}
		return r
	}
	c := report(1, 0.5, 0.5, 1).Compare(report(0.5, 1, 0.5))
	if c.Better != 1 || c.Worse != 1 || c.Same != 1 || math.Abs(c.Difference.NDCG) > 1e-9 || c.Interval.NDCG == 0 {
		t.Errorf("%+v", c)
	}
}

// TestCompareStored checks that a report equals itself after it was written as JSON and read again.
func TestCompareStored(t *testing.T) {
	now := Report{Each: []Outcome{{ID: "a", Figures: Figures{NDCG: 1.0 / 3}}, {ID: "b", Figures: Figures{NDCG: 2.0 / 3}}}}
	content, err := json.Marshal(now)
	if err != nil {
		t.Fatal(err)
	}
	var stored Report
	if err := json.Unmarshal(content, &stored); err != nil {
		t.Fatal(err)
	}
	if c := now.Compare(stored); c.Same != 2 {
		t.Errorf("%+v", c)
	}
}

func TestBadFiles(t *testing.T) {
	for want, task := range map[string]Task{
		"docs, line 1: it is no JSON":         write(t, "heron", questions, answers),
		"docs, line 2: its id is \"1\"":       write(t, `{"id": "1"}`+"\n"+`{"id": "1"}`, questions, answers),
		"queries, line 1: it has no tab":      write(t, birds, "heron", answers),
		"qrels, line 1: it has 2 fields":      write(t, birds, questions, "a\t1"),
		"qrels, line 1: its gain is \"good\"": write(t, birds, questions, "a\t1\tgood"),
		"has an answer in":                    write(t, birds, questions, "z\t1\t1"),
		"no such file":                        {Docs: "nowhere", Queries: "nowhere", Qrels: "nowhere"},
	} {
		if _, err := task.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
