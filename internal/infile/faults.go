package infile

import (
	"fmt"
	"slices"
	"strings"
)

// mostFaults is how many faults of a file are told; the rest is counted.
const mostFaults = 20

// Faults are what is wrong with one file, in the order in which it was found.
// The zero value has none.
type Faults struct {
	list []*Fault
	more int64
}

// Add adds f, or counts it if enough are known.
func (f *Faults) Add(fault *Fault) {
	if len(f.list) == mostFaults {
		f.more++
		return
	}
	f.list = append(f.list, fault)
}

// Len is the number of faults that were added.
func (f *Faults) Len() int64 { return int64(len(f.list)) + f.more }

// List returns the faults that are told.
func (f *Faults) List() []*Fault { return slices.Clone(f.list) }

// Err returns f as an error, or nil if there are none.
func (f *Faults) Err() error {
	if f.Len() == 0 {
		return nil
	}
	return f
}

// Error returns the faults, a line each, and how many more there are.
func (f *Faults) Error() string {
	var b strings.Builder
	for i, fault := range f.list {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(fault.Error())
	}
	if f.more > 0 {
		fmt.Fprintf(&b, "\n%s: and %d more of them", f.list[0].File, f.more)
	}
	return b.String()
}

// Unwrap returns the faults that are told, for errors.As and errors.Is.
func (f *Faults) Unwrap() []error {
	var list []error
	for _, fault := range f.list {
		list = append(list, fault)
	}
	return list
}
