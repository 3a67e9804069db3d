package workload

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"servesim/sim"
)

// SpecFault is one fault of a Spec: the key at fault, as a dotted path below
// the table that holds the Spec, and what is wrong with it and how to mend it.
type SpecFault struct {
	Key     string
	Problem string
}

// Error returns "key: problem".
func (f *SpecFault) Error() string { return f.Key + ": " + f.Problem }

// specCheck collects the faults of a Spec in the order of its keys.
type specCheck struct{ faults []error }

func (c *specCheck) add(key, format string, args ...any) {
	c.faults = append(c.faults, &SpecFault{key, fmt.Sprintf(format, args...)})
}

// sub returns the path of key inside table; table is empty at the top.
func sub(table, key string) string {
	if table == "" {
		return key
	}
	return table + "." + key
}

// real checks that the number at key is finite and in [lo, hi]; what is the
// quantity in words. It returns 0 if it is missing or at fault.
func (c *specCheck) real(key string, v *float64, lo, hi float64, what string) float64 {
	switch {
	case v == nil:
		c.add(key, "missing; %s from %g to %g is needed", what, lo, hi)
	case !(*v >= lo && *v <= hi): // also not a number
		c.add(key, "is %g; %s from %g to %g is allowed", *v, what, lo, hi)
	default:
		return *v
	}
	return 0
}

// whole checks that the number at key is in [lo, hi].
func (c *specCheck) whole(key string, v *int64, lo, hi int64, what string) int64 {
	switch {
	case v == nil:
		c.add(key, "missing; %s from %d to %d is needed", what, lo, hi)
	case *v < lo || *v > hi:
		c.add(key, "is %d; %s from %d to %d is allowed", *v, what, lo, hi)
	default:
		return *v
	}
	return 0
}

// span checks that the duration at key is in [lo, hi].
func (c *specCheck) span(key string, v *sim.Duration, lo, hi sim.Duration, what string) sim.Duration {
	switch {
	case v == nil:
		c.add(key, "missing; %s from %v to %v is needed", what, lo, hi)
	case *v < lo || *v > hi:
		c.add(key, "is %v; %s from %v to %v is allowed", *v, what, lo, hi)
	default:
		return *v
	}
	return 0
}

// A specKey is a key of a table and whether the file gives it.
type specKey struct {
	name  string
	given bool
}

// A specKind is one value of a table's choosing key and the keys that belong
// to it, apart from those that belong to all.
type specKind struct {
	name string
	keys []string
}

// kind checks that chosen is one of kinds and that every given key belongs to
// it. It returns false if nothing more can be said about the table.
func (c *specCheck) kind(table, chooser, chosen string, kinds []specKind, keys []specKey) bool {
	var names []string
	for _, k := range kinds {
		if k.name != chosen {
			names = append(names, k.name)
			continue
		}
		for _, key := range keys {
			if key.given && !slices.Contains(k.keys, key.name) {
				c.add(sub(table, key.name), "has no meaning with %s = %q, whose keys are %s; remove it",
					chooser, chosen, strings.Join(k.keys, ", "))
			}
		}
		return true
	}
	if chosen == "" {
		c.add(sub(table, chooser), "missing; choose one of %s", strings.Join(names, ", "))
	} else {
		c.add(sub(table, chooser), "is %q, which is unknown; choose one of %s", chosen, strings.Join(names, ", "))
	}
	return false
}

// percents checks the probabilities of knots.
func (c *specCheck) percents(key string, p []float64, values int) {
	if len(p) < 2 {
		c.add(key, "has %d entries; at least 2 are needed, rising from 0 to 100", len(p))
		return
	}
	if values >= 0 && len(p) != values {
		c.add(key, "has %d entries, but values has %d; each value needs one percentage", len(p), values)
	}
	if p[0] != 0 || p[len(p)-1] != 100 {
		c.add(key, "runs from %g to %g; the first must be 0 and the last 100", p[0], p[len(p)-1])
	}
	for i := 1; i < len(p); i++ {
		if !(p[i] > p[i-1]) {
			c.add(key, "entry %d is %g after %g; percentages must rise", i+1, p[i], p[i-1])
			return
		}
	}
}

// rising checks that values do not fall and lie in [lo, hi].
func rising[N int64 | sim.Duration](c *specCheck, key string, values []N, lo, hi N) {
	for i, v := range values {
		if v < lo || v > hi {
			c.add(key, "entry %d is %v; values from %v to %v are allowed", i+1, v, lo, hi)
			return
		}
		if i > 0 && v < values[i-1] {
			c.add(key, "entry %d is %v after %v; values must not fall", i+1, v, values[i-1])
			return
		}
	}
}

// weightless adds a fault if the distribution at key, which is no part of a
// mixture, has a weight.
func (c *specCheck) weightless(key string, weight *float64) {
	if weight != nil {
		c.add(sub(key, "weight"), "has no meaning outside a mixture; remove it")
	}
}

// weight checks the weight at key of one of several parts.
func (c *specCheck) weight(key string, w *float64) float64 {
	if w == nil {
		c.add(key, "missing; every part needs a weight above 0")
		return 0
	}
	if !(*w > 0 && *w <= math.MaxFloat32) {
		c.add(key, "is %g; a weight is a number above 0 (weights need not sum to 1)", *w)
		return 0
	}
	return *w
}

// indexed returns the path of entry i of the array at key, counted from 0.
func indexed(key string, i int) string { return fmt.Sprintf("%s[%d]", key, i) }

// first returns the first fault, or nil.
func (c *specCheck) first() error {
	if len(c.faults) == 0 {
		return nil
	}
	return c.faults[0]
}
