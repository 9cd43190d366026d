import type { FindOptions, Model, ModelStatic } from 'sequelize'
import { limitOptionsOf } from '../../sequelize/connections.js'
import { statementLoggingOf } from '../../sequelize/logging.js'
import { runBeforeFindHooks, scopeOptionsOf } from '../../sequelize/model.js'
import { readOptionOf } from '../../sequelize/primary.js'
import type { RawRow } from '../../sequelize/run.js'
import { addScope } from '../../sequelize/sql.js'
import { buildAggregate } from '../aggregate.js'
import type { GroupSelect, GroupWindow } from '../executor.js'
import { withSequelizeTimeout } from '../statementTimeout.js'
import type { StatementContext } from '../store.js'
import { createFinderWriter, NO_ORDER } from './find.js'

/**
 * Reads groups with `findAll`, so that find hooks run. Counting groups requires reading all groups. Rejects a default
 * scope with other options than `where`, `attributes` and `order`.
 */
export async function findGroups(
  store: StatementContext,
  groups: GroupSelect,
  window: GroupWindow,
): Promise<readonly RawRow[]> {
  const { where, ...rest } = buildGroupOptions(store, groups, window)
  assertGroupable(store.model)
  const options: FindOptions = {
    ...rest,
    ...(where === undefined ? {} : { where: addScope(store.model, where) }),
    ...(groups.includeDeleted ? { paranoid: false } : {}),
    raw: true,
    ...readOptionOf(),
    ...limitOptionsOf(store.limit),
    ...statementLoggingOf(store.sequelize),
  }
  const find = (given: FindOptions) =>
    withSequelizeTimeout(store, undefined, async () =>
      store.model.findAll(await runBeforeFindHooks(store.model, given)),
    )
  if (window.total) {
    const { limit, offset, ...all } = options
    return [{ _total: (await find(all)).length }]
  }
  return (await find(options)) as unknown as readonly RawRow[]
}

/** Builds options for `findAll` that return groups as plain rows. `named` replaces the column aliases. */
export function buildGroupOptions(
  store: StatementContext,
  groups: GroupSelect,
  { limit, offset, total }: GroupWindow,
  named?: (index: number) => string,
): FindOptions {
  const { dialect, model } = store
  const root = { model, alias: model.name, canJoin: true }
  const { attributes, ...parts } = buildAggregate(createFinderWriter(store), dialect, { ...groups, total }, root, named)
  return { ...NO_ORDER, ...parts, attributes: attributes.map(([sql, alias]) => [sql, alias]), limit, offset }
}

function assertGroupable(model: ModelStatic<Model>): void {
  const more = scopeOptionsOf(model).filter((option) => !['where', 'attributes', 'order'].includes(option))
  if (more.length === 0) return
  throw new TypeError(`${model.name}: aggregates do not support these options of the default scope: ${more.join(', ')}`)
}
