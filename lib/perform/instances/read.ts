import type { RecordReader } from '../executor.js'
import { deriveTotal } from '../pageTotal.js'
import { countInstances, findInstances } from './find.js'
import { findGroups } from './groups.js'

/** Reads records with `findAll` and `count`, so that the host's hooks and scopes apply. */
export const instanceReader: RecordReader = {
  readOne: async (store, where, columns, within) => {
    const [found] = await findInstances(store, { where, columns, order: [], limit: 1, offset: 0, ...within })
    return found ?? null
  },

  readRows: (store, { offset = 0, ...window }, within) => findInstances(store, { ...window, ...within, offset }),

  readPage: async (store, { where, order, page, pageSize, projection: { columns }, includeDeleted }) => {
    const offset = (page - 1) * pageSize
    const rows = await findInstances(store, { where, columns, order, limit: pageSize, offset, includeDeleted })
    const totalCount =
      deriveTotal(rows.length, offset, pageSize) ?? (await countInstances(store, where, includeDeleted))
    return { kind: 'page', rows, totalCount, hasMore: offset + pageSize < totalCount }
  },

  readGroups: findGroups,

  countRecords: countInstances,
}
