package workload

// MeanRate returns the mean rate over time of the arrivals of s, in requests per
// second. ok is false if s has a preset that is not resolved, a closed loop,
// whose rate follows from how fast it is served, or a fault.
func (s Spec) MeanRate() (perS float64, ok bool) {
	a := s.Arrival
	if a == nil || s.Preset != "" {
		return 0, false
	}
	for _, given := range []*float64{s.RatePerS, a.RatePerS} {
		if given != nil {
			return *given, true
		}
	}
	switch {
	case a.Process == "piecewise" && len(a.RatesPerS) > 0:
		for _, r := range a.RatesPerS {
			perS += r
		}
		return perS / float64(len(a.RatesPerS)), true
	case a.Process == "on_off":
		var c specCheck
		o := onOff{size: c.length("burst_size", a.BurstSize), gap: c.delay("gap", a.Gap), off: c.delay("off", a.Off)}
		if len(c.faults) > 0 || a.BurstSize.dependsOnPrompt() {
			return 0, false
		}
		return o.rate(), true
	}
	return 0, false
}
