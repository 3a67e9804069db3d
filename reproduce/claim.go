package reproduce

import (
	"embed"
	"io/fs"
	"path"
	"strings"

	"servesim/internal/strict"
	"servesim/scenario"
)

// files holds the claims, NUMBER-NAME.toml each; the number is only their order.
//
//go:embed claims/*.toml
var files embed.FS

// A Claim is what somebody published, and how it is tested.
type Claim struct {
	// Name is what it is asked for by.
	Name string
	// Says is the claim, Source where it is made, Setup what the source leaves open.
	Says, Source, Setup string
	// Checks decide the verdict, Facts are what the explanation rests on.
	Checks, Facts []Check

	explanation string
	subjects    []named
}

// A Check is a quantity and the range that it is said to be in.
type Check struct {
	// Name is what an explanation calls it, "" if none does.
	Name string
	// Says is the check in words, Column the quantity, Of what it is of, and Over
	// what it is divided by, "" if it isn't.
	Says, Of, Column, Over string
	Range                  Range
}

// named is a subject and its name.
type named struct {
	name string
	subject
}

// find returns the place of a subject, -1 if there is none of that name.
func (c *Claim) find(name string) int {
	for i := range c.subjects {
		if c.subjects[i].name == name {
			return i
		}
	}
	return -1
}

// nameOf returns the name of the claim in a file: that of the file without its
// number.
func nameOf(file string) string {
	name := strings.TrimSuffix(path.Base(file), ".toml")
	if _, rest, ok := strings.Cut(name, "-"); ok {
		return rest
	}
	return name
}

// Names lists the claims, in order.
func Names() []string {
	list, _ := fs.Glob(files, "claims/*.toml") // in order of their names; the pattern is right
	names := make([]string, len(list))
	for i, file := range list {
		names[i] = nameOf(file)
	}
	return names
}

// Claims returns the claims of these names, each once and in the order of Names, or
// all if there are none. The error is a scenario.UsageError that names every one
// that isn't there.
func Claims(names ...string) ([]*Claim, error) {
	var faults []strict.Fault
	wanted := map[string]bool{}
	known := Names()
	for _, n := range names {
		wanted[n] = true
		found := false
		for _, k := range known {
			found = found || k == n
		}
		if !found {
			faults = append(faults, strict.Fault{Text: scenario.UnknownName("claim", n, known)})
		}
	}
	list, _ := fs.Glob(files, "claims/*.toml")
	shelf := &scenario.Shelf{}
	var claims []*Claim
	for _, file := range list {
		if len(names) > 0 && !wanted[nameOf(file)] {
			continue
		}
		text, err := files.ReadFile(file)
		if err != nil {
			return nil, err
		}
		c, bad := read(file, string(text), shelf)
		faults = append(faults, bad...)
		claims = append(claims, c)
	}
	if err := scenario.FaultsError(faults); err != nil {
		return nil, err
	}
	return claims, nil
}
