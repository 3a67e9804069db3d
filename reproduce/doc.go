// Package reproduce tests claims about serving engines that others published: it
// simulates the setups that they name, and says which of their figures come out.
//
// A claim is a TOML file in the folder claims: what is said and where, scenarios
// of ordinary keys that test it, the figures that are checked, and an explanation
// with the facts that it rests on, which are computed too. A check compares one
// quantity with a range that follows from what was printed; the verdict follows
// from the checks by the rule of Judge and VerdictOf, the same for every claim.
//
// It fits nothing and knows of no claim in particular: a scenario has the keys and
// profiles that any other has.
package reproduce
