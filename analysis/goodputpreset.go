package analysis

import (
	"fmt"
	"slices"
	"strings"

	"servesim/internal/strict"
	"servesim/slo"
)

// SLOPreset is what users must get, by a name.
type SLOPreset struct {
	Name string
	// Description is one line on whom it is for.
	Description string
	SLO         SLO
}

// sloFile is the file of an SLOPreset.
type sloFile struct {
	Schema int64    `toml:"schema"`
	Limits []string `toml:"limits"`
}

// SLOPresets returns those that ship with servesim, in the order of their names.
// The error is of a file that doesn't read.
func SLOPresets() ([]SLOPreset, error) {
	var list []SLOPreset
	entries, err := slo.FS.ReadDir(".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		text, err := slo.FS.ReadFile(e.Name())
		if err != nil {
			return nil, err
		}
		p, err := parseSLOPreset(e.Name(), string(text))
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// FindSLO returns the preset of that name. The error lists those there are.
func FindSLO(name string) (SLOPreset, error) {
	list, err := SLOPresets()
	if err != nil {
		return SLOPreset{}, err
	}
	var names []string
	for _, p := range list {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	return SLOPreset{}, fmt.Errorf("no preset of limits is called %q; %s", name, strict.Unlike(name, names))
}

// Over returns base with the limits of s, each in the place of the one on the same
// objective, percentile and scope, or added.
func (s *SLO) Over(base SLO) SLO {
	both := SLO{MinGoodput: base.MinGoodput}
	if s.MinGoodput != nil {
		both.MinGoodput = s.MinGoodput
	}
	both.Goodput = over(s.Goodput, base.Goodput, func(l *Limit) string { return l.what("") })
	both.Run = over(s.Run, base.Run, func(l *RunLimit) string { return l.what(" " + l.At.String()) })
	return both
}

// over returns base with each of list in the place of what is called the same, or
// behind it.
func over[L any](list, base []L, what func(*L) string) []L {
	both := slices.Clone(base)
	for i := range list {
		same := func(l L) bool { return what(&l) == what(&list[i]) }
		if k := slices.IndexFunc(both, same); k >= 0 {
			both[k] = list[i]
		} else {
			both = append(both, list[i])
		}
	}
	return both
}

// parseSLOPreset reads the text of a preset, whose first line is a comment that
// describes it.
func parseSLOPreset(file, text string) (SLOPreset, error) {
	tree, err := strict.Parse(file, text)
	if err != nil {
		return SLOPreset{}, err
	}
	where := func(string) string { return file }
	if f, ok := strict.Schema(tree, slo.Schema, where); !ok {
		return SLOPreset{}, f
	}
	var f sloFile
	if faults := (strict.Rules{Whole: true}).Decode(tree, &f, where); len(faults) > 0 {
		return SLOPreset{}, strict.Join(faults)
	}
	first, _, _ := strings.Cut(text, "\n")
	p := SLOPreset{Name: strings.TrimSuffix(file, ".toml"), Description: strings.TrimPrefix(first, "# ")}
	if p.SLO, err = ParseSLO(strings.Join(f.Limits, "\n")); err != nil {
		return SLOPreset{}, fmt.Errorf("%s: limits: %w", file, err)
	}
	return p, nil
}
