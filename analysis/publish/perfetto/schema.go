package perfetto

// The fields of Trace and TracePacket, trace.proto and trace_packet.proto.
const (
	tracePacket number = 1

	packetTimestamp     number = 8
	packetSequence      number = 10
	packetTrackEvent    number = 11
	packetInterned      number = 12
	packetSequenceFlags number = 13
	packetDescriptor    number = 60
)

// The values of TracePacket.SequenceFlags.
const (
	flagCleared = 1 // whatever was interned before is forgotten
	flagNeeds   = 2 // the packet uses what was interned
)

// The fields of TrackDescriptor, and of what it holds.
const (
	descriptorUUID     number = 1
	descriptorName     number = 2
	descriptorProcess  number = 3
	descriptorParent   number = 5
	descriptorCounter  number = 8
	descriptorOrdering number = 11
	descriptorRank     number = 12

	processPID  number = 1
	processName number = 6

	counterUnitName number = 6
)

// The values of TrackDescriptor.ChildTracksOrdering.
const (
	orderChronological = 2
	orderExplicit      = 3
)

// The fields of TrackEvent, and of the DebugAnnotations that are its arguments.
const (
	eventAnnotation  number = 4
	eventType        number = 9
	eventNameIID     number = 10
	eventTrack       number = 11
	eventName        number = 23
	eventCounter     number = 30
	eventFlow        number = 47
	eventTerminating number = 48

	annotationNameIID number = 1
	annotationInt     number = 4
	annotationDouble  number = 5
	annotationText    number = 6
	annotationEntry   number = 11
)

// The values of TrackEvent.Type.
const (
	typeBegin   = 1
	typeEnd     = 2
	typeCounter = 4
)

// The fields of InternedData, and of EventName and DebugAnnotationName.
const (
	internedEvents      number = 2
	internedAnnotations number = 3

	nameIID  number = 1
	nameText number = 2
)

// An event is the name of a slice, by its number in a trace.
type event uint64

// The slices.
const (
	stepPrefill event = 1 + iota
	stepDecode
	stepMixed
	request
	network
	queue
	prefill
	decode
	response
	chunk
	delayed
	stalled
	preempted
	run
	drawn
	leftOut
	events
)

// eventNames returns the names of the slices, in order.
func eventNames() [events - 1]string {
	return [...]string{
		"prefill step", "decode step", "mixed step", "request", "network", "queue", "prefill", "decode", "network of the answer",
		"chunk", "delayed by prompts", "stalled by prompts", "preempted", "run", "drawn", "left out",
	}
}

// An argument is the name of an argument of a slice, by its number in a trace.
type argument uint64

// annotationNames returns the names of the arguments, in order: those of the parts of
// a latency come last.
func annotationNames() []string {
	names := []string{
		"step", "decode_tokens", "prefill_tokens", "context_tokens", "prompts", "held", "preempted", "id", "name", "line", "class", "outcome",
		"reason", "prompt_tokens", "output_tokens", "preemptions", "from_token", "tokens", "recomputed", "lost", "by_ms", "missed",
		"to_first_token_ms", "after_first_token_ms", "why", "steps", "requests", "drawn_steps", "drawn_requests", "version", "scenario", "seed", "model", "profile", "policy",
	}
	return append(names, causeKeys()...)
}

// The arguments.
const (
	argStep argument = 1 + iota
	argDecodes
	argPrefill
	argContext
	argPrompts
	argHeld
	argPreempted
	argID
	argName
	argLine
	argClass
	argOutcome
	argReason
	argPrompt
	argOutput
	argPreemptions
	argFrom
	argTokens
	argRecomputed
	argLost
	argBy
	argMissed
	argToFirst
	argAfterFirst
	argWhy
	argSteps
	argRequests
	argDrawnSteps
	argDrawnRequests
	argVersion
	argScenario
	argSeed
	argModel
	argProfile
	argPolicy
	argCauses
)
