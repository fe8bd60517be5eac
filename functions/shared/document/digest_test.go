package document

import (
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/fingerprint"
)

func digestOf(t *testing.T, body, contentType string) fingerprint.Digest {
	t.Helper()
	d, err := Read([]byte(body), contentType)
	if err != nil {
		t.Fatal(err)
	}
	return d.Digest()
}

// TestWordsChange checks that Digest.Words stays the same if only a number, a word beside a number,
// markup or navigation changes. It must differ if any other word changes.
func TestWordsChange(t *testing.T) {
	const page = `<title>News</title><nav><a href=/>Home</a></nav><main><h1>Storm</h1><p>The storm ended on Monday, 2 March 2026, at 10:15 a.m.<p>12 people were helped.</main>`
	for name, c := range map[string]struct {
		old, changed string
		same         bool
	}{
		"navigation": {`Home`, `Start`, true},
		"markup":     {`<h1>Storm</h1>`, `<h2 class=x><b>storm</b></h2>`, true},
		"date":       {`Monday, 2 March 2026, at 10:15 a.m.`, `Tuesday, 31 December 2027, at 9:00 p.m.`, true},
		"number":     {`12 people`, `1,300 persons`, true},
		"script":     {`<main>`, `<script>token("new")</script><main>`, true},
		"word":       {`were`, `are`, false},
		"title":      {`News`, `Olds`, false},
		"order":      {`were helped`, `helped were`, false},
		"more":       {`</main>`, `<p>More</main>`, false},
		"no number":  {`12 people`, `people`, false},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(page, c.old) {
				t.Fatal("nothing changes")
			}
			before, after := digestOf(t, page, "text/html"), digestOf(t, strings.Replace(page, c.old, c.changed, 1), "text/html")
			if before.Words == after.Words != c.same {
				t.Errorf("digests %x and %x", before, after)
			}
		})
	}
}

func TestWordsOfTexts(t *testing.T) {
	for name, c := range map[string]struct {
		one, other, contentType string
		same                    bool
	}{
		"Chinese dates":            {"今天是2026年11月22日 新闻", "今天是2025年1月3日 新闻", "text/plain", true},
		"Chinese text":             {"今天是2026年 新闻", "今天是2026年 旧闻", "text/plain", false},
		"Arabic numbers":           {"قبل ٣ ساعات الخبر الأول", "قبل ٧ ساعات الخبر الأول", "text/plain", true},
		"a number spoils one line": {"count 1\nFirst word", "count 2\nFirst word", "text/plain", true},
		"the next line counts":     {"count 1\nFirst word", "count 1\nOther word", "text/plain", false},
		"all is navigation":        {"<nav>one</nav>", "<nav>two</nav>", "text/html", false},
		"charset":                  {"\xE9t\xE9", "\xEAt\xE9", "text/plain; charset=iso-8859-1", false},
	} {
		t.Run(name, func(t *testing.T) {
			one, other := digestOf(t, c.one, c.contentType), digestOf(t, c.other, c.contentType)
			if one.Words == other.Words != c.same {
				t.Errorf("digests %x and %x", one, other)
			}
		})
	}
	if d := digestOf(t, "<table><tr><td>1<td>2</table>", "text/html"); d.Words != 0 || d.Text == 0 {
		t.Errorf("numbers alone have the digest %x", d)
	}
}

