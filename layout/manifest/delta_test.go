package manifest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/racetest"
)

var start = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// whatIsListed compares all that a generation says, but not how it is stored.
var whatIsListed = cmp.Options{cmpopts.IgnoreUnexported(Manifest{}), cmpopts.EquateEmpty()}

// fill sets a value of any type to a random one. Lists get up to 4 entries. Numbers and texts come from
// a small set, so that entries often are equal, or have equal keys.
func fill(r *rand.Rand, v reflect.Value) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(start.Add(time.Duration(r.IntN(3)) * time.Minute)))
		return
	case layout.Version:
		v.Set(reflect.ValueOf(layout.Version{Epoch: uint64(r.IntN(2)) + 1, Token: uint64(r.IntN(3)) + 1}))
		return
	case layout.Identity:
		v.Set(reflect.ValueOf(layout.Identity{byte(r.IntN(3))}))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(r, v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(5), 5))
		for i := range v.Len() {
			fill(r, v.Index(i))
		}
	case reflect.Pointer:
		v.SetZero()
		if r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem())
		}
	case reflect.String:
		v.SetString([]string{"", "a", "b", "c"}[r.IntN(4)])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(r.IntN(3)))
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(r.IntN(3)))
	default:
		panic(fmt.Sprintf("the test cannot make a random %s", v.Type()))
	}
}

// edited changes random entries of random lists of a generation: it removes, inserts, replaces, moves
// or changes some.
func edited(r *rand.Rand, before Manifest) Manifest {
	after := before.Clone()
	v := reflect.ValueOf(&after).Elem()
	for i := range v.NumField() {
		field := v.Field(i)
		if !v.Type().Field(i).IsExported() || r.IntN(3) > 0 {
			continue
		}
		if field.Kind() != reflect.Slice || r.IntN(8) == 0 {
			fill(r, field)
			continue
		}
		for range 1 + r.IntN(3) {
			entry := reflect.New(field.Type().Elem()).Elem()
			fill(r, entry)
			n := field.Len()
			switch at := r.IntN(n + 1); {
			case at == n || r.IntN(3) == 0: // insert
				field.Set(reflect.AppendSlice(reflect.Append(field.Slice3(0, at, at), entry), field.Slice(at, n)))
			case r.IntN(3) == 0: // remove
				field.Set(reflect.AppendSlice(field.Slice3(0, at, at), field.Slice(at+1, n)))
			case r.IntN(3) == 0: // move
				reflect.Swapper(field.Interface())(at, r.IntN(n))
			case entry.Kind() == reflect.Struct: // change one field
				if k := r.IntN(entry.NumField()); entry.Type().Field(k).IsExported() {
					field.Index(at).Field(k).Set(entry.Field(k))
				}
			}
		}
	}
	return after
}

// commitNext stores a generation after another one, as Commit does, and returns it as a reader sees it.
func commitNext(t *testing.T, before, after Manifest) (Manifest, Entry) {
	t.Helper()
	after.Partition, after.Generation, after.Parent = before.Partition, before.Generation+1, before.hash
	stored, err := after.encode(&before)
	if err != nil {
		t.Fatal(err)
	}
	e, err := DecodeEntry(after.Partition, stored)
	if err != nil {
		t.Fatal(err)
	}
	read, err := e.After(before)
	if err != nil {
		t.Fatal(err)
	}
	if read.hash != after.hash || read.position != after.position || read.hash != layout.ContentHash(stored) {
		t.Fatalf("the committer says %s at %+v, and the reader %s at %+v", after.hash, after.position, read.hash, read.position)
	}
	return read, e
}

