package topic

import "testing"

func TestNamed(t *testing.T) {
	tests := []struct{ address, want string }{
		{"https://a.org/b/c.html", "a.org/b/c"},
		{"https://a.org/b.html?q=x.y", "a.org/b?q=x.y"},
		{"https://a.org/b?q=x", "a.org/b?q=x"},
		{"https://a.org", "a.org"},
		{"https://a.org/v1.5/", "a.org/v1.5/"},
		{"https://a.org/%E8%8C%B6.html", "a.org/茶"},
		{"https://a.org/100%", "a.org/100%"},
		{"", ""},
	}
	for _, test := range tests {
		if got := addressWords(test.address); got != test.want {
			t.Errorf("addressWords(%q) = %q, want %q", test.address, got, test.want)
		}
	}
}

func TestParted(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", ""},
		{"Text search", "Text search"},
		{"HTTP", "HTTP"},
		{"QXmlReader", "QXmlReader Q Xml Reader"},
		{"HTTPServer in Go", "HTTPServer in Go HTTP Server in Go"},
		{"PostgreSQL", "PostgreSQL Postgre SQL"},
	}
	for _, test := range tests {
		if got := splitIdentifiers(test.text); got != test.want {
			t.Errorf("splitIdentifiers(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}
