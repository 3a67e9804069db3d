package reproduce

import (
	"servesim/internal/strict"
	"servesim/scenario"
)

// fileSchema is the version of claim files.
const fileSchema = 1

// A file is a claim as its TOML file says it.
type file struct {
	Schema int64 `toml:"schema"`
	// Says is the claim in a sentence, Source who made it where, Setup what the
	// source leaves open and what is assumed for it.
	Says   string `toml:"says"`
	Source string `toml:"source"`
	Setup  string `toml:"setup"`
	// Explanation says why the figures are as they are. {NAME} in it stands for the
	// value of the check or fact of that name.
	Explanation string `toml:"explanation"`
	// Scenario has the keys that all runs have in common.
	Scenario scenario.Table `toml:"scenario"`
	Runs     []runTable     `toml:"run"`
	Gaps     []gapsTable    `toml:"gaps"`
	Calls    []callsTable   `toml:"call"`
	Checks   []checkTable   `toml:"check"`
	Facts    []checkTable   `toml:"fact"`
}

// A runTable is a scenario: the common keys and those of Set, which take their
// place.
type runTable struct {
	Name string `toml:"name"`
	// Seeds is the number of runs, under successive seeds; 1 if it is absent.
	Seeds *int64         `toml:"seeds"`
	Set   scenario.Table `toml:"set"`
}

// A gapsTable is a made-up population of gaps, as package tail reads it, and the
// number of gaps of an answer that is drawn from it.
type gapsTable struct {
	Name       string `toml:"name"`
	Population string `toml:"population"`
	Answer     int64  `toml:"answer"`
}

// A callsTable is one answer as its client saw it: the times, from the call, of the
// first and the last of its tokens, those between at equal distances.
type callsTable struct {
	Name   string `toml:"name"`
	Tokens int64  `toml:"tokens"`
	First  string `toml:"first"`
	Last   string `toml:"last"`
}

// A checkTable is a quantity and what it is to be: exactly one of About, Prints, and
// the bounds From and To, of which one may be absent.
type checkTable struct {
	// Name is what the explanation calls it; it may be absent.
	Name string `toml:"name"`
	Says string `toml:"says"`
	// Of is the name of a run, of gaps or of a call, and Column a quantity of it.
	Of     string `toml:"of"`
	Column string `toml:"column"`
	// Over, if it isn't empty, is what the quantity is divided by: the same one of
	// another run, seed by seed.
	Over string `toml:"over"`
	// About is a figure that was printed without a range.
	About *float64 `toml:"about"`
	// Prints is a figure that must come out to its last digit.
	Prints string   `toml:"prints"`
	From   *float64 `toml:"from"`
	To     *float64 `toml:"to"`
}

// decode reads the text of the claim file at path. A fault of its form leaves
// nothing to judge, and f is nil.
func decode(path, text string) (f *file, where func(key string) string, faults []strict.Fault) {
	tree, err := strict.Parse(path, text)
	if err != nil {
		return nil, nil, []strict.Fault{err.(strict.Fault)}
	}
	where = strict.Where(path, text)
	if bad, ok := strict.Schema(tree, fileSchema, where); !ok {
		return nil, where, []strict.Fault{bad}
	}
	f = new(file)
	return f, where, strict.Decode(tree, f, where)
}
