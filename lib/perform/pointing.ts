import type { Changes } from '../../types/changes.js'
import type { Field, Value } from '../../types/field.js'
import type { Row } from '../../types/outcome.js'
import type { BulkCreatePlan, CreatePlan, PlainValue, UpdatePlan } from '../../types/plan.js'
import type { Pointer, Work } from '../../types/work.js'
import { hasErrors } from '../common/bodyErrors.js'
import { ofOwn, ownColumn } from '../common/columns.js'
import { among, both, joinedTo } from '../common/predicates.js'
import { type ProblemErrors, problem } from '../common/problem.js'
import { isSpelled } from '../sequelize/columnTypes.js'
import { nowhere } from './foreign.js'
import { errorsOfPlan } from './newRecords.js'
import { some } from './read.js'
import { changed, conditionOf, existing, refusalOf } from './refusal.js'
import { mostRows } from './spelled.js'
import { beside, type Store, within } from './store.js'
import { inTransaction, limited } from './transaction.js'
import { faultsOf, NOTHING } from './validation.js'

type Pointing = CreatePlan | BulkCreatePlan | UpdatePlan

/**
 * Writes what a plan says, as long as the records that its bodies point at are there for the caller. What is not is
 * refused in the place, and in the words, of a foreign key that points nowhere.
 */
export function writePointing<P extends Pointing, T>(
  store: Store,
  { plan, pointers }: Work<P>,
  write: (store: Store, plan: P) => Promise<T>,
): Promise<T> {
  // What is wrong with the bodies comes first, and is told by the write.
  return pointers.length === 0 || isRefused(plan) ? write(store, plan) : writeMet(store, plan, pointers, write)
}

async function writeMet<P extends Pointing, T>(
  store: Store,
  given: P,
  pointers: readonly Pointer[],
  write: (store: Store, plan: P) => Promise<T>,
): Promise<T> {
  const { failing, spellings } = await unmet(store, given, pointers)
  const plan = inStoredSpelling(given, spellings)
  if (failing.length === 0) return write(store, plan)
  if ('key' in plan) return keptOrRefused(store, plan, failing, (inside) => write(inside, plan))
  throw await refusal(fieldsOf(failing), await limited(store, () => errorsOfPlan(store, plan)), store)
}

/** UUIDs as the keys that they refer to are stored, by the name of the field and their text in lower case. */
type Spellings = ReadonlyMap<string, ReadonlyMap<string, Value>>

/** The plan with foreign keys that the database joins to the keys that they refer to: as text, UUIDs have two spellings. */
function inStoredSpelling<P extends Pointing>(plan: P, spellings: Spellings): P
function inStoredSpelling(plan: Pointing, spellings: Spellings): Pointing {
  if (spellings.size === 0) return plan
  const changed = (changes: Changes): Changes =>
    new Map([...changes].map(([name, value]) => [name, spellings.get(name)?.get(String(value).toLowerCase()) ?? value]))
  return plan.kind === 'bulkCreate'
    ? { ...plan, records: plan.records.map(changed) }
    : { ...plan, changes: changed(plan.changes) }
}

function isRefused(plan: Pointing): boolean {
  switch (plan.kind) {
    case 'create':
      return plan.invalid !== null
    case 'bulkCreate':
      return plan.invalid.size > 0
    default:
      return plan.invalid !== null || plan.precondition?.where === null
  }
}

async function refusal(failing: readonly Field[], errors: ProblemErrors, { resource }: Store): Promise<Error> {
  return hasErrors(errors) ? problem('validation', { errors }) : nowhere(resource, failing)
}

/**
 * A record may go on pointing at what its caller cannot meet, so long as the body only repeats it. Who may not read where it
 * points repeats nothing: guesses would tell him.
 */
