package workload

import (
	"bytes"
	"strconv"

	"servesim/internal/exact"
	"servesim/internal/infile"
)

// tokens reads the next value as a number of tokens, which may be 0.
func (j *jsonLine) tokens(field string) (int32, error) {
	raw, err := j.value()
	if err != nil {
		return 0, err
	}
	n, ok := parseCount(raw)
	if !ok {
		return 0, j.in.fault(field, infile.Quote(raw), wantTokens, "")
	}
	return n, nil
}

// at reads the next value as a time in u since the start of the trace.
func (j *jsonLine) at(field string, u exact.Unit) (at exact.Instant, text []byte, err error) {
	raw, err := j.value()
	if err != nil {
		return exact.Instant{}, nil, err
	}
	at, ok := u.Parse(raw)
	if !ok {
		return exact.Instant{}, nil, j.in.fault(field, infile.Quote(raw), wantTime(u), "")
	}
	return at, raw, nil
}

// jsonText returns the text of raw if it is a JSON string.
func jsonText(raw []byte) (text []byte, ok bool) {
	if !bytes.HasPrefix(raw, []byte{'"'}) {
		return nil, false
	}
	return unquoteJSON(raw)
}

// whole reads the next value as a whole number of so many bits, at least least.
func (j *jsonLine) whole(field string, least int64, bits int, want string) (int64, error) {
	raw, err := j.value()
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseInt(string(raw), 10, bits)
	if err != nil || n < least {
		return 0, j.in.fault(field, infile.Quote(raw), want, "")
	}
	return n, nil
}
