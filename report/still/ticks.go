package still

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"servesim/analysis"
	"servesim/internal/portable"
	"servesim/report/figure"

	"gonum.org/v1/plot"
)

// place returns where a value lies on an axis: its logarithm on a logarithmic one.
func place(a *figure.Axis, v float64) float64 {
	if a.Scale == figure.Log {
		return portable.Log(v)
	}
	return v
}

// ticks returns the marks of an axis that has room for about so many labels.
func ticks(a *figure.Axis, room int) []plot.Tick {
	switch a.Scale {
	case figure.Log:
		if a.Max < 4*a.Min { // no two powers of ten: as on a linear axis
			list := linearTicks(a, room)
			for i := range list {
				list[i].Value = portable.Log(list[i].Value)
			}
			return list
		}
		return logTicks(a, room)
	case figure.Names:
		var list []plot.Tick
		for i, name := range a.Names {
			list = append(list, plot.Tick{Value: float64(i), Label: cut(name, mostName)})
		}
		return list
	}
	return linearTicks(a, room)
}

// linearTicks returns marks at equal distances, two at least.
func linearTicks(a *figure.Axis, room int) []plot.Tick {
	step := niceStep((a.Max - a.Min) / float64(max(1, room)))
	for {
		var list []plot.Tick
		for i := math.Ceil(a.Min / step); float64(i*step) <= a.Max; i++ {
			list = append(list, plot.Tick{Value: float64(i * step), Label: tickLabel(float64(i*step), step)})
		}
		if len(list) > 1 {
			return list
		}
		step = niceStep(step / 2.6) // the next shorter one
	}
}

// niceStep returns the least of 1, 2 and 5 times a power of ten that is at least x.
func niceStep(x float64) float64 {
	power := 1.0
	for power > x {
		power /= 10
	}
	for power*10 <= x {
		power *= 10
	}
	for _, k := range []float64{1, 2, 5} {
		if float64(power*k) >= x {
			return float64(power * k)
		}
	}
	return power * 10
}

// tickLabel writes a value that is a multiple of step.
func tickLabel(v, step float64) string {
	if step >= 1 {
		return analysis.Grouped(int64(math.RoundToEven(v)))
	}
	decimals := 0
	for s := step; s < 0.999 && decimals < 12; s *= 10 {
		decimals++
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// logTicks returns the marks of a logarithmic axis: powers of ten with labels, others too
// if there is room, fewer if there is none; and small marks between.
func logTicks(a *figure.Axis, room int) []plot.Tick {
	inside := func(v float64) bool { return v >= a.Min*(1-1e-12) && v <= a.Max*(1+1e-12) }
	var powers []float64
	for p := 1e-18; p <= a.Max*(1+1e-12); p *= 10 {
		if p*10 > a.Min {
			powers = append(powers, p)
		}
	}
	var labelled []float64 // multiples of powers that have labels
	n := 0
	for _, labelled = range [][]float64{{1, 2, 3, 5, 7}, {1, 2, 5}, {1, 3}, {1}} {
		n = 0
		for _, p := range powers {
			for _, k := range labelled {
				if inside(round(float64(p * k))) {
					n++
				}
			}
		}
		if n <= room {
			break
		}
	}
	every := max(1, (n+room-1)/max(1, room)) // of powers that have labels
	var list []plot.Tick
	for i, p := range powers {
		for k := 1.0; k < 10; k++ {
			v := round(float64(p * k))
			if !inside(v) {
				continue
			}
			t := plot.Tick{Value: portable.Log(v)}
			if slices.Contains(labelled, k) && (len(powers)-1-i)%every == 0 {
				t.Label = logLabel(v)
			}
			if t.Label != "" || every == 1 {
				list = append(list, t)
			}
		}
	}
	return list
}

// round returns the float next to x with few digits, where powers of ten come from
// products.
func round(x float64) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64)
	if err != nil {
		return x
	}
	return v
}

// logLabel writes a tick of a logarithmic axis.
func logLabel(v float64) string {
	if v >= 1 {
		return analysis.Grouped(int64(math.RoundToEven(v)))
	}
	text := strconv.FormatFloat(v, 'f', -1, 64)
	if len(text) > 8 {
		return strings.Replace(strconv.FormatFloat(v, 'e', 0, 64), "e-0", "e-", 1)
	}
	return text
}
