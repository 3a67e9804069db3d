package page

import (
	"fmt"
	"slices"
	"strings"

	"servesim/analysis"
	"servesim/analysis/blame"
	"servesim/report"
	"servesim/report/lives"
	"servesim/sim"
)

// A Life is that of a request of a run, by its number among the runs of the page.
type Life struct {
	Run int
	// Of is the run's name, empty if there is one.
	Of string
	*lives.Life
}

// Key is a life's name in links.
func (l *Life) Key() string { return fmt.Sprintf("life-%d-%d", l.Run, l.ID) }

// ms writes d in milliseconds, as reports do.
func ms(d sim.Duration) string { return report.Number(d.Milliseconds()) + " ms" }

// Ranks says by what it is among the slowest.
func (l *Life) Ranks() string {
	var words []string
	for i, m := range l.Slowest {
		words = append(words, place(l.Places[i])+"slowest by "+m.String())
	}
	return strings.Join(words, ", ")
}

// place says a place among others, empty for the first.
func place(n int) string {
	if n == 1 {
		return ""
	}
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s ", n, suffix)
}

// Brief says its latencies in a line.
func (l *Life) Brief() string {
	return fmt.Sprintf("TTFT %s, worst gap %s, E2E %s", brief(l.Life.TTFT), brief(l.Life.WorstGap), brief(l.Life.E2E))
}

// Figures says how long it took, and what it was.
func (l *Life) Figures() []Fact {
	list := []Fact{
		{"TTFT", ms(l.Life.TTFT)}, {"worst gap", ms(l.Life.WorstGap)}, {"TPOT", ms(l.Life.TPOT)}, {"E2E", ms(l.Life.E2E)},
		{"prompt", analysis.Counted(int64(l.Prompt), "token")}, {"answer", analysis.Counted(int64(l.Output), "token")},
		{"arrived after", report.Number(l.Arrival.Sub(0).Seconds()) + " s"},
	}
	if l.Class != "" {
		list = append(list, Fact{"class", l.Class})
	}
	if l.Preemptions > 0 {
		list = append(list, Fact{"preempted", analysis.Counted(int64(l.Preemptions), "time")})
	}
	return list
}

// A Share is what a cause took of a life.
type Share struct {
	Cause                    int
	Name, ToFirst, After, Of string
}

// Shares lists what its time went to, the most first.
func (l *Life) Shares() []Share {
	all := l.ToFirst
	for c := range all {
		all[c] += l.AfterFirst[c]
	}
	order := make([]int, 0, len(all))
	for c, d := range all {
		if d > 0 {
			order = append(order, c)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(min(1, max(-1, all[b]-all[a]))) })
	var list []Share
	for _, c := range order {
		s := Share{Cause: c, Name: blame.Cause(c).String(), Of: percent(float64(all[c]) / float64(max(1, all.Sum())))}
		if d := l.ToFirst[c]; d > 0 {
			s.ToFirst = ms(d)
		}
		if d := l.AfterFirst[c]; d > 0 {
			s.After = ms(d)
		}
		list = append(list, s)
	}
	return list
}

// percent writes a share, rounding nothing to 0.
func percent(x float64) string {
	if x > 0 && x < 0.001 {
		return "<0.1 %"
	}
	return fmt.Sprintf("%.1f %%", 100*x)
}

// Blamed lists whose prompts cost it time.
func (l *Life) Blamed() []Fact {
	var list []Fact
	for _, c := range l.Culprits {
		who := fmt.Sprintf("request %d", c.ID)
		if c.Prompt > 0 {
			who += ", prompt of " + analysis.Counted(int64(c.Prompt), "token")
		}
		list = append(list, Fact{who, ms(c.Time) + " " + c.Cause.String()})
	}
	return list
}

// Track is its life from left to right, a path of SVG for each cause, in a box of
// trackWidth by trackHeight.
func (l *Life) Track() []Path { return trackOf(l.Pieces, l.Life.E2E) }

// FirstAt is where on the track its first token is.
func (l *Life) FirstAt() int {
	return int(int64(l.Life.TTFT) * trackWidth / max(1, int64(l.Life.E2E)))
}
