import { invalidQuery, isRefusal, problem } from '../common/problem.js'
import { assertAnswerSize, countFitting, readReplyValue, type ToolAnswer } from './answers.js'
import type { Arguments } from './arguments.js'
import { callOperation, findResource, type ToolContext } from './callResource.js'

/**
 * Reads a page of records. If the records exceed `maxBytes`, the page has fewer records. The cursor continues after the
 * last record of the page.
 */
export async function queryRecords(context: ToolContext, given: Arguments): Promise<ToolAnswer> {
  let limit = readLimit(context, given)
  for (;;) {
    const page = await queryPage(context, given, limit)
    const { items } = page
    const fits = Array.isArray(items) ? countFitting(page, items, context.maxBytes) : limit
    if (!Array.isArray(items) || fits === items.length) return page
    if (fits === 0) return assertAnswerSize(page, context.maxBytes)
    limit = fits
  }
}

async function queryPage(context: ToolContext, given: Arguments, limit: number): Promise<ToolAnswer> {
  const { filter, sort, select, cursor } = given
  const parameters = { filter, sort, select, pageSize: String(limit) }
  try {
    const page = Object(
      readReplyValue(await callOperation(context, 'getList', given, { after: cursor ?? '', ...parameters })),
    )
    const { items, totalCount, nextCursor } = page
    return { items, ...(totalCount === undefined ? {} : { totalCount }), nextCursor }
  } catch (error) {
    if (!isRefusal(error) || error.errors?.after === undefined) throw error
    if (cursor !== undefined) throw cursorProblem(error.errors.after)
  }
  // Without permission to read a sort field, there is no cursor. Only the first page is possible.
  const { items, totalCount, hasNextPage } = Object(
    readReplyValue(await callOperation(context, 'getList', given, parameters)),
  )
  const total = typeof totalCount === 'number' ? { totalCount } : {}
  return { items, ...total, nextCursor: null, ...(hasNextPage === true ? { more: true } : {}) }
}

function cursorProblem(messages: readonly string[]): Error {
  return problem('invalid-query', {
    errors: { cursor: messages },
    detail: `cursor: ${messages.join(' ')}`,
  })
}

/** Number of records of a page. @throws Problem if `limit` exceeds the maximum */
function readLimit(context: ToolContext, given: Arguments): number {
  const { query } = findResource(context, given).resource
  const most = Math.min(context.maxRecords, query.maxPageSize)
  const { limit = Math.min(query.pageSize, most) } = given
  if (limit <= most) return limit
  throw invalidQuery('limit', `must be at most ${most}.`)
}
