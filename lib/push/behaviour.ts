import type { Model } from 'sequelize'
import type { BehaviourDefinition } from '../../types/behaviour.js'
import type { Field } from '../../types/field.js'
import type { Outcome } from '../../types/outcome.js'
import type { KeyValue, Plan, Projection, SinglePlan } from '../../types/plan.js'
import type { Change, Publisher, PushEvent, PushOptions } from '../../types/push.js'
import type { Behaviour, Resource } from '../../types/resource.js'
import { addOwnColumns, projectOwnFields } from '../common/columns.js'
import { CrudConfigError } from '../common/errors.js'
import { keyOfRow, planKeyJson } from '../common/keys.js'
import { isObject } from '../common/object.js'
import { outcomeRows } from '../common/outcomeRows.js'
import { either, isFlag, isFunction, isPath, oneOf, option, PATH } from '../config/checks.js'
import { Hub } from './hub.js'

declare module '../../types/options.js' {
  interface CrudOptions<M extends Model = Model> {
    /**
     * Sends created, updated and deleted records to the clients of a Socket.IO namespace. `true` uses the server of
     * `createCrud({ io })`. Default false.
     */
    readonly push?: boolean | PushOptions
    /**
     * Set this if the database hides rows by row level security and your code sets the session up for each request.
     * Push reads for all clients at once, so push requires a `scope` if this option is set. Default false.
     */
    readonly rowLevelSecurity?: boolean
  }
}

/**
 * Sends an event for every record that a route writes. The columns for the payload are read together with the columns
 * for the response.
 */
export const push: BehaviourDefinition = {
  options: {
    push: option(either(isFlag, isObject), 'a boolean or an object', {
      members: {
        io: option(
          (io) => typeof io === 'object' && io !== null && 'of' in io && isFunction(io.of),
          'a Socket.IO server',
        ),
        path: option(isPath, PATH),
        audience: option(oneOf('permitted', 'all'), '"permitted" or "all"'),
      },
    }),
    rowLevelSecurity: option(isFlag, 'a boolean', { isRestrictive: true }),
  },
  isRouteOnly: true,
  prepare: ({ model, route }, { push: given = false, rowLevelSecurity = false, scope }) => {
    if (given === false) return null
    if (rowLevelSecurity && scope === undefined) {
      warnAboutRowSecurity(model.name)
      return null
    }
    const { io, path = `${route}/hub`, audience }: PushOptions = given === true ? {} : given
    if (io === undefined) {
      const remedy = 'push: { io }, or createCrud({ io })'
      throw new CrudConfigError(
        'INVALID_OPTION',
        `${model.name}: push needs a Socket.IO server. Pass the server as ${remedy}.`,
      )
    }
    const hub = new Hub({ io, path: path.startsWith('/') ? path : `/${path}` })
    hub.assertFree(model.name)
    return {
      // `audience: 'all'` sends every record to every client, which would bypass policies, masks and scope.
      check: ({ isRestricted }) => {
        if (audience !== 'all' || !isRestricted) return
        throw new CrudConfigError(
          'INVALID_OPTION',
          `${model.name}: push.audience is "all", but the resource has policies, masks or a scope. Set push.audience to "permitted".`,
        )
      },
      behaviour: () => createBehaviour(hub),
      openNamespace: () => {
        const namespace = hub.openNamespace(model.name)
        return { namespace, serve: (resource) => hub.acceptClients(resource, namespace) }
      },
    }
  },
}

/**
 * Warns that push is off. All clients of a subscription receive one payload, which cannot depend on row level security.
 */
function warnAboutRowSecurity(name: string): void {
  process.emitWarning(
    `${name}: push is disabled, because rowLevelSecurity is true and the resource has no scope. Clients would receive rows that the database hides ` +
      'from them. Set a scope that selects the same rows as the policies of the table.',
    { code: 'CRUD_PUSH_REFUSED' },
  )
}

