package workload

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"servesim/internal/infile"
)

// skipObject reads line with jsonLine, skips every value and returns the keys.
func skipObject(line []byte) (keys []string, ok bool) {
	j := jsonLine{in: &lineReader{in: bufio.NewReader(bytes.NewReader(line))}}
	if j.next() != nil {
		return nil, false
	}
	for {
		key, more, err := j.key()
		if err != nil {
			return nil, false
		}
		if !more {
			return keys, true
		}
		keys = append(keys, string(key))
		if j.skip() != nil {
			return nil, false
		}
	}
}

func FuzzJSONLine(f *testing.F) {
	f.Add([]byte(`{"a": [1, -2.5e3, {"b": "\u00e9\n"}], "c": null}`))
	f.Add([]byte(`{"a":01}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.ContainsAny(line, "\n") || bytes.HasPrefix(line, infile.ByteOrderMark()) {
			t.Skip()
		}
		if _, ok := skipObject(line); ok && !json.Valid(line) {
			t.Errorf("accepted %q", line)
		}
	})
}

// fuzzReader checks of any bytes, read as one format, that nothing panics, that
// what is yielded keeps the contract of a Source and adds up, and that the
// error is a Fault that names the file and, once rows are read, a line.
func fuzzReader(f *testing.F, format string, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, opt := range []Options{{}, {Sort: true, ZeroTokens: ZeroDrop}, {ZeroTokens: ZeroOne}} {
			opt.Format = format
			if format == csvName {
				opt.Columns = Columns{Arrival: "when", Prompt: "in", Output: "out", ID: "id", Session: "user", Class: "kind", Priority: "rank", Unit: "ms"}
			}
			tr, err := Read(bytes.NewReader(data), "t", opt)
			if err != nil {
				checkFault(t, err)
				continue
			}
			all, err := drain(tr)
			if fault := contract(all); fault != "" {
				t.Error(fault)
			}
			r := tr.Report()
			if err != nil {
				checkFault(t, err)
			} else {
				checkReport(t, all, r)
			}
		}
	})
}

func checkFault(t *testing.T, err error) {
	var fault *Fault
	if !errors.As(err, &fault) || fault.File != "t" || fault.Error() == "" || errors.Is(err, io.EOF) {
		t.Errorf("%#v is no Fault of the file", err)
	}
}

func checkReport(t *testing.T, all []Request, r Report) {
	kept, prompt, output := int64(0), int64(0), int64(0)
	for _, q := range all {
		kept, prompt, output = kept+1, prompt+int64(q.Prompt), output+int64(q.Output)
	}
	for _, c := range r.Dropped {
		kept += c.N
	}
	if kept != r.Rows || r.Kept != int64(len(all)) || r.PromptTokens != prompt || r.OutputTokens != output ||
		all[0].Arrival != 0 || all[len(all)-1].Arrival.Sub(0) != r.Span {
		t.Errorf("%d requests, %+v", len(all), r)
	}
}

func FuzzReadAny(f *testing.F) {
	fuzzReader(f, "", threeRows, "[1]", "{}", "PK\x03\x04", "\x1f\x8b\x08\x00", "\x28\xb5\x2f\xfd\x00", "a;b\tc,d\n")
}

func FuzzReadAzure(f *testing.F) {
	fuzzReader(f, "azure", threeRows, azureHead+first, "TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\r\n2024-10-15T12:00:00.269Z,1,770,491",
		azureHead+"2024-05-12 00:00:00.1+00:00,1,2\n2024-05-12 00:00:00Z,0,3\n")
}

func FuzzReadMooncake(f *testing.F) {
	fuzzReader(f, "mooncake", `{"timestamp": 27482, "input_length": 695, "output_length": 52, "hash_ids": [46, 18446744073709551615]}`+"\n",
		`{"timestamp":0.5,"input_length":1,"output_length":2,"session_id":"a","text":"\n"}`+"\r\n"+`{"timestamp":1,"input_length":0,"output_length":2}`)
}

func FuzzReadBurst(f *testing.F) {
	fuzzReader(f, "burstgpt", burstHead+"5,ChatGPT,472,18,490,Conversation log\n5,ChatGPT,0,0,0,API log\n",
		"Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens\n5.5,7,1,\"GPT-4\",1,2\n")
}

func FuzzReadVidur(f *testing.F) {
	fuzzReader(f, "vidur", vidurHead+"0.0,374,44\n4.314579,396,109\n", "PromptTokenCount,GeneratedTokenCount,Time\n1,2,3e-5\n")
}

func FuzzReadSplitwise(f *testing.F) {
	fuzzReader(f, "splitwise", splitHead+"0,2,0,1,1,4096,32\n1,1,0,3,1,2048,8\n")
}

func FuzzReadServesim(f *testing.F) {
	fuzzReader(f, jsonName, `{"schema":1,"source":"x"}`+"\n"+
		`{"id":"a7","arrival":3.25,"prompt":512,"output":64,"session":3,"class":"chat","priority":-1,"cancel":30,"blocks":[17,18],"block_tokens":256}`,
		`{"id":1,"arrival":0,"prompt":1,"output":1}`+"\n"+`{"id":1,"arrival":0,"prompt":1,"output":1}`)
}

func FuzzReadCSV(f *testing.F) {
	fuzzReader(f, csvName, "when,in,out,id,user,kind,rank\n1,2,3,a,u,k,-1\n2.5,0,3,b,u,,0\n")
}
