package main

import (
	"slices"
	"strings"

	"servesim/analysis/dialect"
	"servesim/scenario"

	"github.com/spf13/cobra"
)

// completeSet completes --set: the key up to its =, and then the value.
func completeSet(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	key, value, given := strings.Cut(begun, "=")
	if !given {
		return completeKey(cmd, args, begun)
	}
	return completeValue(key+"=", key, value), cobra.ShellCompDirectiveNoFileComp
}

// completeVary completes --vary: what follows a comma is another value of the key
// before it, or begins another key, as after a plus.
func completeVary(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	at := strings.LastIndexAny(begun, ",+") + 1
	head, part := begun[:at], begun[at:]
	if strings.Contains(part, "=") || head == "" {
		list, how := completeSet(cmd, args, part)
		return prefixed(head, list), how
	}
	var list []string
	if head[at-1] == ',' {
		before := head[:strings.LastIndexByte(head, '=')+1]
		key := strings.TrimSuffix(before[strings.LastIndexAny(before, ",+")+1:], "=")
		list = completeValue(head, key, part)
	}
	keys, how := completeKey(cmd, args, part)
	return append(list, prefixed(head, keys)...), how
}

// completeValue returns the values of key that begin so, each behind head.
func completeValue(head, key, begun string) []string {
	values := slices.DeleteFunc(scenario.Values(key), func(v string) bool { return !strings.HasPrefix(v, begun) })
	return prefixed(head, values)
}

// completeDialects completes --dialect: the name after the last comma.
func completeDialects(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	at := strings.LastIndexByte(begun, ',') + 1
	var list []string
	if at == 0 {
		list = append(list, "all")
	}
	for _, d := range dialect.All() {
		list = append(list, d.Name)
	}
	list = slices.DeleteFunc(list, func(v string) bool { return !strings.HasPrefix(v, begun[at:]) })
	return prefixed(begun[:at], list), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// prefixed puts head before each of list.
func prefixed(head string, list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = head + s
	}
	return out
}
