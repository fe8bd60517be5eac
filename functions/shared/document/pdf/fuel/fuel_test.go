package fuel

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// vector returns an encoded WebAssembly vector: the number of elements, and the elements. The
// number must be below 128.
func vector(elements ...string) string { return sized(len(elements), strings.Join(elements, "")) }

func sized(n int, content string) string { return string([]byte{byte(n)}) + content }

func text(s string) string { return sized(len(s), s) }

func sectionOf(id byte, elements ...string) string {
	return string([]byte{id}) + text(vector(elements...))
}

func functionOf(locals, code string) string { return text(locals + code + "\x0B") }

const noLocals = "\x00"

// work is a module that imports env.host and exports functions, each with one i32 as its argument
// n:
//
//	sum     adds the numbers from 1 to n
//	fill    fills n bytes of memory
//	host    calls the imported function if n is not 0
//	nest    has a loop of n turns, with a loop of three turns in each
//	endless calls itself without end
func work() []byte {
	const (
		isZero = "\x20\x00\x45"         // local.get 0, i32.eqz
		less   = "\x20\x00\x41\x7F\x6A" // local.get 0, i32.const -1, i32.add
	)
	function := func(name string, index byte) string { return text(name) + "\x00" + string([]byte{index}) }
	sum := "\x02\x40" + "\x03\x40" + isZero + "\x0D\x01" + // block, loop, br_if 1
		"\x20\x01\x20\x00\x6A\x21\x01" + less + "\x21\x00" + "\x0C\x00" + "\x0B\x0B" + "\x20\x01"
	fill := "\x41\x00\x41\x07\x20\x00\xFC\x0B\x00" + "\x41\x00"
	host := isZero + "\x04\x40\x05\x10\x00\x0B" + "\x41\x00" // if, else, call 0, end
	nest := "\x03\x40" +                                     // loop
		"\x41\x03\x21\x01" + "\x03\x40" + "\x20\x01\x41\x7F\x6A\x22\x01\x0D\x00" + "\x0B" + // three turns
		less + "\x22\x00" + "\x0D\x00" + "\x0B" + "\x41\x00"
	endless := "\x20\x00\x10\x05"
	return []byte(preamble +
		sectionOf(types, "\x60\x00\x00", "\x60\x01\x7F\x01\x7F") +
		sectionOf(imports, text("env")+text("host")+"\x00\x00") +
		sectionOf(functions, "\x01", "\x01", "\x01", "\x01", "\x01") +
		sectionOf(5, "\x00\x01") +
		sectionOf(globals, "\x7F\x01\x41\x07\x0B") +
		sectionOf(exports, function("sum", 1), function("fill", 2), function("host", 3), function("nest", 4), function("endless", 5)) +
		sectionOf(codes, functionOf("\x01\x01\x7F", sum), functionOf(noLocals, fill), functionOf(noLocals, host),
			functionOf("\x01\x01\x7F", nest), functionOf(noLocals, endless)))
}

// instantiate runs a module in an engine of its own, and closes the engine at the end of the test.
func instantiate(t *testing.T, module []byte) (api.Module, api.MutableGlobal) {
	t.Helper()
	ctx := context.Background()
	r := wazero.NewRuntime(ctx)
	t.Cleanup(func() { _ = r.Close(ctx) })
	if _, err := r.NewHostModuleBuilder("env").NewFunctionBuilder().WithFunc(func() {}).Export("host").Instantiate(ctx); err != nil {
		t.Fatal(err)
	}
	m, err := r.Instantiate(ctx, module)
	if err != nil {
		t.Fatal(err)
	}
	g, _ := m.ExportedGlobal(Global).(api.MutableGlobal)
	return m, g
}

func meteredWork(t *testing.T) (api.Module, api.MutableGlobal) {
	t.Helper()
	module, err := Meter(work())
	if err != nil {
		t.Fatal(err)
	}
	return instantiate(t, module)
}

