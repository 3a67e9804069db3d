package blame

// Remembers returns how many runs of steps b has in memory.
func (b *Blame) Remembers() (n int) {
	for _, t := range b.timelines {
		n += len(t.entries)
	}
	return n
}
