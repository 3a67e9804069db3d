package workload

import (
	"fmt"
	"slices"

	"servesim/internal/exact"
	"servesim/internal/infile"
)

// mooncakeBlock is the number of tokens that a hash id of a Mooncake trace
// covers (kvcache-ai/Mooncake, FAST25-release/README.md).
const mooncakeBlock = 512

// mooncakeFormat is the JSON lines of the Mooncake traces:
//
//	{"timestamp": 27482, "input_length": 6955, "output_length": 52, "hash_ids": [46, 47]}
//
// timestamp is in milliseconds. A hash id stands for a block of the prompt and
// everything before it; the last one covers a partial block, so that there are
// ⌈input_length / block⌉ of them. hash_ids may be missing, empty or null:
// the prompt then shares nothing. session_id, which AIPerf adds, is read; other
// keys are not, and the report lists them.
func mooncakeFormat() Format {
	return Format{
		Name:   "mooncake",
		Title:  "Mooncake traces, JSON lines with prefix hashes",
		json:   true,
		Fields: []string{"timestamp", "input_length", "output_length", "hash_ids"},
		match: func(s *sniffed) bool {
			return s.hasKeys("input_length", "output_length") && !s.hasKeys("chat_id")
		},
		open: openMooncake,
	}
}

// mooncakeRows reads a Mooncake trace.
type mooncakeRows struct {
	line     jsonLine
	block    int32
	ids      []uint64
	sessions interner
	ignored  []string
	hashed   bool
}

func openMooncake(in *lineReader, opt *Options) (rowReader, error) {
	m := &mooncakeRows{line: jsonLine{in: in}, block: mooncakeBlock}
	if opt.BlockTokens > 0 {
		m.block = opt.BlockTokens
	}
	return m, nil
}

// Bits of the keys that a line had.
const (
	hasTime = 1 << iota
	hasInput
	hasOutput
	hasIDs
	hasSession
)

func (m *mooncakeRows) next(r *row) error {
	if err := m.line.next(); err != nil {
		return err
	}
	r.Session, m.ids = 0, m.ids[:0]
	seen := 0
	for {
		key, more, err := m.line.key()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		bit, err := m.read(key, r)
		if err != nil {
			return err
		}
		if seen&bit != 0 {
			return m.line.in.fault(string(key), "the key twice", "once", "")
		}
		seen |= bit
	}
	if missing := missingKeys(seen, "timestamp", "input_length", "output_length"); missing != nil {
		fix := ""
		if seen&hasTime == 0 && slices.Contains(m.ignored, "delay") {
			fix = "a row with delay waits for the one before it in its session, which is not supported: give it a timestamp"
		}
		return m.line.in.fault("", "no "+infile.List(missing, "and"), "timestamp, input_length and output_length", fix)
	}
	return m.blocks(r)
}

// missingKeys returns those of names whose bit, counted from the lowest, is
// not in seen.
func missingKeys(seen int, names ...string) []string {
	var missing []string
	for i, name := range names {
		if seen>>i&1 == 0 {
			missing = append(missing, name)
		}
	}
	return missing
}

// read reads the value of key and returns the key's bit, 0 if it is ignored.
func (m *mooncakeRows) read(key []byte, r *row) (bit int, err error) {
	switch string(key) {
	case "timestamp":
		r.at, r.text, err = m.line.at("timestamp", exact.Milliseconds())
		return hasTime, err
	case "input_length":
		r.Prompt, err = m.line.tokens("input_length")
		return hasInput, err
	case "output_length":
		r.Output, err = m.line.tokens("output_length")
		return hasOutput, err
	case "hash_ids":
		m.line.space()
		from, ok := m.line.i, false
		if m.ids, ok = m.line.uints(m.ids); !ok {
			return 0, m.line.in.fault("hash_ids", infile.Quote(m.line.b[from:]), wantHashes, "")
		}
		return hasIDs, nil
	case "session_id":
		raw, err := m.line.value()
		if err == nil && string(raw) != "null" {
			_, r.Session = m.sessions.of(raw)
		}
		return hasSession, err
	}
	m.ignore(key)
	return 0, m.line.skip()
}

// maxIgnored is how many keys that are not read a report lists.
const maxIgnored = 16

// ignore notes that key is not read.
func (m *mooncakeRows) ignore(key []byte) {
	if len(m.ignored) < maxIgnored && !slices.Contains(m.ignored, string(key)) {
		m.ignored = append(m.ignored, string(key))
	}
}

// blocks checks that the ids cover the prompt and hands them to r.
func (m *mooncakeRows) blocks(r *row) error {
	r.Blocks, r.BlockTokens = nil, 0
	if len(m.ids) == 0 {
		return nil
	}
	if want := ceilDiv(r.Prompt, m.block); want != len(m.ids) {
		f := &Fault{File: m.line.in.file, Line: m.line.in.line, Field: "hash_ids",
			Found: fmt.Sprintf("%d ids for %d prompt tokens", len(m.ids), r.Prompt),
			Want:  fmt.Sprintf("%d, one for every %d tokens", want, m.block)}
		for _, size := range []int32{16, 32, 64, 128, 256, 512, 1024} {
			if ceilDiv(r.Prompt, size) == len(m.ids) {
				f.Fix = fmt.Sprintf("blocks of %d tokens would fit this row: --set block_tokens=%d", size, size)
				break
			}
		}
		return f
	}
	m.hashed = true
	r.Blocks, r.BlockTokens = m.ids, m.block
	return nil
}

// ceilDiv returns ⌈a/b⌉ for a of 0 or more.
func ceilDiv(a, b int32) int { return int((int64(a) + int64(b) - 1) / int64(b)) }

func (m *mooncakeRows) fields() rowFields {
	return rowFields{"timestamp", "input_length", "output_length"}
}

func (m *mooncakeRows) describe(r *Report) {
	r.Ignored = slices.Clone(m.ignored)
	if m.hashed {
		r.BlockTokens = m.block
	}
}
