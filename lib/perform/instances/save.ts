import type { Model } from 'sequelize'
import type { TableTraits } from '../../../types/table.js'
import { counted } from '../../sequelize/instances.js'
import type { Store } from '../store.js'
import { notWritten } from '../table.js'

/** Does something that writes an instance. @throws Problem 409 where the table skips the row */
export function checked<T>(table: TableTraits, instance: Model, write: () => Promise<T>): Promise<T> {
  if (!table.writesLess) return write()
  const { countsInserted: inserted, countsFound: found } = table
  return counted(instance, { inserted, found, skipped: notWritten }, write)
}

/** Saves a new instance, which has its key then, unless only the database knows it. @throws Problem likewise */
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
  // Sequelize writes DEFAULT for a null.
  if (table.storesZero) forget()
  await checked(table, instance, save)
  // Where the trigger of a view writes, the driver's insert id is that of another record.
  if (!table.countsInserted) forget()
}
