import type { FindOptions, Model, ModelStatic } from 'sequelize'
import { limitedTo } from '../../sequelize/connections.js'
import { statementLogging } from '../../sequelize/logging.js'
import { scopeOptionsOf, withoutAfterFind } from '../../sequelize/model.js'
import { readsFrom } from '../../sequelize/primary.js'
import type { RawRow } from '../../sequelize/run.js'
import { scoped } from '../../sequelize/sql.js'
import { aggregateParts } from '../aggregate.js'
import type { Groups, GroupWindow } from '../executor.js'
import type { Store } from '../store.js'
import { timedBySequelize } from '../timed.js'
import { finderWriter } from './find.js'

/**
 * Reads groups with `findAll`, so that find hooks run. Their number requires reading all groups. Options of the default
 * scope other than conditions are rejected.
 */
export async function findGroups(store: Store, groups: Groups, window: GroupWindow): Promise<readonly RawRow[]> {
  const { where, ...rest } = groupOptions(store, groups, window)
  assertGroupable(store.model)
  const options: FindOptions = {
    ...rest,
    ...(where === undefined ? {} : { where: scoped(store.model, where) }),
    ...(groups.includeDeleted ? { paranoid: false } : {}),
    raw: true,
    ...readsFrom(),
    ...limitedTo(store.limit),
    ...statementLogging(store.sequelize),
  }
  const find = (given: FindOptions) =>
    timedBySequelize(store, undefined, async () => store.model.findAll(await withoutAfterFind(store.model, given)))
  if (window.total) {
    const { limit, offset, ...all } = options
    return [{ _total: (await find(all)).length }]
  }
  return (await find(options)) as unknown as readonly RawRow[]
}

/** Options for `findAll` that return groups as plain rows. `named` replaces the column aliases. */
export function groupOptions(
  store: Store,
  groups: Groups,
  { limit, offset, total }: GroupWindow,
  named?: (index: number) => string,
): FindOptions {
  const { dialect, model } = store
  const root = { model, alias: model.name, joins: true }
  const { attributes, ...parts } = aggregateParts(finderWriter(store), dialect, { ...groups, total }, root, named)
  return { ...parts, attributes: attributes.map(([sql, alias]) => [sql, alias]), limit, offset }
}

function assertGroupable(model: ModelStatic<Model>): void {
  const more = scopeOptionsOf(model).filter((option) => !['where', 'attributes', 'order'].includes(option))
  if (more.length === 0) return
  throw new TypeError(`${model.name}: aggregates do not support these options of the default scope: ${more.join(', ')}`)
}
