import type { ListIntent } from '../../types/intent.js'
import type { Column, Predicate } from '../../types/plan.js'
import { columnOf } from '../common/columns.js'
import { joinPredicates, NEVER } from '../common/predicates.js'
import type { Context } from './context.js'
import { resolveForCaller } from './path.js'

/**
 * Plans a search: some search field contains each word, in any case. Skips fields that the caller may not read. Without
 * any search field, no record matches.
 */
export function planSearch(context: Context, { search: words }: Pick<ListIntent, 'search'>): Predicate | null {
  const { search, dialect } = context.root.resource
  if (search === null || words === null) return null
  if (search.fullText !== null) {
    const text = dialect().fullText?.encode(words) ?? null
    return text === null ? NEVER : { kind: 'fullText', fields: search.fullText, values: [text] }
  }
  const columns = search.paths.flatMap((path): Column[] => {
    const to = resolveForCaller(context, context.root, path, { parameter: 'search', offset: 0 })
    if (to.kind !== 'field' || !to.field.filterable || !to.field.operators.has('contains')) return []
    const isShown = to.field.targets.has('response') || to.field.targets.has('list')
    return isShown && context.view.readable(to.field, to.access) ? [columnOf(to.joins, to.field)] : []
  })
  if (columns.length === 0) return NEVER
  context.queryCost.addComparison(context.root, true, { parameter: 'search', offset: 0 }, words.length * columns.length)
  const contains = (column: Column, word: string): Predicate => ({
    kind: 'compare',
    column,
    operator: 'contains',
    values: [word],
    ignoreCase: true,
    negated: false,
  })
  return joinPredicates(
    'and',
    words.map((word) =>
      joinPredicates(
        'or',
        columns.map((column) => contains(column, word)),
      ),
    ),
  )
}
