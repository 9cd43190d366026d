import type { DocumentedOperation, DocumentOptions, JsonSchema } from '../../types/openApi.js'
import type { OperationName } from '../../types/resource.js'
import { entriesOf, type Method, OPERATIONS, type Operation } from '../operations.js'
import { type Asked, asked, partsOf } from './asked.js'
import type { Draft } from './components.js'
import { withHeader } from './headers.js'
import { ENTRIES, type OperationEntry, requestOf } from './operations.js'
import { idempotencyKey, pathParameters } from './parameters.js'
import { isOnce, problemsOf } from './problems.js'
import { securityOf } from './security.js'
import type { Subject } from './subjects.js'

/** An operation of a document, where it stands. */
export interface Route {
  readonly path: string
  readonly method: Method
  readonly operation: DocumentedOperation
  /** The relation that it leads to; absent for a resource's own. */
  readonly relation?: string
}

/** The operations of a resource on its own routes. */
export function ownRoutes(draft: Draft, subject: Subject, options: DocumentOptions): readonly Route[] {
  return entriesOf(OPERATIONS)
    .filter(([name]) => isToldOf(subject, name))
    .toSorted(([, one], [, other]) => placeOf(one) - placeOf(other))
    .map(([name, row]) => {
      const entry = ENTRIES[name]
      const { names } = subject
      const operation = operationOf(draft, options, {
        id: entry.id(names),
        summary: entry.summary(names),
        tag: names.many,
        entry,
        subject,
        above: pathParameters(subject, row.path.startsWith('/:id')),
        body: row,
        asks: [asked(subject, name)],
      })
      return { path: pathOf(subject, row), method: row.method, operation }
    })
}

/** One that shares its route is told of by the other one, where there is that. */
function isToldOf(subject: Subject, name: OperationName): boolean {
  const { operations } = subject.resource
  const { within } = ENTRIES[name]
  return operations.has(name) && !within?.some((other) => operations.has(other))
}

/** The collection comes first, then what is fixed below it, then single records. */
function placeOf({ path }: Operation): number {
  if (path === '/') return 0
  return path.startsWith('/:') ? 2 : 1
}

function pathOf({ path }: Subject, { path: below }: Operation): string {
  const own = below === '/' ? '' : below.replaceAll(/:(\w+)/g, '{$1}')
  return path === '/' ? own || '/' : path + own
}

export interface Telling {
  readonly id: string
  readonly summary: string
  readonly tag: string
  readonly entry: Omit<OperationEntry, 'id' | 'summary'>
  /** Whose records are told of. */
  readonly subject: Subject
  /** The parameters of the path. */
  readonly above: readonly JsonSchema[]
  /** How its body may come. */
  readonly body: Pick<Operation, 'method' | 'lines'>
  /** Who has a say; the last one is what the request stands for. */
  readonly asks: readonly Asked[]
}

/** An operation as documents have it. */
export function operationOf(
  draft: Draft,
  { security }: DocumentOptions,
  { id, summary, tag, entry, subject, above, body, asks }: Telling,
): DocumentedOperation {
  const description = entry.describe?.(subject) ?? null
  const all = [...asks, ...asks.slice(-1).flatMap((meant) => partsOf(draft, meant))]
  const once = asks.slice(-1).filter(isOnce)
  const keys = once.map(({ subject: { resource } }) => idempotencyKey(resource.documented.keyed))
  const parameters = [...above, ...keys, ...(entry.parameters?.(subject) ?? [])]
  const replies = entry.replies(draft, subject)
  return {
    operationId: id,
    summary,
    ...(description === null ? {} : { description }),
    tags: [tag],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestOf(draft, subject, entry, body),
    responses: {
      ...(once.length === 0 ? replies : withHeader(draft, replies, 'Idempotency-Replayed')),
      ...Object.assign({}, ...all.map((each) => problemsOf(draft, each))),
    },
    security: securityOf(draft, all, security),
  }
}