function keptOrRefused<T>(
  store: Store,
  plan: UpdatePlan,
  failing: readonly Pointer[],
  write: (store: Store) => Promise<T>,
): Promise<T> {
  const fields = fieldsOf(failing)
  return inTransaction(store, async (transaction) => {
    const inside = within(store, transaction)
    const where = conditionOf(plan)
    const row = await existing(inside, { kind: plan.kind, where, projection: ofOwn(fields) }, transaction)
    if (row === null) throw await refusalOf(inside, plan, transaction)
    const isKept = ({ field, isShown }: Pointer, index: number): boolean =>
      isShown && isSame(field, row[index], plan.changes.get(field.name))
    const moved = fieldsOf(failing.filter((each, index) => !isKept(each, index)))
    if (moved.length === 0) return write(inside)
    const make = await changed(inside, plan)
    throw await refusal(moved, await faultsOf(inside, NOTHING, make, { isPrepared: plan.before !== null }), inside)
  })
}

/** What points nowhere repeats nothing, not the text "null" either. */
function isSame({ decode }: Field, stored: unknown, sent: Value | undefined): boolean {
  const kept = decode(stored)
  return kept !== null && String(kept) === String(decode(sent))
}

function fieldsOf(pointers: readonly Pointer[]): readonly Field[] {
  return pointers.map(({ field }) => field)
}

interface Unmet {
  /** The foreign keys by which one of the records points at what is not there for the caller. */
  readonly failing: readonly Pointer[]
  readonly spellings: Spellings
}

async function unmet(store: Store, plan: Pointing, pointers: readonly Pointer[]): Promise<Unmet> {
  const failing: Pointer[] = []
  const spellings = new Map<string, ReadonlyMap<string, Value>>()
  const records = plan.kind === 'bulkCreate' ? plan.records : [plan.changes]
  const kept = 'key' in plan ? plan.upkeep.values : plan.upkeep
  for (const pointer of pointers) {
    // What a behaviour sets is not the client's.
    if (kept.has(pointer.field.name)) continue
    const { rows, isMet } = await rowsMet(store, pointer, records)
    if (!isMet && pointer.isBinding) failing.push(pointer)
    else if (pointer.key.valueType.type === 'uuid') {
      // A key in lower case, as the body has it, takes precedence.
      const stored = rows.flatMap(([value]) => (typeof value === 'string' ? [value] : [])).sort()
      spellings.set(pointer.field.name, new Map(stored.map((value) => [value.toLowerCase(), value])))
    }
  }
  return { failing, spellings }
}

/** Whether a foreign key may have a write refused, or may have to be written in another spelling. */
export function hasSay({ isBinding, target, key }: Pointer): boolean {
  return isBinding || isSpelled(target.dialect(), target.model, key)
}

interface Met {
  readonly rows: readonly Row[]
  /** Whether each of the records is there for the caller. */
  readonly isMet: boolean
}

/** The keys of the records that a foreign key refers to, as the database compares them. */
async function rowsMet(
  store: Store,
  { field, target, key, guard }: Pointer,
  records: readonly Changes[],
): Promise<Met> {
  const sent = records
    .map((changes) => changes.get(field.name))
    .filter((value) => value !== undefined && value !== null)
  const values = [...new Map(sent.map((value) => [String(field.decode(value)), value])).values()]
  if (values.length === 0) return { rows: [], isMet: true }
  if (!values.every(isPlain)) return { rows: [], isMet: false }
  const pointedAt = key.valueType.type === 'uuid' ? among : joinedTo
  const having = (wanted: readonly PlainValue[]): Promise<readonly Row[]> =>
    some(beside(store, target), both(pointedAt(key, wanted), guard), [ownColumn(key)], mostRows([key], wanted.length))
  const rows = await having(values)
  const met = new Set(rows.map(([value]) => String(key.decode(value))))
  for (const value of values) {
    // Others may have come in the place of its record where the key of the target is not unique, or equals another text.
    if (!met.has(String(field.decode(value))) && (await having([value])).length === 0) return { rows, isMet: false }
  }
  return { rows, isMet: true }
}

function isPlain(value: Value): value is PlainValue {
  return typeof value !== 'object' || value instanceof Date
}
