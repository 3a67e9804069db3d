package workload

import (
	"errors"
	"math/big"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"servesim/sim"
)

// At 3/s every third arrival is at a whole second, and k thirds of a second
// round to the nearest picosecond, however long the run.
func TestConstantArrivalsDoNotDrift(t *testing.T) {
	const n, second = 1_000_000, int64(sim.Second)
	for i, at := range instants(t, startArrival(t, &ArrivalSpec{Process: "constant", RatePerS: pointer(3.0)}, 1), n+1) {
		k := int64(i)
		thirds := []int64{0, 333_333_333_333, 666_666_666_667} // ps
		if want := sim.Time(k/3*second + thirds[k%3]); at != want {
			t.Fatalf("arrival %d is at %d ps, want %d", k, at, want)
		}
	}
}

// Law: the arrival after k gaps is k/rate rounded to the nearest picosecond, halves up,
// where rate is the decimal that is written.
func TestConstantArrivalsAreRoundedOnce(t *testing.T) {
	decimals := rapid.Custom(func(t *rapid.T) float64 {
		digits := rapid.Int64Range(1, 999_999).Draw(t, "digits")
		f, err := strconv.ParseFloat(strconv.FormatInt(digits, 10)+"e-"+strconv.Itoa(rapid.IntRange(0, 6).Draw(t, "places")), 64)
		if err != nil {
			t.Fatal(err)
		}
		return f
	})
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.OneOf(decimals, rapid.Float64Range(minRate, maxRate), rapid.Float64Range(minRate, 1)).Draw(t, "rate")
		written, ok := new(big.Rat).SetString(strconv.FormatFloat(rate, 'g', -1, 64))
		if !ok {
			t.Fatal(rate)
		}
		a := startArrival(t, &ArrivalSpec{Process: "constant", RatePerS: &rate}, 1)
		for k := range int64(500) {
			want := new(big.Rat).SetInt64(k)
			want.Mul(want, new(big.Rat).SetInt64(int64(sim.Second)))
			want.Quo(want, written)
			want.Add(want, big.NewRat(1, 2))
			floor := new(big.Int).Quo(want.Num(), want.Denom())
			at, err := a.next()
			if errors.Is(err, errTooLate) && (!floor.IsInt64() || floor.Int64() >= int64(sim.MaxTime)-1) {
				return
			}
			if err != nil || !floor.IsInt64() || int64(at) != floor.Int64() {
				t.Fatalf("arrival %d at %v/s is at %d ps, %v; want %v", k, rate, at, err, floor)
			}
		}
	})
}
