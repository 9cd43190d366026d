import type { Direction } from './query.js'

/**
 * The bounds on what one request may ask for. A breach is a 400 that names the limit, but for `bodySize` (413), `writeTime`,
 * `statementTime`, `writeQueue` and `waiting` (503).
 */
export interface Limits {
  /** Characters of the `filter` parameter, and of `search`. Default 4096. */
  readonly filterLength: number
  /**
   * Characters of all query parameters of a request together, names and values. Ten times as many in the body of a QUERY. Default
   * 16384, or four times `filterLength` where that is more.
   */
  readonly queryLength: number
  /** Groups within groups, quantifier groups included. Default 10. */
  readonly nesting: number
  /** Comparisons in one filter. Default 100. */
  readonly clauses: number
  /** Values of one `=in=` or `=out=`, and keys of one `keys`. Default 200. */
  readonly listItems: number
  /** Keys of one `sort`. Default 10. */
  readonly sortKeys: number
  /** Paths of one `select`. Default 50. */
  readonly selectFields: number
  /** Measures of one `aggregate`. Default 20. */
  readonly measures: number
  /** Keys of one `group`. Default 5. */
  readonly groups: number
  /** Words of one `search`. Default 10. */
  readonly searchWords: number
  /** Relation hops in one path; quantifier words do not count. Default 3. */
  readonly pathDepth: number
  /**
   * Tables beside the resource's own that the paths of one request reach, in joins and in subqueries. Paths share the
   * tables that their beginnings share; a many-to-many is two. Default 20.
   */
  readonly joins: number
  /** Collections that one filter crosses, each once for every quantifier and count. Default 10. */
  readonly quantifiers: number
  /** Collections within each other. Default 2. */
  readonly quantifierDepth: number
  /**
   * What the filters, the sort and the search of one request cost together, those of its collections in `select` included, or `false`
   * for any amount: a comparison is 1, one that no plain index serves 4, a quantifier or count 10, and within a collection all
   * is three times as much. Default 2000.
   */
  readonly cost: number | false
  /** Tables beside the resource's own that the paths of a scope's condition reach. Beyond that the scope is an error. Default 10. */
  readonly scopeJoins: number
  /** Collections that a scope's condition crosses, each once for every quantifier and count. Default 5. */
  readonly scopeQuantifiers: number
  /** Records of a collection in `select`, for each of its owners; where `limit` says nothing it is so many. Default 100. */
  readonly embedItems: number
  /** Records of all collections in `select`, as many as the request could have at most. Default 100000. */
  readonly embedTotal: number
  /** Records of one bulk request, and of one whose bodies hold others. Default 1000. */
  readonly bulkItems: number
  /** Levels of records within the body of another one. Default 2. */
  readonly nestedWrites: number
  /** Records of one export. What exceeds it is cut off. Default 1000000. */
  readonly exportItems: number
  /**
   * Bytes of one answer that is built as a whole: records, pages and groups. Exports have no such limit, and what was written
   * without records of that size is answered. Default 16777216 (16 MiB).
   */
  readonly responseBytes: number
  /** Bytes of one request body. Default 1048576 (1 MiB). */
  readonly bodySize: number
  /**
   * Milliseconds that a write may take, with its hooks. What takes longer is rolled back. Waiting for other writes and for a
   * connection does not count. Default 30000.
   */
  readonly writeTime: number
  /**
   * How often a write is tried again that conflicts with other writes: deadlocks, serialization failures, locks that were not free in time. All
   * attempts together take `writeTime` at most. Default 5.
   */
  readonly retries: number
  /**
   * Milliseconds that each statement of a request may take, or `false` for no limit. What takes longer is ended in the database
   * and answered 503 `timeout`. A server that gives no answer 2 seconds later has its connection closed. Waiting for a connection does not count.
   * Default 30000 on PostgreSQL, MariaDB and MySQL, false on SQLite.
   */
  readonly statementTime: number | false
  /** Writes of one SQLite instance that may wait behind the one that runs. Default 1000. */
  readonly writeQueue: number
  /** Requests that may wait for a connection of the pool. Beyond that the answer is 503 at once. Default 500. */
  readonly waiting: number
  /** Rooms of push clients whose scope is a condition, of one resource and process. Beyond that clients are refused. Default 1000. */
  readonly pushRooms: number
}

export interface ShapeNames {
  readonly create?: string
  readonly update?: string
  readonly response?: string
  readonly list?: string
  readonly query?: string
}

/** Whether a page by number counts all records. */
export type Total = 'exact' | 'none'

/** The parts of a resource that list requests read. */
export interface QuerySettings {
  readonly sortable: boolean
  readonly defaultSort: string
  readonly defaultDirection: Direction
  readonly unknownFields: 'reject' | 'ignore'
  /** The parameters of the host's own, where it lists them. */
  readonly unknownParameters: 'reject' | 'ignore' | readonly string[]
  readonly pageSize: number
  readonly maxPageSize: number
  readonly total: Total
}
