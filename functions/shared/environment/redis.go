package environment

import (
	"cmp"
	"net/url"
	"regexp"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

// dialTimeout is the time in which a connection to a node of a Redis Cluster must be made.
const dialTimeout = 5 * time.Second

// OpenRedis returns a client of the Redis at an address. Its traffic is counted by the given Traffic. It sends no
// request.
//
//	redis://host:6379/0                      one server
//	rediss://host:6379/0                     one server, with TLS
//	redis://first:6379?addr=second:6379      a Redis Cluster, by some of its nodes, which name the others
//	rediss://cluster:6379?addr=cluster:6379  a Redis Cluster that has one address for all nodes, with TLS
func OpenRedis(address string, traffic *vitals.Traffic) (redis.UniversalClient, error) {
	if parsed, err := url.Parse(address); err == nil && parsed.Query().Has("addr") {
		options, err := redis.ParseClusterURL(address)
		if err != nil {
			return nil, err
		}
		options.Dialer = traffic.Dial(redis.NewDialer(&redis.Options{TLSConfig: options.TLSConfig, DialTimeout: cmp.Or(options.DialTimeout, dialTimeout)}))
		return redis.NewClusterClient(options), nil
	}
	options, err := redis.ParseURL(address)
	if err != nil {
		return nil, err
	}
	options.Dialer = traffic.Dial(redis.NewDialer(options))
	return redis.NewClient(options), nil
}

// credentials matches the user and the password in an address, right or wrong, and what stands before them.
var credentials = regexp.MustCompile(`(?s)^(\w+://)?.*@`)

// WrongRedis returns the error for an address that OpenRedis does not accept, of the setting with the given name. It
// does not repeat the password, because errors get into logs.
func WrongRedis(setting, address string) error {
	form := "an address such as redis://127.0.0.1:6379/0, or redis://first:6379?addr=second:6379 of a Redis Cluster"
	if credentials.MatchString(address) {
		address = credentials.ReplaceAllString(address, "${1}…@")
		form += "; in the password, write %2F for /"
	}
	return literal.Wrong(setting, address, form)
}
