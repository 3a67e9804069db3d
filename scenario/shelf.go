package scenario

import (
	"sync"

	"servesim/sim/gpu"
	"servesim/sim/workload"
)

// A Shelf keeps what scenarios name, so that many plans that name the same read
// it once. The zero value is empty. It may be used by several goroutines; what it
// gives out is shared and must not be changed.
type Shelf struct {
	mu       sync.Mutex
	profiles map[string]func() (*gpu.Profile, error)
	models   map[string]func() (*gpu.Model, error)
	traces   map[traceKey]func() (*workload.Recording, error)
	digests  map[any]func() (*string, error) // by the pointers that profiles and models give out
}

// A traceKey is a trace and how it is read.
type traceKey struct {
	path, format string
	columns      workload.Columns
	sort         bool
	zero         workload.ZeroRule
	blockTokens  int32
}

// maxRecorded is the most requests of a trace that is kept in memory, some 100 MB of
// them.
const maxRecorded = 1 << 20

// recording returns the trace at path, read whole, or nil if it has to be read as
// it is replayed: it is too large to be kept, is standard input, or has a fault,
// which then is found where it is met.
func (s *Shelf) recording(path string, o workload.Options) *workload.Recording {
	if s == nil || path == StdinPath {
		return nil
	}
	r, err := kept(s, &s.traces, traceKey{path, o.Format, o.Columns, o.Sort, o.ZeroTokens, o.BlockTokens}, func(traceKey) (*workload.Recording, error) {
		t, err := workload.Open(path, o)
		if err != nil {
			return nil, err
		}
		defer t.Close()
		return workload.ReadWhole(t, maxRecorded)
	})()
	if err != nil {
		return nil
	}
	return r
}

// profile returns the profile called name, as gpu.LoadProfile does.
func (s *Shelf) profile(name string) (*gpu.Profile, error) {
	if s == nil {
		return gpu.LoadProfile(name)
	}
	return kept(s, &s.profiles, name, gpu.LoadProfile)()
}

// model returns the model called name, as gpu.LoadModel does.
func (s *Shelf) model(name string) (*gpu.Model, error) {
	if s == nil {
		return gpu.LoadModel(name)
	}
	return kept(s, &s.models, name, gpu.LoadModel)()
}

// digest returns what of returns, the digest of what thing, a profile or model,
// points to.
func (s *Shelf) digest(thing any, of func() string) string {
	if s == nil {
		return of()
	}
	sum, err := kept(s, &s.digests, thing, func(any) (*string, error) {
		sum := of()
		return &sum, nil
	})()
	if err != nil {
		return of()
	}
	return *sum
}

// kept returns what loads the thing called name once, and later says the same.
func kept[K comparable, T any](s *Shelf, things *map[K]func() (*T, error), name K, load func(K) (*T, error)) func() (*T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if *things == nil {
		*things = map[K]func() (*T, error){}
	}
	once, ok := (*things)[name]
	if !ok {
		once = sync.OnceValues(func() (*T, error) { return load(name) })
		(*things)[name] = once
	}
	return once
}
