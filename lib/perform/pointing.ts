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
 * Runs a write after checking that the caller may see the records that its foreign keys reference. A failed check is
 * reported like a foreign key without a referenced record.
 */
export function writePointing<P extends Pointing, T>(
  store: Store,
  { plan, pointers }: Work<P>,
  write: (store: Store, plan: P) => Promise<T>,
): Promise<T> {
  // Validation errors take precedence. The write itself reports them.
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

/** UUIDs in the spelling of the referenced key, by field name and lower-case text. */
type Spellings = ReadonlyMap<string, ReadonlyMap<string, Value>>

/** The plan with foreign keys in the spelling of the referenced key. In text columns a UUID has two spellings. */
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
 * An update may repeat a foreign key whose record the caller may not see. This requires that the caller may read the
 * foreign key: otherwise guesses would reveal its value.
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

/** A null is never a repetition, not even of the text "null". */
function isSame({ decode }: Field, stored: unknown, sent: Value | undefined): boolean {
  const kept = decode(stored)
  return kept !== null && String(kept) === String(decode(sent))
}

function fieldsOf(pointers: readonly Pointer[]): readonly Field[] {
  return pointers.map(({ field }) => field)
}

interface Unmet {
  /** Foreign keys that reference a record which the caller may not see. */
  readonly failing: readonly Pointer[]
  readonly spellings: Spellings
}

async function unmet(store: Store, plan: Pointing, pointers: readonly Pointer[]): Promise<Unmet> {
  const failing: Pointer[] = []
  const spellings = new Map<string, ReadonlyMap<string, Value>>()
  const records = plan.kind === 'bulkCreate' ? plan.records : [plan.changes]
  const kept = 'key' in plan ? plan.upkeep.values : plan.upkeep
  for (const pointer of pointers) {
    // Values that a behaviour sets are not checked.
    if (kept.has(pointer.field.name)) continue
    const { rows, isMet } = await rowsMet(store, pointer, records)
    if (!isMet && pointer.isBinding) failing.push(pointer)
    else if (pointer.key.valueType.type === 'uuid') {
      // If both spellings exist, the lower-case one of the body takes precedence.
      const stored = rows.flatMap(([value]) => (typeof value === 'string' ? [value] : [])).sort()
      spellings.set(pointer.field.name, new Map(stored.map((value) => [value.toLowerCase(), value])))
    }
  }
  return { failing, spellings }
}

/** Whether a foreign key must be checked before the write, or may need another spelling. */
export function hasSay({ isBinding, target, key }: Pointer): boolean {
  return isBinding || isSpelled(target.dialect(), target.model, key)
}

interface Met {
  readonly rows: readonly Row[]
  /** Whether the caller may see all referenced records. */
  readonly isMet: boolean
}

/** Keys of the referenced records, compared by the database. */
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
    // A record with another spelling of the key may have been returned in its place, if the key is not unique or
    // compares equal to other texts.
    if (!met.has(String(field.decode(value))) && (await having([value])).length === 0) return { rows, isMet: false }
  }
  return { rows, isMet: true }
}

function isPlain(value: Value): value is PlainValue {
  return typeof value !== 'object' || value instanceof Date
}
