package perfetto_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// A kind is how a field is encoded, or the message that it holds.
type kind string

// The kinds that are no messages.
const (
	varint kind = "varint"
	fixed  kind = "fixed64"
	double kind = "double"
	text   kind = "text"
)

// A field is one of a message.
type field struct {
	name     string
	kind     kind
	repeated bool
}

// schema is the part of Perfetto's messages that a trace of servesim may have, by
// the numbers of the fields in protos/perfetto/trace. What isn't here is an error.
func schema() map[kind]map[uint64]field {
	return map[kind]map[uint64]field{
		"Trace": {1: {"packet", "TracePacket", true}},
		"TracePacket": {
			8: {"timestamp", varint, false}, 10: {"trusted_packet_sequence_id", varint, false}, 11: {"track_event", "TrackEvent", false},
			12: {"interned_data", "InternedData", false}, 13: {"sequence_flags", varint, false}, 60: {"track_descriptor", "TrackDescriptor", false},
		},
		"InternedData": {2: {"event_names", "Interned", true}, 3: {"debug_annotation_names", "Interned", true}},
		"Interned":     {1: {"iid", varint, false}, 2: {"name", text, false}},
		"TrackDescriptor": {
			1: {"uuid", varint, false}, 2: {"name", text, false}, 3: {"process", "ProcessDescriptor", false}, 5: {"parent_uuid", varint, false},
			8: {"counter", "CounterDescriptor", false}, 11: {"child_ordering", varint, false}, 12: {"sibling_order_rank", varint, false},
		},
		"ProcessDescriptor": {1: {"pid", varint, false}, 6: {"process_name", text, false}},
		"CounterDescriptor": {6: {"unit_name", text, false}},
		"TrackEvent": {
			4: {"debug_annotations", "DebugAnnotation", true}, 9: {"type", varint, false}, 10: {"name_iid", varint, false}, 11: {"track_uuid", varint, false},
			30: {"counter_value", varint, false}, 47: {"flow_ids", fixed, true}, 48: {"terminating_flow_ids", fixed, true},
		},
		"DebugAnnotation": {
			1: {"name_iid", varint, false}, 4: {"int_value", varint, false}, 5: {"double_value", double, false}, 6: {"string_value", text, false},
			11: {"dict_entries", "DebugAnnotation", true},
		},
	}
}

// A message is one that was decoded: the values of its fields, in order.
type message map[string][]any

// one returns the value of a field that isn't repeated; ok is false without one.
func one[T any](m message, name string) (v T, ok bool) {
	if len(m[name]) == 0 {
		return v, false
	}
	v, ok = m[name][0].(T)
	return v, ok
}

// list returns the values of a field.
func list[T any](m message, name string) (all []T) {
	for _, v := range m[name] {
		all = append(all, v.(T))
	}
	return all
}

// decode reads a message of a kind, strictly by the schema.
func decode(of kind, b []byte, fields map[kind]map[uint64]field) (message, error) {
	m := message{}
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, fmt.Errorf("%s: a tag is cut short", of)
		}
		b = b[n:]
		f, known := fields[of][tag>>3]
		if !known {
			return nil, fmt.Errorf("%s has no field %d", of, tag>>3)
		}
		if !f.repeated && len(m[f.name]) > 0 {
			return nil, fmt.Errorf("%s.%s comes twice", of, f.name)
		}
		v, rest, err := value(f.kind, tag&7, b, fields)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", of, f.name, err)
		}
		m[f.name], b = append(m[f.name], v), rest
	}
	return m, nil
}

// value reads the value of a field.
func value(k kind, wire uint64, b []byte, fields map[kind]map[uint64]field) (v any, rest []byte, err error) {
	want := map[kind]uint64{varint: 0, fixed: 1, double: 1}
	w, scalar := want[k]
	if !scalar {
		w = 2
	}
	if w != wire {
		return nil, nil, fmt.Errorf("has wire type %d, want %d", wire, w)
	}
	if wire == 1 {
		if len(b) < 8 {
			return nil, nil, fmt.Errorf("is cut short")
		}
		x := binary.LittleEndian.Uint64(b)
		if k == double {
			return math.Float64frombits(x), b[8:], nil
		}
		return x, b[8:], nil
	}
	x, n := binary.Uvarint(b)
	if n <= 0 {
		return nil, nil, fmt.Errorf("is cut short")
	}
	b = b[n:]
	if wire == 0 {
		return x, b, nil
	}
	if x > uint64(len(b)) {
		return nil, nil, fmt.Errorf("is cut short")
	}
	if k == text {
		if !utf8.Valid(b[:x]) {
			return nil, nil, fmt.Errorf("%q is not UTF-8", b[:x])
		}
		return string(b[:x]), b[x:], nil
	}
	m, err := decode(k, b[:x], fields)
	return m, b[x:], err
}

// checkAnnotation holds that an annotation has one value.
func checkAnnotation(m message) error {
	n := 0
	for _, name := range []string{"int_value", "double_value", "string_value"} {
		n += len(m[name])
	}
	if len(m["dict_entries"]) > 0 {
		n++
	}
	if n != 1 || len(m["name_iid"]) != 1 {
		return fmt.Errorf("an annotation has %d values and %d names: %v", n, len(m["name_iid"]), m)
	}
	return nil
}

// sorted tells whether list doesn't fall.
func sorted(list []uint64) bool { return slices.IsSorted(list) }
