package explain

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"servesim/analysis"
	"servesim/internal/workers"
	"servesim/scenario"
	"servesim/sim"
)

// firstOf returns the first error that isn't of a run that another one's error
// interrupted, else that of ctx if it ended before the runs.
func firstOf(ctx context.Context, faults []error) error {
	if err := workers.Fault(faults); err != nil {
		return err
	}
	return errors.Join(append(faults, ctx.Err())...)
}

// with returns src with settings that take the place of its own of the same keys.
func with(src scenario.Source, more ...scenario.Setting) scenario.Source {
	own := slices.DeleteFunc(slices.Clone(src.Settings), func(s scenario.Setting) bool {
		return slices.ContainsFunc(more, func(m scenario.Setting) bool { return m.Key == s.Key })
	})
	src.Settings = append(own, more...)
	return src
}

// withShelf returns src with a shelf of its own if it has none, so that its runs read
// what they name once.
func withShelf(src scenario.Source) scenario.Source {
	if src.Shelf == nil {
		src.Shelf = &scenario.Shelf{}
	}
	return src
}

// setting returns a setting of key that stands in messages as `key=text`.
func setting(key, text string) scenario.Setting {
	return scenario.Setting{Key: key, Value: scenario.TOMLValue(text), Text: key[lastPart(key):] + "=" + text, Flag: "with"}
}

// lastPart returns where the last part of a key begins.
func lastPart(key string) int {
	for i := len(key) - 1; i >= 0; i-- {
		if key[i] == '.' {
			return i + 1
		}
	}
	return 0
}

// seeded returns src under a seed.
func seeded(src scenario.Source, seed uint64) scenario.Source {
	return with(src, setting("seed", strconv.FormatUint(seed, 10)))
}

// Drawn tells whether any of p's requests are drawn, so that other seeds give
// other requests.
func Drawn(p *scenario.Plan) bool {
	return slices.ContainsFunc(p.Scenario.Workload.Parts(), func(w scenario.Part) bool { return w.Trace == "" })
}

// changesOf returns the change of each statistic from base to run, which were run
// under the same seeds, and that of goodput, nil without limits. A statistic that
// has no data in some run has the zero Change.
func changesOf(list []Statistic, base, run []*Measures) ([]analysis.Change, *analysis.ShareChange, error) {
	if len(base) == 1 && base[0].Run.Pairs != nil {
		return pairedChanges(list, base[0], run[0])
	}
	changes := make([]analysis.Change, len(list))
	for i, s := range list {
		var a, b []sim.Duration
		for k := range base {
			if base[k].OK[i] && run[k].OK[i] {
				a, b = append(a, base[k].Values[i]), append(b, run[k].Values[i])
			}
		}
		if len(a) > 0 {
			changes[i] = analysis.ChangeBySeed(a, b)
		}
		changes[i].Name, changes[i].Key, changes[i].Statistic = s.Name, s.Key, s.At
	}
	if !base[0].HasGoodput || !run[0].HasGoodput {
		return changes, nil, nil
	}
	var a, b []float64
	for k := range base {
		a, b = append(a, base[k].Goodput), append(b, run[k].Goodput)
	}
	g := analysis.ShareChangeBySeed(a, b)
	return changes, &g, nil
}

// pairedChanges returns the changes of two single runs.
func pairedChanges(list []Statistic, base, run *Measures) ([]analysis.Change, *analysis.ShareChange, error) {
	a, b := base.Run, run.Run
	a.Name, b.Name = "base", "run"
	c, err := analysis.Compare([]analysis.Run{a, b})
	if err != nil {
		return nil, nil, err
	}
	d := &c.Paired[0]
	changes := make([]analysis.Change, len(list))
	for i, s := range list {
		for _, ch := range d.Changes {
			if ch.Key == s.Key && ch.Statistic == s.At && s.Class == "" {
				changes[i] = ch
			}
		}
	}
	return changes, d.Goodput, nil
}
