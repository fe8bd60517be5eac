package reply

import (
	"strings"
	"testing"
	"time"
)

type inner struct {
	Score float64            `json:"score"`
	Parts []inner            `json:"parts,omitempty"`
	By    map[string]float64 `json:"by_name"`
}

type outer struct {
	inner
	At    time.Time `json:"at"`
	None  []string  `json:"none"`
	All   []inner   `json:"all"`
	One   *inner    `json:"one,omitempty"`
	Later time.Time `json:"later,omitzero"`

	hidden []string
}

func TestForm(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 23, 10, 30, 0, 0, time.FixedZone("CET", 3600))
	value := outer{hidden: []string{"unseen"}, At: at, All: []inner{{Score: 0.0613551286531294}, {Score: 12345.678901234, By: map[string]float64{"a": 2.2000000000000002e-06}}}}
	got, err := Marshal(value, false)
	const want = `{"score":0,"by_name":{},"at":"2026-11-23T09:30:00Z","none":[],"all":[{"score":0.0613551,"by_name":{}},{"score":12345.678901,"by_name":{"a":0.0000022}}]}` + "\n"
	if err != nil || string(got) != want {
		t.Errorf("%s, %v; want\n%s", got, err, want)
	}
	if value.None != nil || value.At != at || value.All[0].Score != 0.0613551286531294 {
		t.Errorf("the value was changed: %+v", value)
	}
	if got, err := Marshal([]inner(nil), true); err != nil || string(got) != "[]\n" {
		t.Errorf("no list: %s, %v", got, err)
	}
}

func TestRefusedTypes(t *testing.T) {
	t.Parallel()
	for want, value := range map[string]any{
		`Name has the key ""`: struct{ Name string }{},
		`Name has the key "theName"`: struct {
			Name string `json:"theName"`
		}{},
		"Name would be null": struct {
			Name *string `json:"name"`
		}{},
		"would be written in nanoseconds": struct {
			Took time.Duration `json:"took"`
		}{},
		"can be anything": []struct {
			Any any `json:"any"`
		}{},
	} {
		if got, err := Marshal(value, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%T: %s, %v; want %s", value, got, err, want)
		}
	}
}
