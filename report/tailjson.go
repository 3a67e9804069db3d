package report

import (
	"io"
	"math"

	"servesim/analysis/tail"
	"servesim/sim"
)

// root returns the square root of n.
func root(n int64) float64 { return math.Sqrt(float64(n)) }

// away prints how far d lies from mean, a number of ps.
func away(d sim.Duration, mean float64) string { return ps(math.Abs(float64(d) - mean)) }

// TailJSON writes l and claims for programs, in the form that JSON documents.
func TailJSON(w io.Writer, l *tail.Lab, claims []tail.Claim) error {
	o := &l.Options
	gaps, answers, said := object{}, []object{}, []object{}
	for i, at := range o.Percentiles {
		gaps = append(gaps, Member{at.String() + "_ps", int64(l.Gaps[i])})
	}
	for i := range l.Answers {
		answers = append(answers, answerObject(&l.Answers[i], o))
	}
	for i := range claims {
		is, right := claims[i].Check(o.Population)
		said = append(said, object{{"of", claims[i].Name()}, {"value_ps", int64(claims[i].Value)}, {"is_ps", is}, {"true", right}})
	}
	return writeJSON(w, object{
		{"schema", Schema}, {"kind", "servesim-tail"}, {"population", o.Population.String()},
		{"draws", o.Draws}, {"seed", uint64(o.Seed)}, {"ttft_ps", int64(o.TTFT)},
		{"gap", append(object{{"mean_ps", l.Mean}, {"deviation_ps", l.Deviation}}, gaps...)},
		{"answers", answers}, {"claims", said},
	})
}

// answerObject is what answers of one length say.
func answerObject(a *tail.Answer, o *tail.Options) object {
	tpot, worst, within, good := object{}, object{}, []object{}, []object{}
	for i, at := range o.Percentiles {
		q := &a.TPOT[i]
		member := object{{"value_ps", int64(q.Value)}, {"interval", nil}}
		if !a.Exact {
			member[1].Value = intervalObject(&q.Interval)
		}
		tpot = append(tpot, Member{at.String(), member})
		worst = append(worst, Member{at.String() + "_ps", int64(a.WorstGap[i])})
	}
	for i, limit := range o.Limits {
		within = append(within, append(object{{"tpot_max_ps", int64(limit)}}, shareObject(&a.Within[i])...))
	}
	for i, s := range o.SLOs {
		good = append(good, append(object{{"name", s.Name}, {"limits", s.Limits.String()}}, shareObject(&a.Good[i])...))
	}
	return object{
		{"gaps", a.Gaps}, {"share_with_slowest", a.Spiked}, {"exact", a.Exact}, {"tpot", tpot}, {"worst_gap", worst},
		{"within_tpot", within}, {"goodput", good},
	}
}

// shareObject is a share, with its interval if it has one.
func shareObject(s *tail.Share) object {
	if !s.Interval.OK {
		return object{{"share", real(s.Share)}, {"lo", nil}, {"hi", nil}}
	}
	return object{{"share", real(s.Share)}, {"lo", real(s.Interval.Lo)}, {"hi", real(s.Interval.Hi)}}
}