// TestDelta makes random generations, and random changes of them. A reader of a generation and of the
// delta after it must see the next generation as it was committed, and so must a reader of the hint.
func TestDelta(t *testing.T) {
	deltas, seeds := 0, racetest.Rounds(uint64(300), 50)
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 1))
		var m Manifest
		fill(r, reflect.ValueOf(&m).Elem())
		m.Partition, m.Generation, m.Time = 3, 6, start
		last, _ := commitNext(t, Manifest{Partition: 3, Generation: 6}, m)
		last.position.Bytes = 1 << 20 // so that no delta is too large beside it
		for range 3 {
			want := edited(r, last)
			want.Partition, want.Time = 3, start
			got, e := commitNext(t, last, want)
			if diff := cmp.Diff(want, got, whatIsListed, cmpopts.IgnoreFields(Manifest{}, "Generation", "Parent")); diff != "" {
				t.Fatalf("seed %d, delta %v (-want +got):\n%s", seed, !e.IsWhole(), diff)
			}
			copied, err := got.encodeCopy()
			if err != nil {
				t.Fatal(err)
			}
			hint, err := Decode(3, copied)
			if err != nil || hint.hash != got.hash || hint.position != got.position || !Equal(&hint, &got) {
				t.Fatalf("seed %d: the hint is another generation, %v:\n%s", seed, err, cmp.Diff(got, hint, whatIsListed))
			}
			if !e.IsWhole() {
				deltas++
			}
			last = got
		}
	}
	if deltas < int(seeds)*5/2 {
		t.Errorf("only %d of %d generations were stored as deltas", deltas, 3*seeds)
	}
}

// TestEveryFieldIsCompared changes each field of an entry of each list in turn. A delta must have the
// change.
func TestEveryFieldIsCompared(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	lists := func(m *Manifest) []reflect.Value {
		v := reflect.ValueOf(m).Elem()
		all := []reflect.Value{reflect.ValueOf(&m.Dictionaries.All).Elem()}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Field(i).Kind() == reflect.Slice {
				all = append(all, v.Field(i))
			}
		}
		return all
	}
	before := Manifest{Partition: 3, Generation: 6, Dictionaries: new(Dictionaries), position: position{6, start, 1 << 20, 0}}
	for _, list := range lists(&before) {
		list.Set(reflect.MakeSlice(list.Type(), 3, 3))
		for i := range list.Len() {
			fill(r, list.Index(i))
		}
	}
	compared := 0
	for k, list := range lists(&before) {
		for field := range list.Type().Elem().NumField() {
			after := before.Clone()
			entry := lists(&after)[k].Index(1)
			old := entry.Field(field).Interface()
			for cmp.Equal(old, entry.Field(field).Interface(), cmpopts.EquateEmpty()) {
				fill(r, entry.Field(field))
			}
			got, _ := commitNext(t, before, after)
			if diff := cmp.Diff(lists(&after)[k].Interface(), lists(&got)[k].Interface(), whatIsListed); diff != "" || Equal(&before, &got) {
				t.Errorf("field %s of %s (-want +got):\n%s", list.Type().Elem().Field(field).Name, list.Type().Elem(), diff)
			}
			compared++
		}
	}
	if compared < 40 {
		t.Errorf("only %d fields were compared", compared)
	}
}

func TestChanges(t *testing.T) {
	type changes = []change[byte]
	for name, test := range map[string]struct {
		before, after string
		want          changes
	}{
		"equal":      {"abc", "abc", nil},
		"appended":   {"ab", "abcd", changes{{At: 2, Put: []byte("cd")}}},
		"removed":    {"abcd", "acd", changes{{At: 1, Drop: 1}}},
		"replaced":   {"abcd", "axcdy", changes{{At: 1, Drop: 1, Put: []byte("x")}, {At: 4, Put: []byte("y")}}},
		"merged":     {"abcdef", "axef", changes{{At: 1, Drop: 3, Put: []byte("x")}}},
		"moved":      {"abcd", "acdb", changes{{At: 1, Drop: 1}, {At: 4, Put: []byte("b")}}},
		"from empty": {"", "ab", changes{{Put: []byte("ab")}}},
		"to empty":   {"ab", "", changes{{Drop: 2}}},
		"doubled":    {"ab", "abb", changes{{At: 2, Put: []byte("b")}}},
	} {
		got := changesOf([]byte(test.before), []byte(test.after), func(b *byte) byte { return *b }, equal)
		if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if after, err := applied([]byte(test.before), got); err != nil || string(after) != test.after {
			t.Errorf("%s: %q, %v", name, after, err)
		}
	}
	for _, wrong := range []changes{{{At: -1}}, {{At: 4}}, {{Drop: -1}}, {{At: 2, Drop: 2}}, {{At: 1, Drop: 1}, {At: 1, Drop: 1}}, {{At: 1, Drop: int(^uint(0) >> 1)}}} {
		if after, err := applied([]byte("abc"), wrong); err == nil {
			t.Errorf("%+v made %q", wrong, after)
		}
	}
}

