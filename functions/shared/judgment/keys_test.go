package judgment_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/judgment"
)

const (
	annKey = "0123456789abcdef"
	bobKey = "fedcba:9876543210"
)

func parseKeys(t testing.TB, text string) judgment.Keys {
	t.Helper()
	k, err := judgment.ParseKeys(text)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestKeys(t *testing.T) {
	k := parseKeys(t, " ann:"+annKey+",\nbob:"+bobKey+" ")
	for key, want := range map[string]string{annKey: "ann", bobKey: "bob", "": "", annKey[1:]: "", annKey + "0": "", "ann": ""} {
		if name, known := k.Judge(key); name != want || known != (want != "") {
			t.Errorf("%q is the key of %q", key, name)
		}
	}
	if k.Empty() || !parseKeys(t, " ").Empty() {
		t.Error("there is nobody, or somebody")
	}
	if _, known := parseKeys(t, "").Judge(""); known {
		t.Error("without keys the empty key is one")
	}
	if k.String() != "ann bob" {
		t.Errorf("printed as %v", k)
	}
}

// TestBadKeys checks that errors about keys say what is wrong, and do not contain the keys.
func TestBadKeys(t *testing.T) {
	for text, want := range map[string]string{
		annKey:                             "judge 1 is not written",
		"a/b:" + annKey:                    "judge 1 is not written",
		"ann:012345678":                    "of judge ann has 9 bytes",
		"ann:" + annKey + " ann:" + bobKey: "two judges are called ann",
		"ann:" + annKey + " bob:" + annKey: "ann and bob have the same key",
	} {
		_, err := judgment.ParseKeys(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "01234") {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestToken(t *testing.T) {
	k := parseKeys(t, "ann:"+annKey+" bob:"+bobKey)
	token := k.Token("ann", noon.Add(time.Hour))
	if strings.Contains(token, annKey) {
		t.Errorf("%s shows the key", token)
	}
	if name, err := k.Recognise(token, noon.Add(time.Hour-time.Second)); name != "ann" || err != nil {
		t.Errorf("recognised %q, %v", name, err)
	}
	later := strings.Replace(token, "|1", "|2", 1)
	for what, bad := range map[string]string{
		"none": "", "cut": token[:len(token)-1], "of bob": strings.Replace(token, "ann", "bob", 1), "prolonged": later, "unsigned": "ann|99999999999|",
		"of nobody": k.Token("eve", noon.Add(time.Hour)),
	} {
		if name, err := k.Recognise(bad, noon); err == nil {
			t.Errorf("%s: a token of %s", what, name)
		}
	}
	if _, err := k.Recognise(token, noon.Add(time.Hour)); err == nil {
		t.Error("a token is valid for ever")
	}
	if _, err := parseKeys(t, "ann:"+bobKey).Recognise(token, noon); err == nil {
		t.Error("a token outlives the key")
	}
}

// FuzzRecognise checks that Recognise accepts only tokens that Token has returned.
func FuzzRecognise(f *testing.F) {
	k := parseKeys(f, "ann:"+annKey)
	token := k.Token("ann", noon.Add(time.Hour))
	f.Add(token)
	f.Add("ann|1|")
	f.Fuzz(func(t *testing.T, text string) {
		if name, err := k.Recognise(text, noon); err == nil && (name != "ann" || text != token) {
			t.Errorf("%q is a token of %q", text, name)
		}
	})
}
