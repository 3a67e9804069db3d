package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// An atomicFile becomes the file at its path when it is committed, and leaves
// no trace if it isn't.
type atomicFile struct {
	*os.File
	path string
}

// createAtomic opens a file that will stand at path. A folder that isn't there
// is a fault of the command line.
func createAtomic(path string) (*atomicFile, error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		var cause *fs.PathError
		if errors.As(err, &cause) {
			err = cause.Err
		}
		return nil, usagef("cannot write %s: %w; its folder must be there and writable", path, err)
	}
	return &atomicFile{f, path}, nil
}

// commit puts the file in its place.
func (f *atomicFile) commit() error {
	// A temporary file is private; the file in its place is as open as any other.
	err := errors.Join(f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), f.path)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", f.path, err)
	}
	return nil
}

// discard removes the file unless it is in its place already.
func (f *atomicFile) discard() {
	f.Close()
	os.Remove(f.Name())
}
