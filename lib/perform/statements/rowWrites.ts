import type { Transaction } from 'sequelize'
import type { Field, FieldType } from '../../../types/field.js'
import type { ItemsTable, TableFacts } from '../../../types/itemsTable.js'
import type { Row } from '../../../types/outcome.js'
import type { Predicate, Projection } from '../../../types/plan.js'
import { placeOfOwn } from '../../common/columns.js'
import { keyColumns, keyName, planKeyName } from '../../common/keys.js'
import { type Visits, visit } from '../../common/visit.js'
import { conversionOf } from '../../sequelize/columnTypes.js'
import { hasScope } from '../../sequelize/model.js'
import { placeholder } from '../statement/pieces.js'
import { valuesOf } from '../statement/row.js'
import type { Prepared } from '../statement/statement.js'
import type { Store } from '../store.js'
import { encodeStored, type NewRow } from '../stored.js'
import { aloneOrTogether, type RowWrite } from '../together.js'
import { alone } from '../transaction.js'
import { executionOf, rowsOf } from './execute.js'
import { forgetFacts, knownFacts } from './facts.js'
import { preparedUpdate, type RowUpdate } from './rows.js'

/** One INSERT that returns its row. */
export function insertOne(store: Store, row: NewRow, projection: Projection): Promise<Row | undefined> {
  const fields = store.resource.fields.filter((_, at) => row[at] !== undefined)
  const values: unknown[] = []
  for (const field of fields) values.push(encodeStored(store, field, row[store.resource.fields.indexOf(field)]))
  const request = { kind: 'insert', fields, values, returning: projection.columns } as const
  const prepared = store.statements.prepare(store.dialect, request)
  const telling = tellingKey(store, fields, projection)
  const write = new Insert(store, prepared, projection, telling)
  return telling === null || isLarge(values)
    ? alone(store, (transaction) => write.alone(transaction))
    : aloneOrTogether(store, write)
}

/** The most that a write's texts and bytes have where it is done with others: what ran last stays bound to a statement that is kept. */
const LARGE = 16_384

function isLarge(values: Prepared['values']): boolean {
  let length = 0
  for (const value of values) {
    if (typeof value === 'string' || value instanceof Uint8Array) length += value.length
  }
  return length > LARGE
}

/** By what the rows of several INSERTs are told apart: where their key is among the values that are sent, or -1, and in what comes back. */
interface TellingKey {
  readonly field: Field
  readonly sent: number
  readonly back: number
}

/**
 * Rows come back in no order that is promised. So several are made at once only where their keys say which is whose: keys that the
 * database counts, and UUIDs.
 */
function tellingKey(
  { resource: { keys } }: Store,
  fields: readonly Field[],
  { columns }: Projection,
): TellingKey | null {
  const [field] = keys
  if (field === undefined || keys.length > 1 || fields.length === 0) return null
  const back = placeOfOwn(columns, field.name)
  if (back < 0) return null
  const sent = fields.indexOf(field)
  const { type } = field.valueType
  const isTelling = sent < 0 ? field.assigned && (type === 'integer' || type === 'bigint') : type === 'uuid'
  return isTelling ? { field, sent, back } : null
}

abstract class Write implements RowWrite {
  abstract readonly subject: string | null
  protected readonly store: Store
  protected readonly prepared: Prepared
  protected readonly columns: Projection['columns']

  constructor(store: Store, prepared: Prepared, { columns }: Projection) {
    this.store = store
    this.prepared = prepared
    this.columns = columns
  }

  get kind(): object {
    return this.prepared.statement
  }

  async alone(transaction: Transaction): Promise<Row | undefined> {
    const [row] = await this.run(this.prepared, this.columns, transaction)
    return row
  }

  async together(all: readonly RowWrite[], transaction: Transaction): Promise<Rows | null> {
    const { dialect } = this.store
    const facts = await knownFacts(this.store, transaction)
    if (facts === null || dialect.items === null) return null
    const rows = await this.several({ facts, items: dialect.items, all, transaction })
    if (rows === null) return null
    // It makes all of them, or none where the facts do not hold any more; none is also what it finds of records that are gone.
    if (rows.some((row) => row !== undefined)) return rows
    forgetFacts(this.store)
    return null
  }

  protected abstract several(joint: Several): Promise<Rows | null>

  protected async run(prepared: Prepared, columns: Projection['columns'], transaction: Transaction): Promise<Row[]> {
    const rows = await rowsOf(this.store, executionOf(prepared, transaction, true))
    return rows.map((row) => valuesOf(row, columns))
  }
}

type Rows = readonly (Row | undefined)[]

/** Several that are about to be done by one statement. */
interface Several {
  readonly facts: TableFacts
  readonly items: ItemsTable
  readonly all: readonly RowWrite[]
  readonly transaction: Transaction
}

class Insert extends Write {
  readonly subject = null
  readonly #key: TellingKey | null

  constructor(store: Store, prepared: Prepared, projection: Projection, key: TellingKey | null) {
    super(store, prepared, projection)
    this.#key = key
  }

