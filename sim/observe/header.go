package observe

// Schema is the version of the record files that this package writes. It reads
// version 1 too, which lacks what came later: Request.Queued is then Never, Made,
// Lost, StepRun.Serial, Base, Held, Oldest and Chunk.Ghost are empty.
const Schema = 2

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
}
