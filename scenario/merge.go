package scenario

import (
	"errors"
	"fmt"
	"strings"

	"servesim/internal/strict"
	"servesim/sim"
	"servesim/sim/workload"
)

// A Part is one of the workloads that a scenario merges.
type Part struct {
	*RequestsSection
	Key   string // of its table
	Class string // labels its requests, if it isn't empty
}

// Parts returns the main workload and those that are merged with it, in order.
// They point into w.
func (w *WorkloadSection) Parts() []Part {
	list := []Part{{&w.RequestsSection, "workload", ""}}
	for i := range w.Merge {
		m := &w.Merge[i]
		list = append(list, Part{&m.RequestsSection, fmt.Sprintf("workload.merge[%d]", i), m.Class})
	}
	return list
}

// name returns what lines and counts call the part: merge[0] of workload.merge[0].
func (p Part) name() string {
	_, name, merged := cutLast(p.Key)
	if !merged {
		return p.Key
	}
	return name
}

// label returns what begins the names of the part's random streams, nothing for
// the main workload: it draws the same whatever is merged with it.
func (p Part) label() string {
	if _, name, merged := cutLast(p.Key); merged {
		return name + " "
	}
	return ""
}

// labelled says that the part's requests get its class, if it has one.
func (p Part) labelled() string {
	if p.Class == "" {
		return ""
	}
	return fmt.Sprintf("; class %q", p.Class)
}

// checkMerge returns what keeps the parts of w from being merged by time.
func (w *WorkloadSection) checkMerge() []strict.Fault {
	if len(w.Merge) == 0 {
		return nil
	}
	var faults []strict.Fault
	for _, p := range w.Parts() {
		if p.ClosedLoop != nil && p.Arrival == nil {
			faults = append(faults, strict.Fault{Key: p.Key + ".closed_loop", Text: "cannot be merged: " +
				"users who wait for their answers have no arrival times of their own to put in order; give an arrival in its place, or take merge out"})
		}
	}
	return faults
}

// total returns how many requests w draws, or -1 if nobody knows.
func (w *WorkloadSection) total() int64 {
	total := int64(0)
	for _, p := range w.Parts() {
		if p.Requests == nil {
			return -1
		}
		total += *p.Requests
	}
	return total
}

// merged opens every part of w and merges them; their counts go by their names.
func (in *Opened) merged(w *WorkloadSection, seed sim.Seed) (workload.Source, error) {
	var srcs []workload.NamedSource
	shut := func(err error) (workload.Source, error) {
		for _, s := range srcs {
			workload.CloseSource(s.Source)
		}
		return nil, err
	}
	for i, p := range w.Parts() {
		src, err := in.part(i, p, seed)
		if err != nil {
			return shut(p.blame(err))
		}
		src = &blamed{src, p}
		if p.Class != "" {
			src = workload.Label(src, p.Class)
		}
		srcs = append(srcs, workload.NamedSource{Source: src, Name: p.name()})
	}
	all, err := workload.MergeNamed(srcs...)
	if err != nil {
		return shut(err)
	}
	return all, nil
}

// blamed is the source of a part whose faults name the keys of that part.
type blamed struct {
	workload.Source
	part Part
}

// Next implements workload.Source.
func (b *blamed) Next() (workload.Request, error) {
	r, err := b.Source.Next()
	if err != nil {
		err = b.part.blame(err)
	}
	return r, err
}

// Close closes the source.
func (b *blamed) Close() error { return workload.CloseSource(b.Source) }

// blame returns err with the keys of the part where a fault of a trace names those
// of the main workload, which --set reaches and those of a list aren't.
func (p Part) blame(err error) error {
	var f *workload.Fault
	if !errors.As(err, &f) || p.Key == "workload" {
		return err
	}
	own := *f
	keys := strings.NewReplacer("--set ", p.Key+".", "workload.", p.Key+".")
	own.Field, own.Want, own.Fix = keys.Replace(f.Field), keys.Replace(f.Want), keys.Replace(f.Fix)
	return &own
}
