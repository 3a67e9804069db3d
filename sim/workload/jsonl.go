package workload

import (
	"fmt"
	"strconv"

	"servesim/internal/exact"
	"servesim/internal/infile"
)

// jsonFormat is servesim's own format, JSON lines. The first line may be a
// header, and then each line is a request:
//
//	{"schema":1,"source":"where the trace comes from"}
//	{"id":"a7","arrival":3.25,"prompt":512,"output":64,"session":3,"class":"chat",
//	 "priority":-1,"cancel":30,"blocks":[17,18],"block_tokens":256}
//
// all on one line. arrival, prompt and output must be there. Times are decimal
// numbers of seconds, read exactly to the picosecond: arrival since any origin,
// cancel since arrival. id is text or a whole number, and no two requests
// share one; session is a whole number from 1; blocks are the hashes of the
// prompt's prefix blocks of block_tokens tokens, at most as many as it takes to
// cover the prompt. Keys that are not listed here are faults. Writer writes it.
func jsonFormat() Format {
	return Format{
		Name:   jsonName,
		Title:  "servesim's own JSON lines",
		json:   true,
		Fields: []string{"arrival", "prompt", "output"},
		match: func(s *sniffed) bool {
			return s.hasKeys("schema") || s.hasKeys("arrival", "prompt") || s.hasKeys("prompt", "output")
		},
		open: openJSON,
	}
}

const (
	// jsonName is the name of servesim's own format.
	jsonName = "servesim"
	// jsonSchema is the version of it that is read and written.
	jsonSchema = 1
)

// jsonKeys returns the keys of a request; the bit of each in jsonRows.seen is
// its place.
func jsonKeys() []string {
	return []string{"arrival", "prompt", "output", "id", "session", "class",
		"priority", "cancel", "blocks", "block_tokens"}
}

// Places in jsonKeys.
const (
	keyArrival = iota
	keyPrompt
	keyOutput
	keyID
	keySession
	keyClass
	keyPriority
	keyCancel
	keyBlocks
	keyBlockTokens
)

// jsonRows reads servesim's own format.
type jsonRows struct {
	line    jsonLine
	first   bool // the line read next may be a header
	source  string
	ids     idSet
	classes interner
	blocks  []uint64
}

func openJSON(in *lineReader, _ *Options) (rowReader, error) {
	return &jsonRows{line: jsonLine{in: in}, first: true}, nil
}

func (j *jsonRows) next(r *row) error {
	seen, err := j.read(r)
	if err == errHeader {
		seen, err = j.read(r)
	}
	if err != nil {
		return err
	}
	if missing := missingKeys(seen, jsonKeys()[:keyID]...); missing != nil {
		return j.line.in.fault("", "no "+infile.List(missing, "and"), "arrival, prompt and output in every line", "")
	}
	return j.checkBlocks(r, seen)
}

// errHeader is what read returns for a header.
var errHeader = fmt.Errorf("a header")

// read reads a line into r and returns the bits of the keys that it has.
func (j *jsonRows) read(r *row) (seen int, err error) {
	if err := j.line.next(); err != nil {
		return 0, err
	}
	first := j.first
	j.first = false
	r.Request, j.blocks = Request{}, j.blocks[:0]
	for n := 0; ; n++ {
		key, more, err := j.line.key()
		if err != nil || !more {
			return seen, err
		}
		if first && n == 0 && (string(key) == "schema" || string(key) == "source") {
			return 0, j.header(key)
		}
		bit, err := j.value(key, r)
		if err != nil {
			return 0, err
		}
		if seen&bit != 0 {
			return 0, j.line.in.fault(string(key), "the key twice", "once", "")
		}
		seen |= bit
	}
}

// header reads the rest of a header, from the value of its first key on.
func (j *jsonRows) header(key []byte) error {
	schema := false
	for more := true; more; {
		raw, err := j.line.value()
		if err != nil {
			return err
		}
		switch string(key) {
		case "schema":
			if string(raw) != strconv.Itoa(jsonSchema) {
				return j.line.in.fault("schema", infile.Quote(raw), strconv.Itoa(jsonSchema), "this version reads no other")
			}
			schema = true
		case "source":
			text, ok := jsonText(raw)
			if !ok {
				return j.line.in.fault("source", infile.Quote(raw), "text", "")
			}
			j.source = string(text)
		default:
			return j.line.in.fault("", "the key "+infile.Quote(key)+" in the header", "schema and source only", "")
		}
		if key, more, err = j.line.key(); err != nil {
			return err
		}
	}
	if !schema {
		return j.line.in.fault("", "a header without schema", `"schema": 1`, "")
	}
	return errHeader
}

