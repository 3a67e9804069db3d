package main

import (
	"servesim/internal/strict"
	"servesim/sim"
	"servesim/sim/workload"
)

type transformSection struct {
	Limit *int64 `toml:"limit"`
}

func (t *transformSection) check() []strict.Fault { return nil }
func (t *transformSection) over(s workload.Source, seed sim.Seed) (workload.Source, error) { return s, nil }
func (in *input) clipped() []workload.Count { return nil }
