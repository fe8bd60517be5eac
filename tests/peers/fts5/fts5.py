#!/usr/bin/env python3
"""Indexes and queries with SQLite's FTS5, for comparison:

    fts5.py index DIRECTORY < corpus
    fts5.py query DIRECTORY < queries
    fts5.py rank DIRECTORY < queries

See tests/peers/corpus for what index and query read and print. rank prints a JSON array for each query: the
URLs of the first ten pages with any of its words, where a word in the title counts ten times, and one in a
heading three times as much as one in the text.
"""

import json
import os
import sqlite3
import sys
import time


def pages(corpus):
    while line := corpus.readline():
        page = json.loads(line)
        body = corpus.read(page["bytes"] + 1)[:-1].decode()
        yield page["url"], page["title"], "\n".join(page.get("headings", [])), body


def index(db):
    db.execute("PRAGMA journal_mode = off")
    db.execute("PRAGMA synchronous = off")
    db.execute("CREATE VIRTUAL TABLE pages USING fts5(url UNINDEXED, title, headings, body, tokenize = 'porter unicode61')")
    db.executemany("INSERT INTO pages VALUES (?, ?, ?, ?)", pages(sys.stdin.buffer))
    db.execute("INSERT INTO pages (pages) VALUES ('optimize')")
    db.commit()


def query(db):
    for line in sys.stdin:
        words = " ".join(f'"{word}"' for word in line.split())  # all must occur
        began = time.perf_counter()
        found = db.execute("SELECT url FROM pages WHERE pages MATCH ? ORDER BY rank LIMIT 10", (words,)).fetchall()
        print(round((time.perf_counter() - began) * 1e6), len(found))


def rank(db):
    for line in sys.stdin:
        words = " OR ".join('"' + word.replace('"', '""') + '"' for word in line.split())
        found = db.execute("SELECT url FROM pages WHERE pages MATCH ? ORDER BY bm25(pages, 0, 10, 3, 1) LIMIT 10", (words,)).fetchall()
        print(json.dumps([url for (url,) in found]))


if __name__ == "__main__":
    {"index": index, "query": query, "rank": rank}[sys.argv[1]](sqlite3.connect(os.path.join(sys.argv[2], "index.db")))
