package pdf

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/emscripten"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/pdf/fuel"
)

//go:embed pdfium.wasm
var library []byte

// engine is the compiled library PDFium, and the runtime in which its instances run.
type engine struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
}

// compiled returns the engine, which has the library PDFium in compiled form. The first call
// compiles the library, and later calls return the same engine.
var compiled = sync.OnceValues(func() (*engine, error) {
	metered, err := fuel.Meter(library)
	if err != nil {
		return nil, err
	}
	ctx := experimental.WithCompilationWorkers(context.Background(), runtime.GOMAXPROCS(0))
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(MaxMemory / pageSize)
	e := &engine{runtime: wazero.NewRuntimeWithConfig(ctx, config)}
	if e.module, err = e.runtime.CompileModule(ctx, metered); err != nil {
		return nil, err
	}
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, e.runtime); err != nil {
		return nil, err
	}
	return e, e.environment(ctx)
})

// pageSize is the size in bytes of a page of WebAssembly's memory.
const pageSize = 64 << 10

// environment defines the functions that the library PDFium imports from the module env. In a
// browser, JavaScript would define them. Here, the functions for long jumps (C's setjmp and
// longjmp) come from package emscripten, and the others from the map in the variable answers.
func (e *engine) environment(ctx context.Context) error {
	environment := e.runtime.NewHostModuleBuilder("env")
	jumps, err := emscripten.NewFunctionExporterForModule(e.module)
	if err != nil {
		return err
	}
	jumps.ExportFunctions(environment)
	for _, f := range e.module.ImportedFunctions() {
		module, name, _ := f.Import()
		if answer, found := answers[name]; found && module == "env" {
			environment.NewFunctionBuilder().WithGoModuleFunction(answer, f.ParamTypes(), f.ResultTypes()).Export(name)
		}
	}
	_, err = environment.Instantiate(ctx)
	return err
}

// answers holds the functions that the library imports, by name. They let the library's memory
// grow, tell the library no time of day, and refuse it all access to files.
var answers = map[string]api.GoModuleFunc{
	"emscripten_resize_heap": grow,
	"_abort_js":              func(context.Context, api.Module, []uint64) { panic(errors.New("the library gave up")) },
	"emscripten_date_now":    zero,
	"_tzset_js":              nothing,
	"_localtime_js":          noDate,
	"_gmtime_js":             noDate,
	"__syscall_openat":       refuse,
	"__syscall_fcntl64":      refuse,
	"__syscall_ioctl":        refuse,
	"__syscall_fstat64":      refuse,
	"__syscall_stat64":       refuse,
	"__syscall_newfstatat":   refuse,
	"__syscall_lstat64":      refuse,
	"__syscall_ftruncate64":  refuse,
	"__syscall_getdents64":   refuse,
	"__syscall_unlinkat":     refuse,
	"__syscall_rmdir":        refuse,
}

// grow enlarges the library's memory to the requested size in bytes. Its answer to the library is
// 1, or 0 if the size is more than MaxMemory.
func grow(_ context.Context, m api.Module, stack []uint64) {
	want, have := uint64(uint32(stack[0])), uint64(m.Memory().Size())
	stack[0] = 1
	if want > have {
		if _, ok := m.Memory().Grow(uint32((want - have + pageSize - 1) / pageSize)); !ok {
			stack[0] = 0
		}
	}
}

// noDate answers every request for a date with the same date: all fields of struct tm are 0.
func noDate(_ context.Context, m api.Module, stack []uint64) {
	m.Memory().Write(uint32(stack[1]), make([]byte, 44)) // struct tm
}

func refuse(_ context.Context, _ api.Module, stack []uint64) {
	const noSuchCall = -52 // ENOSYS of WASI
	stack[0] = api.EncodeI32(noSuchCall)
}

func zero(_ context.Context, _ api.Module, stack []uint64) { stack[0] = 0 }

func nothing(context.Context, api.Module, []uint64) {}

// instance runs the library PDFium for one document. It keeps its first error in err; all calls
// after that return 0.
type instance struct {
	ctx       context.Context
	module    api.Module
	functions map[string]api.Function
	fuel      api.MutableGlobal // number of instructions that the instance may still execute
	given     int64             // number of instructions that the instance was given at first
	err       error
}

func (e *engine) newInstance(instructions int64) (*instance, error) {
	ctx := context.Background() // nothing but fuel ends a call
	m, err := e.runtime.InstantiateModule(ctx, e.module, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, err
	}
	i := &instance{ctx: ctx, module: m, functions: map[string]api.Function{}, given: instructions}
	i.fuel = m.ExportedGlobal(fuel.Global).(api.MutableGlobal)
	i.fuel.Set(uint64(instructions))
	i.call("emscripten_stack_init")
	i.call("__wasm_call_ctors")
	i.call("FPDF_InitLibrary")
	return i, i.err
}

func (i *instance) close() { _ = i.module.Close(i.ctx) } // frees memory, cannot fail

func (i *instance) call(name string, arguments ...uint64) uint64 {
	if i.err != nil {
		return 0
	}
	f := i.functions[name]
	if f == nil {
		if f = i.module.ExportedFunction(name); f == nil {
			i.err = errors.New("the library has no " + name)
			return 0
		}
		i.functions[name] = f
	}
	results, err := f.Call(i.ctx, arguments...)
	if err != nil {
		what, _, _ := strings.Cut(err.Error(), "\n") // without the trace of its stack
		i.err = errors.New(name + ": " + what)
		if int64(i.fuel.Get()) < 0 {
			i.err = fmt.Errorf("it takes more than %d million instructions", i.given/1e6)
		}
		return 0
	}
	if len(results) == 0 {
		return 0
	}
	return results[0]
}

// integer calls a function of the library that returns an int. A negative result, which means a
// failure, becomes 0.
func (i *instance) integer(name string, arguments ...uint64) int {
	return max(0, int(api.DecodeI32(i.call(name, arguments...))))
}

// allocate reserves size bytes of the library's memory, and returns their address. The
// caller must free them.
func (i *instance) allocate(size int) uint64 {
	p := i.call("malloc", uint64(size))
	if p == 0 && i.err == nil {
		i.err = errors.New("it takes more memory than allowed")
	}
	return p
}

func (i *instance) free(address uint64) { i.call("free", address) }

// bytes returns size bytes of the library's memory at an address, valid until the next call; nil
// after an error.
func (i *instance) bytes(address uint64, size int) []byte {
	if i.err != nil {
		return nil
	}
	b, ok := i.module.Memory().Read(uint32(address), uint32(size))
	if !ok {
		i.err = errors.New("the library points outside of its memory")
	}
	return b
}

// sized calls a function of the library that writes a string into a buffer, and returns this string.
// It allocates the buffer, and passes the buffer's address and size (maxField) as the last two
// arguments. If the string is longer than maxField, the result is nil.
func (i *instance) sized(name string, arguments ...uint64) []byte {
	buffer := i.allocate(maxField)
	defer i.free(buffer)
	n := i.integer(name, append(arguments, buffer, maxField)...)
	if n > maxField {
		return nil
	}
	return append([]byte(nil), i.bytes(buffer, n)...)
}
