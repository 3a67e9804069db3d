package workload

import (
	"errors"
	"io"
	"math"
	"strconv"
)

// Merge yields the requests of all of srcs, at least one, in order of arrival;
// of those that arrive at once, the ones of the earlier source first. Each
// source begins at 0.
//
// The sources are different users: sessions are renumbered so that no two
// sources share one, prefix hashes of all but the first source are changed so
// that no two sources share a prefix, and the names of all but the first source
// get the suffix "~1", "~2" and so on. The error says that there is no source
// or wraps ErrNoReactive; Next fails with a *TransformFault at a session that
// cannot be renumbered.
func Merge(srcs ...Source) (Source, error) {
	named := make([]NamedSource, len(srcs))
	for i, src := range srcs {
		named[i].Source = src
	}
	return MergeNamed(named...)
}

// NamedSource is one of the sources of MergeNamed.
type NamedSource struct {
	Source Source
	// Name is what Counts calls it, or empty for one that isn't told.
	Name string
}

// MergeNamed is Merge, and its Counts tell how many requests of each source that
// has a name were yielded.
func MergeNamed(srcs ...NamedSource) (Source, error) {
	if len(srcs) == 0 {
		return nil, errors.New("merge: no source")
	}
	m := &merge{taken: -1}
	for i, s := range srcs {
		if err := openLoop("merge", s.Source); err != nil {
			return nil, err
		}
		m.parts = append(m.parts, &part{src: s.Source, name: s.Name, place: i, of: len(srcs)})
	}
	return m, nil
}

// merge is the union of several sources.
type merge struct {
	parts []*part
	begun bool
	taken int // the part whose head was yielded, or -1
	n     int64
	end   error
}

// part is one source of a merge and its next request.
type part struct {
	src       Source
	name      string
	place, of int
	n         int64 // requests yielded
	head      Request
	done      bool
	blocks    []uint64
}

// Next implements Source.
func (m *merge) Next() (Request, error) {
	if m.end != nil {
		return Request{}, m.end
	}
	if err := m.refill(); err != nil {
		m.end = err
		return Request{}, err
	}
	m.taken = -1
	for i, p := range m.parts {
		if !p.done && (m.taken < 0 || p.head.Arrival < m.parts[m.taken].head.Arrival) {
			m.taken = i
		}
	}
	if m.taken < 0 {
		m.end = io.EOF
		return Request{}, io.EOF
	}
	m.parts[m.taken].n++
	r := m.parts[m.taken].head
	r.ID = m.n
	m.n++
	return r, nil
}

// refill reads the heads that are missing. It waits until Next is called again,
// because reading a source ends the life of the Blocks it yielded before.
func (m *merge) refill() error {
	if m.begun {
		return m.parts[m.taken].read()
	}
	m.begun = true
	for _, p := range m.parts {
		if err := p.read(); err != nil {
			return err
		}
	}
	return nil
}

// Counts implements Counted.
func (m *merge) Counts() []Count {
	var counts []Count
	for _, p := range m.parts {
		for _, c := range CountsOf(p.src) {
			counts = addCount(counts, c.What, c.N)
		}
	}
	for _, p := range m.parts {
		if p.name != "" {
			counts = addCount(counts, "merge: requests of "+p.name, p.n)
		}
	}
	return counts
}

// Close closes every source.
func (m *merge) Close() error {
	var errs []error
	for _, p := range m.parts {
		errs = append(errs, CloseSource(p.src))
	}
	return errors.Join(errs...)
}

// read reads the next head of p and makes it differ from those of other parts.
func (p *part) read() (err error) {
	if p.head, err = p.src.Next(); err != nil {
		p.done = true
		if err == io.EOF {
			return nil
		}
		return err
	}
	if s := p.head.Session; s != 0 {
		if s < 1 || s > math.MaxInt64/int64(p.of) {
			return transformFault("merge", "request %d of source %d has the session %d, want at most %d",
				p.head.ID, p.place+1, s, math.MaxInt64/int64(p.of))
		}
		p.head.Session = (s-1)*int64(p.of) + int64(p.place) + 1
	}
	if p.place == 0 {
		return nil
	}
	if p.head.Name != "" {
		p.head.Name += "~" + strconv.Itoa(p.place)
	}
	if p.head.Blocks != nil {
		p.blocks = p.blocks[:0]
		for _, hash := range p.head.Blocks {
			p.blocks = append(p.blocks, saltHash(hash, uint64(p.place)))
		}
		p.head.Blocks = p.blocks
	}
	return nil
}

// saltHash maps hashes one to one, for each salt in another way. It is the
// finaliser of MurmurHash3 (Appleby, public domain) over their sum.
func saltHash(hash, salt uint64) uint64 {
	z := hash + salt*0x9e3779b97f4a7c15
	z = (z ^ z>>33) * 0xff51afd7ed558ccd
	z = (z ^ z>>33) * 0xc4ceb9fe1a85ec53
	return z ^ z>>33
}
