import type { Reader } from '../executor.js'
import { totalOf } from '../pages.js'
import { countInstances, findInstances } from './find.js'
import { findGroups } from './groups.js'

/** Reads with `findAll` and `count`, so that the host's hooks and scopes apply. */
export const instanceReader: Reader = {
  one: async (store, where, columns, within) => {
    const [found] = await findInstances(store, { where, columns, order: [], limit: 1, offset: 0, ...within })
    return found ?? null
  },

  rows: (store, { offset = 0, ...window }, within) => findInstances(store, { ...window, ...within, offset }),

  page: async (store, { where, order, page, pageSize, projection: { columns }, includeDeleted: deleted }) => {
    const offset = (page - 1) * pageSize
    const rows = await findInstances(store, { where, columns, order, limit: pageSize, offset, deleted })
    const totalCount = totalOf(rows.length, offset, pageSize) ?? (await countInstances(store, where, deleted))
    return { kind: 'page', rows, totalCount, more: offset + pageSize < totalCount }
  },

  aggregate: findGroups,

  count: countInstances,
}
