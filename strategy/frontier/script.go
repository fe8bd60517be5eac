package frontier

import (
	"embed"

	"github.com/redis/go-redis/v9"
)

//go:embed script/*.lua
var sources embed.FS

// chunk is the maximum number of entries that are given to one call of a script. More would take
// too long, because Redis serves no other client while a script runs.
const chunk = 500

var (
	openScript   = script("open")
	checkScript  = script("check")
	admitScript  = script("arrive", "admit")
	renewScript  = script("arrive", "renew")
	markScript   = script("mark")
	leaseScript  = script("lease")
	extendScript = script("extend")
	settleScript = script("finish", "settle")
	expireScript = script("finish", "expire")
	resetScript  = script("reset")
	takeScript   = script("take")
	moveScript   = script("move")
	forgetScript = script("forget")
	dropScript   = script("drop")
	lookScript   = script("look")
	retireScript = redis.NewScript(sourceOf("free", "keys", "known", "shared", "retire"))
	learnScript  = script("learn")
	restScript   = script("finish", "rest")
	holdScript   = script("hold")
)

// script returns the script whose text is that of script/<part>.lua for each part, after the parts
// that all scripts share.
func script(parts ...string) *redis.Script {
	return redis.NewScript(sourceOf(append([]string{"keys", "known", "shared"}, parts...)...))
}

// sourceOf returns the texts of script/<part>.lua for each part, one after another.
func sourceOf(parts ...string) (text string) {
	for _, part := range parts {
		source, err := sources.ReadFile("script/" + part + ".lua")
		if err != nil {
			panic(err) // embedded: cannot happen in a program that was built
		}
		text += string(source)
	}
	return text
}
