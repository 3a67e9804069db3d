package scenario

import (
	"sync"

	"servesim/sim/gpu"
)

// A Shelf keeps what scenarios name, so that many plans that name the same read
// it once. The zero value is empty. It may be used by several goroutines; what it
// gives out is shared and must not be changed.
type Shelf struct {
	mu       sync.Mutex
	profiles map[string]func() (*gpu.Profile, error)
	models   map[string]func() (*gpu.Model, error)
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

// kept returns what loads the thing called name once, and later says the same.
func kept[T any](s *Shelf, things *map[string]func() (*T, error), name string, load func(string) (*T, error)) func() (*T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if *things == nil {
		*things = map[string]func() (*T, error){}
	}
	once, ok := (*things)[name]
	if !ok {
		once = sync.OnceValues(func() (*T, error) { return load(name) })
		(*things)[name] = once
	}
	return once
}