// value reads the value of key into r and returns the key's bit.
func (j *jsonRows) value(key []byte, r *row) (bit int, err error) {
	switch string(key) {
	case "arrival":
		r.at, r.text, err = j.line.at("arrival", exact.Seconds())
		return 1 << keyArrival, err
	case "prompt":
		r.Prompt, err = j.line.tokens("prompt")
		return 1 << keyPrompt, err
	case "output":
		r.Output, err = j.line.tokens("output")
		return 1 << keyOutput, err
	case "id":
		return 1 << keyID, j.id(r)
	case "session":
		r.Session, err = j.line.whole("session", 1, 64, "a whole number from 1 to 9223372036854775807")
		return 1 << keySession, err
	case "class":
		return 1 << keyClass, j.class(r)
	case "priority":
		n, err := j.line.whole("priority", -1<<31, 32, wantPriority)
		r.Priority = int32(n)
		return 1 << keyPriority, err
	case "cancel":
		return 1 << keyCancel, j.cancel(r)
	case "blocks":
		j.line.space()
		from, ok := j.line.i, false
		if j.blocks, ok = j.line.uints(j.blocks); !ok {
			return 0, j.line.in.fault("blocks", infile.Quote(j.line.b[from:]), wantHashes, "")
		}
		return 1 << keyBlocks, nil
	case "block_tokens":
		n, err := j.line.whole("block_tokens", 1, 32, wantTokens)
		r.BlockTokens = int32(n)
		return 1 << keyBlockTokens, err
	}
	return 0, j.line.in.fault("", "the key "+infile.Quote(key), infile.List(jsonKeys(), "or"), "")
}

// id reads the id of a request.
func (j *jsonRows) id(r *row) error {
	raw, err := j.line.value()
	if err != nil {
		return err
	}
	text, ok := jsonText(raw)
	if !ok {
		if _, err := strconv.ParseInt(string(raw), 10, 64); err != nil {
			return j.line.in.fault("id", infile.Quote(raw), "text or a whole number", "")
		}
		text = raw
	}
	if len(text) == 0 {
		return j.line.in.fault("id", "empty text", "text or a whole number", "leave id out of requests that have none")
	}
	r.Name = string(text)
	if earlier, ok := j.ids.add(r.Name, j.line.in.line); !ok {
		return j.line.in.known("id", r.Name, earlier)
	}
	return nil
}

// class reads the class of a request.
func (j *jsonRows) class(r *row) error {
	raw, err := j.line.value()
	if err != nil {
		return err
	}
	text, ok := jsonText(raw)
	if !ok {
		return j.line.in.fault("class", infile.Quote(raw), "text", "")
	}
	r.Class, _ = j.classes.of(text)
	return nil
}

// cancel reads the patience of a request.
func (j *jsonRows) cancel(r *row) error {
	at, raw, err := j.line.at("cancel", exact.Seconds())
	if err != nil {
		return err
	}
	d, ok := at.Since(exact.Instant{})
	if !ok || d == 0 {
		return j.line.in.fault("cancel", infile.Quote(raw), "a time in s, more than 0 and at most 106 days",
			"leave cancel out of requests that are never given up")
	}
	r.Cancel = d
	return nil
}

// checkBlocks checks that the hashes fit the prompt and hands them to r.
func (j *jsonRows) checkBlocks(r *row, seen int) error {
	blocks, size := seen>>keyBlocks&1 == 1, seen>>keyBlockTokens&1 == 1
	switch {
	case blocks && !size:
		return j.line.in.fault("", "blocks without block_tokens", "both or neither", "")
	case size && !blocks:
		return j.line.in.fault("", "block_tokens without blocks", "both or neither", "")
	case len(j.blocks) == 0:
		r.BlockTokens = 0
		return nil
	}
	if most := ceilDiv(r.Prompt, r.BlockTokens); len(j.blocks) > most {
		return j.line.in.fault("blocks", fmt.Sprintf("%d for %d prompt tokens", len(j.blocks), r.Prompt),
			fmt.Sprintf("at most %d, one for every %d tokens", most, r.BlockTokens), "")
	}
	r.Blocks = j.blocks
	return nil
}

func (j *jsonRows) fields() rowFields { return rowFields{"arrival", "prompt", "output"} }

func (j *jsonRows) describe(r *Report) { r.Origin = j.source }

// wantHashes is what a field of hashes may hold.
const wantHashes = "an array of whole numbers from 0 to 18446744073709551615"
