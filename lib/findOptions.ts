import type { FindOptions } from 'sequelize'
import type { ListPlan, Member, Predicate } from '../types/plan.js'
import { invalidQuery } from './common/problem.js'
import {
  buildGroupOptions,
  buildHostOptions,
  buildKeysetPredicate,
  type StatementContext,
  traversalOrderOf,
} from './perform/index.js'
import { createSelectList } from './sequelize/sql.js'

/** Builds options for `Model.findAll` from a plan. The options contain only data that the caller may read. */
export function buildFindOptions(
  store: StatementContext,
  planned: ListPlan,
  where: Predicate | null,
  hidden: ReadonlySet<string>,
): FindOptions {
  if (planned.kind === 'count') {
    const { limit, offset, ...rest } = buildHostOptions(
      store,
      { where, columns: [], order: [], limit: 0, offset: 0 },
      hidden,
    )
    // Selects a constant: without `attributes`, `findAll` would load every attribute.
    return { ...rest, attributes: createSelectList('1') }
  }
  if (planned.kind === 'aggregate') {
    const { page, pageSize, projection } = planned
    const names = memberNames(projection.members)
    const window = { limit: pageSize, offset: (page - 1) * pageSize, total: false }
    const nameOf = (index: number): string => names.get(index) ?? ''
    const options = buildGroupOptions(store, { ...planned, where, columns: projection.columns }, window, nameOf)
    return { ...options, raw: true, nest: true }
  }
  const { pageSize, projection } = planned
  if (projection.embeds !== undefined) {
    throw invalidQuery(
      'select',
      'cannot contain a collection here, because the options of findAll cannot express it. Select fields of the record and of to-one relations.',
    )
  }
  const offset = planned.kind === 'page' ? (planned.page - 1) * pageSize : 0
  const columns = projection.columns.filter((_, index) => projection.readableColumns?.has(index))
  if (planned.kind !== 'seek' && planned.kind !== 'export') {
    return buildHostOptions(store, { where, columns, order: planned.order, limit: pageSize, offset }, hidden)
  }
  const walk = { ...planned, where }
  return buildHostOptions(
    store,
    { where: buildKeysetPredicate(walk), columns, order: traversalOrderOf(walk), limit: pageSize, offset },
    hidden,
  )
}

/**
 * Returns the paths of members by the index of their column. Sequelize's `nest` splits a path such as `group.team.name`
 * again.
 */
function memberNames(members: readonly Member[], before = ''): ReadonlyMap<number, string> {
  return new Map(
    members.flatMap((member): (readonly [number, string])[] => {
      const name = before + member.json
      if (member.kind === 'object') return [...memberNames(member.members, `${name}.`)]
      return member.kind === 'value' ? [[member.index, name]] : []
    }),
  )
}
