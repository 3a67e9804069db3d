package workload

import (
	"errors"
	"testing"
)

const (
	azureHead = "TIMESTAMP,ContextTokens,GeneratedTokens\n"
	burstHead = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
	vidurHead = "arrived_at,num_prefill_tokens,num_decode_tokens\n"
	splitHead = "request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,token_size\n"
	first     = "2023-11-16 18:15:46.6805900,374,44\n"
)

func mapped(unit string) Options {
	return Options{Columns: Columns{Arrival: "when", Prompt: "in", Output: "out", Unit: unit}}
}

// badInput are traces that cannot be read, and the whole error of each.
var badInput = []struct {
	name, text string
	opt        Options
	want       string
}{
	{"empty", "", Options{},
		"t.csv: found an empty file, want a trace"},
	{"blank", "\n \n\r\n", Options{},
		"t.csv: found only blank lines, want a trace"},
	{"header only", azureHead, Options{},
		"t.csv: found a header and no rows, want at least one request"},
	{"header only, sorted", azureHead, Options{Sort: true},
		"t.csv: found a header and no rows, want at least one request"},
	{"no header", first, Options{},
		"t.csv:1: found the columns 2023-11-16 18:15:46.6805900, 374 and 44, want those of a known format: azure (TIMESTAMP, ContextTokens, GeneratedTokens); burstgpt (Timestamp, Request tokens, Response tokens); vidur (arrived_at, num_prefill_tokens, num_decode_tokens); splitwise (arrival_timestamp, prompt_size, token_size); the first line must name the columns, because they are found by name and never by place"},
	{"no header, forced", first, Options{Format: "azure"},
		`t.csv:1: found the columns "2023-11-16 18:15:46.6805900", "374" and "44", want also TIMESTAMP, ContextTokens and GeneratedTokens; the first line must name the columns, because they are found by name and never by place`},
	{"unknown columns", "a,b\n1,2\n", Options{},
		"t.csv:1: found the columns a and b, want those of a known format: azure (TIMESTAMP, ContextTokens, GeneratedTokens); burstgpt (Timestamp, Request tokens, Response tokens); vidur (arrived_at, num_prefill_tokens, num_decode_tokens); splitwise (arrival_timestamp, prompt_size, token_size); for any other CSV, say which columns to read with workload.columns, such as columns = { arrival = \"t\", prompt = \"in\", output = \"out\" }"},
	{"missing column", "TIMESTAMP,ContextTokens\n" + first, Options{},
		`t.csv:1: found the columns "TIMESTAMP" and "ContextTokens", want also GeneratedTokens`},
	{"doubled column", "TIMESTAMP,ContextTokens,ContextTokens,GeneratedTokens\n", Options{},
		"t.csv:1: ContextTokens: found columns 2 and 3 of that name, want one"},
	{"short row", azureHead + first + "2023-11-16 18:15:47,3\n", Options{},
		`t.csv:3: found 2 fields in "2023-11-16 18:15:47,3", want 3, one for each column of the header`},
	{"long row", azureHead + "2023-11-16 18:15:47,3,4,5\n", Options{},
		`t.csv:2: found 4 fields in "2023-11-16 18:15:47,3,4,5", want 3, one for each column of the header`},
	{"negative tokens", azureHead + first + "2023-11-16 18:15:47,-3,4\n", Options{},
		`t.csv:3: ContextTokens: found "-3", want a whole number of tokens from 1 to 2147483647`},
	{"fractional tokens", azureHead + "2023-11-16 18:15:47,3.5,4\n", Options{},
		`t.csv:2: ContextTokens: found "3.5", want a whole number of tokens from 1 to 2147483647`},
	{"tokens that are not a number", azureHead + "2023-11-16 18:15:47,3,NaN\n", Options{},
		`t.csv:2: GeneratedTokens: found "NaN", want a whole number of tokens from 1 to 2147483647`},
	{"overflowing tokens", azureHead + "2023-11-16 18:15:47,3,2147483648\n", Options{},
		`t.csv:2: GeneratedTokens: found "2147483648", want a whole number of tokens from 1 to 2147483647`},
	{"overflowing int64", azureHead + "2023-11-16 18:15:47,99999999999999999999,1\n", Options{},
		`t.csv:2: ContextTokens: found "99999999999999999999", want a whole number of tokens from 1 to 2147483647`},
	{"empty tokens", azureHead + "2023-11-16 18:15:47,,1\n", Options{},
		`t.csv:2: ContextTokens: found "", want a whole number of tokens from 1 to 2147483647`},
	{"zero tokens", azureHead + first + "2023-11-16 18:15:47,3,0\n", Options{},
		"t.csv:3: GeneratedTokens: found 0, want a whole number of tokens from 1 to 2147483647; --set zero_tokens=drop leaves such rows out, --set zero_tokens=one raises the 0 to 1; both are counted"},
	{"all dropped", azureHead + "2023-11-16 18:15:47,3,0\n", Options{ZeroTokens: ZeroDrop},
		"t.csv: found no request: 1 read, 1 dropped (0 GeneratedTokens), want at least one request"},
	{"no date", azureHead + "12:00,3,1\n", Options{},
		`t.csv:2: TIMESTAMP: found "12:00", want a date and time such as 2023-11-16 18:15:46.68059 or 2024-10-15T12:00:00.269Z`},
	{"no such day", azureHead + "2023-02-29 12:00:00,3,1\n", Options{},
		`t.csv:2: TIMESTAMP: found "2023-02-29 12:00:00", want a date and time such as 2023-11-16 18:15:46.68059 or 2024-10-15T12:00:00.269Z`},
	{"out of order", azureHead + first + "2023-11-16 18:15:46.6805899,3,1\n", Options{},
		`t.csv:3: TIMESTAMP: found "2023-11-16 18:15:46.6805899", want a time not before "2023-11-16 18:15:46.6805900" of line 2; --set sort=true puts the rows in order and counts them`},
	{"mixed zones", azureHead + "2024-05-12 00:00:00+00:00,3,1\n\n2024-05-12 00:00:01,3,1\n", Options{},
		`t.csv:4: TIMESTAMP: found "2024-05-12 00:00:01" with no zone, want one kind in the whole file: line 2 has one`},
	{"mixed zones, other way", azureHead + first + "2024-05-12 00:00:00Z,3,1\n", Options{},
		`t.csv:3: TIMESTAMP: found "2024-05-12 00:00:00Z" with a zone, want one kind in the whole file: line 2 has none`},
	{"too long", azureHead + first + "2024-11-16 18:15:46,3,1\n", Options{},
		"t.csv:3: TIMESTAMP: found a time more than 106 days after the first, want a trace that is shorter; cut it into parts"},
	{"open quote", azureHead + "\"2023-11-16,3,1\n", Options{},
		"t.csv:2: found a quoted field without its end in \"\\\"2023-11-16,3,1\", want a closing quote on the same line, followed by a separator"},
	{"images", "TIMESTAMP,NumImages,ContextTokens,GeneratedTokens\n2024-10-15T12:00:00Z,-1,2,3\n", Options{},
		`t.csv:2: NumImages: found "-1", want a whole number of images`},

	{"burst: NaN time", burstHead + "NaN,GPT-4,1,2,3,API log\n", Options{},
		`t.csv:2: Timestamp: found "NaN", want a time in s, a number from 0 to 9e18`},
	{"burst: infinite time", burstHead + "Infinity,GPT-4,1,2,3,API log\n", Options{},
		`t.csv:2: Timestamp: found "Infinity", want a time in s, a number from 0 to 9e18`},
	{"burst: negative time", burstHead + "-5,GPT-4,1,2,3,API log\n", Options{},
		`t.csv:2: Timestamp: found "-5", want a time in s, a number from 0 to 9e18`},
	{"burst: only failures", burstHead + "5,GPT-4,1,0,1,API log\n", Options{},
		"t.csv: found no request: 1 read, 1 dropped (0 Response tokens), want at least one request"},
	{"burst: failure refused", burstHead + "5,GPT-4,1,0,1,API log\n", Options{ZeroTokens: ZeroError},
		"t.csv:2: Response tokens: found 0, want a whole number of tokens from 1 to 2147483647; --set zero_tokens=drop leaves such rows out, --set zero_tokens=one raises the 0 to 1; both are counted"},
	{"vidur: lengths only", "num_prefill_tokens,num_decode_tokens\n1,2\n", Options{},
		`t.csv:1: found lengths without arrivals: the columns "num_prefill_tokens" and "num_decode_tokens", want also arrived_at, in seconds; to replay lengths alone, give them as the lengths of a generated workload`},
	{"vidur: huge time", vidurHead + "0,1,2\n1e30,1,2\n", Options{},
		`t.csv:3: arrived_at: found "1e30", want a time in s, a number from 0 to 9e18`},
	{"splitwise: batch", splitHead + "0,2,0,1,8,4096,32\n", Options{},
		`t.csv:2: batch_size: found "8", want 1; write a row for each request of a batch`},
	{"splitwise: same id", splitHead + "7,2,0,1,1,4096,32\n7,2,0,1,1,4096,32\n", Options{},
		`t.csv:3: request_id: found "7" again, which line 2 has, want an id of its own for each request`},

	{"mooncake: no output", `{"timestamp": 0, "input_length": 1}`, Options{Format: "mooncake"},
		"t.csv:1: found no output_length, want timestamp, input_length and output_length"},
	{"mooncake: delay", `{"timestamp":0,"input_length":1,"output_length":2}` + "\n" + `{"delay":5,"input_length":1,"output_length":2}`, Options{},
		"t.csv:2: found no timestamp, want timestamp, input_length and output_length; a row with delay waits for the one before it in its session, which is not supported: give it a timestamp"},
	{"mooncake: fractional", `{"timestamp": 0, "input_length": 1.0, "output_length": 2}`, Options{},
		`t.csv:1: input_length: found "1.0", want a whole number of tokens from 1 to 2147483647`},
	{"mooncake: string", `{"timestamp": 0, "input_length": "1", "output_length": 2}`, Options{},
		"t.csv:1: input_length: found \"\\\"1\\\"\", want a whole number of tokens from 1 to 2147483647"},
	{"mooncake: NaN", `{"timestamp": 0, "input_length": 1, "output_length": 2}` + "\n" + `{"timestamp": NaN, "input_length": 1, "output_length": 2}`, Options{},
		`t.csv:2: timestamp: found "NaN", want a time in ms, a number from 0 to 9e18`},
	{"mooncake: ids do not fit", `{"timestamp": 0, "input_length": 1000, "output_length": 2, "hash_ids": [1, 2, 3, 4]}`, Options{},
		"t.csv:1: hash_ids: found 4 ids for 1000 prompt tokens, want 2, one for every 512 tokens; blocks of 256 tokens would fit this row: --set block_tokens=256"},
	{"mooncake: id of 65 bits", `{"timestamp": 0, "input_length": 1, "output_length": 2, "hash_ids": [18446744073709551616]}`, Options{},
		`t.csv:1: hash_ids: found "[18446744073709551616]}", want an array of whole numbers from 0 to 18446744073709551615`},
	{"mooncake: cut off", `{"timestamp": 0, "input_length": 1, "output_length": 2}` + "\n" + `{"timestamp": 0, "inp`, Options{},
		"t.csv:2: found \"\\\"inp\" at byte 18, want a key in quotes"},
	{"mooncake: twice", `{"timestamp": 0, "timestamp": 0, "input_length": 1, "output_length": 2}`, Options{},
		"t.csv:1: timestamp: found the key twice, want once"},
	{"bailian, forced", `{"chat_id": 0, "timestamp": 0.0, "input_length": 1, "output_length": 2}`, Options{Format: "mooncake"},
		"t.csv:1: found chat_id, which marks a Qwen Bailian trace (seconds, 16-token blocks), want one of the formats azure, mooncake, burstgpt, vidur, splitwise, servesim and csv; it has the key names of Mooncake with other units, so it is not read as one; convert it to the format servesim"},
	{"azure forced on mooncake", `{"timestamp": 0, "input_length": 1, "output_length": 2}`, Options{Format: "azure"},
		"t.csv:1: found a trace of the format mooncake in JSON lines, want CSV, for the format azure; leave the format out: the content tells the format"},
	{"mooncake forced on azure", azureHead + first, Options{Format: "mooncake"},
		"t.csv:1: found a trace of the format azure in CSV, want JSON lines, for the format mooncake; leave the format out: the content tells the format"},
	{"vidur forced on azure", azureHead + first, Options{Format: "vidur"},
		"t.csv:1: found a trace of the format azure, want the format vidur; leave the format out: the content tells the format"},
	{"JSON of no format forced", `{"a": 1}`, Options{Format: "csv"},
		"t.csv:1: found a trace in JSON lines, want CSV, for the format csv"},
	{"columns of JSON", `{"timestamp": 0, "input_length": 1, "output_length": 2}`, mapped("s"),
		"t.csv:1: found a trace of the format mooncake in JSON lines, want CSV for workload.columns, which names columns of CSV files only; leave workload.columns out: the content tells the format"},
	{"bailian", `{"chat_id": 0, "parent_chat_id": -1, "timestamp": 0.0, "input_length": 1, "output_length": 2}`, Options{},
		"t.csv:1: found chat_id, which marks a Qwen Bailian trace (seconds, 16-token blocks), want one of the formats azure, mooncake, burstgpt, vidur, splitwise, servesim and csv; it has the key names of Mooncake with other units, so it is not read as one; convert it to the format servesim"},

	{"json: unknown key", `{"arrival":0,"prompt":1,"output":2,"promt":3}`, Options{},
		`t.csv:1: found the key "promt", want arrival, prompt, output, id, session, class, priority, cancel, blocks or block_tokens`},
	{"json: missing", `{"prompt":1,"output":2}`, Options{},
		"t.csv:1: found no arrival, want arrival, prompt and output in every line"},
	{"json: same id", `{"id":"a","arrival":0,"prompt":1,"output":2}` + "\n\n" + `{"id":"a","arrival":0,"prompt":1,"output":2}`, Options{},
		`t.csv:3: id: found "a" again, which line 1 has, want an id of its own for each request`},
	{"json: schema", `{"schema":2}`, Options{},
		`t.csv:1: schema: found "2", want 1; this version reads no other`},
	{"json: header key", `{"schema":1,"seed":3}`, Options{},
		`t.csv:1: found the key "seed" in the header, want schema and source only`},
	{"json: source first", `{"source":"x"}`, Options{Format: "servesim"},
		`t.csv:1: found a header without schema, want "schema": 1`},
	{"json: only a header", `{"schema":1}`, Options{},
		"t.csv: found a header and no rows, want at least one request"},
	{"json: cancel 0", `{"arrival":0,"prompt":1,"output":2,"cancel":0}`, Options{},
		`t.csv:1: cancel: found "0", want a time in s, more than 0 and at most 106 days; leave cancel out of requests that are never given up`},
	{"json: session 0", `{"arrival":0,"prompt":1,"output":2,"session":0}`, Options{},
		`t.csv:1: session: found "0", want a whole number from 1 to 9223372036854775807`},
	{"json: priority", `{"arrival":0,"prompt":1,"output":2,"priority":2147483648}`, Options{},
		`t.csv:1: priority: found "2147483648", want a whole number from -2147483648 to 2147483647`},
	{"json: blocks alone", `{"arrival":0,"prompt":1,"output":2,"blocks":[1]}`, Options{},
		"t.csv:1: found blocks without block_tokens, want both or neither"},
	{"json: too many blocks", `{"arrival":0,"prompt":16,"output":2,"blocks":[1,2],"block_tokens":16}`, Options{},
		"t.csv:1: blocks: found 2 for 16 prompt tokens, want at most 1, one for every 16 tokens"},
	{"json: text for a time", `{"arrival":"1s","prompt":16,"output":2}`, Options{},
		"t.csv:1: arrival: found \"\\\"1s\\\"\", want a time in s, a number from 0 to 9e18"},
	{"json: trailing text", `{"arrival":0,"prompt":1,"output":2} x`, Options{Format: "servesim"},
		`t.csv:1: found "x" at byte 37, want the end of the line after the object`},
	{"json: array", `[{"arrival":0}]`, Options{},
		"t.csv:1: found a JSON array, want JSON lines: one object a line; jq -c '.[]' makes lines of an array"},
	{"json: many lines", "{\n\"arrival\": 0}", Options{},
		`t.csv:1: found a line that is no JSON object by itself: "{", want JSON lines: one object a line; jq -c . puts an object on one line`},
	{"json: other keys", `{"input_toks":1}`, Options{},
		"t.csv:1: found the keys input_toks, want those of a known format: mooncake (timestamp, input_length, output_length, hash_ids); servesim (arrival, prompt, output); rename the keys to those of one of them"},

	{"csv: no unit", "when,in,out\n3.5,1,2\n", mapped(""),
		`t.csv:2: when: found "3.5", want a date and time such as 2023-11-16 18:15:46.68059 or 2024-10-15T12:00:00.269Z; for a bare number give its unit, s, ms, us or ns, in workload.columns, such as unit = "ms"`},
	{"csv: bad unit", "when,in,out\n3.5,1,2\n", mapped("min"),
		`t.csv: workload.columns: found the unit "min", want s, ms, us, ns or iso`},
	{"csv: missing column", "when,in,res\n3.5,1,2\n", mapped("s"),
		`t.csv:1: found the columns "when", "in" and "res", want also out`},
	{"csv: no names", "when,in,out\n", Options{Format: "csv"},
		"t.csv: workload.columns: found no name for the arrival, the prompt or the output, want the names of all three"},
	{"csv: other format", azureHead, Options{Format: "azure", Columns: Columns{Arrival: "a"}},
		"t.csv: workload.columns: found it together with the format azure, want it with the format csv only"},
	{"bad format", azureHead, Options{Format: "azur"},
		`t.csv: workload.format: found "azur", want azure, mooncake, burstgpt, vidur, splitwise, servesim or csv`},
	{"bad rule", azureHead, Options{ZeroTokens: "keep"},
		`t.csv: workload.zero_tokens: found "keep", want error, drop or one`},
	{"bad block", azureHead, Options{BlockTokens: -1},
		"t.csv: workload.block_tokens: found -1, want 1 or more, or 0 for the format's own"},

	{"LFS pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:1\n", Options{},
		"t.csv: found a Git LFS pointer, which stands for the file, want the file itself; fetch it with git lfs pull"},
	{"web page", "\n<!DOCTYPE html><html>", Options{},
		"t.csv: found a web page, want a trace; the download ended at a page and not at the file (a redirect or an error): download it again"},
	{"Parquet", "PAR1\x00\x15", Options{},
		"t.csv: found a Parquet file, want CSV or JSON lines; convert it to CSV"},
	{"zip", "PK\x03\x04\x14", Options{},
		"t.csv: found a zip archive, want text, gzip or zstd; unzip it and give the file inside"},
	{"binary", "TIMESTAMP\x00\x01", Options{},
		"t.csv: found binary data, want text: CSV or JSON lines"},
	{"UTF-16", "\xff\xfeT\x00I\x00", Options{},
		"t.csv: found UTF-16 text, want UTF-8; save the file as UTF-8"},
}

func TestBadInput(t *testing.T) {
	for _, c := range badInput {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := readText(c.text, c.opt)
			if err == nil {
				t.Fatal("no error")
			}
			if got := err.Error(); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			var fault *Fault
			if !errors.As(err, &fault) || fault.File != "t.csv" {
				t.Errorf("%#v is no Fault of t.csv", err)
			}
		})
	}
}
