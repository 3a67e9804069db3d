package scheduler

import "slices"

// heap is a queue by priority, then rank. A sequence's place in it is kept in
// seq.heap, which is free while the sequence waits.
type heap struct{ at []Handle }

// first returns the most urgent sequence, or nobody.
func (q *heap) first() Handle {
	if len(q.at) == 0 {
		return nobody
	}
	return q.at[0]
}

func (q *heap) push(seqs []seq, h Handle) {
	seqs[h].heap = int32(len(q.at))
	q.at = append(q.at, h)
	q.lift(seqs, seqs[h].heap)
}

func (q *heap) remove(seqs []seq, h Handle) {
	i, last := seqs[h].heap, int32(len(q.at)-1)
	q.at[i] = q.at[last]
	q.at = q.at[:last]
	if i < last {
		seqs[q.at[i]].heap = i
		q.lift(seqs, i)
		q.sink(seqs, i)
	}
}

func (q *heap) swap(seqs []seq, i, j int32) {
	q.at[i], q.at[j] = q.at[j], q.at[i]
	seqs[q.at[i]].heap, seqs[q.at[j]].heap = i, j
}

func (q *heap) lift(seqs []seq, i int32) {
	for i > 0 && urgent(seqs, q.at[i], q.at[(i-1)/2]) {
		q.swap(seqs, i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (q *heap) sink(seqs []seq, i int32) {
	for {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && int(c) < len(q.at); c++ {
			if urgent(seqs, q.at[c], q.at[least]) {
				least = c
			}
		}
		if least == i {
			return
		}
		q.swap(seqs, i, least)
		i = least
	}
}

// sorted returns the sequences in order.
func (q *heap) sorted(seqs []seq) []Handle {
	out := slices.Clone(q.at)
	slices.SortFunc(out, func(a, b Handle) int {
		if urgent(seqs, a, b) {
			return -1
		}
		return 1
	})
	return out
}