function createBehaviour(publisher: Publisher): Behaviour {
  return {
    amend: (resource, plan) => amendPlan(resource, plan, publisher),
    selectTracking: (plan, hasModelHooks) => publisher.selectTracking(plan, hasModelHooks),
    serializeWrite: (plan, write) => publisher.serializeWrites(contendedKeys(plan), write),
    noteCommitOrder: (resource, plan, outcome, position) => {
      if (outcome !== null)
        publisher.noteCommitOrder(position, () =>
          removeMoves(collectChanges(resource, plan, outcome)).map(({ key }) => key),
        )
      else publisher.noteCommitOrder(position, () => contendedKeys(plan).map((key) => planKeyJson(resource.keys, key)))
    },
    expectWrite: (position) => publisher.expectWrite(position),
    announceWrite: (resource, plan, outcome, { caller: { request }, position, before, parentsSent }) => {
      const changes = collectChanges(resource, plan, outcome)
        .map((change): Change => {
          const isDoubtful = publisher.isOrderUnknown(position, change.key)
          return {
            ...change,
            isUncertain: isDoubtful,
            isFromRoute: true,
            request,
            before: before.get(resource, String(change.key)),
          }
        })
        // If the write did not change the record, the record may still have entered or left rooms. Such moves are known
        // only if conditions were evaluated before the write.
        .filter((change) => !change.isMove || change.before !== null)
      return changes.length === 0 ? null : publisher.publish(changes, parentsSent)
    },
  }
}

function amendPlan({ keys }: Resource, plan: SinglePlan, publisher: Publisher): SinglePlan {
  switch (plan.kind) {
    case 'create':
    case 'update':
    case 'restore':
    case 'bulkCreate':
      return { ...plan, projection: extendProjection(plan.projection, publisher.pushedFields()) }
    case 'delete': {
      // The record is read only for its version and for the values that choose rooms, because the plan has the key.
      const fields = publisher.deletionFields()
      return fields.length === 0 ? plan : { ...plan, report: projectOwnFields(fields) }
    }
    case 'bulkDelete':
      return { ...plan, report: projectOwnFields([...keys, ...publisher.deletionFields()]) }
    default:
      return plan
  }
}

/** Keys of existing records that the plan writes. Some plans do not know their keys before the write. */
function contendedKeys(plan: Plan): readonly KeyValue[] {
  switch (plan.kind) {
    case 'update':
    case 'restore':
    case 'delete':
      return [plan.key]
    case 'bulkDelete':
      return plan.keys
    case 'replace':
      return [plan.update.key]
    case 'bulkUpdate':
      return plan.items.map(({ key }) => key)
    case 'action':
      return plan.record?.kind === 'update' ? [plan.record.key] : []
    default:
      return []
  }
}

const extendedProjections = new WeakMap<Projection, Projection>()

/** Adds missing fields to a projection. */
function extendProjection(projection: Projection, fields: readonly Field[]): Projection {
  const known = extendedProjections.get(projection) ?? projection
  const result = addOwnColumns(known, fields)
  if (result !== known) extendedProjections.set(projection, result)
  return result
}

type OutcomeChange = Omit<Change, 'request' | 'isUncertain' | 'before' | 'isFromRoute'>

function removeMoves(changes: readonly OutcomeChange[]): readonly OutcomeChange[] {
  return changes.filter(({ isMove }) => !isMove)
}

function collectChanges(resource: Resource, plan: Plan, outcome: Outcome): OutcomeChange[] {
  if (outcome.kind === 'parts' || outcome.kind === 'action')
    return outcome.parts.flatMap((part) => collectChanges(resource, part.plan, part.outcome))
  const event = EVENTS.get(plan.kind)
  if (event === undefined) return []
  const { keys } = resource
  if (plan.kind === 'delete') {
    const [row = []] = outcome.kind === 'deleted' ? outcome.rows : []
    return [{ event, key: planKeyJson(keys, plan.key), columns: plan.report?.columns ?? [], row, isMove: false }]
  }
  const columns = 'projection' in plan ? plan.projection.columns : 'report' in plan ? (plan.report?.columns ?? []) : []
  const isMove = outcome.kind === 'record' && plan.kind === 'update' && outcome.isWritten === false
  const rows = outcome.kind === 'deleted' ? outcome.rows : outcomeRows(outcome)
  return rows.map((row) => ({ event, key: keyOfRow(keys, columns, row) ?? null, columns, row, isMove }))
}

/** Event for each kind of plan. Other kinds send no event. */
const EVENTS: ReadonlyMap<Plan['kind'], PushEvent> = new Map([
  ['create', 'OnCreated'],
  ['restore', 'OnCreated'],
  ['bulkCreate', 'OnCreated'],
  ['update', 'OnUpdated'],
  ['delete', 'OnDeleted'],
  ['bulkDelete', 'OnDeleted'],
])
