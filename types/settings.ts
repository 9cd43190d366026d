import type { Direction } from './query.js'

/**
 * The limits of one request. A violation is a 400 error that names the limit. Exceptions: `bodySize` (413), and
 * `writeTime`, `statementTime`, `writeQueue` and `waiting` (503).
 */
export interface Limits {
  /** Characters of the `filter` parameter, and of `search`. Default 4096. */
  readonly filterLength: number
  /**
   * Characters of all query parameters of a request together, names and values. The body of a QUERY may have ten times
   * as many. Default 16384, or four times `filterLength` if that is more.
   */
  readonly queryLength: number
  /** Depth of nested groups, quantifier groups included. Default 10. */
  readonly nesting: number
  /** Comparisons in one filter. Default 100. */
  readonly clauses: number
  /** Values of one `=in=` or `=out=`, and of one `keys`. Default 200. */
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
  /** Relations in one path, without quantifier words. Default 3. */
  readonly pathDepth: number
  /**
   * Tables reached by the paths of one request, in joins and subqueries, besides the resource's own. Paths share the
   * tables of a common prefix; a many-to-many counts as two. Default 20.
   */
  readonly joins: number
  /** Collections in one filter, counted for every quantifier and count. Default 10. */
  readonly quantifiers: number
  /** Depth of nested collections. Default 2. */
  readonly quantifierDepth: number
  /**
   * The query cost of all filters, sorts and searches of one request, including collections in `select`. `false` is no
   * limit. A comparison costs 1, or 4 if no plain index serves it; a quantifier or count costs 10. Costs within a
   * collection are tripled. Default 2000.
   */
  readonly cost: number | false
  /**
   * Tables reached by the paths of a scope's condition, besides the resource's own. A scope with more tables is an
   * error. Default 10.
   */
  readonly scopeJoins: number
  /** Collections in a scope's condition, counted for every quantifier and count. Default 5. */
  readonly scopeQuantifiers: number
  /** Records of a collection in `select` per parent, and the default of the collection's `limit`. Default 100. */
  readonly embedItems: number
  /**
   * Records of all collections in `select`, calculated as the largest possible number for the request. Default 100000.
   */
  readonly embedTotal: number
  /** Records of one bulk request, or of one request with nested records. Default 1000. */
  readonly bulkItems: number
  /** Depth of nested records in bodies. Default 2. */
  readonly nestedWrites: number
  /** Records of one export. Further records are left out. Default 1000000. */
  readonly exportItems: number
  /**
   * Bytes of one response that is built in memory: records, pages and groups. Exports, and writes of one record without
   * nested bodies, are not limited. Default 16777216 (16 MiB).
   */
  readonly responseBytes: number
  /** Bytes of one request body. Default 1048576 (1 MiB). */
  readonly bodySize: number
  /**
   * Milliseconds of a write with its hooks, without waiting for other writes or a connection. A longer write is rolled
   * back. Default 30000.
   */
  readonly writeTime: number
  /**
   * Retries of a write after deadlocks, serialization failures and lock timeouts. The time of all attempts together is
   * limited by `writeTime`. Default 5.
   */
  readonly retries: number
  /**
   * Milliseconds of each statement, without waiting for a connection, or `false` for no limit. A longer statement is
   * cancelled in the database and answered 503 `timeout`. If the server does not react within 2 seconds, its connection
   * is closed. Default 30000 on PostgreSQL, MariaDB and MySQL, false on SQLite.
   */
  readonly statementTime: number | false
  /** Writes in the queue of one SQLite instance. Default 1000. */
  readonly writeQueue: number
  /** Requests that wait for a connection of the pool. Further requests are answered 503 at once. Default 500. */
  readonly waiting: number
  /**
   * Rooms of one resource and process for clients with a condition as scope. Further clients are refused. Default 1000.
   */
  readonly pushRooms: number
}

export interface ShapeNames {
  readonly create?: string
  readonly update?: string
  readonly response?: string
  readonly list?: string
  readonly query?: string
}

/** Whether a numbered page counts all records (`exact`) or none (`none`). */
export type Total = 'exact' | 'none'

/** The settings that list requests read. */
export interface QuerySettings {
  readonly sortable: boolean
  readonly defaultSort: string
  readonly defaultDirection: Direction
  readonly unknownFields: 'reject' | 'ignore'
  /** The effect of unknown query parameters, or the list of parameters that belong to the host. */
  readonly unknownParameters: 'reject' | 'ignore' | readonly string[]
  readonly pageSize: number
  readonly maxPageSize: number
  readonly total: Total
}
