package still

import (
	"servesim/analysis/blame"
	"servesim/report/figure"
)

// toneOf returns the colour of a series of a role, as #RRGGBB. Runs and percentiles have
// the colours of Okabe and Ito ("Color Universal Design", 2008), which people of every
// kind of colour vision tell apart; stalls go from light to dark with the length of the
// prompt, so that they can be told in grey too.
func toneOf(role figure.Role, index int) string {
	pick := func(list ...string) string { return list[max(0, index)%len(list)] }
	switch role {
	case figure.RoleRun:
		return pick("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F7F7F", "#000000")
	case figure.RolePercentile:
		return pick("#56B4E9", "#0072B2", "#D55E00", "#000000")
	case figure.RoleStall:
		return pick("#F4B942", "#E66101", "#B2182B", "#5E0B15", "#7B5AA6")
	case figure.RolePrefill:
		return "#E66101"
	case figure.RoleDecode:
		return "#0072B2"
	case figure.RoleCause:
		return causeColor(blame.Cause(index))
	case figure.RoleBest:
		return "#000000"
	}
	return pick("#A9B4BF", "#4A5560") // of what is usual
}

// causeColor returns the colour of a cause: what prompts of others do is from yellow to
// red, a request's own work blue and green, the queue grey, preemption purple.
func causeColor(c blame.Cause) string {
	switch c {
	case blame.NetworkRequest:
		return "#D9D9D9"
	case blame.NetworkResponse:
		return "#C4C4C4"
	case blame.InFlight:
		return "#A8B5C2"
	case blame.Ahead:
		return "#8796A5"
	case blame.Slots:
		return "#5F7183"
	case blame.Blocks:
		return "#445566"
	case blame.Budget:
		return "#2C3B4A"
	case blame.Order:
		return "#17222D"
	case blame.Behind:
		return "#F0E442"
	case blame.Prefill:
		return "#009E73"
	case blame.PrefillSlowed:
		return "#E69F00"
	case blame.Decode:
		return "#56B4E9"
	case blame.DecodeSlowed:
		return "#D55E00"
	case blame.Stalled:
		return "#8C1D18"
	case blame.LeftOut:
		return "#CC79A7"
	case blame.Preempted:
		return "#7B5AA6"
	case blame.Redo:
		return "#4B2E83"
	}
	return "#EFEFEF"
}
