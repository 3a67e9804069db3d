package analysis

import "slices"

// Unseen says what the records of a run don't tell, so that a Report has nothing
// about it. The zero value is that they tell all, as those of a simulated run do.
type Unseen struct {
	// Clock: each request has a clock of its own, so that there are no rates, no
	// span and no load.
	Clock bool
	// Engine: they are what clients saw, so that there are no parts of TTFT, no
	// preemptions and no steps, and a request waits until its first token comes.
	Engine bool
	// ITL and MaxGap: they don't say when the tokens between the first and the last came.
	ITL, MaxGap bool
	// Prompts: they don't say how long prompts are.
	Prompts bool
}

// seen returns the metrics of list that u tells of.
func (u *Unseen) seen(list []Metric) []Metric {
	return slices.DeleteFunc(list, func(m Metric) bool {
		return m.Part && u.Engine || m.Key == "itl" && u.ITL || m.Key == "max_gap" && u.MaxGap
	})
}

// lacks returns why a limit on o can't be judged, "" if it can.
func (u *Unseen) lacks(o Objective) string {
	switch {
	case o == Queue && u.Engine:
		return "clients don't see the engine's queue; limit ttft instead"
	case o == ITL && u.ITL, o == MaxGap && u.MaxGap:
		return "the source doesn't say when each token came; limit tpot instead"
	}
	return ""
}

// Unjudged is a limit that records don't tell enough for.
type Unjudged struct {
	// Limit is as ParseSLO reads it, Why says what it would need.
	Limit, Why string
}

// Judged returns those limits of s that can be judged, and the others. Limits on
// requests make one of them good together, so that they are judged together.
func (u *Unseen) Judged(s SLO) (can SLO, not []Unjudged) {
	for _, l := range s.Goodput {
		if why := u.lacks(l.Objective); why != "" {
			all := SLO{Goodput: s.Goodput, MinGoodput: s.MinGoodput}
			not = append(not, Unjudged{all.String(), l.String() + " can't be told: " + why})
			break
		}
	}
	if not == nil {
		can.Goodput, can.MinGoodput = s.Goodput, s.MinGoodput
	}
	for _, l := range s.Run {
		if why := u.lacks(l.Objective); why != "" {
			not = append(not, Unjudged{l.String(), why})
		} else {
			can.Run = append(can.Run, l)
		}
	}
	return can, not
}
