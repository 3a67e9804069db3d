package workload

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// packed returns data as it is, and in each compression.
func packed(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	var gz, zst bytes.Buffer
	g := gzip.NewWriter(&gz)
	_, err := g.Write(data)
	z, errZ := zstd.NewWriter(&zst)
	if err := errors.Join(err, g.Close(), errZ); err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"plain": data, "gzip": gz.Bytes(), "zstd": zst.Bytes()}
}

// Progress never goes back, never passes the size of the file as it is stored,
// moves while the file is read, and ends at the size.
func TestProgressReachesTheSizeOfTheFile(t *testing.T) {
	for name, data := range packed(t, benchTraces(60_000)["azure"]) {
		path := filepath.Join(t.TempDir(), "t.csv")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		tr, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		last, moves := int64(0), 0
		for err == nil {
			_, err = tr.Next()
			read, total := tr.Progress()
			if total != int64(len(data)) || read < last || read > total {
				t.Fatalf("%s: read %d of %d bytes after %d, the file has %d", name, read, total, last, len(data))
			}
			if read > last {
				moves++
			}
			last = read
		}
		if err != io.EOF || last != int64(len(data)) || moves < 3 {
			t.Errorf("%s: ends at %d of %d bytes after %d moves with %v", name, last, len(data), moves, err)
		}
		if err := tr.Close(); err != nil {
			t.Error(err)
		}
	}
}

// By hand: the header has 40 bytes and each row 35, of a plain file. A row is read
// when Next returns it, whatever lies in buffers.
func TestProgressByHand(t *testing.T) {
	const header, row = "TIMESTAMP,ContextTokens,GeneratedTokens\n", "2023-11-16 18:15:46.6805900,374,44\n"
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte(header+row+row), 0o600); err != nil {
		t.Fatal(err)
	}
	tr, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	for i, want := range []int64{75, 110, 110} {
		if _, err := tr.Next(); err != nil && err != io.EOF {
			t.Fatal(err)
		}
		if read, total := tr.Progress(); read != want || total != 110 {
			t.Errorf("after %d calls of Next read %d of %d bytes, want %d of 110", i+1, read, total, want)
		}
	}
}

func TestProgressOfAStreamHasNoTotal(t *testing.T) {
	text := "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n"
	tr, err := Open("-", Options{Stdin: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Next(); err != nil {
		t.Fatal(err)
	}
	if read, total := tr.Progress(); read != int64(len(text)) || total != 0 {
		t.Errorf("read %d of %d bytes, want %d of 0", read, total, len(text))
	}
}
