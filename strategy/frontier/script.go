package frontier

import (
	"embed"

	"github.com/redis/go-redis/v9"
)

//go:embed script/*.lua
var sources embed.FS

// chunk is how many entries one script call takes, so that none keeps Redis
// from others for long.
const chunk = 500

var (
	openScript   = script("open")
	admitScript  = script("admit")
	markScript   = script("mark")
	leaseScript  = script("lease")
	settleScript = script("settle")
	expireScript = script("expire")
	resetScript  = script("reset")
	learnScript  = script("learn")
)

// script reads script/<name>.lua, preceded by what all of them share.
func script(name string) *redis.Script {
	var text string
	for _, part := range []string{"shared", name} {
		source, err := sources.ReadFile("script/" + part + ".lua")
		if err != nil {
			panic(err) // embedded: cannot happen in a program that was built
		}
		text += string(source)
	}
	return redis.NewScript(text)
}
