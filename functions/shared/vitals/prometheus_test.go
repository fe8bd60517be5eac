package vitals

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/layout/blob/memblob"
)

func TestPrometheus(t *testing.T) {
	clock := functionstest.NewClock()
	r := newRecorder("w", clock)
	const odd = "a \"quoted\\name\"\nof two lines"
	ask(t, r.Bucket("pack", memblob.New()), "x")
	work(t, r, clock, "pack", "x", "fail")
	r.begin(odd, 3)
	end := r.begin("pack", 1)
	clock.Advance(time.Hour)
	end(nil)

	var w strings.Builder
	err := r.WritePrometheus(&w,
		Gauge{Name: "urls", Help: "URLs.", Label: "state", Values: map[string]float64{"stored": 5, "failed": 6}},
		Gauge{Name: "documents", Help: "Documents.", Values: map[string]float64{"": 7}},
		Gauge{Name: "asked", Help: "Questions.", Counter: true, Values: map[string]float64{"": 8}})
	if err != nil {
		t.Fatal(err)
	}
	kinds, samples := parse(t, w.String())
	want := map[string]float64{
		`urls{state=failed}`: 6,
		`documents`:          7,
		`bucketsearch_invocations_total{function=pack}`:                   3,
		`bucketsearch_invocations_total{function=` + odd + `}`:            0,
		`bucketsearch_failures_total{function=pack}`:                      1,
		`bucketsearch_in_flight{function=` + odd + `}`:                    3,
		`bucketsearch_invocation_seconds_bucket{function=pack,le=0.5}`:    0,
		`bucketsearch_invocation_seconds_bucket{function=pack,le=2}`:      2,
		`bucketsearch_invocation_seconds_bucket{function=pack,le=300}`:    2,
		`bucketsearch_invocation_seconds_bucket{function=pack,le=+Inf}`:   3,
		`bucketsearch_invocation_seconds_sum{function=pack}`:              3602,
		`bucketsearch_invocation_seconds_count{function=pack}`:            3,
		`bucketsearch_store_requests_total{function=pack,kind=put}`:       1,
		`bucketsearch_store_requests_total{function=pack,kind=head}`:      1,
		`bucketsearch_store_requests_total{function=pack,kind=get}`:       0,
		`bucketsearch_store_bytes_total{function=pack,direction=written}`: 3,
		`bucketsearch_store_bytes_total{function=pack,direction=read}`:    0,
		`process_start_time_seconds`:                                      float64(start.Unix()),
	}
	for name, value := range want {
		if got, found := samples[name]; !found || got != value {
			t.Errorf("%s is %v (there: %v), want %v", name, got, found, value)
		}
	}
	if samples["go_goroutines"] < 1 || kinds["process_cpu_seconds_total"] != "counter" || kinds["asked"] != "counter" {
		t.Errorf("process: %v", kinds)
	}
	if before := slices.Sorted(maps.Keys(kinds)); len(before) != 21 {
		t.Errorf("%d families: %q", len(before), before)
	}
}

func TestBucketOf(t *testing.T) {
	for d, want := range map[time.Duration]int{0: 0, 5 * time.Millisecond: 0, 5*time.Millisecond + 1: 1, time.Second: 4, 5 * time.Minute: 7, time.Hour: 8} {
		if got := bucketOf(d); got != want {
			t.Errorf("%v is in bucket %d, want %d", d, got, want)
		}
	}
}

var (
	comment = regexp.MustCompile(`^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$`)
	sample  = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$`)
	label   = regexp.MustCompile(`^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)`)
)

// parse reads metrics in Prometheus's text form as strictly as its specification demands: every
// family is one group of HELP, TYPE and samples; no sample comes twice; the buckets of a histogram
// do not decrease, and the last bucket is equal to the count.
func parse(t *testing.T, text string) (kinds map[string]string, samples map[string]float64) {
	t.Helper()
	kinds, samples = make(map[string]string), make(map[string]float64)
	help, family := "", ""
	last := make(map[string]float64) // of a histogram, by its labels
	if !strings.HasSuffix(text, "\n") {
		t.Error("the last line is not ended")
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if c := comment.FindStringSubmatch(line); c != nil {
			switch {
			case c[1] == "HELP" && kinds[c[2]] == "":
				help = c[2]
			case c[1] == "TYPE" && c[2] == help && kinds[help] == "" && slices.Contains([]string{"counter", "gauge", "histogram"}, c[3]):
				family, kinds[help] = help, c[3]
			default:
				t.Errorf("out of place: %s", line)
			}
			continue
		}
		s := sample.FindStringSubmatch(line)
		if s == nil {
			t.Errorf("no sample: %s", line)
			continue
		}
		value, err := strconv.ParseFloat(s[3], 64)
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
		var labels []string
		for rest := s[2]; rest != ""; {
			l := label.FindStringSubmatch(rest)
			if l == nil {
				t.Errorf("bad labels: %s", line)
				break
			}
			labels, rest = append(labels, l[1]+"="+unescape(l[2])), rest[len(l[0]):]
		}
		name := s[1]
		if len(labels) > 0 {
			name += "{" + strings.Join(labels, ",") + "}"
		}
		if _, twice := samples[name]; twice {
			t.Errorf("twice: %s", line)
		}
		samples[name] = value
		suffix, own := strings.CutPrefix(s[1], family)
		if !own || kinds[family] != "histogram" && suffix != "" || kinds[family] == "histogram" && suffix != "_bucket" && suffix != "_sum" && suffix != "_count" {
			t.Errorf("not of the family %s: %s", family, line)
		}
		series := family + fmt.Sprint(labels[:min(1, len(labels))])
		switch suffix {
		case "_bucket":
			if value < last[series] {
				t.Errorf("the histogram falls: %s", line)
			}
			last[series] = value
		case "_count":
			if value != last[series] {
				t.Errorf("the histogram ends at %v: %s", last[series], line)
			}
		}
	}
	return kinds, samples
}

func unescape(value string) string {
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `\n`, "\n").Replace(value)
}
