package scenario

import (
	"cmp"
	_ "embed"
	"reflect"
	"slices"
	"strings"

	"servesim/internal/strict"
)

// keyText is the meaning of every key, as its first lines say.
//
//go:embed keys.txt
var keyText string

// A keyHelp is what is said of a key.
type keyHelp struct{ unit, def, meaning string }

// keyHelps returns what keyText says of each key.
func keyHelps() map[string]keyHelp {
	helps := map[string]keyHelp{}
	for line := range strings.Lines(keyText) {
		part := strings.Split(line, "|")
		if strings.HasPrefix(line, "#") || len(part) != 4 {
			continue
		}
		for i := range part {
			part[i] = strings.TrimSpace(part[i])
		}
		helps[part[0]] = keyHelp{part[1], part[2], part[3]}
	}
	return helps
}

// helpKey returns the key under which keyText explains key: those of all
// distributions of one kind share a line.
func helpKey(key string) string {
	table, last, _ := cutLast(key)
	switch {
	case slices.Contains([]string{"workload.prompt", "workload.output", "workload.arrival.burst_size", "workload.closed_loop.turns"}, table):
		return "LENGTH." + last
	case slices.Contains([]string{"workload.arrival.gap", "workload.arrival.off", "workload.closed_loop.think_time", "workload.cancel.after", "network.request", "network.response"}, table):
		return "DELAY." + last
	}
	return key
}

// cutLast parts a dotted key before its last part.
func cutLast(key string) (table, last string, ok bool) {
	i := strings.LastIndexByte(key, '.')
	return key[:max(i, 0)], key[i+1:], i >= 0
}

// ListKeys lists the keys of a scenario: the kind of each, its unit, its default and
// what it is.
func ListKeys() [][2]string {
	helps := keyHelps()
	items := [][2]string{{"KEY", "KIND\tUNIT\tDEFAULT\tMEANING"}}
	for _, key := range Keys() {
		kind, _ := strict.KindOf(reflect.TypeFor[Scenario](), key)
		h := helps[helpKey(key)]
		items = append(items, [2]string{key, strings.Join([]string{kind, cmp.Or(h.unit, "-"), cmp.Or(h.def, "-"), h.meaning}, "\t")})
	}
	return items
}
