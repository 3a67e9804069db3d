package perfetto_test

import (
	"fmt"
	"slices"
)

// A slice is one that a trace has.
type slice struct {
	name     string
	from, to uint64
	depth    int
	args     map[string]any
	begins   []uint64 // flows
	ends     []uint64
}

// A line is a track that a trace has.
type line struct {
	name    string
	parent  uint64
	pid     uint64
	counter bool
	slices  []*slice // in order of from, the outer before the inner
	values  []int64
	at      []uint64 // of values
	open    []*slice
	last    uint64
}

// A trace is a Perfetto trace that is well formed.
type trace struct {
	lines  map[uint64]*line
	order  []uint64
	events map[uint64]string
	names  map[uint64]string // of annotations
	flows  map[uint64][2]*slice
}

// validate reads a trace as trace_processor would, and refuses what it would drop,
// count as an error or have to guess: what the schema doesn't have, a track or name that
// isn't declared before it is used, slices that aren't within each other, flows that
// don't both begin and end.
func validate(b []byte) (*trace, error) {
	all, err := decode("Trace", b, schema())
	if err != nil {
		return nil, err
	}
	t := &trace{lines: map[uint64]*line{}, events: map[uint64]string{}, names: map[uint64]string{}, flows: map[uint64][2]*slice{}}
	for i, p := range list[message](all, "packet") {
		if err := t.packet(i, p); err != nil {
			return nil, fmt.Errorf("packet %d: %w", i, err)
		}
	}
	for _, id := range t.order {
		if l := t.lines[id]; len(l.open) > 0 {
			return nil, fmt.Errorf("track %q: slice %q never ends", l.name, l.open[0].name)
		}
	}
	for id, f := range t.flows {
		if f[0] == nil || f[1] == nil {
			return nil, fmt.Errorf("flow %d begins at %v and ends at %v", id, f[0], f[1])
		}
		if f[0].from >= f[1].to {
			return nil, fmt.Errorf("flow %d ends at %d, before it begins at %d", id, f[1].to, f[0].from)
		}
	}
	return t, nil
}

// packet takes in packet i.
func (t *trace) packet(i int, p message) error {
	seq, _ := one[uint64](p, "trusted_packet_sequence_id")
	flags, _ := one[uint64](p, "sequence_flags")
	if seq != 1 || (i == 0) != (flags&1 != 0) {
		return fmt.Errorf("sequence %d with flags %d; the first packet, and no other, clears the state of sequence 1", seq, flags)
	}
	kinds := 0
	if m, ok := one[message](p, "interned_data"); ok {
		kinds++
		if err := t.intern(m); err != nil {
			return err
		}
	}
	if m, ok := one[message](p, "track_descriptor"); ok {
		kinds++
		if err := t.declare(m); err != nil {
			return err
		}
	}
	if m, ok := one[message](p, "track_event"); ok {
		kinds++
		at, stamped := one[uint64](p, "timestamp")
		if !stamped || flags&2 == 0 {
			return fmt.Errorf("an event without a timestamp, or that doesn't say that it needs the names")
		}
		if err := t.event(at, m); err != nil {
			return err
		}
	}
	if kinds != 1 {
		return fmt.Errorf("has %d payloads", kinds)
	}
	return nil
}

// intern takes in names.
func (t *trace) intern(m message) error {
	for key, into := range map[string]map[uint64]string{"event_names": t.events, "debug_annotation_names": t.names} {
		for _, n := range list[message](m, key) {
			iid, _ := one[uint64](n, "iid")
			name, _ := one[string](n, "name")
			if iid == 0 || name == "" || into[iid] != "" {
				return fmt.Errorf("%s: %d is %q, and was %q", key, iid, name, into[iid])
			}
			into[iid] = name
		}
	}
	return nil
}

// declare takes in a track.
func (t *trace) declare(m message) error {
	id, _ := one[uint64](m, "uuid")
	parent, child := one[uint64](m, "parent_uuid")
	if id == 0 || t.lines[id] != nil || child && t.lines[parent] == nil {
		return fmt.Errorf("track %d of %d: it is 0 or there already, or its parent isn't", id, parent)
	}
	l := &line{parent: parent}
	l.name, _ = one[string](m, "name")
	if p, ok := one[message](m, "process"); ok {
		l.pid, _ = one[uint64](p, "pid")
		l.name, _ = one[string](p, "process_name")
		if l.pid == 0 || child || slices.ContainsFunc(t.order, func(o uint64) bool { return t.lines[o].pid == l.pid }) {
			return fmt.Errorf("track %d: process %d is 0 or there already, or has a parent", id, l.pid)
		}
	}
	_, l.counter = one[message](m, "counter")
	if order, _ := one[uint64](m, "child_ordering"); l.name == "" || order > 3 {
		return fmt.Errorf("track %d has no name, or orders its children by %d", id, order)
	}
	t.lines[id], t.order = l, append(t.order, id)
	return nil
}

