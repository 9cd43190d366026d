import test from 'ava'
import type { Walk } from './asking.js'
import { walkFilters, walkRoutes, walkSelects, walkSorts } from './reading.js'
import { walkRelations } from './relating.js'
import type { ServedSchema } from './schema.js'
import { walkBulk, walkConflicts, walkRecord, walkRequired } from './writing.js'

const READS: readonly (readonly [what: string, walk: (walk: Walk) => Promise<void>])[] = [
  ['records, lists, counts and pages are the rows of the table', walkRoutes],
  ['every field with every operator finds the rows that meet it', walkFilters],
  ['every field sorts both ways', walkSorts],
  ['every field can be selected', walkSelects],
  ['every relation path filters, sorts and selects as the keys of the rows say', walkRelations],
]

const WRITES: readonly (readonly [what: string, walk: (walk: Walk) => Promise<void>])[] = [
  ['a record is created, patched field by field and deleted', walkRecord],
  ['what must be given is asked for, and the rest has its default', walkRequired],
  ['a key that points nowhere, a key that is taken and a record that is pointed at are 409', walkConflicts],
  ['records are created and deleted in bulk, all or none', walkBulk],
]

/** Declares tests for every route, field and relation path of all resources. */
export function walkSchema(served: ServedSchema): void {
  const { tables, resources, errors } = served
  for (const resource of resources) {
    // Tests that write restore the table afterwards.
    for (const [what, walk] of [...READS, ...WRITES]) {
      test.serial(`${resource.route}: ${what}`, async (t) => {
        await walk({ t, server: served, tables, resource })
        t.deepEqual(errors, [])
      })
    }
  }
}