  protected async several({ facts, items: { joint }, all, transaction }: Several): Promise<Rows | null> {
    const key = this.#key
    if (key === null) return null
    const isCounted = key.sent < 0
    if (!(isCounted ? facts.counts : facts.keeps(key.field))) return null
    const inserts = all.filter((each) => each instanceof Insert).map(({ prepared: { values } }) => values)
    const values = [...inserts.flat(), facts.version]
    const statement = this.prepared.statement.timesKept(inserts.length, (sql) => {
      const place = placeholder(values.length - 1)
      return joint.insert(sql, joint.holds(this.store.model, place, isCounted ? key.field : null))
    })
    const rows = await this.run({ statement, values }, this.columns, transaction)
    if (rows.length === 0) return []
    if (rows.length !== inserts.length) throw new TypeError('an INSERT gave another number of rows')
    return isCounted ? counted(key, rows) : found(key, rows, inserts)
  }
}

/** Rows whose keys the database counts, in the order in which it made them. */
function counted({ field, back }: TellingKey, rows: readonly Row[]): readonly Row[] {
  let last: bigint | null = null
  for (const row of rows) {
    const key = BigInt(String(field.decode(row[back])))
    if (last !== null && key <= last) throw new TypeError('an INSERT gave its rows in another order')
    last = key
  }
  return rows
}

/** Rows by the keys that were sent. */
function found({ field, sent, back }: TellingKey, rows: readonly Row[], inserts: readonly Prepared['values'][]): Rows {
  const byKey = new Map(rows.map((row) => [String(field.decode(row[back])), row]))
  return inserts.map((values) => {
    const row = byKey.get(String(field.decode(values[sent])))
    if (row === undefined) throw new TypeError('an INSERT gave other keys than it was given')
    return row
  })
}

/** One UPDATE that returns its row, of the record with a key; undefined where there is none. */
export function updateOne(
  store: Store,
  { update, key }: { readonly update: RowUpdate; readonly key: unknown },
  projection: Projection,
): Promise<Row | undefined> {
  const prepared = preparedUpdate(store, update, projection.columns)
  const write = new Update(store, { update, prepared, subject: planKeyName(store.resource.keys, key) }, projection)
  return mayJoin(store, update) && !isLarge(prepared.values)
    ? aloneOrTogether(store, write)
    : alone(store, (transaction) => write.alone(transaction))
}

/**
 * Whether one statement may do it with others: the database reads all of their records before it writes the first. So nothing is among
 * the conditions but the record itself, which its key tells from the others before and after it.
 */
function mayJoin({ resource: { keys }, model, dialect }: Store, { where, values }: RowUpdate): boolean {
  const isName = (field: Field): boolean =>
    NAMES.has(field.valueType.type) && !values.has(field.name) && conversionOf(dialect, model, field) === null
  return dialect.items !== null && !hasScope(model) && keys.every(isName) && isOfOwn(where)
}

/** Types of keys of which no two texts are one value. */
const NAMES: ReadonlySet<FieldType> = new Set(['integer', 'bigint', 'uuid', 'string'])

function isOfOwn(where: Predicate): boolean {
  return visit(OF_OWN, where)
}

/** Whether a condition asks nothing but columns of the record itself. */
const OF_OWN: Visits<Predicate, [], boolean> = {
  and: ({ nodes }) => nodes.every(isOfOwn),
  or: ({ nodes }) => nodes.every(isOfOwn),
  compare: ({ column: { hops, counted } }) => hops.length === 0 && counted === undefined,
  null: ({ column: { hops, counted } }) => hops.length === 0 && counted === undefined,
  always: () => true,
  never: () => true,
  tuples: () => false,
  absent: () => false,
  quantified: () => false,
  owned: () => false,
  count: () => false,
  match: () => false,
  beyond: () => false,
}

class Update extends Write {
  readonly subject: string
  readonly #update: RowUpdate

  constructor(
    store: Store,
    {
      update,
      prepared,
      subject,
    }: { readonly update: RowUpdate; readonly prepared: Prepared; readonly subject: string },
    projection: Projection,
  ) {
    super(store, prepared, projection)
    this.#update = update
    this.subject = subject
  }

  protected async several({ facts, items, all, transaction }: Several): Promise<Rows | null> {
    const { model, resource } = this.store
    const { keys } = resource
    if (!keys.every(facts.keeps)) return null
    const { length } = this.columns
    const told = [...this.columns, ...keyColumns(keys)]
    const updates = all.filter((each) => each instanceof Update)
    // It has the places of the one that each would be by itself, and their values.
    const { statement: several } = preparedUpdate(this.store, this.#update, told, true)
    const rows = updates.map((each) => each.prepared.values)
    const values = [...rows.flat(), facts.version]
    const { joint } = items
    const guarded = (): ItemsTable => {
      return { ...items, ...joint.items(joint.holds(model, placeholder(values.length - 1), null)) }
    }
    const statement = several.amongKept(rows, guarded, joint.update)
    const written = await this.run({ statement, values }, told, transaction)
    const byKey = new Map(written.map((row) => [keyName(keys, row.slice(length)), row.slice(0, length)]))
    return updates.map(({ subject }) => byKey.get(subject))
  }
}