// event takes in an event.
func (t *trace) event(at uint64, m message) error {
	id, _ := one[uint64](m, "track_uuid")
	what, _ := one[uint64](m, "type")
	l := t.lines[id]
	if l == nil || l.pid != 0 || l.counter != (what == 4) || at < l.last {
		return fmt.Errorf("an event of type %d at %d on track %d, %+v, which isn't there, is of another kind, or has later ones", what, at, id, l)
	}
	l.last = at
	flows, ends := list[uint64](m, "flow_ids"), list[uint64](m, "terminating_flow_ids")
	if !sorted(flows) || !sorted(ends) {
		return fmt.Errorf("flows %v, %v", flows, ends)
	}
	iid, named := one[uint64](m, "name_iid")
	args, err := t.args(list[message](m, "debug_annotations"))
	if err != nil || named != (what == 1) || what != 1 && len(args)+len(flows) > 0 || what != 2 && len(ends) > 0 {
		return fmt.Errorf("type %d: name %d, arguments %v, flows %v and %v: %v", what, iid, args, flows, ends, err)
	}
	switch what {
	case 1:
		s := &slice{name: t.events[iid], from: at, depth: len(l.open), args: args}
		if s.name == "" {
			return fmt.Errorf("name %d is nobody's", iid)
		}
		l.slices, l.open = append(l.slices, s), append(l.open, s)
		return t.flow(s, flows, 0)
	case 2:
		if len(l.open) == 0 {
			return fmt.Errorf("an end on %q without a begin", l.name)
		}
		s := l.open[len(l.open)-1]
		s.to, l.open = at, l.open[:len(l.open)-1]
		return t.flow(s, ends, 1)
	case 4:
		v, ok := one[uint64](m, "counter_value")
		if !ok {
			return fmt.Errorf("a counter without a value")
		}
		l.values, l.at = append(l.values, int64(v)), append(l.at, at)
		return nil
	}
	return fmt.Errorf("type %d", what)
}

// flow takes in that flows begin or end at s.
func (t *trace) flow(s *slice, ids []uint64, end int) error {
	for _, id := range ids {
		f := t.flows[id]
		if f[end] != nil {
			return fmt.Errorf("flow %d begins or ends twice", id)
		}
		f[end] = s
		t.flows[id] = f
	}
	if end == 0 {
		s.begins = ids
	} else {
		s.ends = ids
	}
	return nil
}

// args returns arguments by name.
func (t *trace) args(all []message) (map[string]any, error) {
	args := map[string]any{}
	for _, m := range all {
		if err := checkAnnotation(m); err != nil {
			return nil, err
		}
		iid, _ := one[uint64](m, "name_iid")
		name := t.names[iid]
		if _, twice := args[name]; twice || name == "" {
			return nil, fmt.Errorf("argument %d, %q, is nobody's or comes twice", iid, name)
		}
		if v, ok := one[uint64](m, "int_value"); ok {
			args[name] = int64(v)
		} else if v, ok := one[float64](m, "double_value"); ok {
			args[name] = v
		} else if v, ok := one[string](m, "string_value"); ok {
			args[name] = v
		} else {
			dict, err := t.args(list[message](m, "dict_entries"))
			if err != nil {
				return nil, err
			}
			args[name] = dict
		}
	}
	return args, nil
}

// named returns the slices of a name, of every track.
func (t *trace) named(name string) (all []*slice) {
	for _, id := range t.order {
		for _, s := range t.lines[id].slices {
			if s.name == name {
				all = append(all, s)
			}
		}
	}
	return all
}

// under returns the tracks whose parent has a name.
func (t *trace) under(name string) (all []*line) {
	for _, id := range t.order {
		if l := t.lines[id]; l.parent != 0 && t.lines[l.parent].name == name {
			all = append(all, l)
		}
	}
	return all
}
