package workload

// maxRequests is the most requests of one workload: 10^12.
const maxRequests = 1_000_000_000_000

// process checks when requests come.
func (c *specCheck) process(s Spec, p *plan) {
	switch {
	case s.Arrival == nil && s.ClosedLoop == nil:
		rate := 4.0
		if s.RatePerS != nil {
			rate = max(c.rate("rate_per_s", s.RatePerS), minRate)
		}
		c.add("arrival", `missing; say when requests arrive, such as { process = "poisson", rate_per_s = %g }, or give a closed_loop or a preset`, rate)
	case s.Arrival != nil && s.ClosedLoop != nil:
		c.add("closed_loop", "given beside arrival; users who wait for their answers have no arrival process: remove one")
	case s.ClosedLoop != nil:
		if s.RatePerS != nil {
			c.add("rate_per_s", "has no meaning for a closed loop; remove it, or give an arrival instead of closed_loop")
		}
		p.loop = c.closedLoop("closed_loop", s.ClosedLoop)
		if s.Requests == nil && s.Duration == nil && s.ClosedLoop.RequestsPerUser == nil {
			c.add("requests", "missing; the users would go on for ever: set requests, duration or closed_loop.requests_per_user")
		}
	default:
		a := *s.Arrival
		if s.RatePerS != nil {
			rate := c.rate("rate_per_s", s.RatePerS)
			if rate == 0 {
				rate = 1 // the fault is told; do not tell that of arrival too
			}
			a.RatePerS = &rate
		}
		p.arrivals = c.arrival("arrival", &a)
		ends := a.Process == "piecewise" && (a.Repeat == nil || !*a.Repeat)
		if s.Requests == nil && s.Duration == nil && !ends {
			c.add("requests", "missing; the arrivals would go on for ever: set requests or duration")
		}
	}
}

// mix checks what requests are.
func (c *specCheck) mix(s Spec, m *mix) {
	var all class
	if s.Prompt != nil || len(s.Classes) == 0 {
		all.prompt = c.prompt("prompt", s.Prompt)
	}
	if s.Output != nil || len(s.Classes) == 0 {
		all.output = c.length("output", s.Output)
	}
	m.classes = []class{all}
	if len(s.Classes) > 0 {
		m.classes = nil
		c.classes(s, all, m)
	}
	if s.Cancel == nil {
		return
	}
	m.cancel = c.real("cancel.fraction", s.Cancel.Fraction, 0, 1, "a share")
	before := len(c.faults)
	m.after = c.delay("cancel.after", s.Cancel.After)
	if len(c.faults) == before && m.after.canBeZero() {
		c.add("cancel.after", "can be 0, which would mean never; let it begin above 0")
	}
}

// classes checks the classes of s. Each has the lengths of all, unless it has
// its own.
func (c *specCheck) classes(s Spec, all class, m *mix) {
	var weights []float64
	for i, k := range s.Classes {
		key := indexed("classes", i)
		if k.Name == "" {
			c.add(sub(key, "name"), "missing; a class needs a name for reports")
		}
		for j := range i {
			if s.Classes[j].Name == k.Name && k.Name != "" {
				c.add(sub(key, "name"), "is %q, as that of classes[%d]; names must differ", k.Name, j)
			}
		}
		weights = append(weights, c.weight(sub(key, "weight"), k.Weight))
		x := class{k.Name, k.Priority, all.prompt, all.output}
		if k.Prompt != nil || s.Prompt == nil {
			x.prompt = c.prompt(sub(key, "prompt"), k.Prompt)
		}
		if k.Output != nil || s.Output == nil {
			x.output = c.length(sub(key, "output"), k.Output)
		}
		m.classes = append(m.classes, x)
	}
	m.upTo = cumulate(weights)
}

// prompt checks the length of a prompt.
func (c *specCheck) prompt(key string, s *LengthSpec) Length {
	if s.dependsOnPrompt() {
		c.add(key, "is by_prompt, which only an output can be; choose another dist")
		return Length{}
	}
	return c.length(key, s)
}
