package memory

import (
	"bufio"
	"bytes"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// machineBytes returns the memory in bytes that this process and its children may use
// together: the machine's memory or, if lower, the lowest limit of this process's control
// groups (version 2 or 1) and their ancestors. It returns 0 if that is not known. root is
// the root directory of a Linux system (proc(5), cgroups(7)).
func machineBytes(root fs.FS) int64 {
	least := total(root)
	for _, name := range limits(root) {
		content, err := fs.ReadFile(root, name)
		if err != nil {
			continue // there is no such file, or a namespace hides it
		}
		limit, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64)
		if err == nil && limit > 0 && (least == 0 || limit < least) { // "max", no limit, is not a number
			least = limit
		}
	}
	return least
}

// total returns the memory of the machine in bytes, 0 if it is not known.
func total(root fs.FS) int64 {
	content, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return 0
	}
	for lines := bufio.NewScanner(bytes.NewReader(content)); lines.Scan(); {
		if field := strings.Fields(lines.Text()); len(field) > 1 && field[0] == "MemTotal:" {
			kib, _ := strconv.ParseInt(field[1], 10, 64)
			return kib << 10
		}
	}
	return 0
}

// limits returns the names of the files with the memory limits of this process's control
// groups and of their ancestors.
func limits(root fs.FS) (names []string) {
	content, _ := fs.ReadFile(root, "proc/self/cgroup") // none without control groups
	for lines := bufio.NewScanner(bytes.NewReader(content)); lines.Scan(); {
		field := strings.SplitN(lines.Text(), ":", 3) // number:controllers:path
		if len(field) < 3 {
			continue
		}
		directory, file := "sys/fs/cgroup", "memory.max"
		switch {
		case field[1] == "":
		case strings.Contains(","+field[1]+",", ",memory,"):
			directory, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for group := path.Clean("/" + field[2]); ; group = path.Dir(group) {
			names = append(names, path.Join(directory, group, file))
			if group == "/" {
				break
			}
		}
	}
	return names
}
