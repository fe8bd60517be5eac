package fingerprint

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// prose returns n random words, of which some are much more frequent than others, as in any
// language.
func prose(r *rand.Rand, n int) []string {
	zipf := rand.NewZipf(r, 1.1, 4, 20_000)
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprintf("w%x", zipf.Uint64())
	}
	return words
}

// edited returns a copy of the words in which the given share of them (from 0 to 1) is replaced.
func edited(r *rand.Rand, words []string, share float64) []string {
	words = slices.Clone(words)
	for range int(float64(len(words)) * share) {
		words[r.IntN(len(words))] = fmt.Sprintf("new%d", r.Uint32())
	}
	return words
}

func of(words []string) Fingerprint {
	return Of("", strings.Join(words, " "))
}

func distance(a, b Fingerprint) int { return bits.OnesCount64(a.Simhash ^ b.Simhash) }

func resemblance(a, b Fingerprint) float64 {
	same := 0
	for i := range a.Sketch {
		if a.Sketch[i] == b.Sketch[i] {
			same++
		}
	}
	return float64(same) / float64(len(a.Sketch))
}

func TestFingerprintsOfEditedTextsAreNear(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const texts = 200
	var near, far []int
	var alike, unlike float64
	for range texts {
		words := prose(r, 500)
		original, changed, other := of(words), of(edited(r, words, .03)), of(prose(r, 500))
		near, far = append(near, distance(original, changed)), append(far, distance(original, other))
		alike += resemblance(original, changed) / texts
		unlike += resemblance(original, other) / texts
	}
	slices.Sort(near)
	slices.Sort(far)
	t.Logf("3 %% of the words edited: distance p50 %d, p90 %d, in common %.2f; unrelated: p1 %d, p50 %d, in common %.3f",
		near[texts/2], near[texts*9/10], alike, far[texts/100], far[texts/2], unlike)
	if near[texts/2] > 9 || near[texts*9/10] > 13 {
		t.Errorf("edited texts are %d apart, one in ten %d", near[texts/2], near[texts*9/10])
	}
	if far[texts/100] < 16 || far[texts/2] < 29 || far[texts/2] > 35 {
		t.Errorf("unrelated texts are %d apart, one in a hundred %d", far[texts/2], far[texts/100])
	}
	if alike < .78 || alike > .9 || unlike > .02 { // 91 % of the shingles are left: (1-.09)/(1+.09) = .83
		t.Errorf("edited texts have %.2f in common, unrelated ones %.3f", alike, unlike)
	}
}

func TestFingerprintSeesWordsOnly(t *testing.T) {
	const text = "The Straße ends at Дом 12, here"
	want := Of(text, text)
	for name, c := range map[string]struct {
		text string
		same bool
	}{
		"case":        {"the straße ENDS at дом 12 Here", true},
		"punctuation": {"  the—straße\nends (at) «дом»: 12; here!", true},
		"a letter":    {"the strasse ends at дом 12 here", false},
		"order":       {"the straße at ends дом 12 here", false},
		"joined":      {"thestraße ends at дом 12 here", false},
		"a digit":     {"the straße ends at дом 13 here", false},
		"end":         {"the straße ends at дом 12", false},
	} {
		t.Run(name, func(t *testing.T) {
			got := Of(c.text, c.text)
			if same := cmp.Equal(want, got); same != c.same {
				t.Errorf("same %v, want %v", same, c.same)
			}
			if (got.TextHash == want.TextHash) != c.same || (got.TitleHash == want.TitleHash) != c.same {
				t.Errorf("hashes %x and %x, of the other %x and %x", got.TitleHash, got.TextHash, want.TitleHash, want.TextHash)
			}
		})
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, " .,\n": 0, "a": 1, "a b2 c": 3, "naïve café": 2, "नमस्ते दुनिया": 2, "한국어 글": 2,
		"検索エンジン": 6, "Go言語": 3, "ภาษาไทย": 7, "\xFF": 0,
	} {
		if got := len(slices.Collect(wordHashes(text))); got != want {
			t.Errorf("%q has %d words, want %d", text, got, want)
		}
	}
}

