package report

import "testing"

func TestShortCount(t *testing.T) {
	for n, want := range map[int64]string{128: "128", 990: "990", 1000: "1k", 1400: "1.4k", 38_000: "38k", 110_000: "110k", 1_100_000: "1.1M", 3_600_000_000: "3.6G"} {
		if got := shortCount(n); got != want {
			t.Errorf("%d is %s; want %s", n, got, want)
		}
	}
}
