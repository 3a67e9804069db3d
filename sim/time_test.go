package sim

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func ExampleDuration() {
	fmt.Println(1500*Millisecond, 250*Microsecond, 90*Minute, -Nanosecond)
	fmt.Println((2*Second + 3*Picosecond).Seconds(), (1500 * Microsecond).Milliseconds())
	// Output:
	// 1.5s 250us 5400s -1ns
	// 2.000000000003 1.5
}

func ExampleParseDuration() {
	d, err := ParseDuration("1h30m0.5s")
	fmt.Println(d, err)
	_, err = ParseDuration("250 ms")
	fmt.Println(err)
	// Output:
	// 5400.5s <nil>
	// "250 ms" is not a duration: unknown unit " ms"; the units are h, m, s, ms, us, ns and ps
}

// anyPicoseconds draws from all of int64, the ends and every magnitude included.
func anyPicoseconds() *rapid.Generator[int64] {
	return rapid.OneOf(rapid.Int64(), rapid.Int64Range(-2_000_000_000_000, 2_000_000_000_000),
		rapid.SampledFrom([]int64{math.MinInt64, math.MinInt64 + 1, math.MaxInt64, 0, 1e12, -1e12, 999_999_999_999}))
}

func TestDurationReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Duration(anyPicoseconds().Draw(t, "ps"))
		if got, err := ParseDuration(d.String()); got != d || err != nil {
			t.Fatalf("%d ps prints as %s, which reads as %d, %v", int64(d), d, int64(got), err)
		}
		text, err := d.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var back Duration
		if err := back.UnmarshalText(text); back != d || err != nil {
			t.Fatalf("%s unmarshals as %d, %v; it is %d ps", text, int64(back), err, int64(d))
		}
	})
}

// TestDurationReadsParts has the unit of a part decide what it is worth.
func TestDurationReadsParts(t *testing.T) {
	units := map[string]int64{"h": 3600e12, "m": 60e12, "s": 1e12, "ms": 1e9, "us": 1e6, "ns": 1e3, "ps": 1}
	names := []string{"h", "m", "s", "ms", "us", "ns", "ps"}
	rapid.Check(t, func(t *rapid.T) {
		text, want := "", int64(0)
		for range rapid.IntRange(1, 4).Draw(t, "parts") {
			unit := rapid.SampledFrom(names).Draw(t, "unit")
			n := rapid.Int64Range(0, 500).Draw(t, "number")
			text += fmt.Sprint(n) + unit
			want += n * units[unit]
		}
		if got, err := ParseDuration(text); int64(got) != want || err != nil {
			t.Fatalf("%s reads as %d, %v; it is %d ps", text, int64(got), err, want)
		}
		if got, err := ParseDuration("-" + text); int64(got) != -want || err != nil {
			t.Fatalf("-%s reads as %d, %v; it is %d ps", text, int64(got), err, -want)
		}
	})
}

func TestParseDurationGood(t *testing.T) {
	for text, want := range map[string]Duration{
		"0": 0, "-0": 0, "0s": 0, "0.000ps": 0, "1ps": 1, "1.0ps": 1, "1.50ns": 1500, ".5s": 500 * Millisecond, "1.s": Second,
		"0.000000000001s": 1, "007us": 7 * Microsecond, "1m1ms": Minute + Millisecond, "-1.5s": -1500 * Millisecond,
		"9223372.036854775807s": math.MaxInt64, "-9223372.036854775808s": math.MinInt64, "9223372036854775807ps": math.MaxInt64,
		"9223372s36854775807ps": math.MaxInt64, "2562h": 2562 * Hour,
	} {
		if got, err := ParseDuration(text); got != want || err != nil {
			t.Errorf("%s reads as %d, %v; want %d", text, int64(got), err, int64(want))
		}
	}
}

