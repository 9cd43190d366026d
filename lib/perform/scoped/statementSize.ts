import type { Column, Join, OrderKey, Plan, Predicate } from '../../../types/plan.js'
import type { Embed, Projection } from '../../../types/projection.js'
import { type Visitors, visit } from '../../common/visitor.js'

/** Approximate size of the statements, in parts: scope conditions of the host, and values that the client has sent. */
interface StatementSize {
  host: number
  client: number
}

/** A plan, or the condition of one of its reads. */
export type SizedPlan = Plan | { readonly where: Predicate }

/** Whether scope conditions make up most of a plan's statements. */
export function isMostlyScope(plan: SizedPlan): boolean {
  const size: StatementSize = { host: 0, client: 0 }
  for (const part of partPlansOf(plan)) addPlan(part, size)
  return size.host > size.client
}

/** Returns the plans that a plan consists of. */
function partPlansOf(plan: SizedPlan): readonly SizedPlan[] {
  if (!('kind' in plan)) return [plan]
  switch (plan.kind) {
    case 'bulkUpdate':
      return [plan.combined, ...plan.items]
    case 'replace':
      return plan.create === null ? [plan.update] : [plan.update, plan.create]
    case 'upsert':
      return [plan.anyUpdate, ...plan.items.flatMap(({ update, create }) => [update, create])]
    default:
      return [plan]
  }
}

function addPlan(plan: SizedPlan, size: StatementSize): void {
  if ('scope' in plan && plan.scope !== undefined) addConditionSize({ kind: 'apart', condition: plan.scope }, size)
  if ('where' in plan && plan.where !== null) addConditionSize(plan.where, size)
  if ('projection' in plan) addProjection(plan.projection, 'order' in plan ? plan.order : [], size)
  if ('changes' in plan) size.client += plan.changes.size
  if ('records' in plan) for (const record of plan.records) size.client += record.size
}

function addProjection({ columns, embeds = [] }: Projection, order: readonly OrderKey[], size: StatementSize): void {
  // One join serves all columns whose paths have the same condition.
  const conditions = new Set<Predicate>()
  for (const { joins, countedJoin } of [...columns, ...order.map(({ column }) => column)]) {
    size.client += 1 + joins.length
    for (const { condition, joinRowCondition } of countedJoin === undefined ? joins : [...joins, countedJoin])
      for (const limit of [condition, joinRowCondition]) if (limit !== null) conditions.add(limit)
  }
  for (const condition of conditions) addConditionSize(condition, size)
  for (const embed of embeds) addEmbed(embed, size)
}

function addEmbed({ join, where, order, projection }: Embed, size: StatementSize): void {
  addJoins([join], size, false)
  if (where !== null) addConditionSize(where, size)
  addProjection(projection, order, size)
}

function addConditionSize(condition: Predicate, size: StatementSize, isHosts = false): void {
  visit(SIZE_ADDERS, condition, size, isHosts)
}

type SizeAdder<N> = (node: N, size: StatementSize, isHosts: boolean) => void

function addCount(count: number, size: StatementSize, isHosts: boolean): void {
  if (isHosts) size.host += count
  else size.client += count
}

function addJoins(joins: readonly Join[], size: StatementSize, isHosts: boolean): void {
  for (const { condition, joinRowCondition } of joins) {
    addCount(1, size, isHosts)
    for (const limit of [condition, joinRowCondition]) if (limit !== null) addConditionSize(limit, size, isHosts)
  }
}

const addColumn: SizeAdder<{ readonly column: Column }> = ({ column: { joins, countedJoin } }, size, isHosts) => {
  addCount(1, size, isHosts)
  addJoins(countedJoin === undefined ? joins : [...joins, countedJoin], size, isHosts)
}

const addNodes: SizeAdder<{ readonly nodes: readonly Predicate[] }> = ({ nodes }, size, isHosts) => {
  for (const node of nodes) addConditionSize(node, size, isHosts)
}

const addElements: SizeAdder<{
  readonly joins: readonly Join[]
  readonly join: Join
  readonly condition: Predicate | null
}> = ({ joins, join, condition }, size, isHosts) => {
  addJoins([...joins, join], size, isHosts)
  if (condition !== null) addConditionSize(condition, size, isHosts)
}

const addItems: SizeAdder<{ readonly joins: readonly Join[] }> = ({ joins }, size, isHosts) => {
  addCount(1, size, isHosts)
  addJoins(joins, size, isHosts)
}

const addValues: SizeAdder<{ readonly values: readonly unknown[] }> = ({ values }, size, isHosts) =>
  addCount(values.length, size, isHosts)

const SIZE_ADDERS: Visitors<Predicate, [size: StatementSize, isHosts: boolean], void> = {
  and: addNodes,
  or: addNodes,
  compare: (node, size, isHosts) => {
    addColumn(node, size, isHosts)
    addValues(node, size, isHosts)
  },
  null: addColumn,
  absent: addItems,
  quantified: addElements,
  count: addElements,
  items: addItems,
  itemCount: addItems,
  linked: addValues,
  tuples: addValues,
  fullText: addValues,
  keyset: addValues,
  apart: ({ condition }, size) => addConditionSize(condition, size, true),
  never: () => undefined,
  always: () => undefined,
}