// TestTextChanges checks that Digest.Text differs after any change of what the page shows, and
// only then.
func TestTextChanges(t *testing.T) {
	const page = `<!doctype html><html lang=en><head><title>Shop 1</title><meta name=description content="A shop"><script>token="a1"</script></head><body class=b1>
<nav><a href=/>3 items</a></nav><main><h1>Pumps</h1><!-- 17 --><p id=p1 data-x=1>Version 17.4 costs 99 dollars, or 5 milligrams of gold.
<p>Temperature: -5 °C, from 3 p.m.<p>Le prix est de 12 €.<p>Die Maße: 5 m²<p>价格是九十九元，库存12件<p>価格は１２円です<p>السعر ١٢ ريال<p>Цена 12 рублей
<img src=a.png alt="One pump"><input type=hidden name=csrf value=a1></main><footer>Visitor 17</footer></body></html>`
	for name, c := range map[string]struct {
		old, changed string
		same         bool
	}{
		"one digit":          {"17.4", "17.5", false},
		"a number":           {"99 dollars", "79 dollars", false},
		"number and unit":    {"99 dollars", "79 euros", false},
		"unit alone":         {"99 dollars", "99 euros", false},
		"number and measure": {"5 milligrams", "50 micrograms", false},
		"decimal point":      {"17.4", "174", false},
		"decimal comma":      {"17.4", "17,4", false},
		"a sign":             {"-5 °C", "5 °C", false},
		"another sign":       {"-5 °C", "+5 °C", false},
		"a dash for a sign":  {"-5 °C", "–5 °C", false},
		"degrees":            {"°C", "°F", false},
		"half of the day":    {"3 p.m.", "3 a.m.", false},
		"currency sign":      {"12 €", "12 £", false},
		"superscript":        {"m²", "m³", false},
		"full stop":          {"gold.", "gold!", false},
		"case":               {"gold", "Gold", false},
		"order of words":     {"of gold", "gold of", false},
		"order of numbers":   {"99 dollars, or 5 milligrams", "5 dollars, or 99 milligrams", false},
		"a word more":        {"gold", "pure gold", false},
		"a word less":        {"costs ", "", false},
		"a space less":       {"of gold", "ofgold", false},
		"words parted":       {"dollars", "doll ars", false},
		"line for line":      {"<p>Le prix est de 12 €.", "", false},
		"umlaut":             {"Maße", "Masse", false},
		"accent":             {"prix", "príx", false},
		"Chinese numeral":    {"九十九元", "九十八元", false},
		"Chinese digits":     {"库存12件", "库存13件", false},
		"Chinese order":      {"价格", "格价", false},
		"Chinese mark":       {"，库存", "。库存", false},
		"Japanese digits":    {"１２円", "１３円", false},
		"Arabic digits":      {"١٢ ريال", "١٣ ريال", false},
		"Arabic unit":        {"١٢ ريال", "١٢ دينار", false},
		"Russian number":     {"12 рублей", "13 рублей", false},
		"Russian word":       {"12 рублей", "12 гривен", false},
		"title":              {"Shop 1", "Shop 2", false},
		"case of the title":  {"Shop 1", "shop 1", false},
		"heading":            {"<h1>Pumps", "<h1>Pump", false},
		"text for a comment": {"<!-- 17 -->", "17", false},

		"comment":         {"<!-- 17 -->", "<!-- 18 -->", true},
		"script":          {`token="a1"`, `token="b2"`, true},
		"attribute":       {"id=p1 data-x=1", "id=p2 data-x=9", true},
		"class":           {"class=b1", "class=b2", true},
		"hidden nonce":    {"value=a1", "value=b2", true},
		"address":         {"a.png", "b.png?17", true},
		"alternative":     {"One pump", "Two pumps", true}, // an alternative text is not indexed with the page
		"description":     {"A shop", "Shops", true},       // a description is not indexed either
		"markup":          {"costs", "<b>costs</b>", true},
		"white space":     {" of gold.", " of\n\t gold. ", true},
		"line for space":  {"or 5", "or<br>5", true},
		"navigation":      {"3 items", "4 items", true},
		"footer":          {"Visitor 17", "Visitor 18", true},
		"navigation more": {"</nav>", "<p>Sale ends today</nav>", true},
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(page, c.old) {
				t.Fatal("nothing changes")
			}
			before, after := digestOf(t, page, "text/html"), digestOf(t, strings.Replace(page, c.old, c.changed, 1), "text/html")
			if before.Text == after.Text != c.same {
				t.Errorf("digests %x and %x", before, after)
			}
		})
	}
	if d := digestOf(t, "<img src=a.png>", "text/html"); d.Text != 0 {
		t.Errorf("nothing has the digest %x", d)
	}
	if one, other := digestOf(t, "<title>a</title>", "text/html"), digestOf(t, "<p>a", "text/html"); one == other {
		t.Error("title and text are the same")
	}
	simple := digestOf(t, "Title\na 1\nb", "text/plain")
	if again, other := digestOf(t, "Title\na  1 b", "text/plain"), digestOf(t, "Title\na 2 b", "text/plain"); again.Text != simple.Text || other.Text == simple.Text {
		t.Error("of plain text, white space counts or numbers do not")
	}
}
