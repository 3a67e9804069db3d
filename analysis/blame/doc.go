// Package blame says where the latency of each request went: every picosecond is
// charged to one cause, and the parts sum to the whole exactly.
//
// It is computed from records alone, as they come about, and remembers the steps
// since the oldest live request came: what is older is folded into sums. Whoever
// waited through many steps alike is charged by the difference of two prefix
// sums, so that a request costs a few look-ups, not its tokens.
//
// A step with prompts beside decodes lasts longer than the decodes alone would:
// its Base is charged to them, and the excess to the prompts, in proportion to
// the tokens that the step computed of each. That is a rule, not a measurement:
// of two prompts in one step nobody can say which one took the time.
//
// It finds no causes of causes: a request that waits for a slot is charged to
// the slot, whatever made those ahead of it slow.
package blame