// TestFingerprintStays checks that fingerprints are still those that the index already holds. If
// they changed, a page would no longer look like its own older version.
func TestFingerprintStays(t *testing.T) {
	for text, want := range map[string]string{
		"":    "0 0 0 [0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0]",
		"one": "72e951ea04736237 72e951ea04736237 72e951ea04736237 [e2f5 46cc ba4f 1e9a 7211 d678 cbe3 afce 834e 6795 5b18 3f63 2cfa f0d1 e4ac 4887]",
		"検索エンジンはウェブサイト":                               "76fbe5625762b17d 76fbe5625762b17d 1b2b11fd6d7be354 [ac5b cfb0 3423 a1ee 69d9 de8f b450 550b 8668 9baa 7aa1 5a58 a369 17f6 99ad 3aa0]",
		"the quick brown fox jumps over the lazy dog": "5bd748116542c93c 5bd748116542c93c 6138d8a1311f807c [9b17 ab01 623b 41a2 13ea 6351 c1dc 285 1ba1 c04b cc93 b506 8146 67fd 9ce1 9a6c]",
	} {
		f := Of(text, text)
		if got := fmt.Sprintf("%x %x %x %x", f.TitleHash, f.TextHash, f.Simhash, f.Sketch); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func BenchmarkFingerprint(b *testing.B) {
	for name, body := range map[string]string{
		"english":  strings.Repeat("The regression tests check what the server does, and report every difference.\n", 400),
		"russian":  strings.Repeat("Поисковая система обходит сайты, хранит каждую страницу и отвечает на вопросы.\n", 200),
		"japanese": strings.Repeat("検索エンジンはウェブサイトを巡回し、すべてのページを保存して、質問に答えます。\n", 200),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				Of("", body)
			}
		})
	}
}

func TestIsAlike(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	alike, unlike := 0, 0
	const texts = 200
	for range texts {
		words := prose(r, 500)
		if of(words).IsAlike(of(edited(r, words, .01))) {
			alike++
		}
		if of(words).IsAlike(of(edited(r, words, .2))) || of(words).IsAlike(of(prose(r, 500))) {
			unlike++
		}
	}
	if alike < texts*95/100 || unlike > 0 {
		t.Errorf("%d of %d are alike of which 1 %% of the words is edited, %d of which 20 %% are or all", alike, texts, unlike)
	}
	if short := of([]string{"two", "words"}); !short.IsAlike(short) || short.IsAlike(of([]string{"other", "words"})) {
		t.Error("two words are unlike themselves, or like others")
	}
	if none := of(nil); none.IsAlike(none) {
		t.Error("nothing is like nothing")
	}
}

// TestSharesHalf calls SharesHalf for random pairs of texts. It must be true for nearly all pairs
// with at least 90 % of their words in common, and for hardly any pair with at most 30 %.
func TestSharesHalf(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for share, want := range map[float64]float64{1: 1, .9: 1, .3: 0, 0: 0} {
		const pairs = 200
		found := 0.
		for range pairs {
			words := prose(r, 500)
			common := int(share * float64(len(words)))
			if of(words).SharesHalf(of(slices.Concat(words[:common], prose(r, len(words)-common)))) {
				found++
			}
		}
		if found /= pairs; math.Abs(found-want) > .05 {
			t.Errorf("of texts with %.1f of their words in common %.2f share half, want %.2f", share, found, want)
		}
	}
}

// TestExact checks that Exact returns different hashes for different texts, even if they differ in
// only one byte. A text must also have different hashes at different positions in the page.
func TestExact(t *testing.T) {
	seen := make(map[uint64]string)
	for _, text := range []string{"", "a", "A", "a ", "a\x00", "1234567", "12345678", "123456789", "12345678 "} {
		for place := range uint64(2) {
			hash := Exact(place, []byte(text))
			if other, found := seen[hash]; found {
				t.Errorf("%q in place %d is like %s", text, place, other)
			}
			seen[hash] = fmt.Sprintf("%q in place %d", text, place)
			if Exact(place, []byte(text)) != hash {
				t.Errorf("%q has two hashes", text)
			}
		}
	}
}
