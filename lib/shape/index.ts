import type { Outcome, Row, WrittenRecord } from '../../types/outcome.js'
import type { Plan, Projection } from '../../types/plan.js'
import type { Content, JsonRecord, Reply } from '../../types/reply.js'
import type { Resource } from '../../types/resource.js'
import { addAppliedPreference } from '../common/appliedPreference.js'
import { keyOfRow, lastKeyOfRow } from '../common/keys.js'
import type { Operation } from '../operations.js'
import { createExportContent } from './export.js'
import { cursorLink, pageLinks, seekLinks } from './links.js'
import { toJsonRecord } from './record.js'
import { createCursors } from './seek.js'

/** URLs for a reply's links and `Location`. */
export interface Address {
  /**
   * Path and query of the request, including the mount point. null for a QUERY, because a link cannot contain the
   * parameters of its body.
   */
  readonly url: string | null
  /** Path of the collection, without a trailing slash. */
  readonly collection: string
}

/** Creates the reply to an executed plan: status, headers and content. */
export function createReply(
  resource: Resource,
  { status }: Pick<Operation, 'status'>,
  plan: Plan,
  outcome: Outcome,
  address: Address,
): Reply {
  switch (outcome.kind) {
    case 'record':
      return createRecordReply(resource, status, plan, outcome.row, address)
    case 'records':
      return {
        status,
        headers: {},
        content: { kind: 'records', value: outcome.rows.map((row) => createdRecordOf(projectionOfPlan(plan), row)) },
      }
    case 'parts':
      if (plan.kind === 'upsert') return { status, headers: {}, content: countContentOf(outcome.parts) }
      return plan.kind === 'replace'
        ? createReplaceReply(resource, status, outcome.parts, address)
        : { status, headers: {}, content: { kind: 'records', value: outcome.parts.map(partRecordOf) } }
    case 'action':
      return createActionReply(resource, status, plan, outcome)
    case 'deleted':
      return {
        status,
        headers: {},
        content: status === 204 ? NOTHING : { kind: 'deleted', value: { deleted: outcome.count } },
      }
    case 'count':
      return {
        status: 200,
        headers: { 'X-Total-Count': String(outcome.count), ...preferenceOf(plan) },
        content: { kind: 'count', value: { count: outcome.count } },
      }
    case 'page':
      return createPageReply(plan, outcome, address)
    case 'keyset':
      return createKeysetReply(resource, plan, outcome, address)
    case 'seek':
      return createSeekReply(plan, outcome, address)
    case 'export':
      return createExportReply(resource, plan, outcome)
  }
}

function createRecordReply(resource: Resource, status: number, plan: Plan, row: Row, address: Address): Reply {
  const projection = projectionOfPlan(plan)
  const recordHeaders = resource.behaviours.recordHeaders?.(plan, row) ?? NO_HEADERS
  const preference = preferenceOf(plan)
  const headers = preference === NO_HEADERS ? recordHeaders : { ...preference, ...recordHeaders }
  if (status !== 201) return { status, headers, content: { kind: 'record', value: toJsonRecord(projection, row) } }
  const content: Content = { kind: 'record', value: createdRecordOf(projection, row) }
  return { status, headers: { ...headers, ...locationOf(resource, projection, row, address) }, content }
}

function createActionReply(
  resource: Resource,
  status: number,
  plan: Plan,
  { returned, value }: Extract<Outcome, { kind: 'action' }>,
): Reply {
  if (plan.kind !== 'action') throw internalError(`the result of an action belongs to a plan of kind "${plan.kind}"`)
  const { output } = plan.action
  if (output === 'none') return { status, headers: {}, content: NOTHING }
  if (output === 'value') return { status, headers: {}, content: { kind: 'document', value: value ?? null } }
  if (returned === null) throw internalError(`the records that the action "${plan.action.name}" returned were not read`)
  const { plan: show, rows } = returned
  const [row] = rows
  if (output === 'record' && row !== undefined) return createRecordReply(resource, status, show, row, NO_ADDRESS)
  const items = toJsonRecords(show.projection, rows)
  return { status, headers: preferenceOf(show), content: { kind: 'items', value: { items } } }
}

/** Address of a reply without links. */
const NO_ADDRESS: Address = { url: null, collection: '' }

function countContentOf(parts: readonly WrittenRecord[]): Content {
  const created = parts.filter(({ plan }) => plan.kind === 'create').length
  return { kind: 'upserted', value: { created, updated: parts.length - created } }
}

/** Creates the reply to a PUT, with the updated or created record. */
function createReplaceReply(
  resource: Resource,
  status: number,
  [part]: readonly WrittenRecord[],
  address: Address,
): Reply {
  if (part === undefined) throw internalError('a PUT request ended without a written record')
  const { plan, outcome } = part
  const isNew = plan.kind === 'create'
  const reply = createRecordReply(resource, isNew ? 201 : status, plan, outcome.row, address)
  return isNew ? { ...reply, headers: { ...reply.headers, Location: address.collection } } : reply
}

/** Removes the records from a reply (RFC 7240 section 4.2). Headers about the records remain. */
export function omitRecords({ status, headers }: Reply): Reply {
  return {
    status: status === 200 ? 204 : status,
    headers: { ...headers, 'Preference-Applied': 'return=minimal' },
    content: NOTHING,
  }
}

const NOTHING: Content = Object.freeze({ kind: 'nothing' })

