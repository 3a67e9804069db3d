package observe

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// names lists the files of a folder.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return strings.Join(list, " ")
}

func TestFileIsWholeOrNotThere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.jsonl")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	put := func(text string) *File {
		f, err := CreateFile(path)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	expect := func(want string) {
		t.Helper()
		got, err := os.ReadFile(path)
		if err != nil || string(got) != want || names(t, dir) != "out.jsonl" {
			t.Fatalf("%q, %v, in a folder with %s; want %q", got, err, names(t, dir), want)
		}
	}
	a, b := put("aborted"), put("committed")
	a.Abort()
	if old, err := os.ReadFile(path); err != nil || string(old) != "old" {
		t.Fatalf("before the commit: %q, %v", old, err)
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	expect("committed")
	b.Abort()
	expect("committed")
	if err := b.Commit(); err == nil {
		t.Error("a second commit is no error")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want that of the file before", info.Mode(), err)
	}
}

func TestFileFollowsALink(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(target, nil, 0o666), os.Symlink("target", link)); err != nil {
		t.Fatal(err)
	}
	f, err := CreateFile(link)
	if err == nil {
		_, err = f.Write([]byte("new"))
	}
	if err == nil {
		err = f.Commit()
	}
	if got, readErr := os.ReadFile(target); err != nil || string(got) != "new" {
		t.Fatalf("%q, %v, %v", got, readErr, err)
	}
}

func TestFileCannotBeCreated(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		"":                                     "name of the output file is empty",
		dir:                                    "is a folder",
		filepath.Join(dir, "none", "out.json"): "the folder " + filepath.Join(dir, "none") + " does not exist; create it first",
	} {
		if _, err := CreateFile(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", path, err, want)
		}
	}
	if names(t, dir) != "" {
		t.Errorf("left %s", names(t, dir))
	}
}

func TestFullDiskLeavesNothing(t *testing.T) {
	const device = "/dev/full"
	if _, err := os.Stat(device); err != nil {
		t.Skip("there is no " + device)
	}
	f, err := CreateFile(device)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	w, err := NewWriter(f, Header{})
	if err != nil {
		t.Fatal(err)
	}
	err = w.Close()
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "write records: /dev/full: ") {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(device); err != nil {
		t.Error(err)
	}
}

func TestWriteErrorsNameTheFile(t *testing.T) {
	dir := t.TempDir()
	f, err := CreateFile(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	f.f.Close() // every later write fails
	if _, err := f.Write([]byte("x")); err == nil || strings.Contains(err.Error(), ".tmp") || !strings.Contains(err.Error(), filepath.Join(dir, "out")) {
		t.Errorf("error %v", err)
	}
	if err := f.Commit(); err == nil {
		t.Error("committed what failed")
	}
	if names(t, dir) != "" {
		t.Errorf("left %s", names(t, dir))
	}
}
