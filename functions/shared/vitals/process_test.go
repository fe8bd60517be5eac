package vitals

import (
	"runtime"
	"testing"
)

func TestProcessOfLinux(t *testing.T) {
	p := readProcess()
	if p.Goroutines < 2 || p.Heap < 1<<10 {
		t.Errorf("process %+v", p)
	}
	if runtime.GOOS == "linux" && (p.CPUSeconds <= 0 || p.Resident < 1<<20 || p.Descriptors < 3) {
		t.Errorf("process %+v", p)
	}
}

func TestOctets(t *testing.T) {
	in, out := octets("TcpExt: InOctets OutOctets\nTcpExt: 1 2\nIpExt: InNoRoutes InOctets OutOctets\nIpExt: 3 44 555\n")
	if in != 44 || out != 555 {
		t.Errorf("in %d, out %d", in, out)
	}
	for _, text := range []string{"", "IpExt:\n", "IpExt: InOctets\n", "IpExt: InOctets OutOctets\nIpExt:\n"} {
		if in, out := octets(text); in != 0 || out != 0 {
			t.Errorf("%q: in %d, out %d", text, in, out)
		}
	}
}
