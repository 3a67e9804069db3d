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
	any, needs := false, int64(0)
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
		return append(o, object{{"lo", nil}, {"hi", nil}, {"needs_n", i.Needs}}...)
	}
	return append(o, object{{"lo", real(i.Lo)}, {"hi", real(i.Hi)}, {"needs_n", nil}}...)
}
