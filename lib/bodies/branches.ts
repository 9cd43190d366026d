import type { KeyValue } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { Branch } from '../../types/work.js'
import { fresh } from './fresh.js'
import { linked } from './links.js'
import type { Relations } from './relations.js'
import { replaced } from './replaced.js'
import type { Session } from './session.js'

/** Records whose bodies hold records of others. */
interface Owners {
  readonly resource: Resource
  /** The key of the one record, if it is there, and null if it is unknown; undefined for new records. */
  readonly key: KeyValue | null | undefined
  readonly bodies: readonly unknown[]
  /** The place of a body, as a prefix of the names of its members. */
  readonly at: (index: number) => string
}

/** Plans what bodies hold of some relations. */
export async function branchesOf(
  session: Session,
  { holdings, linkings }: Relations,
  { resource, key, bodies, at }: Owners,
): Promise<readonly Branch[]> {
  const branches: Branch[] = []
  for (const holding of holdings) {
    branches.push(
      key === undefined
        ? await fresh(session, holding, bodies, at)
        : await replaced(session, holding, { resource, key, body: bodies[0], place: at(0) }),
    )
  }
  const mode = key === undefined ? 'add' : 'set'
  for (const linking of linkings) branches.push(await linked(session, linking, mode, { bodies, at }))
  return branches
}
