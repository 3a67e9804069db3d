package observe

import "servesim/sim"

// Schema is the version of the record files that this package writes. It reads
// earlier ones too, which lack what came later. Version 3 has no Request.Detour and
// Attempts and no StepRun.Cut, and 2 no Header.Streaming besides, which is then nil. In version 1 Request.Queued is Never, Made, Lost,
// StepRun.Serial, Base, Held, Oldest and Chunk.Ghost are empty besides.
const Schema = 4

// Kind is the "kind" of a record file.
const Kind = "servesim-records"

// Header is the first line of a record file: what the records came from.
// Every field may be empty where it has no meaning, as for a measured run.
type Header struct {
	// Schema is that of the file that a Reader reads. A Writer writes Schema.
	Schema int
	// Version is that of the program that wrote the file.
	Version string
	// Seed is the one that every random draw followed from.
	Seed uint64
	// Scenario is the hash of the resolved scenario.
	Scenario string
	// Profile, Model and Policy are names of the hardware profile, the model and
	// the engine's scheduling policy, with their versions or hashes.
	Profile, Model, Policy string
	// RequestsOnly says that the file leaves out the steps.
	RequestsOnly bool
	// Streaming is how the server cut answers into chunks; nil if it isn't known.
	Streaming *Streaming
}

// Streaming is how a server cuts answers into chunks, as package transcript has
// it, which says what each part means.
type Streaming struct {
	Interval      int32
	Coalesce      sim.Duration
	Role          string
	Finish, Usage bool
	DoneDelay     sim.Duration
}
