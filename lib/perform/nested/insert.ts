import type { Outcome } from '../../../types/outcome.js'
import type {
  ChildInserts,
  ErrorsByPlace,
  LinkChange,
  NestedResult,
  NestedWrite,
  ResultRecord,
  Work,
  WriteResult,
  WrittenPart,
} from '../../../types/work.js'
import { mergeErrors } from '../../common/bodyErrors.js'
import { internalError } from '../../common/internalError.js'
import { Problem } from '../../common/problem.js'
import type { StatementContext } from '../store.js'
import type { WorkExecution } from './diff.js'
import { collectErrors } from './errors.js'
import { findLinkedRecords } from './joinRows.js'
import { linkNewParents, linkTargetsOf } from './links.js'
import { addParentKeys, bindingValuesOf, referencedValuesOf, storeOfWork } from './parentKeys.js'

/** Returns the nested writes of the new records among `works`. */
export function nestedWritesOfNew(works: readonly Work[]): readonly NestedWrite[] {
  return works.flatMap(({ plan, nestedWrites = [] }) =>
    plan.kind === 'create' || plan.kind === 'bulkCreate' ? nestedWrites : [],
  )
}

/** Returns the link changes of new records, at any depth. */
export function linkChangesIn(nestedWrites: readonly NestedWrite[]): readonly LinkChange[] {
  return nestedWrites.flatMap((nestedWrite) => {
    if (nestedWrite.kind === 'new') return linkChangesIn(nestedWrite.work.nestedWrites ?? [])
    return nestedWrite.kind === 'linked' ? [nestedWrite] : []
  })
}

/** Returns the errors of linked keys without a record, at any depth. */
export async function collectMissingKeys(
  store: StatementContext,
  nestedWrites: readonly NestedWrite[],
): Promise<ErrorsByPlace> {
  const errors: ErrorsByPlace[] = []
  for (const linkChange of linkChangesIn(nestedWrites)) {
    try {
      await findLinkedRecords(store, linkChange, linkTargetsOf(linkChange))
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'validation') throw error
      errors.push(error.errors ?? {})
    }
  }
  return mergeErrors(errors)
}

/** Inserts and links the children of new records that are already written. */
export async function insertChildren(
  store: StatementContext,
  { resource, plan, nestedWrites = [] }: Pick<Work, 'resource' | 'plan' | 'nestedWrites'>,
  outcome: Outcome,
  execution: WorkExecution,
): Promise<Pick<WriteResult, 'nested' | 'parts'>> {
  const nested: NestedResult[] = []
  const parts: WrittenPart[] = []
  await collectErrors(nestedWrites, async (nestedWrite, isDoomed) => {
    const values = referencedValuesOf({ plan }, outcome, nestedWrite.binding)
    if (nestedWrite.kind === 'linked') {
      if (isDoomed) await findLinkedRecords(store, nestedWrite, linkTargetsOf(nestedWrite))
      else nested.push(...(await linkNewParents(store, nestedWrite, values, execution.write, parts)))
      return
    }
    if (nestedWrite.kind === 'replaced')
      throw internalError(
        `a new record of ${resource.name} cannot replace the existing records of "${nestedWrite.json}"`,
      )
    if (isDoomed) return
    const done = await insertInto(storeOfWork(store, nestedWrite), nestedWrite, values, execution)
    if (done !== null) parts.push({ result: done, caller: nestedWrite.caller })
    nested.push(...nestedResultsOf(nestedWrite, done))
  })
  return { nested, parts }
}

async function insertInto(
  store: StatementContext,
  { work, binding, groups }: ChildInserts,
  values: readonly unknown[],
  { execute }: WorkExecution,
): Promise<WriteResult | null> {
  if (work.plan.records.length === 0) return null
  const parentIndexes = new Map(
    groups.flatMap((group, parentIndex) => (group ?? []).map((index) => [index, parentIndex] as const)),
  )
  const bindingValues = work.plan.records.map((_, index) =>
    bindingValuesOf(binding, values[parentIndexes.get(index) ?? -1]),
  )
  return execute(store, { ...work, plan: addParentKeys(work, bindingValues) })
}

function nestedResultsOf({ groups, json, many }: ChildInserts, done: WriteResult | null): readonly NestedResult[] {
  return groups.flatMap((group, parentIndex): NestedResult[] => {
    if (group === undefined) return []
    const shown = done === null ? [] : (group ?? []).map((index): ResultRecord => ({ result: done, index }))
    return [{ parentIndex, json, value: many ? shown : (shown[0] ?? null) }]
  })
}
