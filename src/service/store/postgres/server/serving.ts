// Which rows of `replicas` are those of processes that serve.

/** Who has not been seen for so long has ended. */
const goneAfterSeconds = 5;

/** A condition in SQL. */
export const isServing = `instance IS NOT NULL AND seen_at >= clock_timestamp() - interval '${goneAfterSeconds} s'`;
