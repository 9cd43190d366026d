import type { FindOptions } from 'sequelize'
import type { CountPlan, KeysetPlan, PagePlan, Predicate } from '../types/plan.js'
import { hostOptions, type Store } from './perform/index.js'
import { selected } from './sequelize/sql.js'

/** The options for `Model.findAll` that do what a plan says, with nothing in them that its caller may not read. */
export function findOptionsOf(
  store: Store,
  planned: PagePlan | CountPlan | KeysetPlan,
  where: Predicate | null,
  hidden: ReadonlySet<string>,
): FindOptions {
  if (planned.kind === 'count') {
    const { limit, offset, ...rest } = hostOptions(
      store,
      { where, columns: [], order: [], limit: 0, offset: 0 },
      hidden,
    )
    // Of no attribute, since `count` takes none; left out, `findAll` would load every attribute there is.
    return { ...rest, attributes: selected('1') }
  }
  const { order, pageSize, projection } = planned
  const offset = planned.kind === 'page' ? (planned.page - 1) * pageSize : 0
  const columns = projection.columns.filter((_, index) => projection.shown?.has(index))
  return hostOptions(store, { where, columns, order, limit: pageSize, offset }, hidden)
}
