-- The words of requests, and how far they go: the requests with numbers above `low`, up to `high`, are in; both are null before
-- the first. What is here follows from the records, is filled behind them, and may be emptied at any time with its mark.

CREATE TABLE IF NOT EXISTS request_words (
  sequence int8 PRIMARY KEY,
  words tsvector NOT NULL
);

CREATE INDEX IF NOT EXISTS request_words_by_word ON request_words USING gin (words);

CREATE TABLE IF NOT EXISTS search_mark (
  id int2 PRIMARY KEY CHECK (id = 1),
  low int8,
  high int8
);

INSERT INTO search_mark VALUES (1, NULL, NULL) ON CONFLICT DO NOTHING;
