import type { FindOptions, IncludeOptions } from 'sequelize'
import type { Column } from '../../types/plan.js'
import type { Dialect, Grouping } from '../sequelize/dialect/index.js'
import type { WhereFragment } from '../sequelize/internals.js'
import { literal, type Selected } from '../sequelize/sql.js'
import { every } from '../sequelize/tree.js'
import { groupOf, readOf } from './derived.js'
import type { RequestOf } from './statement/request.js'
import { aliasOf } from './statement/row.js'
import type { Scope, WhereWriter } from './where.js'

type Aggregate = Omit<RequestOf<'aggregate'>, 'kind' | 'window' | 'deleted'>

/** Sequelize options for a SELECT of groups. */
interface AggregateParts extends Pick<FindOptions, 'having' | 'group' | 'subQuery'> {
  readonly attributes: Selected
  readonly where?: WhereFragment
  readonly include?: IncludeOptions[]
  readonly order?: ReturnType<typeof literal>
}

/**
 * Builds the options for a SELECT of groups, without LIMIT and OFFSET. With `total`, the groups' values are not
 * selected. `named` replaces the default column aliases.
 */
export function aggregateParts(
  writer: WhereWriter,
  dialect: Dialect,
  { where, columns, groups, having, order, total }: Aggregate,
  root: Scope,
  named: (index: number) => string = aliasOf,
): AggregateParts {
  const groupOfColumn = ({ field, hops }: Column): Grouping | undefined =>
    grouped[columns.slice(0, groups).findIndex((each) => field === each.field && isSame(hops, each.hops))]
  const read = (column: Column, index: number): Selected[number] => {
    return [literal(grouped[index]?.read ?? readOf(place, column)), named(index)]
  }
  const term = ({ column, direction }: Aggregate['order'][number]): readonly string[] => {
    const enumeration = column.field.valueType.type === 'enum'
    // The same SQL text as in GROUP BY. PostgreSQL then treats both expressions as one.
    return (groupOfColumn(column)?.order ?? [writer.column(column, root)]).map((sql) =>
      dialect.order(sql, direction, { nullable: column.nullable, enumeration }),
    )
  }
  const condition = where === null ? {} : { where: every([writer.where(where, root)]) }
  const place = { dialect, model: root.model, sql: (column: Column): string => writer.column(column, root) }
  const grouped = columns.slice(0, groups).map((column) => groupOf(place, column))
  // Without GROUP BY there must be one row, even if no value is selected.
  const nothing: Selected = [[literal(groups === 0 ? 'COUNT(*)' : '1'), '_']]
  const attributes: Selected = total || columns.length === 0 ? nothing : columns.map(read)
  const terms = total ? [] : order.flatMap(term)
  const filtered = having === null ? {} : { having: every([writer.having(having, root)]) }
  // Built last, because all clauses above may add joins.
  const include = writer.include(root)
  return {
    attributes,
    ...condition,
    ...filtered,
    ...(include.length === 0 ? {} : { include }),
    ...(groups === 0 ? {} : { group: grouped.map(({ by }) => literal(by)) as never }),
    ...(terms.length === 0 ? {} : { order: literal(terms.join(', ')) }),
    subQuery: false,
  }
}

function isSame(one: Aggregate['columns'][number]['hops'], other: Aggregate['columns'][number]['hops']): boolean {
  return one.length === other.length && one.every(({ relation }, index) => relation === other[index]?.relation)
}
