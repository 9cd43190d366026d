import type { Column, Hop, Plan, Predicate } from '../../../types/plan.js'
import { type Visits, visit } from '../../common/visit.js'

/** Approximate sizes of a statement's parts: scope conditions of the host, and parts that the client has sent. */
interface Size {
  host: number
  client: number
}

/** Whether scope conditions make up most of a plan's statements. */
export function isMostlyScope(plan: Plan): boolean {
  const size: Size = { host: 0, client: 0 }
  for (const part of partsOf(plan)) addPart(part, size)
  return size.host > size.client
}

/** The parts that a plan consists of. */
function partsOf(plan: Plan): readonly Plan[] {
  switch (plan.kind) {
    case 'bulkUpdate':
      return [plan.all, ...plan.items]
    case 'replace':
      return plan.create === null ? [plan.update] : [plan.update, plan.create]
    case 'upsert':
      return [plan.any, ...plan.items.flatMap(({ update, create }) => [update, create])]
    default:
      return [plan]
  }
}

function addPart(plan: Plan, size: Size): void {
  if ('scope' in plan && plan.scope !== undefined) addCondition({ kind: 'apart', condition: plan.scope }, size)
  if ('where' in plan && plan.where !== null) addCondition(plan.where, size)
  if ('projection' in plan) for (const column of plan.projection.columns) size.client += 1 + column.hops.length
  if ('order' in plan) for (const { column } of plan.order) size.client += 1 + column.hops.length
  if ('changes' in plan) size.client += plan.changes.size
  if ('records' in plan) for (const record of plan.records) size.client += record.size
}

function addCondition(condition: Predicate, size: Size, isHosts = false): void {
  visit(ADDED, condition, size, isHosts)
}

type Add<N> = (node: N, size: Size, isHosts: boolean) => void

function add(count: number, size: Size, isHosts: boolean): void {
  if (isHosts) size.host += count
  else size.client += count
}

function addHops(hops: readonly Hop[], size: Size, isHosts: boolean): void {
  for (const { guard, linkGuard } of hops) {
    add(1, size, isHosts)
    for (const limit of [guard, linkGuard]) if (limit !== null) addCondition(limit, size, isHosts)
  }
}

const addColumn: Add<{ readonly column: Column }> = ({ column: { hops, counted } }, size, isHosts) => {
  add(1, size, isHosts)
  addHops(counted === undefined ? hops : [...hops, counted], size, isHosts)
}

const addNodes: Add<{ readonly nodes: readonly Predicate[] }> = ({ nodes }, size, isHosts) => {
  for (const node of nodes) addCondition(node, size, isHosts)
}

const addElements: Add<{ readonly hops: readonly Hop[]; readonly hop: Hop; readonly condition: Predicate | null }> = (
  { hops, hop, condition },
  size,
  isHosts,
) => {
  addHops([...hops, hop], size, isHosts)
  if (condition !== null) addCondition(condition, size, isHosts)
}

const addItems: Add<{ readonly hops: readonly Hop[] }> = ({ hops }, size, isHosts) => {
  add(1, size, isHosts)
  addHops(hops, size, isHosts)
}

const addValues: Add<{ readonly values: readonly unknown[] }> = ({ values }, size, isHosts) =>
  add(values.length, size, isHosts)

const ADDED: Visits<Predicate, [size: Size, isHosts: boolean], void> = {
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
  owned: addValues,
  tuples: addValues,
  match: addValues,
  beyond: addValues,
  apart: ({ condition }, size) => addCondition(condition, size, true),
  never: () => undefined,
  always: () => undefined,
}
