package fetch

import (
	"net"
	"time"

	"github.com/ncruces/go-dns"
)

const (
	maxNames   = 10_000    // answers kept, some 300 bytes each
	maxNameAge = time.Hour // however long their TTL
)

// cachingResolver returns a resolver that keeps the answers of name servers for
// as long as their TTL says, also those that a name does not exist; it keeps no
// answer for which a server claims a TTL of 0.
func cachingResolver(dial dns.DialFunc) *net.Resolver {
	return dns.NewCachingResolver(&net.Resolver{Dial: dial}, dns.MaxCacheEntries(maxNames), dns.MaxCacheTTL(maxNameAge))
}
