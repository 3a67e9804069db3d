package observe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// File is an output file that comes to be whole or not at all: what is written
// goes to a temporary file in the same folder, which Commit gives its name.
// Until then a file that had the name before stays as it was.
type File struct {
	path string   // the name to have in the end, links resolved
	f    *os.File // the temporary file, or path itself if that is a device or a pipe
	temp bool
	done bool
}

// CreateFile begins an output file. The folder must exist. Something that is no
// regular file, such as a pipe or /dev/null, is written to directly.
func CreateFile(path string) (*File, error) {
	if path == "" {
		return nil, errors.New("the name of the output file is empty")
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s is a folder; name a file in it", path)
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, fmt.Errorf("create output: %w", err)
		}
		return &File{path: path, f: f}, nil
	}
	mode := fs.FileMode(0o666)
	if err == nil {
		mode = info.Mode().Perm()
	}
	f, err := createTemp(path, mode)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("create %s: the folder %s does not exist; create it first", path, filepath.Dir(path))
	}
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	return &File{path: path, f: f, temp: true}, nil
}

// createTemp creates a file beside path that did not exist.
func createTemp(path string, mode fs.FileMode) (f *os.File, err error) {
	dir, base := filepath.Split(path)
	for i := range 1000 {
		name := filepath.Join(dir, fmt.Sprintf(".%s.%d.tmp", base, i))
		f, err = os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, err
}

// Write implements io.Writer.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.f.Write(p)
	if err != nil {
		// The error of the system names the temporary file, which nobody knows.
		var cause *fs.PathError
		if errors.As(err, &cause) {
			err = cause.Err
		}
		err = fmt.Errorf("%s: %w", f.path, err)
	}
	return n, err
}

// Commit ends the file and gives it its name. After an error nothing is left.
func (f *File) Commit() error {
	if f.done {
		return fmt.Errorf("%s: was committed or aborted before", f.path)
	}
	f.done = true
	err := f.f.Close()
	if err == nil && f.temp {
		err = os.Rename(f.f.Name(), f.path)
	}
	if err != nil {
		f.remove()
		return fmt.Errorf("write %s: %w", f.path, err)
	}
	return nil
}

// Abort drops what was written. It does nothing after Commit, so it can be deferred.
func (f *File) Abort() {
	if f.done {
		return
	}
	f.done = true
	f.f.Close() // its error does not matter: the file goes away
	f.remove()
}

// remove deletes the temporary file, as well as it can be.
func (f *File) remove() {
	if f.temp {
		os.Remove(f.f.Name())
	}
}
