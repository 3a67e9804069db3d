package report

import (
	"math"
	"strconv"

	"servesim/analysis"
)

// intervals is a table of the 95 % intervals of means and percentiles, and of
// what the missing ones need. Where none is given, nothing but that is said.
func (p *page) intervals(metrics []analysis.Metric) {
	t := table{left: 1}
	head := []string{"95 % interval, ms"}
	any, needs, withheld := false, int64(0), ""
	for _, m := range metrics {
		rows := statistics(m.Distribution)
		if m.Part || rows == nil {
			continue
		}
		cells := []string{m.Name}
		for _, s := range rows {
			if s.name == "max" {
				continue
			}
			if len(t.rows) == 0 {
				head = append(head, s.name)
			}
			any = any || s.interval.OK
			if s.interval.Withheld != "" {
				withheld = s.interval.Withheld
			}
			if n := s.interval.Needs; needs == 0 || n > 0 && n < needs {
				needs = n
			}
			cells = append(cells, rangeOf(&s.interval))
		}
		if len(t.rows) == 0 {
			t.add(head...)
		}
		t.add(cells...)
	}
	switch {
	case any:
		t.write(p)
		p.line("")
	case withheld != "":
		p.item("Intervals", "withheld: %s", withheld)
		p.line("")
	case needs > 0:
		p.item("Intervals", "none; the least takes %s", analysis.Counted(needs, "value"))
		p.line("")
	}
}

// hasInterval tells whether any mean or percentile of metrics has an interval.
func hasInterval(metrics []analysis.Metric) bool {
	for _, m := range metrics {
		for _, s := range statistics(m.Distribution) {
			if s.interval.OK {
				return true
			}
		}
	}
	return false
}

// rangeOf prints an interval, or how many values it needs.
func rangeOf(i *analysis.Interval) string {
	switch {
	case i.OK:
		return milliseconds(i.Lo) + "-" + milliseconds(i.Hi)
	case i.Needs > 0:
		return "n>=" + shortCount(i.Needs)
	}
	return ""
}

// shortCount prints a number that has two digits that count, such as 1.2M.
func shortCount(n int64) string {
	x, unit := float64(n), ""
	for _, u := range []string{"k", "M", "G", "T"} {
		if x >= 1000 {
			x, unit = x/1000, u
		}
	}
	return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64) + unit
}

// intervalMember is an interval as the member key of an object, nothing if none
// was sought.
func intervalMember(key string, i *analysis.Interval) object {
	if i.Method == "" {
		return nil
	}
	return object{{key, intervalObject(i)}}
}

// shareIntervalObject is the interval of a share; what there is none of is null.
func shareIntervalObject(i *analysis.ShareInterval) object {
	o := object{{"method", string(i.Method)}, {"n_eff", real(i.Effective)}}
	if !i.OK {
		return append(append(o, object{{"lo", nil}, {"hi", nil}, {"needs_n", i.Needs}}...), withheldMember(&i.Evidence)...)
	}
	return append(o, object{{"lo", real(i.Lo)}, {"hi", real(i.Hi)}, {"needs_n", nil}}...)
}

// withheldMember is why an interval was withheld, nothing if it wasn't.
func withheldMember(e *analysis.Evidence) object {
	if e.Withheld == "" {
		return nil
	}
	return object{{"withheld", e.Withheld}}
}

// saturationObject is whether the engines kept up, and what says so.
func saturationObject(s *analysis.Saturation) object {
	trend := func(t *analysis.Trend) object {
		return object{{"growth_per_s", real(t.Growth)}, {"lo", real(t.Lo)}, {"hi", real(t.Hi)}, {"peak", t.Peak}, {"last", t.Last}}
	}
	return object{
		{"definition", "rates and growths, with 95 % intervals, over half_ps, the last half of the time in which requests came to a queue; queue: those that wait to be computed first; present: all in the engines"},
		{"state", string(s.State)}, {"requests", s.Requests}, {"half_ps", int64(s.Half)},
		{"arrivals_per_s", real(s.ArrivalRate)}, {"completions_per_s", real(s.CompletionRate)},
		{"queue", trend(&s.Queue)}, {"present", trend(&s.Present)},
	}
}