func TestParseDurationBad(t *testing.T) {
	const (
		units  = `; the units are h, m, s, ms, us, ns and ps`
		noUnit = `: a number needs a unit of h, m, s, ms, us, ns or ps`
		long   = ` is longer than the 106 days that a run can last`
	)
	for text, want := range map[string]string{
		"":                        `"" is not a duration; write a number and a unit, such as 250ms or 1.5s`,
		"-":                       `"-" is not a duration; write a number and a unit, such as 250ms or 1.5s`,
		"5":                       `"5" is not a duration` + noUnit,
		"00":                      `"00" is not a duration` + noUnit,
		"s":                       `"s" is not a duration` + noUnit,
		"+1s":                     `"+1s" is not a duration` + noUnit,
		"--1s":                    `"--1s" is not a duration` + noUnit,
		"1s2":                     `"1s2" is not a duration` + noUnit,
		"1d":                      `"1d" is not a duration: unknown unit "d"` + units,
		"1µs":                     `"1µs" is not a duration: unknown unit "µs"` + units,
		"1S":                      `"1S" is not a duration: unknown unit "S"` + units,
		"1e3s":                    `"1e3s" is not a duration: unknown unit "e"` + units,
		"1s-1s":                   `"1s-1s" is not a duration: unknown unit "s-"` + units,
		"1s ":                     `"1s " is not a duration: unknown unit "s "` + units,
		"NaN":                     `"NaN" is not a duration` + noUnit,
		".s":                      `".s" is not a duration: "." is not a decimal number`,
		"1.2.3s":                  `"1.2.3s" is not a duration: "1.2.3" is not a decimal number`,
		"1.5ps":                   `"1.5ps" is not a duration: "1.5" has digits below a picosecond`,
		"1.01ps":                  `"1.01ps" is not a duration: "1.01" has digits below a picosecond`,
		"0.0001ns":                `"0.0001ns" is not a duration: "0.0001" has digits below a picosecond`,
		"0.00000000000000000001h": `"0.00000000000000000001h" is not a duration: "0.00000000000000000001" has digits below a picosecond`,
		"9223372036854775808ps":   `"9223372036854775808ps"` + long,
		"-9223372036854775809ps":  `"-9223372036854775809ps" is not a duration: "9223372036854775809"` + long,
		"99999999999999999999ps":  `"99999999999999999999ps" is not a duration: "99999999999999999999"` + long,
		"2563h":                   `"2563h" is not a duration: "2563"` + long,
		"2562h2562h":              `"2562h2562h"` + long,
		"9223372.9s":              `"9223372.9s" is not a duration: "9223372.9"` + long,
	} {
		got, err := ParseDuration(text)
		if err == nil || err.Error() != want || got != 0 {
			t.Errorf("%s reads as %d with\n%v\nwant 0 with\n%s", text, int64(got), err, want)
		}
	}
}

func TestFromSeconds(t *testing.T) {
	for _, c := range []struct {
		s    float64
		want Duration
		ok   bool
	}{
		{0, 0, true}, {1.5, 1500 * Millisecond, true}, {-2e-12, -2, true}, {1e-13, 0, true},
		{0.5e-12, 0, true}, {1.5e-12, 2, true}, {2.5e-12, 2, true}, // ties go to the even number
		{9.2e6, 9_200_000 * Second, true}, {-9.2e6, -9_200_000 * Second, true},
		{9.3e6, 0, false}, {-9.3e6, 0, false}, {math.NaN(), 0, false}, {math.Inf(1), 0, false}, {math.Inf(-1), 0, false},
		{math.MaxFloat64, 0, false},
	} {
		if got, ok := FromSeconds(c.s); got != c.want || ok != c.ok {
			t.Errorf("FromSeconds(%v) = %d, %v; want %d, %v", c.s, int64(got), ok, int64(c.want), c.ok)
		}
	}
}

func TestUnmarshalTextKeepsWhatWas(t *testing.T) {
	for _, text := range []string{"", "5", "5 parsecs", "-", "1e400s"} {
		d := Minute
		if err := d.UnmarshalText([]byte(text)); err == nil || d != Minute {
			t.Errorf("%q gives %v and leaves %v; want an error and 60s", text, err, d)
		}
	}
}

// TestFromSecondsIsInverse goes up to 4,503 s, below which rounding to a float64
// and back loses less than half a picosecond.
func TestFromSecondsIsInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Duration(rapid.Int64Range(-1<<52, 1<<52).Draw(t, "ps"))
		if got, ok := FromSeconds(d.Seconds()); got != d || !ok {
			t.Fatalf("%d ps is %v s, which is %d ps, %v", int64(d), d.Seconds(), int64(got), ok)
		}
	})
}

func TestTimeAndSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := Time(rapid.Int64Range(0, math.MaxInt64/2).Draw(t, "at"))
		d := Duration(rapid.Int64Range(0, math.MaxInt64/2).Draw(t, "span"))
		if got := at.Add(d).Sub(at); got != d {
			t.Fatalf("%d and %d later are %d apart", int64(at), int64(d), int64(got))
		}
		if at.String() != Duration(at).String() || at.Seconds() != Duration(at).Seconds() {
			t.Fatalf("instant %d prints as %s, %v s; the span as %s, %v s", int64(at), at, at.Seconds(), Duration(at), Duration(at).Seconds())
		}
	})
}
