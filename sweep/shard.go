package sweep

import (
	"strconv"
	"strings"
)

// A Shard is a part of the points of a plan: of Count parts that together are all
// of it, the one with the number Index, from 0. The zero value is all of it.
type Shard struct{ Index, Count int }

// of returns the points of s: every Count-th, so that points beside each other,
// which cost alike, are in different shards.
func (s Shard) of(points []Point) ([]*Point, error) {
	if s == (Shard{}) {
		s.Count = 1
	}
	if s.Count < 1 || s.Index < 0 || s.Index >= s.Count {
		return nil, usagef("there is no shard %d of %d; shards count from 0", s.Index, s.Count)
	}
	var list []*Point
	for i := s.Index; i < len(points); i += s.Count {
		list = append(list, &points[i])
	}
	return list, nil
}

// ParseShard reads a shard such as 0/4.
func ParseShard(text string) (Shard, error) {
	index, count, ok := strings.Cut(text, "/")
	i, err := strconv.Atoi(index)
	n, err2 := strconv.Atoi(count)
	if !ok || err != nil || err2 != nil {
		return Shard{}, usagef("found %q; must be i/n, such as 0/4, the first of four", text)
	}
	s := Shard{i, n}
	if n < 1 || i < 0 || i >= n {
		return Shard{}, usagef("there is no shard %s; of %d shards the first is 0/%[2]d, the last %d/%[2]d", text, max(n, 1), max(n, 1)-1)
	}
	return s, nil
}

// String writes s as ParseShard reads it.
func (s Shard) String() string { return strconv.Itoa(s.Index) + "/" + strconv.Itoa(s.Count) }

// An array is an engine that runs a job many times, and the variables by which it
// tells each run which it is.
type array struct {
	name, index string
	count       string // variable of the number of runs; "" if there is none
	// min, max and step are the variables of the first index, the last, and what lies
	// between two; "" if they follow from count.
	min, max, step string
}

// arrays lists them: Slurm's job arrays (sbatch, "Job Array Support"), Kubernetes'
// Indexed Jobs, and AWS Batch's array jobs.
func arrays() []array {
	return []array{
		{"a Slurm job array", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_STEP"},
		{"a Kubernetes Indexed Job", "JOB_COMPLETION_INDEX", "", "", "", ""},
		{"an AWS Batch array job", "AWS_BATCH_JOB_ARRAY_INDEX", "AWS_BATCH_JOB_ARRAY_SIZE", "", "", ""},
	}
}

// FindShard returns the shard that the environment says this process is, which
// getenv reads; ok is false if it says nothing. count is the number of shards, 0
// if it's the engine that knows.
func FindShard(getenv func(string) string, count int) (s Shard, ok bool, err error) {
	var found []array
	for _, a := range arrays() {
		if getenv(a.index) != "" {
			found = append(found, a)
		}
	}
	switch len(found) {
	case 0:
		return Shard{}, false, nil
	case 1:
		s, err = found[0].shard(getenv, count)
		return s, err == nil, err
	}
	return Shard{}, false, usagef("the environment has %s, of %s, and %s, of %s; say with --shard i/n which part this is",
		found[0].index, found[0].name, found[1].index, found[1].name)
}

// shard returns the shard that a's variables tell.
func (a array) shard(getenv func(string) string, count int) (Shard, error) {
	var fault error
	number := func(name string, absent int) int {
		text := ""
		if name != "" {
			text = getenv(name)
		}
		if text == "" {
			return absent
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			fault = usagef("%s is %q, which is no whole number; say with --shard i/n which part this is", name, text)
		}
		return n
	}
	first, step := number(a.min, 0), max(1, number(a.step, 1))
	s := Shard{Index: (number(a.index, 0) - first) / step, Count: number(a.count, count)}
	holes := (number(a.max, first+(s.Count-1)*step)-first)/step+1 != s.Count
	switch {
	case fault != nil:
		return Shard{}, fault
	case s.Count == 0:
		return Shard{}, usagef("%s says that this is part %s of %s, which doesn't tell of how many; give --shards N", a.index, getenv(a.index), a.name)
	case count > 0 && count != s.Count:
		return Shard{}, usagef("--shards is %d, but %s says %d; leave --shards out, or give --shard i/n", count, a.count, s.Count)
	case holes || s.Index < 0 || s.Index >= s.Count:
		return Shard{}, usagef("%s is %s of %d, and the indices aren't the numbers of parts: a list with holes doesn't tell of how many; give --shard i/n", a.index, getenv(a.index), s.Count)
	}
	return s, nil
}
