/** What is done with each kind of node. The compiler finds the kind that is missing. */
export type Visits<N extends { readonly kind: string }, C extends readonly unknown[], R> = {
  readonly [K in N['kind']]: (node: Of<N, K>, ...context: C) => R
}

/** The nodes of a kind. */
export type Of<N extends { readonly kind: string }, K extends N['kind']> = N extends { readonly kind: K } ? N : never

/** Does with a node what is done with its kind. To go down, the functions visit what is below. */
export function visit<N extends { readonly kind: string }, C extends readonly unknown[], R>(
  visits: Visits<N, C, R>,
  node: N,
  ...context: C
): R {
  // That a node goes with the function of its own kind is what the compiler cannot tell of a union.
  const act = visits[node.kind as N['kind']] as (node: N, ...context: C) => R
  return act(node, ...context)
}
