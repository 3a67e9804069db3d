package workload

import "math"

// parseCount reads b as a whole number, 0 or more, that fits an int32. It
// takes digits only.
func parseCount(b []byte) (n int32, ok bool) {
	if len(b) == 0 || len(b) > 10 {
		return 0, false
	}
	var v int64
	for _, c := range b {
		if c-'0' > 9 {
			return 0, false
		}
		v = v*10 + int64(c-'0')
	}
	return int32(v), v <= math.MaxInt32
}
