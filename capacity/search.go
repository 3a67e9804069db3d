package capacity

import (
	"math"
	"strconv"

	"servesim/internal/portable"
)

// grid is the rates that are simulated: powers of 1 + resolution, in requests/s, to
// four digits.
type grid struct{ resolution float64 }

// rate returns that of place i, 1 request/s being place 0.
func (g grid) rate(i int) float64 {
	r := portable.Exp(float64(float64(i) * portable.Log(1+g.resolution)))
	return short(r)
}

// short returns a rate to gridDigits digits.
func short(rate float64) float64 {
	r, _ := strconv.ParseFloat(strconv.FormatFloat(rate, 'g', gridDigits, 64), 64) // its own output
	return r
}

// gridDigits is the number of digits of a rate.
const gridDigits = 4

// place returns the last place whose rate is at most rate.
func (g grid) place(rate float64) int {
	i := int(math.Floor(portable.Log(rate) / portable.Log(1+g.resolution)))
	for g.rate(i) > rate {
		i--
	}
	for g.rate(i+1) <= rate {
		i++
	}
	return i
}

// last returns the last number from low to high for which holds is true, below low
// if it is for none. From start on it goes on by step, by twice that and so on until
// the answer is between two of them, and then halves what is between. What it visits
// follows from what it finds alone, so that of two predicates of which one is never
// true without the other that one never has the larger answer.
func last(low, start, high, step int, holds func(int) (bool, error)) (int, error) {
	yes, no := low-1, high+1
	for at := start; ; step *= 2 {
		ok, err := holds(at)
		switch {
		case err != nil:
			return 0, err
		case ok:
			yes = at
		default:
			no = at
		}
		if at == high && ok || at == low && !ok || yes >= low && no <= high {
			break
		}
		if ok {
			at = min(at+step, high)
		} else {
			at = max(at-step, low)
		}
	}
	for no-yes > 1 {
		mid := yes + (no-yes)/2
		ok, err := holds(mid)
		switch {
		case err != nil:
			return 0, err
		case ok:
			yes = mid
		default:
			no = mid
		}
	}
	return yes, nil
}
