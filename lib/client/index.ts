/** Client for browsers and Node. The client uses `fetch`, and loads `socket.io-client` only when `live` is called. */

export type { Group, GroupPage, KeysetPage, LinkResult, Page, ProblemBody, UpsertResult } from '../../types/reply.js'
export {
  type ComparisonOptions,
  escapeFilterValue,
  type FilterBuilder,
  type FilterOperand,
  filter,
} from '../language/filter.js'
export { etagOf, withTag } from './entityTags.js'
export { ProblemError } from './problemError.js'
export { resource } from './resource.js'
export type { Shapes, ShapesFor } from './shapes.js'
export type {
  AggregateParameters,
  CallOptions,
  Client,
  ClientOptions,
  InfiniteQuery,
  Key,
  ListParameters,
  Live,
  LiveHandlers,
  LiveState,
  OptionsFor,
  Query,
  Related,
  Stop,
} from './types.js'
