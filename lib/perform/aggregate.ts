import type { FindOptions, IncludeOptions } from 'sequelize'
import type { Column } from '../../types/plan.js'
import type { Dialect, Grouping } from '../sequelize/dialect/index.js'
import type { WhereFragment } from '../sequelize/internals.js'
import { literal, type SelectedExpressions } from '../sequelize/sql.js'
import { joinAnd } from '../sequelize/whereTree.js'
import { writeColumnGrouping, writeColumnRead } from './derivedColumns.js'
import type { StatementRequestOf } from './sql/request.js'
import { columnAlias } from './sql/row.js'
import type { TableContext } from './tableContext.js'
import type { WhereWriter } from './where.js'

type AggregateSelect = Omit<StatementRequestOf<'aggregate'>, 'kind' | 'window' | 'includeDeleted'>

/** Sequelize options for a SELECT of groups. */
interface AggregateFragments extends Pick<FindOptions, 'having' | 'group' | 'subQuery'> {
  readonly attributes: SelectedExpressions
  readonly where?: WhereFragment
  readonly include?: IncludeOptions[]
  readonly order?: ReturnType<typeof literal>
}

/**
 * Builds the options for a SELECT of groups, without LIMIT and OFFSET. If `total` is true, no values are selected,
 * because the groups are only counted. `named` replaces the default column aliases.
 */
export function buildAggregate(
  writer: WhereWriter,
  dialect: Dialect,
  { where, columns, groups, having, order, total }: AggregateSelect,
  root: TableContext,
  named: (index: number) => string = columnAlias,
): AggregateFragments {
  const findGrouping = ({ field, joins }: Column): Grouping | undefined =>
    grouped[columns.slice(0, groups).findIndex((each) => field === each.field && isSameJoinPath(joins, each.joins))]
  const selectColumn = (column: Column, index: number): SelectedExpressions[number] => {
    return [literal(grouped[index]?.read ?? writeColumnRead(place, column)), named(index)]
  }
  const orderTerms = ({ column, direction }: AggregateSelect['order'][number]): readonly string[] => {
    const enumeration = column.field.valueType.type === 'enum'
    // ORDER BY repeats the SQL text of GROUP BY, because PostgreSQL treats only equal texts as one expression.
    return (findGrouping(column)?.order ?? [writer.writeColumn(column, root)]).map((sql) =>
      dialect.orderTerm(sql, direction, { nullable: column.nullable, enumeration }),
    )
  }
  const condition = where === null ? {} : { where: joinAnd([writer.writeWhere(where, root)]) }
  const place = { dialect, model: root.model, sql: (column: Column): string => writer.writeColumn(column, root) }
  const grouped = columns.slice(0, groups).map((column) => writeColumnGrouping(place, column))
  // An aggregate without GROUP BY returns exactly one row. `COUNT(*)` makes the SELECT an aggregate even if no value is
  // selected.
  const nothing: SelectedExpressions = [[literal(groups === 0 ? 'COUNT(*)' : '1'), '_']]
  const attributes: SelectedExpressions = total || columns.length === 0 ? nothing : columns.map(selectColumn)
  const terms = total ? [] : order.flatMap(orderTerms)
  const filtered = having === null ? {} : { having: joinAnd([writer.writeHaving(having, root)]) }
  // Built last, because all clauses above may add joins.
  const include = writer.buildInclude(root)
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

function isSameJoinPath(
  one: AggregateSelect['columns'][number]['joins'],
  other: AggregateSelect['columns'][number]['joins'],
): boolean {
  return one.length === other.length && one.every(({ relation }, index) => relation === other[index]?.relation)
}