// TestCheckpoints checks which generations are stored whole.
func TestCheckpoints(t *testing.T) {
	large := Manifest{Partition: 3, Time: start}
	r := rand.New(rand.NewPCG(1, 3))
	for range 4000 {
		created := start.Add(time.Duration(r.Uint64N(1<<30)) * time.Millisecond)
		large.Add(Package{Key: layout.PackageKey(3, layout.PackageName{Base: 2, Created: created}), Bytes: r.Int64N(1 << 30)})
	}
	base, first := commitNext(t, Manifest{Partition: 3}, large)
	if !first.IsWhole() {
		t.Error("the first generation is a delta")
	}
	var whole []uint64
	last := base
	for range 250 {
		after := last.Clone()
		after.Packages[last.Generation].Indexed = true
		var e Entry
		if last, e = commitNext(t, last, after); e.IsWhole() {
			whole = append(whole, e.Generation)
		} else if e.bytes > 600 {
			t.Errorf("generation %d takes %d bytes", e.Generation, e.bytes)
		}
	}
	if diff := cmp.Diff([]uint64{101, 201}, whole); diff != "" {
		t.Errorf("whole generations (-want +got):\n%s", diff)
	}
	for name, test := range map[string]struct {
		edit func(*Manifest)
		want bool
	}{
		"a day later": {func(m *Manifest) { m.Time = start.Add(24 * time.Hour) }, true},
		"most of it is changed": {func(m *Manifest) {
			for i := range m.Packages {
				m.Packages[i].Bytes = r.Int64N(1 << 40)
			}
		}, true},
		"restated":        {func(m *Manifest) { m.Restate() }, true},
		"nothing changed": {func(*Manifest) {}, false},
	} {
		after := base.Clone()
		test.edit(&after)
		if _, e := commitNext(t, base, after); e.IsWhole() != test.want {
			t.Errorf("%s: whole is %v", name, e.IsWhole())
		}
	}
}

// TestTooLarge checks that a generation is not stored if no program could read it.
func TestTooLarge(t *testing.T) {
	defer func(before int) { largest = before }(largest)
	largest = 500
	m := Manifest{Generation: 1, Learnt: string(make([]byte, 500))}
	if _, err := m.encode(new(Manifest)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("encoded with %v", err)
	}
}

// FuzzDecodeEntry decodes arbitrary JSON as a generation, and applies it to another one. What is
// accepted must be stored and read again unchanged.
func FuzzDecodeEntry(f *testing.F) {
	base := Manifest{Partition: 0, Generation: 6, Time: start, hash: "parent", position: position{6, start, 1 << 20, 0}}
	base.Packages = []Package{{ID: 0, Key: "a"}, {ID: 1, Key: "b"}}
	base.Segments = []Segment{{Key: "s", Parts: []Part{{1, 2}}}, {Key: "t", Parts: []Part{{1, 2}}}}
	for _, seed := range []string{
		`{"format":3,"log":{"checkpoint":6,"bytes":9},"partition":0,"generation":7,"parent":"parent","packages":[{"at":1,"drop":1,"put":[{"id":2}]}],"segments":[{"at":0,"drop":1,"put":[{"key":"s","parts":null,"documents":3}]}]}`,
		`{"format":3,"log":{"checkpoint":6},"partition":0,"generation":7,"parent":"parent","dictionaries":{"all":[{"put":[{"from":"en"}]}]},"consumed":[{"at":-1}]}`,
		`{"format":3,"partition":0,"generation":7,"packages":[{"id":1}]}`,
		`{"format":2,"partition":0,"generation":7,"gone":[{"id":"00"}]}`,
		`{"format":3,"log":{"checkpoint":9},"generation":7}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		if len(content) < 2 {
			return
		}
		e, err := DecodeEntry(0, compress(layout.Seal(content)))
		if err != nil {
			return
		}
		m, err := e.After(base)
		if err != nil || m.Generation != base.Generation+1 {
			return
		}
		if y := m.Time.Year(); y < 0 || y > 9999 { // such a time cannot be written as JSON
			return
		}
		m.Time = start
		m.Restate()
		if _, err := m.encode(&base); err != nil {
			return // a time in a list
		}
		got, _ := commitNext(t, base, m)
		if diff := cmp.Diff(m, got, whatIsListed, cmpopts.IgnoreFields(Manifest{}, "Parent")); diff != "" {
			t.Errorf("(-stored +read):\n%s", diff)
		}
	})
}
