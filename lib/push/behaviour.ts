import type { Model } from 'sequelize'
import type { BehaviourDefinition } from '../../types/behaviour.js'
import type { Field } from '../../types/field.js'
import type { Outcome, Row } from '../../types/outcome.js'
import type { KeyValue, Plan, Projection, SinglePlan } from '../../types/plan.js'
import type { Change, Publisher, PushEvent, PushOptions } from '../../types/push.js'
import type { Behaviour, Resource } from '../../types/resource.js'
import { ofOwn, withOwn } from '../common/columns.js'
import { CrudConfigError } from '../common/errors.js'
import { keyIn, planKeyJson } from '../common/keys.js'
import { isObject } from '../common/object.js'
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
     * Push reads for all clients at once, so it then requires a `scope`. Default false.
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
    rowLevelSecurity: option(isFlag, 'a boolean', { guards: true }),
  },
  routesOnly: true,
  prepare: ({ model, route }, { push: given = false, rowLevelSecurity = false, scope }) => {
    if (given === false) return null
    if (rowLevelSecurity && scope === undefined) {
      warnOfRows(model.name)
      return null
    }
    const { io, path = `${route}/hub`, audience }: PushOptions = given === true ? {} : given
    if (io === undefined) {
      const remedy = '{ io }, or createCrud({ io })'
      throw new CrudConfigError('INVALID_OPTION', `${model.name}: push needs a Socket.IO server: set ${remedy}.`)
    }
    const hub = new Hub({ io, path: path.startsWith('/') ? path : `/${path}` })
    hub.assertFree(model.name)
    return {
      // `audience: 'all'` sends every record to every client, which would bypass policies, masks and scope.
      check: ({ restricts }) => {
        if (audience !== 'all' || !restricts) return
        throw new CrudConfigError(
          'INVALID_OPTION',
          `${model.name}: push.audience is "all", but the resource has policies, masks or a scope.`,
        )
      },
      behaviour: () => behaviourOf(hub),
      open: () => {
        const namespace = hub.namespace(model.name)
        return { namespace, serve: (resource) => hub.serve(resource, namespace) }
      },
    }
  },
}

/** A payload is built once for all clients of a view. Row level security is not part of the view. */
function warnOfRows(name: string): void {
  process.emitWarning(
    `${name}: push is off: rowLevelSecurity is true and there is no scope, so clients would receive rows that the database hides ` +
      'from them. Give the resource a scope that is equal to the policies of the table.',
    { code: 'CRUD_PUSH_REFUSED' },
  )
}

function behaviourOf(publisher: Publisher): Behaviour {
  return {
    amend: (resource, plan) => amended(resource, plan, publisher),
    tracked: (plan) => publisher.tracked(plan),
    inTurn: (plan, write) => publisher.inTurn(keysOf(plan), write),
    stand: (resource, plan, outcome, place) => {
      if (outcome !== null)
        publisher.stand(place, () => writtenIn(changesOf(resource, plan, outcome)).map(({ key }) => key))
      else publisher.stand(place, () => keysOf(plan).map((key) => planKeyJson(resource.keys, key)))
    },
    expect: (place) => publisher.expect(place),
    announce: (resource, plan, outcome, { caller: { request }, place, before }) => {
      const changes = changesOf(resource, plan, outcome)
        .map((change): Change => {
          const isDoubtful = publisher.isDoubtful(place, change.key)
          return { ...change, isDoubtful, isRouted: true, request, before: before.of(resource, String(change.key)) }
        })
        // A record that was not written can only have changed rooms. The conditions noted before the write show that.
        .filter((change) => !change.isMove || change.before !== null)
      if (changes.length > 0) publisher.publish(changes)
    },
  }
}

function amended({ keys }: Resource, plan: SinglePlan, publisher: Publisher): SinglePlan {
  switch (plan.kind) {
    case 'create':
    case 'update':
    case 'restore':
    case 'bulkCreate':
      return { ...plan, projection: widened(plan.projection, publisher.watched()) }
    case 'delete': {
      // The key is known. The record is read only for its version and for the values that choose rooms.
      const fields = publisher.reported()
      return fields.length === 0 ? plan : { ...plan, report: ofOwn(fields) }
    }
    case 'bulkDelete':
      return { ...plan, report: ofOwn([...keys, ...publisher.reported()]) }
    default:
      return plan
  }
}

/** Keys of existing records that the plan writes, as far as they are known before the write. */
function keysOf(plan: Plan): readonly KeyValue[] {
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

const wider = new WeakMap<Projection, Projection>()

/** The projection, extended by the fields that it lacks. */
function widened(projection: Projection, fields: readonly Field[]): Projection {
  const known = wider.get(projection) ?? projection
  const result = withOwn(known, fields)
  if (result !== known) wider.set(projection, result)
  return result
}

type Told = Omit<Change, 'request' | 'isDoubtful' | 'before' | 'isRouted'>

function writtenIn(changes: readonly Told[]): readonly Told[] {
  return changes.filter(({ isMove }) => !isMove)
}

function changesOf(resource: Resource, plan: Plan, outcome: Outcome): Told[] {
  if (outcome.kind === 'parts' || outcome.kind === 'acted')
    return outcome.parts.flatMap((part) => changesOf(resource, part.plan, part.outcome))
  const event = EVENTS.get(plan.kind)
  if (event === undefined) return []
  const { keys } = resource
  if (plan.kind === 'delete') {
    const [row = []] = outcome.kind === 'deleted' ? outcome.rows : []
    return [{ event, key: planKeyJson(keys, plan.key), columns: plan.report?.columns ?? [], row, isMove: false }]
  }
  const columns = 'projection' in plan ? plan.projection.columns : 'report' in plan ? (plan.report?.columns ?? []) : []
  const isMove = outcome.kind === 'record' && plan.kind === 'update' && outcome.isWritten === false
  return rowsOf(outcome).map((row) => ({ event, key: keyIn(keys, columns, row) ?? null, columns, row, isMove }))
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

function rowsOf(outcome: Outcome): readonly Row[] {
  if (outcome.kind === 'record') return [outcome.row]
  return outcome.kind === 'records' || outcome.kind === 'deleted' ? outcome.rows : []
}
