import type { Model } from 'sequelize'
import type { TableTraits } from '../../../types/table.js'
import { renameReturnedColumns, runCounted } from '../../sequelize/instances.js'
import type { StatementContext } from '../store.js'
import { skippedWriteError } from '../tableTraits.js'

/**
 * Runs a write of an instance.
 * @throws Problem 409 if a rule or trigger of the table skips the row
 */
export function withSkipCheck<T>(table: TableTraits, instance: Model, write: () => Promise<T>): Promise<T> {
  if (!table.canSkipWrites) return write()
  const { countsInserted: inserted, countsFound: found } = table
  return runCounted(instance, { isInserted: inserted, isFound: found, createSkippedError: skippedWriteError }, write)
}

/**
 * Saves a new instance. Afterwards the instance has its key, unless only the database knows the key.
 * @throws Problem 409 if a rule or trigger of the table skips the row
 */
export async function saveInsertedInstance(
  { model, resource: { keys } }: StatementContext,
  table: TableTraits,
  instance: Model,
  save: () => Promise<unknown>,
): Promise<void> {
  const made = keys.filter(({ name, assigned }) => assigned && (instance.getDataValue(name as never) ?? null) === null)
  const clearKey = (): void => {
    for (const { name } of made) instance.setDataValue(name as never, undefined as never)
  }
  // Sequelize omits an undefined key from the INSERT. For a null it writes DEFAULT, which stores 0 in this table.
  if (table.storesZero) clearKey()
  await withSkipCheck(table, instance, save)
  renameReturnedColumns(model, instance)
  // If a view's trigger writes the row, the driver's insert id belongs to another record.
  if (!table.countsInserted) clearKey()
}
