package infile

import "bytes"

// ByteOrderMark returns the mark with which some programs begin UTF-8 text.
func ByteOrderMark() []byte { return []byte("\xef\xbb\xbf") }

// NotText returns the fault of a file that begins with head and can't be text
// that holds a what, such as "a trace", or nil. It leaves File empty.
func NotText(head []byte, what string) *Fault {
	f := &Fault{}
	start := bytes.TrimSpace(bytes.TrimPrefix(head, ByteOrderMark()))
	switch {
	case len(head) == 0:
		f.Found, f.Want = "an empty file", what
	case isMagic(head, gzipMagic, zstdMagic):
		f.Found, f.Want, f.Fix = "compressed data inside compressed data", "one layer of gzip or zstd", "decompress it once"
	case isMagic(head, "PK\x03\x04", "PK\x05\x06"):
		f.Found, f.Want, f.Fix = "a zip archive", "text, gzip or zstd", "unzip it and give the file inside"
	case isMagic(head, "PAR1"):
		f.Found, f.Want, f.Fix = "a Parquet file", "CSV or JSON lines", "convert it to CSV"
	case isMagic(head, "BZh", "\xfd7zXZ\x00"):
		f.Found, f.Want, f.Fix = "a bzip2 or xz file", "text, gzip or zstd", "decompress it"
	case isMagic(head, "\xff\xfe", "\xfe\xff"):
		f.Found, f.Want, f.Fix = "UTF-16 text", "UTF-8", "save the file as UTF-8"
	case isMagic(start, "version https://git-lfs"):
		f.Found, f.Want, f.Fix = "a Git LFS pointer, which stands for the file", "the file itself", "fetch it with git lfs pull"
	case isMagic(bytes.ToLower(start[:min(len(start), 16)]), "<!doctype", "<html", "<?xml"):
		f.Found, f.Want, f.Fix = "a web page", what, "the download ended at a page and not at the file (a redirect or an error): download it again"
	case bytes.IndexByte(head, 0) >= 0:
		f.Found, f.Want = "binary data", "text: CSV or JSON lines"
	case len(start) == 0:
		f.Found, f.Want = "only blank lines", what
	default:
		return nil
	}
	return f
}
