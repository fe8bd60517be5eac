package topic

import "testing"

func benchTopic(b *testing.B) Topic {
	return mustNew(b, []string{"transaction", "rollback", "isolation level", "full text search", "savepoint"}, []string{sample}, "en")
}

func BenchmarkLink(b *testing.B) {
	topic := benchTopic(b)
	b.ReportAllocs()
	for b.Loop() {
		topic.Link("QSqlDatabase Class", "the database that this query was made for, and ends its last statement in the way that was asked for before",
			"https://docs.example.org/qtsql/qsqldatabase.html", 0.3)
	}
}

func BenchmarkPage(b *testing.B) {
	topic := benchTopic(b)
	b.ReportAllocs()
	b.SetBytes(int64(len(sample)))
	for b.Loop() {
		topic.Page("Transactions", sample)
	}
}
