package style

import (
	"strings"
	"testing"
)

func TestHidden(t *testing.T) {
	for name, test := range map[string]struct {
		sheet              string
		element, class, id string
		want               bool
	}{
		"class":                  {".spam{display:none}", "p", "a spam b", "", true},
		"another class":          {".spam{display:none}", "p", "spammer", "", false},
		"id":                     {"#spam { color:red; Display : None !important }", "div", "", "spam", true},
		"element and class":      {"P.spam{visibility:hidden}", "p", "spam", "", true},
		"another element":        {"p.spam{visibility:hidden}", "div", "spam", "", false},
		"list":                   {"h1, .a ,.b{display:none}", "p", "b", "", true},
		"comments":               {"/* .a{ */ .b /* x */ { /* y */ display:/**/none }", "p", "b", "", true},
		"a comment with a brace": {".a{/* } */display:none}", "p", "a", "", true},
		"a string with a brace":  {`.x{content:"}"} .a{display:none}`, "p", "a", "", true},
		"after an import":        {"@import 'x.css'; .a{display:none}", "p", "a", "", true},
		"after a font":           {"@font-face{src:url(x)} .a{display:none}", "p", "a", "", true},
		"when printed":           {"@media print{.a{display:none}}", "p", "a", "", false},
		"after a group":          {"@media print{.b{color:red}} .a{display:none}", "p", "a", "", true},
		"descendant":             {".js .a{display:none}", "p", "a", "", false},
		"state":                  {".a:hover{display:none}", "p", "a", "", false},
		"two classes":            {".a.b{display:none}", "p", "a b", "", false},
		"element":                {"body{display:none}", "body", "", "", false},
		"shown when active":      {".a{display:none} .a.active{display:block}", "p", "a", "", false},
		"shown in wide windows":  {".a{display:none} @media(min-width:9em){.a{display:block}}", "p", "a", "", false},
		"shown before":           {"#m:checked ~ .a{display:flex} .a{display:none}", "p", "a", "", false},
		"shown by another class": {`.a{display:none} @media(min-width:9em){.m\:b{display:block}}`, "p", "a m:b", "", false},
		"shown by its id":        {".a{display:none} #b{display:block}", "p", "a", "b", false},
		"shown as a target":      {".a{display:none} :target{display:block}", "p", "a", "", false},
		"shown in a menu":        {".a{display:none} .menu li{display:block}", "li", "a", "", false},
		"not in a menu":          {".a{display:none} .menu li{display:block}", "p", "a", "", true},
		"shown by a nested rule": {".a{display:none; &.active{display:block}}", "p", "a", "", false},
		"a nested rule hides":    {".a{ .b{color:red;display:none} }", "p", "a", "", false},
		"a wide window, nested":  {".a{display:none;@media(min-width:9em){display:block}}", "p", "a", "", false},
		"declared twice":         {".a{display:none;display:block}", "p", "a", "", false},
		"in a string":            {".a{content:';display:none'}", "p", "a", "", false},
		"another is shown":       {".a{display:none} .ab{display:block}", "p", "a", "", true},
		"another property":       {".a{-x-display:none;overflow:hidden}", "p", "a", "", false},
		"white text":             {".a{color:#fff}", "p", "a", "", false},
		"no end":                 {".a{display:none", "p", "a", "", true},
		"nested":                 {".b{&:hover{color:red}} .a{display:none}", "p", "a", "", true},
		"too many names":         {".a{display:none}" + manyNames(), "p", "a", "", false},
		"many names before":      {manyNames() + ".a{display:none}", "p", "a", "", false},
		"a sheet that is cut":    {".a{display:none}" + strings.Repeat(" ", maxSheets) + ".a.b{display:block}", "p", "a", "", false},
		"nothing":                {"", "p", "a", "a", false},
	} {
		var h Hidden
		h.Read([]byte(test.sheet))
		if got := h.Hides(test.element, []byte(test.class), test.id); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

// manyNames returns rules that show more names than Hidden keeps.
func manyNames() string {
	var b strings.Builder
	for n := range maxNames + 1 {
		b.WriteString(".n" + strings.Repeat("i", n%30) + strings.Repeat("j", n/30) + "{display:block}")
	}
	return b.String()
}

// TestHiddenSheets checks that the sheets of a page count together.
func TestHiddenSheets(t *testing.T) {
	var h Hidden
	h.Read([]byte(".a{display:none} .b{display:none}"))
	h.Read([]byte(".a.open{display:block}"))
	if h.Hides("", []byte("a"), "") || !h.Hides("", []byte("b"), "") {
		t.Errorf("%+v", h)
	}
}

// TestHiddenLinear checks that the names in a selector are read once each, even if they have escaped
// dots, and so take no more memory than the selector.
func TestHiddenLinear(t *testing.T) {
	var h Hidden
	h.Read([]byte("." + strings.Repeat(`\.`, 1000) + "{display:block}"))
	size := 0
	for name := range h.shown {
		size += len(name)
	}
	if size > 2000 {
		t.Errorf("%d names with %d bytes", len(h.shown), size)
	}
}

func FuzzHidden(f *testing.F) {
	f.Add(".a{display:none}@media x{.b{display:block}}", "a")
	f.Add("/*'*/ #a\\{,p.b{visibility:hidden", "b")
	f.Fuzz(func(t *testing.T, sheet, class string) {
		var h Hidden
		h.Read([]byte(sheet))
		h.Read([]byte(sheet))
		if h.Hides("p", []byte(class), class) && !strings.Contains(sheet, class) && !strings.ContainsAny(class, " \t\n\f\r\v\u0085\u00a0") {
			t.Errorf("%q hides %q", sheet, class)
		}
	})
}
