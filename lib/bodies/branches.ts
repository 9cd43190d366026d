import type { KeyValue } from '../../types/plan.js'
import type { Resource } from '../../types/resource.js'
import type { Branch } from '../../types/work.js'
import { fresh } from './fresh.js'
import { linked } from './links.js'
import type { Relations } from './relations.js'
import { replaced } from './replaced.js'
import type { Session } from './session.js'

/** Parent records whose bodies contain nested records. */
interface Owners {
  readonly resource: Resource
  /** Key of the one existing parent, or null if the key is unknown. Undefined for new records. */
  readonly key: KeyValue | null | undefined
  readonly bodies: readonly unknown[]
  /** Prefix for the member names of a body in errors. */
  readonly at: (index: number) => string
}

/** Plans the nested writes of some relations in the bodies. */
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
