package request

import (
	"net/http/httptest"
	"testing"
)

func TestOrigin(t *testing.T) {
	r := httptest.NewRequest("GET", "http://search.example.org:8080/a", nil)
	if got := Origin(r); got != "http://search.example.org:8080" {
		t.Error(got)
	}
	r.Header.Set("X-Forwarded-Proto", "https")
	if got := Origin(r); got != "https://search.example.org:8080" {
		t.Error("behind a proxy: " + got)
	}
}

func TestHosts(t *testing.T) {
	for host, want := range map[string]struct{ loopback, public bool }{
		"localhost":                          {true, false},
		"LOCALHOST:8080":                     {true, false},
		"127.0.0.1":                          {true, false},
		"127.8.9.10:80":                      {true, false},
		"[::1]:8080":                         {true, false},
		"::1":                                {true, false},
		"[::ffff:127.0.0.1]:80":              {true, false},
		"localhost.example.org":              {false, true},
		"search.example.org:80":              {false, true},
		"abc.lambda-url.eu-central-1.on.aws": {false, true},
		"192.0.2.7:8080":                     {false, true},
		"192.168.1.5:8080":                   {false, false},
		"[fd00::7]:80":                       {false, false},
		"0.0.0.0":                            {false, false},
		"intranet":                           {false, false},
		"search.internal":                    {false, false},
		"printer.local:631":                  {false, false},
		"com":                                {false, false},
		"":                                   {false, false},
	} {
		if got := IsLoopback(host); got != want.loopback {
			t.Errorf("%q: loopback %v", host, got)
		}
		if got := IsPublic(host); got != want.public {
			t.Errorf("%q: public %v", host, got)
		}
	}
}
