package main

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
)

// A reading opens a file several times, until ctx is cancelled, and shows on a
// terminal how far it is read if that lasts.
type reading struct {
	ctx   context.Context
	path  string
	quiet quiet
	bar   *progressbar.ProgressBar // nil if there is nobody to see it
}

// newReading returns a reading of the file at path, which will be read times over.
func newReading(ctx context.Context, e env, path string, times int64) *reading {
	r := &reading{ctx: ctx, path: path, quiet: quiet{e.stderr, time.Now()}}
	info, err := os.Stat(path)
	if err != nil || !e.tty || !info.Mode().IsRegular() {
		return r // what is wrong with the file, opening it says
	}
	r.bar = progressbar.NewOptions64(times*info.Size(),
		progressbar.OptionSetWriter(&r.quiet),
		progressbar.OptionSetDescription("reading "+shortened(path, beforeBar-len("reading "))),
		progressbar.OptionSetWidth(barWidth),
		progressbar.OptionThrottle(200*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)
	return r
}

// shortened cuts text at its beginning if it is longer than room.
func shortened(text string, room int) string {
	if all := []rune(text); len(all) > room {
		return "…" + string(all[len(all)-room+1:])
	}
	return text
}

// open opens the file.
func (r *reading) open() (io.ReadCloser, error) {
	f, err := os.Open(r.path)
	if err != nil {
		return nil, err
	}
	return &readingOnce{r, f}, nil
}

// finish takes the bar away, if there is one.
func (r *reading) finish() {
	if r.bar != nil {
		_ = r.bar.Finish() // it is an ornament
	}
}

// A readingOnce is one of the times.
type readingOnce struct {
	*reading
	f *os.File
}

// Read implements io.Reader.
func (r *readingOnce) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.f.Read(p)
	if r.bar != nil {
		_ = r.bar.Add(n)
	}
	return n, err
}

// Close implements io.Closer.
func (r *readingOnce) Close() error { return r.f.Close() }
