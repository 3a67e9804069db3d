// Package stepwise runs the same model as sim/engine the slow way: one step at
// a time, one sequence at a time, one block at a time, with a scheduler written
// out as the engines' own loops are.
//
// It exists to be read and to be believed. For any configuration it must emit
// the records that sim/engine emits; that equality, on generated cases and on
// real traces, is what lets the fast engine be trusted. It shares no code with
// it but the types of the seams.
package stepwise
