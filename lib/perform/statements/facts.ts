import type { Model, ModelStatic, Transaction } from 'sequelize'
import type { TableFacts } from '../../../types/itemsTable.js'
import { isOfSequelize } from '../../sequelize/failure.js'
import { Statement } from '../statement/statement.js'
import type { Store } from '../store.js'
import { executionOf, rowsOf } from './execute.js'

const facts = new WeakMap<ModelStatic<Model>, Promise<TableFacts | null>>()

/** What is known of the model's table, as it was when somebody asked first: the statement that relies on it has to ask whether it holds. */
export function knownFacts(store: Store, transaction: Transaction): Promise<TableFacts | null> {
  const known = facts.get(store.model)
  if (known !== undefined) return known
  // What cannot be asked is not known, and is asked again.
  const asked = currentFacts(store, transaction).catch((error: unknown) => {
    forgetFacts(store)
    if (isOfSequelize(error)) return null
    throw error
  })
  facts.set(store.model, asked)
  return asked
}

/** Has it asked for again: it does not hold any more. */
export function forgetFacts({ model }: Store): void {
  facts.delete(model)
}

/** The same as it is now; null where one statement may not do what several would. */
export async function currentFacts(store: Store, transaction: Transaction): Promise<TableFacts | null> {
  const { dialect, model } = store
  const { items } = dialect
  if (items === null) return null
  const statement = new Statement(dialect, items.joint.facts(model))
  return items.joint.read(await rowsOf(store, executionOf({ statement, values: [] }, transaction, true)))
}
