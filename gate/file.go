package gate

import (
	"fmt"

	"servesim/internal/strict"
	"servesim/scenario"
)

// schema is the version of gate files that servesim reads.
const schema = 1

// file is a gate file.
type file struct {
	Schema      int64            `toml:"schema"`
	Name        string           `toml:"name"`
	Class       string           `toml:"class"`
	Scenario    *base            `toml:"scenario"`
	Set         scenario.Table   `toml:"set"`
	Dialect     *dialectSection  `toml:"dialect"`
	SLO         *sloSection      `toml:"slo"`
	Load        *loadSection     `toml:"load"`
	Runs        runsSection      `toml:"runs"`
	Percentiles []float64        `toml:"percentiles"`
	Thresholds  []thresholdTable `toml:"threshold"`
}

// dialectSection says whose words the figures are in.
type dialectSection struct {
	Tool    string `toml:"tool"`
	Version string `toml:"version"`
}

// sloSection is what users must get.
type sloSection struct {
	Preset string `toml:"preset"`
	Limits lines  `toml:"limits"`
}

// loadSection is the load that the gate is for, and at which shares of it runs are
// made.
type loadSection struct {
	RatePerS    *float64 `toml:"rate_per_s"`
	Concurrency *int64   `toml:"concurrency"`
	Multiple    *float64 `toml:"rate_multiple"`
	Sweep       []int64  `toml:"sweep"`
	Benchmark   bool     `toml:"benchmark"`
	PeakPerS    *float64 `toml:"peak_rate_per_s"`
	PeakUsers   *int64   `toml:"peak_concurrency"`
	PeakTimes   *float64 `toml:"peak_rate_multiple"`
}

// runsSection is how often and how long each load is run.
type runsSection struct {
	Replications *int64 `toml:"replications"`
	Requests     *int64 `toml:"requests"`
}

// thresholdTable is a limit on one figure beside those of goodput.
type thresholdTable struct {
	Metric    string   `toml:"metric"`
	Statistic string   `toml:"statistic"`
	Max       string   `toml:"max"`
	Min       *float64 `toml:"min"`
}

// base is a scenario: the path of one, or its keys.
type base struct {
	path string
	keys map[string]any // nil if there is a path
}

// UnmarshalTOML implements the interface of the TOML library.
func (b *base) UnmarshalTOML(x any) error {
	switch v := x.(type) {
	case string:
		if v == "" || v == scenario.StdinPath {
			return fmt.Errorf("found %q; must be the path of a scenario file, from the gate's folder", v)
		}
		b.path = v
	case map[string]any:
		b.keys = v
	default:
		return fmt.Errorf("found %s; must be the path of a scenario file, or a table of its keys", scenario.ValueText(x))
	}
	return nil
}

// lines is a string, or a list of strings.
type lines []string

// UnmarshalTOML implements the interface of the TOML library.
func (l *lines) UnmarshalTOML(x any) error {
	list, ok := x.([]any)
	if !ok {
		list = []any{x}
	}
	for _, item := range list {
		s, ok := item.(string)
		if !ok {
			return fmt.Errorf("found %s; must be limits in quotes, such as \"ttft <= 500ms, tpot <= 15ms\", or a list of them", scenario.ValueText(item))
		}
		*l = append(*l, s)
	}
	return nil
}

// decode reads the text of the gate file at path. A fault of its form leaves nothing
// to judge, and f is nil.
func decode(path, text string) (f *file, where func(key string) string, faults []strict.Fault) {
	tree, err := strict.Parse(path, text)
	if err != nil {
		return nil, nil, []strict.Fault{err.(strict.Fault)}
	}
	where = strict.Where(path, text)
	if bad, ok := strict.Schema(tree, schema, where); !ok {
		return nil, where, []strict.Fault{bad}
	}
	f = new(file)
	return f, where, strict.Decode(tree, f, where)
}
