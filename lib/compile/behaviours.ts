import type { Behaviour, Behaviours } from '../../types/behaviour.js'

/** Folds the behaviours that a resource uses, in their order, into one function a hook, or null where none has it. */
export function fold(behaviours: readonly Behaviour[]): Behaviours {
  const admits = behaviours.map(({ admit }) => admit).filter((admit) => admit !== undefined)
  const amends = behaviours.map(({ amend }) => amend).filter((amend) => amend !== undefined)
  return Object.freeze({
    admit:
      admits.length === 0
        ? null
        : async (resource, operation, caller) => {
            for (const admit of admits) await admit(resource, operation, caller)
          },
    amend:
      amends.length === 0
        ? null
        : async (resource, plan, caller) => {
            let amended = plan
            for (const amend of amends) amended = await amend(resource, amended, caller)
            return amended
          },
  } satisfies Behaviours)
}
