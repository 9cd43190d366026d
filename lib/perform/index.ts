import type { Outcome, Row } from '../../types/outcome.js'
import type { Plan, Predicate, Projection } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import { Problem, problem } from '../common/problem.js'
import { hasScope } from '../sequelize/model.js'
import { type Executor, hasFindHooks, type WritePlan, type Writer, writesBy } from './executor.js'
import { problemOf } from './failure.js'
import { foreignKeyProblem } from './foreign.js'
import { instanceWriter } from './instances/write.js'
import { count, get, keyset, list } from './read.js'
import { statementWriter } from './statements/write.js'
import { type Store, storeOf } from './store.js'
import { type Commit, commitOf as commitIn } from './transaction.js'

/**
 * Does what a plan says, on the database.
 *
 * @throws Problem for what the database refused (404, 409, 400) or could not do now (503); anything else as it came
 */
export async function perform(resource: Resource, plan: Plan): Promise<Outcome> {
  try {
    return await carryOut(storeOf(resource), plan)
  } catch (error) {
    // A Problem is an answer already, whoever threw it.
    if (error instanceof Problem) throw error
    const known = (await foreignKeyProblem(error, storeOf(resource), plan)) ?? problemOf(error, resource, plan)
    // The cause is for `onError`; nothing of it is in the answer.
    throw known === null ? error : Object.assign(known, { cause: error })
  }
}

const WRITERS: Readonly<Record<Executor, Writer>> = { statements: statementWriter, instances: instanceWriter }

function writerOf(store: Store, plan: WritePlan): Writer {
  return WRITERS[writesBy(store, plan)]
}

async function carryOut(store: Store, plan: Plan): Promise<Outcome> {
  switch (plan.kind) {
    case 'get': {
      const row = await get(store, plan)
      if (row === null) throw problem('not-found')
      return { kind: 'record', row }
    }
    case 'page':
      return list(store, plan)
    case 'count':
      return count(store, plan)
    case 'keyset':
      return keyset(store, plan)
    case 'create':
      return writerOf(store, plan).create(store, plan)
    case 'update':
    case 'restore':
      return writerOf(store, plan).update(store, plan)
    case 'delete':
      return writerOf(store, plan).remove(store, plan)
    case 'bulkCreate':
      return writerOf(store, plan).bulkCreate(store, plan)
    case 'bulkDelete':
      return writerOf(store, plan).bulkDelete(store, plan)
  }
}

/** A record that was just written, by any condition of its own; null where there is none, or the model hides it. */
export function read(resource: Resource, where: Predicate, projection: Projection): Promise<Row | null> {
  return get(storeOf(resource), { where, projection }, { main: true })
}

/** Whether the model itself may hide records, so that one which was just written may not be there for a read. */
export function hidesRecords({ model }: Resource): boolean {
  return hasFindHooks(model) || hasScope(model)
}

/** The commit that a write made now will have. What is rolled back has none, and nothing follows it. */
export function commitOf(resource: Resource): Commit {
  return commitIn(storeOf(resource))
}

export { hostOptions } from './instances/find.js'
export { type Store, storeOf } from './store.js'