/** Creates the JSON of a new record. Omits a key that the database does not report. */
function createdRecordOf(projection: Projection, row: Row): JsonRecord {
  const value = toJsonRecord(projection, row)
  for (const member of projection.members) {
    if (member.kind === 'value' && member.field.isKey && value[member.json] === null) delete value[member.json]
  }
  return value
}

function toJsonRecords(projection: Projection, rows: readonly Row[]): JsonRecord[] {
  return rows.map((row) => toJsonRecord(projection, row))
}

function partRecordOf({ plan, outcome }: WrittenRecord): JsonRecord {
  return toJsonRecord(plan.projection, outcome.row)
}

function projectionOfPlan(plan: Plan): Projection {
  if ('projection' in plan) return plan.projection
  throw internalError(`a plan of kind "${plan.kind}" has no fields for the response`)
}

const NO_HEADERS: Reply['headers'] = Object.freeze({})

/** Returns the applied preference, and `Vary` for caches (RFC 7240 sections 2 and 3). */
function preferenceOf(plan: Plan): Reply['headers'] {
  if (!('preference' in plan)) return NO_HEADERS
  const { applied, varies } = plan.preference
  if (applied === null && !varies) return NO_HEADERS
  return {
    ...(varies ? { Vary: 'Prefer' } : {}),
    ...(applied === null ? {} : { 'Preference-Applied': `handling=${applied}` }),
  }
}

/** Returns the headers of a page. The headers are assigned one by one, because spreading copies is slow. */
function listHeaders(plan: Plan, link: string | null, totalCount: number | null = null): Reply['headers'] {
  const headers: Record<string, string> = {}
  if (totalCount !== null) headers['X-Total-Count'] = String(totalCount)
  if (link !== null) headers.Link = link
  return Object.assign(headers, preferenceOf(plan))
}

/** Returns the `Location` of a new record as a path (RFC 9110 section 10.2.2). */
function locationOf(
  { keys, behaviours }: Resource,
  { columns }: Projection,
  row: readonly unknown[],
  { collection }: Address,
): Reply['headers'] {
  if (behaviours.ownKey !== null) return { Location: collection }
  const value = keyOfRow(keys, columns, row)
  return value === undefined ? {} : { Location: `${collection}/${encodeURIComponent(String(value))}` }
}

function createPageReply(
  plan: Plan,
  { rows, totalCount, hasMore }: Extract<Outcome, { kind: 'page' }>,
  { url }: Address,
): Reply {
  if (plan.kind !== 'page' && plan.kind !== 'aggregate')
    throw internalError(`a numbered page belongs to a plan of kind "${plan.kind}"`)
  const { page: number, pageSize, projection } = plan
  const totalPages = totalCount === null ? null : Math.ceil(totalCount / pageSize)
  const link = url === null ? null : pageLinks(url, { page: number, totalPages, more: hasMore })
  return {
    status: 200,
    headers: listHeaders(plan, link, totalCount),
    content: {
      kind: 'page',
      value: {
        items: toJsonRecords(projection, rows),
        totalCount,
        page: number,
        pageSize,
        totalPages,
        hasNextPage: hasMore,
        hasPreviousPage: number > 1,
      },
    },
  }
}

function createKeysetReply(
  resource: Resource,
  plan: Plan,
  { rows, hasMore }: Extract<Outcome, { kind: 'keyset' }>,
  { url }: Address,
): Reply {
  if (plan.kind !== 'keyset')
    throw internalError(`a page in the order of the key belongs to a plan of kind "${plan.kind}"`)
  const { cursor, keys } = resource
  const { pageSize, projection } = plan
  const last = rows.at(-1)
  const nextCursor =
    hasMore && last !== undefined ? cursor.encode(String(lastKeyOfRow(keys, projection.columns, last))) : null
  const link = nextCursor === null || url === null ? null : cursorLink(url, nextCursor)
  return {
    status: 200,
    headers: listHeaders(plan, link),
    content: { kind: 'cursorPage', value: { items: toJsonRecords(projection, rows), nextCursor, pageSize } },
  }
}

function createSeekReply(plan: Plan, outcome: Extract<Outcome, { kind: 'seek' }>, { url }: Address): Reply {
  if (plan.kind !== 'seek')
    throw internalError(`a page of "after" or "before" belongs to a plan of kind "${plan.kind}"`)
  const { pageSize, projection } = plan
  const { rows, hasMore, totalCount } = outcome
  const cursors = createCursors(plan, rows, hasMore)
  const link = url === null ? null : seekLinks(url, cursors)
  const total = totalCount === undefined ? {} : { totalCount }
  return {
    status: 200,
    headers: listHeaders(plan, link),
    content: { kind: 'keysetPage', value: { items: toJsonRecords(projection, rows), ...total, pageSize, ...cursors } },
  }
}

function createExportReply(resource: Resource, plan: Plan, { batches }: Extract<Outcome, { kind: 'export' }>): Reply {
  if (plan.kind !== 'export') throw internalError(`an export belongs to a plan of kind "${plan.kind}"`)
  return {
    status: 200,
    headers: plan.isCounted ? addAppliedPreference(preferenceOf(plan), 'trailer-row') : preferenceOf(plan),
    content: { kind: 'export', value: createExportContent(resource, plan, batches) },
  }
}

export { CollectionBuilder } from './record.js'

import { internalError } from '../common/internalError.js'

export { clearPerCallerValues, resolveComputed } from './computed.js'
export { addNestedRecords } from './nestedRecords.js'
export { hasComputedInReply, resolveBatches, rowsInReply } from './replyRows.js'