func TestFuelIsTakenForWork(t *testing.T) {
	plain, _ := instantiate(t, work())
	m, tank := meteredWork(t)
	for _, c := range []struct {
		function string
		argument uint64
		fuel     int64
	}{
		{"sum", 0, 5 + 13},
		{"sum", 100, 5 + 101*13}, // the last turn leaves
		{"fill", 0, 6},
		{"fill", 800, 6 + 100},
		{"host", 0, 7 + HostCall}, // taken at the entry, for either branch
		{"host", 1, 7 + HostCall},
		{"nest", 1, 3 + 1*9 + 1*3*6},
		{"nest", 10, 3 + 10*9 + 10*3*6},
	} {
		t.Run(fmt.Sprint(c.function, " ", c.argument), func(t *testing.T) {
			want, err := plain.ExportedFunction(c.function).Call(t.Context(), c.argument)
			if err != nil {
				t.Fatal(err)
			}
			tank.Set(uint64(c.fuel))
			got, err := m.ExportedFunction(c.function).Call(t.Context(), c.argument)
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("got %v, error %v, want %v", got, err, want)
			}
			if left := int64(tank.Get()); left != 0 {
				t.Errorf("%d of %d instructions are left", left, c.fuel)
			}
			tank.Set(uint64(c.fuel - 1))
			if _, err := m.ExportedFunction(c.function).Call(t.Context(), c.argument); err == nil || !strings.Contains(err.Error(), "unreachable") {
				t.Errorf("with one instruction less: error %v", err)
			}
			if _, err := m.ExportedFunction("sum").Call(t.Context(), 0); err == nil {
				t.Error("works without fuel")
			}
		})
	}
}

func TestRecursionEnds(t *testing.T) {
	m, tank := meteredWork(t)
	tank.Set(30_000)
	if _, err := m.ExportedFunction("endless").Call(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "unreachable") {
		t.Errorf("error %v", err)
	}
	if left := int64(tank.Get()); left != -3 { // the call of 3 instructions after the last full one
		t.Errorf("%d instructions are left", left)
	}
}

func TestMeterRefuses(t *testing.T) {
	all := string(work())
	body := func(code string) string {
		return preamble + sectionOf(types, "\x60\x00\x00") + sectionOf(functions, "\x00") + sectionOf(globals) + sectionOf(exports) +
			sectionOf(codes, functionOf(noLocals, code))
	}
	for name, c := range map[string]struct{ module, want string }{
		"nothing":             {"", "does not begin as a module"},
		"cut":                 {all[:len(all)-1], "1 bytes are missing"},
		"no functions":        {preamble, "no section 1"},
		"vectors":             {body("\xFD\x0C"), "function 0: instruction fd is not known"},
		"exceptions":          {body("\x06\x40"), "instruction 06 is not known"},
		"later instruction":   {body("\xFC\x12"), "instruction FC 18 is not known"},
		"no end":              {body("\x02\x40"), "1 bytes are missing"},
		"code behind its end": {body("\x0B"), "1 bytes stand behind its end"},
		"long number":         {body("\x0C" + strings.Repeat("\xFF", 11)), "a number is not LEB128"},
		"import":              {preamble + sectionOf(types) + sectionOf(imports, text("a")+text("b")+"\x04"), "an import of kind 4"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Meter([]byte(c.module))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestSignedNumbers(t *testing.T) {
	for n, want := range map[int64]string{
		0: "\x00", 63: "\x3F", 64: "\xC0\x00", 127: "\xFF\x00", 128: "\x80\x01", -1: "\x7F", -64: "\x40", -65: "\xBF\x7F",
		math.MaxInt32: "\xFF\xFF\xFF\xFF\x07",
	} {
		if diff := cmp.Diff(want, string(appendSigned(nil, n))); diff != "" {
			t.Errorf("%d: %s", n, diff)
		}
	}
}

// FuzzMeter checks that wazero, the WebAssembly engine, compiles every metered module whose
// original it compiles.
func FuzzMeter(f *testing.F) {
	f.Add(work())
	f.Fuzz(func(t *testing.T, module []byte) {
		metered, err := Meter(module)
		if err != nil {
			return
		}
		ctx := context.Background()
		r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithMemoryLimitPages(16))
		defer r.Close(ctx)
		if _, err := r.CompileModule(ctx, module); err != nil || strings.Contains(string(module), Global) {
			return
		}
		if _, err := r.CompileModule(ctx, metered); err != nil {
			t.Errorf("metered: %v", err)
		}
	})
}
