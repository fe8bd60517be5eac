package memory

import (
	"testing"
	"testing/fstest"
)

const gib = 1 << 30

func TestMachine(t *testing.T) {
	const meminfo = "MemTotal:       25165824 kB\nMemFree:        1 kB\n" // 24 GiB
	for _, c := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"nothing tells", nil, 0},
		{"no control group", map[string]string{"proc/meminfo": meminfo}, 24 * gib},
		{"version 2", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/user/app\n",
			"sys/fs/cgroup/user/app/memory.max": "2147483648\n",
		}, 2 * gib},
		{"version 2, the limit is of the group above", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/user/app\n",
			"sys/fs/cgroup/user/app/memory.max": "max\n", "sys/fs/cgroup/user/memory.max": "3221225472\n",
		}, 3 * gib},
		{"version 2 in a namespace", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1073741824\n",
		}, gib},
		{"version 1", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/docker/x\n0::/\n",
			"sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes": "536870912\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":          "9223372036854771712\n",
		}, gib / 2},
		{"a limit beyond the machine", map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1099511627776\n",
		}, 24 * gib},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := make(fstest.MapFS)
			for name, content := range c.files {
				root[name] = &fstest.MapFile{Data: []byte(content)}
			}
			if got := machineBytes(root); got != c.want {
				t.Errorf("%d bytes, want %d", got, c.want)
			}
		})
	}
}

// The soft memory limits of the two processes of a system together are at most half of the
// machine's memory.
func TestLimits(t *testing.T) {
	for _, c := range []struct{ machine, command, store int64 }{
		{0, 0, 0},
		{24 * gib, 21 * gib / 2, 3 * gib / 2},
		{2 * gib, 7 * gib / 8, gib / 8},
		{256 << 20, 160 << 20, 64 << 20},
	} {
		if command, store := Command.limit(c.machine), Store.limit(c.machine); command != c.command || store != c.store {
			t.Errorf("of %d bytes %d and %d, want %d and %d", c.machine, command, store, c.command, c.store)
		}
	}
}

func TestGarbage(t *testing.T) {
	const room = 100
	for live, want := range map[uint64]int{0: 300, 25: 300, 30: 233, 40: 150, 50: 100, 60: 100, 100: 100, 5000: 100} {
		if got := percent(live, room); got != want {
			t.Errorf("of %d of %d bytes that live: %d %%, want %d", live, room, got, want)
		}
	}
}
