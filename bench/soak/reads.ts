import type { Partition } from './partition.js'
import { MANY, pageOf, pick, type Random, type Read, type ReadMaker, url } from './read.js'
import { groupedItems, searchedItems, totals } from './reads/aggregates.js'
import { byQuery, exported, maskedAccounts, maskedFilter, nobody, unchanged } from './reads/formats.js'
import {
  accountsByItems,
  countedItems,
  filteredItems,
  itemById,
  itemsByAccount,
  selectedItems,
  sortedItems,
  tasks,
} from './reads/lists.js'
import { accountOfItem, embedded, linked, nested } from './reads/relations.js'
import { type Account, type State, shownAccount, shownItem, shownTag, shownTask, sorted } from './state.js'

/** An account with the keys of its tags, as returned for `select=*,Tags.Id`. */
function linkedAccount(account: Account): object {
  return { ...shownAccount(account), tags: account.tags.map((id) => ({ id })) }
}

/**
 * Reads all records of an owner in one reply. After a write without an acknowledgement, the reply shows whether the
 * write has happened.
 */
export function readAll(resource: keyof State, owner: number): Read {
  const links = resource === 'accounts' ? { select: '*,Tags.Id' } : {}
  return {
    kind: 'settle',
    path: url(resource, { owner, pageSize: MANY, ...links }),
    expected: (state) => {
      const rows = {
        accounts: () => sorted(state.accounts.values()).map(linkedAccount),
        items: () => sorted(state.items.values()).map(shownItem),
        tasks: () => sorted([...state.tasks.values()].filter(({ deleted }) => !deleted)).map(shownTask),
        tags: () => sorted(state.tags.values()).map(shownTag),
      }
      return pageOf(rows[resource](), 1, MANY)
    },
  }
}

/** Kinds of reads. A frequent kind occurs several times. */
const READS: readonly ReadMaker[] = [
  ...[itemById, itemById, itemById, itemById, unchanged],
  ...[filteredItems, filteredItems, filteredItems],
  ...[sortedItems, sortedItems],
  ...[countedItems, selectedItems, itemsByAccount, accountsByItems, tasks, tasks],
  ...[totals, groupedItems, groupedItems, searchedItems],
  ...[embedded, linked, nested, accountOfItem],
  ...[byQuery, exported, maskedAccounts, maskedFilter, nobody],
]

export function readOf(partition: Partition, random: Random): Read {
  return pick(random, READS)(partition, random)
}
