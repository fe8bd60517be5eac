package frontier

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/layout/racetest"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
	"github.com/bucketsearch/bucketsearch/strategy/membership"
)

// TestBand: the Lua scripts compute the same bands as membership.Band. This is tested for every depth
// without a weight, and for every weight at some depths: 0 to 17, around 256, and the greatest two.
func TestBand(t *testing.T) {
	bands := redis.NewScript(sourceOf("keys", "known", "shared") + `
local answer = ''
for depth = tonumber(ARGV[1]), tonumber(ARGV[2]) do
  local place = string.char(math.floor(depth / 256), depth % 256)
  for i = 3, #ARGV do answer = answer .. string.char(65 + band(place .. string.char(tonumber(ARGV[i])), 1)) end
end
return answer
`)
	every := make([]any, 256)
	for i := range every {
		every[i] = i
	}
	redistest.Each(t, func(t *testing.T, rdb *redis.Client) {
		for _, part := range []struct {
			first, last int
			weights     []any
		}{
			{0, racetest.Rounds(65535, 3000), []any{0}}, {0, 17, every}, {255, 257, every}, {65534, 65535, every},
		} {
			var got string
			want := []byte{}
			for first := part.first; first <= part.last; first += 200 { // in parts, so that no script builds a long text
				args := append([]any{first, min(first+199, part.last)}, part.weights...)
				answer, err := New(rdb, 0).run(t.Context(), bands, args...).Text()
				if err != nil {
					t.Fatal(err)
				}
				got += answer
			}
			for depth := part.first; depth <= part.last; depth++ {
				for _, weight := range part.weights {
					want = append(want, byte('A'+membership.Band(uint16(depth), uint8(weight.(int)))))
				}
			}
			if len(got) != len(want) {
				t.Fatalf("%d answers, want %d", len(got), len(want))
			}
			for i := range want {
				if n := len(part.weights); got[i] != want[i] {
					t.Fatalf("depth %d, weight %v: band %c, want %c", part.first+i/n, part.weights[i%n], got[i], want[i])
				}
			}
		}
	})
}
