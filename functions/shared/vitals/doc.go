// Package vitals keeps the vital signs of processes: what each function did,
// what it asked of the object store, what the process takes from its machine.
//
// A Recorder counts. It tells in three ways: as metrics in Prometheus's form,
// as embedded metrics in Lambda's log, and as feedback objects in the bucket,
// from which status and sweep read what all processes did.
//
// A feedback object, layout.FeedbackKey(at, worker), is JSON:
//
//	{
//	  "worker": "host/4711-2Q6X",           one process
//	  "since": "2026-11-22T10:00:00Z",      the end of the worker's feedback before this one
//	  "at":    "2026-11-22T10:00:15Z",
//	  "functions": {"fetch": {              what they did in between
//	    "invocations": 12, "failures": 1, "postponed": 2, "busy_seconds": 3.5,
//	    "in_flight": 4,                     messages, at the moment
//	    "requests": {"put": 3, "get": 0, "list": 0, "delete": 0, "head": 12, "read": 0, "written": 90000},
//	    "last_error": {"text": "…", "at": "2026-11-22T10:00:09Z"},
//	    "notes": {"a parser panicked": 2}   what went wrong without failing a message
//	  }},
//	  "process": {
//	    "cpu_seconds": 1.25,                in between, as the following four
//	    "received_bytes": 0, "sent_bytes": 0, "disk_read_bytes": 0, "disk_written_bytes": 0,
//	    "resident_bytes": 52428800,         at the moment, as the following three
//	    "heap_bytes": 20000000, "goroutines": 31, "descriptors": 18
//	  },
//	  "day": {                              all that the worker did on the day of "at" (UTC)
//	    "requests": {…}, "invocations": 0, "gb_seconds": 0
//	  },
//	  "sum": "…"                            see layout.Seal; at first there was none
//	}
//
// Since the day's sums are in every object, one object a worker says what a day
// has cost; and what one that could not be put said is in the next one's sums.
//
// History: "postponed" and "notes" are from 2026-11-22. What is older has
// neither, and counted as failures what is postponed now.
package vitals
