package phrases

import "testing"

func TestShare(t *testing.T) {
	for name, c := range map[string]struct {
		texts   []string
		text    string
		in, all int
	}{
		"the same":             {[]string{"The quick brown fox jumps."}, "the quick, brown FOX jumps", 3, 3},
		"in part":              {[]string{"nothing", "the quick brown fox"}, "a quick brown fox ran off", 1, 4},
		"short":                {[]string{"Red cup", "cup"}, "red cup", 1, 1},
		"other order":          {[]string{"one two three"}, "three two one", 0, 1},
		"without spaces":       {[]string{"日本語の文章です"}, "文章です。日本語", 3, 5},
		"right to left":        {[]string{"هذا نص قصير جدا"}, "نص قصير جدا", 1, 1},
		"no words":             {[]string{"a b c"}, "?!", 0, 0},
		"of nothing":           {nil, "a b c", 0, 1},
		"of texts without any": {[]string{"...", ""}, "a b c", 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var texts [][]byte
			for _, text := range c.texts {
				texts = append(texts, []byte(text))
			}
			s := Of(texts...)
			if in, all := s.Share([]byte(c.text)); in != c.in || all != c.all {
				t.Errorf("%d of %d phrases, want %d of %d", in, all, c.in, c.all)
			}
		})
	}
}
