import type { Field } from '../../types/field.js'
import type { Outcome } from '../../types/outcome.js'
import type { CreatePlan, ReplacePlan, UpdatePlan } from '../../types/plan.js'
import { keyColumns } from '../common/keys.js'
import { Problem, problem } from '../common/problem.js'
import { evaluate } from '../sequelize/run.js'
import { isExpression } from '../sequelize/sql.js'
import { isDeadlock, isTaken } from './failure.js'
import { some } from './read.js'
import type { Write } from './several.js'
import type { Store } from './store.js'
import { limited, markRaced, racing } from './transaction.js'

/**
 * Writes the record as it is sent, or makes it. Of several that would make it one does, and the others find it.
 *
 * @throws Problem 404 where there is none and its key is not the client's to choose
 */
export async function replace(store: Store, plan: ReplacePlan, write: Write): Promise<Outcome> {
  const whole = { ...plan, update: await completed(store, plan.update) }
  return racing(store, () => replaceOnce(store, whole, write))
}

async function replaceOnce(store: Store, { update, create, isNew }: ReplacePlan, write: Write): Promise<Outcome> {
  const isMissing = isNew
    ? await refuseExisting(store, update)
    : create !== null && (await isKnownMissing(store, update))
  const there = isMissing ? null : await unlessMissing(store, update, write)
  if (there !== null) return there
  const creation = creatable(create, update, isNew)
  refuseOthers(store, creation)
  try {
    return partOf(creation, await write(store, creation))
  } catch (error) {
    const isRaced = isTaken(error, store.resource, store.resource.keys)
    throw isRaced || isDeadlock(error, store.dialect) ? markRaced(error) : error
  }
}

/** What the update came to; null where there is no record that it is for. */
async function unlessMissing(store: Store, update: UpdatePlan, write: Write): Promise<Outcome | null> {
  try {
    return partOf(update, await write(store, update))
  } catch (error) {
    // What names places is about records that the body holds.
    if (!(error instanceof Problem) || error.code !== 'not-found' || error.errors !== undefined) throw error
    if (!(await isThere(store, update))) return null
    // It has been made since, unless a hook of the host's says the same of something else.
    throw markRaced(error)
  }
}

async function refuseExisting(store: Store, update: UpdatePlan): Promise<true> {
  if (!(await isThere(store, update))) return true
  throw problem('precondition-failed', { detail: 'The record exists already, and If-None-Match: * wants none.' })
}

/**
 * Within a transaction, an update of what is not there would keep others from making it, who look for it as well: each would
 * wait for the other.
 */
async function isKnownMissing(store: Store, update: UpdatePlan): Promise<boolean> {
  return store.transaction !== undefined && !(await isThere(store, update))
}

/** Without a lock, for the same reason. That it is there is all that is asked of it. */
async function isThere(store: Store, { where }: UpdatePlan): Promise<boolean> {
  return (await some(store, where, keyColumns(store.resource.keys), 1)).length > 0
}

/** The creation of a record that does not exist. @throws Problem where it may not be made */
function creatable(create: CreatePlan | null, update: UpdatePlan, isNew: boolean): CreatePlan {
  if (create === null) throw problem('not-found')
  if (create.refusal !== undefined) throw create.refusal
  if (update.match !== null) throw problem('precondition-failed', { detail: 'If-Match wants a record that exists.' })
  if (!isNew && update.precondition?.where === null) throw update.precondition.refusal()
  return create
}

/**
 * The key in the path is the record's, and what a behaviour sets is that as well.
 *
 * @throws Problem 403 where the caller may create records with other keys only
 */
function refuseOthers({ resource: { keys } }: Store, { changes, upkeep }: CreatePlan): void {
  const text = (field: Field, value: unknown): string => String(field.decode(value))
  const wrong = keys.find(
    (field) =>
      upkeep.has(field.name) &&
      changes.has(field.name) &&
      text(field, upkeep.get(field.name)) !== text(field, changes.get(field.name)),
  )
  if (wrong === undefined) return
  throw problem('forbidden', { detail: `You may not create a record with this ${wrong.json}.` })
}

function partOf(plan: CreatePlan | UpdatePlan, outcome: Outcome): Outcome {
  if (outcome.kind !== 'record') throw new TypeError(`the write of one record came out as ${outcome.kind}`)
  return { kind: 'parts', parts: [{ plan, outcome }] }
}

/** A replacement with the values of what its body does not name: the model's defaults, else null. */
export async function completed(store: Store, plan: UpdatePlan): Promise<UpdatePlan> {
  const { absent, changes, invalid, upkeep } = plan
  if (absent === undefined || absent.size === 0) return plan
  const values = new Map(upkeep.values)
  const blank = store.model.build({})
  for (const { name, nullable } of store.resource.fields) {
    if (!absent.has(name) || changes.has(name) || invalid?.failed.has(name)) continue
    const value: unknown = blank.getDataValue(name as never)
    // What takes no null and has no default is left to hooks, or to the database, by the host's own word.
    if (value === undefined || (value === null && !nullable)) {
      if (nullable) values.set(name, null)
    } else values.set(name, (isExpression(value) ? await evaluated(store, value) : value) as never)
  }
  return { ...plan, upkeep: { ...upkeep, values } }
}

function evaluated(store: Store, expression: unknown): Promise<unknown> {
  return limited(store, () => evaluate(store.model, expression, store.transaction))
}
