package pdf

import (
	"context"
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// instance is the library for one document. After its first error every call
// returns 0, and err says what it was.
type instance struct {
	ctx       context.Context
	module    api.Module
	functions map[string]api.Function
	err       error
}

func (e *engine) newInstance(ctx context.Context) (*instance, error) {
	m, err := e.runtime.InstantiateModule(ctx, e.module, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, err
	}
	i := &instance{ctx: ctx, module: m, functions: map[string]api.Function{}}
	i.call("emscripten_stack_init")
	i.call("__wasm_call_ctors")
	i.call("FPDF_InitLibrary")
	return i, i.err
}

func (i *instance) close() { _ = i.module.Close(context.Background()) } // frees memory, cannot fail

// call calls a function of the library.
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
		i.err = fmt.Errorf("%s: %w", name, err)
		if i.ctx.Err() != nil {
			i.err = fmt.Errorf("it takes more than %s", MaxTime)
		}
		return 0
	}
	if len(results) == 0 {
		return 0
	}
	return results[0]
}

// integer calls a function that returns an int, of which negative ones are
// failures; it returns at least 0.
func (i *instance) integer(name string, arguments ...uint64) int {
	return max(0, int(api.DecodeI32(i.call(name, arguments...))))
}

// allocate returns the address of size bytes, to be freed.
func (i *instance) allocate(size int) uint64 {
	p := i.call("malloc", uint64(size))
	if p == 0 && i.err == nil {
		i.err = errors.New("it takes more memory than allowed")
	}
	return p
}

func (i *instance) free(address uint64) { i.call("free", address) }

// bytes returns memory of the library, which changes with the next call.
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

// sized calls a function whose last arguments are a buffer and its size, which
// returns the size that it needs, and returns what it wrote.
func (i *instance) sized(name string, arguments ...uint64) []byte {
	buffer := i.allocate(maxField)
	defer i.free(buffer)
	n := i.integer(name, append(arguments, buffer, maxField)...)
	if n > maxField {
		return nil
	}
	return append([]byte(nil), i.bytes(buffer, n)...)
}
