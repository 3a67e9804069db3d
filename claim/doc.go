// Package claim says what a figure that somebody gives of a deployment can mean.
//
// "15,000 tok/s" is true of some lengths, loads, number formats and numbers of GPUs
// and false of others. The package simulates a small grid of them and says where
// the figure is reached, what users would see there, what the others reach at most
// and by which roofline, and which questions decide it.
//
// What a combination reaches doesn't depend on the figure, so that of two claims
// the larger is possible nowhere where the smaller isn't. It judges nobody: what
// the model doesn't have, such as speculative decoding, no combination has.
package claim
