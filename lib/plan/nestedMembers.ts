import type { Field } from '../../types/field.js'
import type { Member } from '../../types/plan.js'

/** Builds nested members from columns and their paths. */
export class MemberTree {
  readonly #nodes = new Map<string, MemberTree | Member>()

  /** Adds the value of a column at a path. Returns false if another value occupies part of the path. */
  add([name = '', ...rest]: readonly string[], index: number, field: Field): boolean {
    const known = this.#nodes.get(name)
    if (rest.length === 0) {
      if (known === undefined) this.#nodes.set(name, { kind: 'value', json: name, index, field })
      return known === undefined
    }
    const tree = known ?? new MemberTree()
    if (!(tree instanceof MemberTree)) return false
    this.#nodes.set(name, tree)
    return tree.add(rest, index, field)
  }

  members(): Member[] {
    return [...this.#nodes].map(([json, node]) =>
      node instanceof MemberTree ? { kind: 'object', json, members: node.members() } : node,
    )
  }
}
