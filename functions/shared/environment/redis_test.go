package environment

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
)

// TestOpenRedis: the address decides whether the client is one of a single server or of a Redis Cluster.
func TestOpenRedis(t *testing.T) {
	for address, want := range map[string]string{
		"redis://:secret@a:1/2":                 "server a:1, database 2, password secret",
		"redis://:secret@a:1?addr=b:2&addr=c:3": "cluster [a:1 b:2 c:3], password secret",
		"rediss://a?addr=a:6379":                "cluster [a:6379 a:6379], password , TLS as a",
		"rediss://a":                            "server a:6379, database 0, password , TLS as a",
		"http://a?addr=b":                       "error",
		"redis://a/x":                           "error",
		"redis://a?addr=b":                      "error", // no port
		"a:1":                                   "error",
		"redis://a:1?addr=b:2&no_such_option=yes": "error",
	} {
		got := "error"
		opened, err := OpenRedis(address, new(vitals.Traffic))
		switch c := opened.(type) {
		case *redis.Client:
			o := c.Options()
			got = fmt.Sprintf("server %s, database %d, password %s", o.Addr, o.DB, o.Password)
			if o.TLSConfig != nil {
				got += ", TLS as " + o.TLSConfig.ServerName
			}
		case *redis.ClusterClient:
			o := c.Options()
			got = fmt.Sprintf("cluster %v, password %s", o.Addrs, o.Password)
			if o.TLSConfig != nil {
				got += ", TLS as " + o.TLSConfig.ServerName
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || (err != nil) != (want == "error") {
			t.Errorf("%s: %v %s", address, err, diff)
		}
	}
}

// TestWrongRedis checks that the error for a wrong address shows no password.
func TestWrongRedis(t *testing.T) {
	for address, want := range map[string]string{
		"nowhere":                       `--redis is "nowhere"; write an address such as redis://127.0.0.1:6379/0, or redis://first:6379?addr=second:6379 of a Redis Cluster`,
		"redis://work:se/@cr\net@a:1/0": `--redis is "redis://…@a:1/0"; write an address such as redis://127.0.0.1:6379/0, or redis://first:6379?addr=second:6379 of a Redis Cluster; in the password, write %2F for /`,
		"work:secret@a:1":               `--redis is "…@a:1"; write an address such as redis://127.0.0.1:6379/0, or redis://first:6379?addr=second:6379 of a Redis Cluster; in the password, write %2F for /`,
	} {
		if diff := cmp.Diff(want, WrongRedis("--redis", address).Error()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", address, diff)
		}
	}
}
