import type { Model } from 'sequelize'
import type { TableTraits } from '../../../types/table.js'
import { counted } from '../../sequelize/instances.js'
import type { Store } from '../store.js'
import { notWritten } from '../table.js'

/** Runs a write of an instance. @throws Problem 409 if the table skips the row */
export function checked<T>(table: TableTraits, instance: Model, write: () => Promise<T>): Promise<T> {
  if (!table.writesLess) return write()
  const { countsInserted: inserted, countsFound: found } = table
  return counted(instance, { inserted, found, skipped: notWritten }, write)
}

/**
 * Saves a new instance. Its key is then set, unless only the database knows it. @throws Problem 409 if the table skips
 * the row
 */
export async function saveInserted(
  { resource: { keys } }: Store,
  table: TableTraits,
  instance: Model,
  save: () => Promise<unknown>,
): Promise<void> {
  const made = keys.filter(({ name, assigned }) => assigned && (instance.getDataValue(name as never) ?? null) === null)
  const forget = (): void => {
    for (const { name } of made) instance.setDataValue(name as never, undefined as never)
  }
  // Sequelize writes DEFAULT for undefined, but would store a null.
  if (table.storesZero) forget()
  await checked(table, instance, save)
  // If a view's trigger writes the row, the driver's insert id belongs to another record.
  if (!table.countsInserted) forget()
}
