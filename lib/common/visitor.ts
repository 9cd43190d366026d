/** Functions by the kind of a node. The compiler reports a missing kind. */
export type Visitors<N extends { readonly kind: string }, C extends readonly unknown[], R> = {
  readonly [K in N['kind']]: (node: NodeOfKind<N, K>, ...context: C) => R
}

export type NodeOfKind<N extends { readonly kind: string }, K extends N['kind']> = N extends { readonly kind: K }
  ? N
  : never

/** Calls the function of a node's kind. A function visits child nodes by itself. */
export function visit<N extends { readonly kind: string }, C extends readonly unknown[], R>(
  visits: Visitors<N, C, R>,
  node: N,
  ...context: C
): R {
  // TypeScript cannot infer that the function fits the node's kind.
  const act = visits[node.kind as N['kind']] as (node: N, ...context: C) => R
  return act(node, ...context)
}
