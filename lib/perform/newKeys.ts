import type { Field } from '../../types/field.js'
import type { BulkCreatePlan, CreatePlan } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import { refuse } from '../common/bodyErrors.js'
import { isKeyPart, joinKeyParts, keyColumns, matchKeys, storedKeyOfRow } from '../common/keys.js'
import { createMessage } from '../common/messages.js'
import { problem } from '../common/problem.js'
import { hasTwoUuidSpellings } from '../sequelize/columnTypes.js'
import { uniqueMessageOf } from '../sequelize/model.js'
import { collectPlanErrors } from './newRecords.js'
import { readUnscoped } from './read.js'
import type { StatementContext } from './store.js'
import { withWriteTimeout } from './transaction.js'
import { maxRowsOf } from './uuidSpellings.js'

/**
 * Rejects new records whose UUID key already exists in another spelling. A text column distinguishes both spellings,
 * but clients treat both as one key. Records that the caller may not see count too.
 * @throws Problem 409 as for any taken key, or 400 if the values are invalid too
 */
export async function assertNewKeys(store: StatementContext, plan: CreatePlan | BulkCreatePlan): Promise<void> {
  const { dialect, model, resource } = store
  const { keys } = resource
  // A foreign key to a parent of this request already has the spelling of the parent's key.
  const { parentKeys = [] } = plan.kind === 'bulkCreate' ? plan : {}
  const spelled = keys.filter((field) => !parentKeys.includes(field.name) && hasTwoUuidSpellings(dialect, model, field))
  if (spelled.length === 0) return
  const given = clientKeysOf(keys, plan)
  if (given.length === 0) return
  const max = maxRowsOf(keys, given.length)
  const rows = await readUnscoped(store, matchKeys(keys, given), keyColumns(keys), max, false)
  const names = new Set(given.map(String))
  // The INSERT finds a key in its own spelling, after validators and hooks of the host.
  if (rows.every((row) => names.has(String(storedKeyOfRow(keys, row))))) return
  refuse('validation', await withWriteTimeout(store, () => collectPlanErrors(store, plan)))
  throw duplicateKeyError(resource, spelled)
}

/** Returns the keys that clients or behaviours have chosen. The database generates other keys. */
function clientKeysOf(keys: readonly Field[], plan: CreatePlan | BulkCreatePlan): readonly unknown[] {
  const records = plan.kind === 'create' ? [plan.changes] : plan.records
  return records.flatMap((changes) => {
    const parts = keys.map(({ name }) => changes.get(name) ?? plan.serverValues.get(name))
    const key = parts.every(isKeyPart) ? joinKeyParts(parts) : undefined
    return key === undefined ? [] : [key]
  })
}

function duplicateKeyError({ model, translate }: Resource, fields: readonly Field[]): Error {
  return problem('conflict', {
    detail: 'A record with these values exists already.',
    errors: Object.fromEntries(
      fields.map((field) => [field.json, [uniqueMessageOf(model, field) ?? translate(createMessage('unique'))]]),
    ),
  })
}
