package request

import "net/http"

// Origin returns the scheme and host by which a client has reached this server, such as
// https://search.example.org. A proxy in front of the server may say by X-Forwarded-Proto that the
// client reached it by https.
func Origin(r *http.Request) string {
	if IsSecure(r) {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// IsSecure reports whether the client has sent the request by https, to this server or to a proxy in
// front of it.
func IsSecure(r *http.Request) bool {
	return r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https"
}
